// FileGate: the door of every document of kind "file". It asks the rules, and takes in what has
// changed on the disk.
//
// A file's document has a disk branch: its header names the version whose text is the bytes last
// seen there. A change on the disk is an edit of that version, made by source:disk as the smallest
// one, and then merged; so edits that were never saved survive it, and both sides stay in history.
// Where both changed the same words the document shows its own, and the disk's stay in the version
// that the header names.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/enum_words.h"
#include "files/disk_state.h"
#include "fs/file_system.h"
#include "kernel/core/gate.h"
#include "policy/path_rules.h"

namespace quire::kernel {

enum class Disk { same, changed, missing };
constexpr auto words_of(Disk) {
    return word_table("same", "changed", "missing");
}

// A look at the disk for one document, and what came of it.
struct DiskUpdate {
    bool first = false;    // The file was read for the first time.
    bool changed = false;  // It had other bytes than those last seen; the document has them now.
    std::size_t ties = 0;  // Places where both sides had changed the same words.
};

class FileGate final : public Gate {
public:
    // Files of more than `file_bytes` are refused.
    FileGate(fs::FileSystem& files, policy::PathRules rules, Clock& clock, std::size_t file_bytes)
        : files_(files), rules_(std::move(rules)), clock_(clock), file_bytes_(file_bytes) {}

    Result<void> enter(LiveDocument& document, const policy::Actor& actor, Access access,
                       policy::Operations approved) override;
    bool dirty(LiveDocument& document) override;

    // The strictest decision over every name that led to the file.
    policy::Decision decide(const fs::Place& place, policy::Operation operation,
                            const policy::Actor& actor) const;
    // The decision as an error, unless a person has approved what would escalate: denied
    // "permission_denied", escalation_required "escalation_required" {path, operation, permission}.
    Result<void> admit(const fs::Place& place, policy::Operation operation,
                       const policy::Actor& actor, policy::Operations approved) const;
    // Whether the file may be saved. To append at least; but where a person has to approve that,
    // they are asked for what a save does, which is to overwrite.
    Result<void> admit_save(const fs::Place& place, const policy::Actor& actor,
                            policy::Operations approved) const;

    // On the document's strand, loaded, with no transaction begun. A change is part of the call's
    // transaction.
    // Errors: those of reading; unsupported "binary_file"; conflict "path_changed" where the path
    // now leads through a link.
    Result<DiskUpdate> take_in(LiveDocument& document);
    // Null for a document that was never read from the disk.
    std::optional<files::DiskState> state(const LiveDocument& document) const;
    // Compares the disk with what was last seen there. Changes nothing.
    Result<Disk> look(LiveDocument& document);

    fs::FileSystem& files() { return files_; }

private:
    Result<DiskUpdate> apply(LiveDocument& document, const std::optional<files::DiskState>& before,
                             files::DiskState now, const std::string& text);

    fs::FileSystem& files_;
    const policy::PathRules rules_;
    Clock& clock_;
    const std::size_t file_bytes_;
};

// The version of the document's text now, as a DiskState names one.
std::map<std::uint64_t, std::int32_t> version_of(LiveDocument& document);

}  // namespace quire::kernel
