// FileGate: the gate of every document of kind "file". It asks the rules and takes in changes on
// the disk.
//
// The document of a file has a disk branch: its header names the version whose text is the bytes
// last seen on the disk. A change on the disk becomes the smallest edit of that version, made by
// source:disk, and is merged with the document. So unsaved edits survive it, and both sides stay
// in history. Where both sides changed the same words, the path's permission decides: in a file that
// agents may edit the document keeps its own, and the header gets a conflict record with the disk's
// (files/conflict.h); in a read-only or append-only file the disk's words win.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "files/disk_state.h"
#include "files/reconcile.h"
#include "fs/file_system.h"
#include "kernel/core/gate.h"
#include "kernel/files/disk_words.h"
#include "kernel/files/late_writes.h"
#include "kernel/files/recent_saves.h"
#include "policy/path_rules.h"
#include "sched/guarded.h"
#include "seq/rope.h"
#include "store/store_records.h"
#include "text/glob.h"

namespace quire::kernel {

// The result of taking in the disk's changes for one document.
struct DiskUpdate {
    bool first = false;    // The file was read for the first time.
    bool changed = false;  // It had other bytes than those last seen; the document has them now.
    bool gone = false;     // It was found to be missing, and was not before.
    bool back = false;     // It is there again.
    // If it changed: none where the document had the disk's text already.
    std::optional<Resolution> resolution = {};
    files::Version base_version = {};   // The version that both sides came from,
    files::Version agent_version = {};  // the document's before the merge,
    files::Version disk_version = {};   // and the disk's.
    std::string author = {};            // The author of the change, if the file changed.

    bool is_news() const { return gone || back || (!first && resolution.has_value()); }
};

// The evidence that a file is as it was last seen: an unchanged stamp, or its bytes alone. A program
// can set a file's times back, and a store through a mapping may change none.
enum class Evidence { stamp, bytes };

// The settings of files: who may do what to which path, the names of the ignore files, and the
// files that are never merged.
struct FileRules {
    policy::PathRules paths = {};
    fs::IgnoreNames ignore = {".gitignore", ".loroignore"};
    std::vector<text::Glob> never_merge = {};
};

class DiskAuthors;

// Files, rules and clock outlive it. decide(), admit() and admit_save() are for any thread;
// functions that take a document run on its strand.
class FileGate final : public Gate {
public:
    // Files of more than `file_bytes` are refused.
    FileGate(fs::FileSystem& files, FileRules rules, Clock& clock, std::size_t file_bytes);
    ~FileGate() override;

    // The rules that hold now, and others that hold from the next decision on. Any thread.
    std::shared_ptr<const FileRules> rules() const {
        return rules_.with([](const auto& rules) { return rules; });
    }
    void set_rules(FileRules rules);

    Result<void> enter(LiveDocument& document, const policy::Actor& actor, Access access,
                       policy::Operations approved) override;
    bool may_see(const std::string& path, const policy::Actor& actor) const override;
    bool dirty(LiveDocument& document) override;

    // The strictest decision for all names that led to the file, and for its other names.
    policy::Decision decide(const fs::Place& place, policy::Operation operation,
                            const policy::Actor& actor) const;
    // The decision as an error, unless a person has approved the operation. Errors: denied
    // "permission_denied"; escalation_required "escalation_required" {path, operation,
    // permission}.
    Result<void> admit(const fs::Place& place, policy::Operation operation,
                       const policy::Actor& actor, policy::Operations approved) const;
    // Checks that the file may be saved. Saving needs permission to append. If a person must
    // approve it, they are asked about what a save does: overwrite.
    Result<void> admit_save(const fs::Place& place, const policy::Actor& actor,
                            policy::Operations approved) const;

    // Reads the file if its stamp changed, or if only its bytes count, and merges a change of its
    // bytes into the document, as part of the call's transaction. On the strand, loaded, with no
    // transaction begun. O(file) if it is read. A file that has become a directory, a device or a
    // link is missing.
    //
    // Errors: those of reading; unsupported "binary_file".
    Result<DiskUpdate> take_in(LiveDocument& document, Evidence evidence = Evidence::stamp);
    // The last news that was taken in, by any call, since this was last asked.
    DiskUpdate last_news(const LiveDocument& document);
    // The state last seen on the disk; none if the file was never read.
    std::optional<files::DiskState> state(const LiveDocument& document) const;
    // Compares the disk with the state last seen. Changes nothing.
    Result<Disk> look(LiveDocument& document);

    fs::FileSystem& files() { return files_; }
    // The size from which files are refused.
    std::size_t file_bytes() const { return file_bytes_; }
    // Files that saves displaced. take_in() begins with what was written to them.
    LateWrites& late_writes() { return late_writes_; }
    // The versions that files had before they were saved. A save that replaces bytes is added.
    RecentSaves& recent_saves() { return recent_saves_; }
    // The announced changes of agents with tools of their own.
    DiskAuthors& authors() { return *authors_; }
    // The author of a change that gives the file bytes of this hash ("" if it is unknown): the agent that
    // announced it, or source:disk.
    policy::Actor author_of(const std::string& path, const std::string& hash) const;
    // LateWrites::take() with the encoding that the rules name.
    bool take_late_writes(const std::string& path) {
        return late_writes_.take(path, rules()->paths.encoding(path));
    }
    // Returns true if the settings say that the file is never merged by words. Any thread.
    bool is_never_merged(const std::string& path) const;
    fs::IgnoreNames ignore_files() const { return rules()->ignore; }

private:
    Result<DiskUpdate> compare(LiveDocument& document, Evidence evidence);
    Result<DiskUpdate> apply(LiveDocument& document, const std::optional<files::DiskState>& before,
                             files::DiskState now, const std::string& text,
                             const policy::Actor& author);
    Result<void> keep_saved(LiveDocument& document, files::DiskState& before, files::DiskState& now,
                            std::string& text);
    Result<DiskUpdate> note_missing(LiveDocument& document, files::DiskState before);
    Result<void> list_old_conflict(LiveDocument& document, files::DiskState& before);
    void keep(LiveDocument& document, const files::DiskState& before, files::DiskState& now,
              files::Tie tie, const files::Version& agent_version) const;
    files::Manner manner_of(const LiveDocument& document,
                            const std::optional<files::DiskState>& before) const;

    fs::FileSystem& files_;
    sched::Guarded<std::shared_ptr<const FileRules>> rules_;
    Clock& clock_;
    const std::size_t file_bytes_;
    const std::unique_ptr<DiskAuthors> authors_;
    LateWrites late_writes_{files_, clock_, file_bytes_};
    RecentSaves recent_saves_;
    // For last_news(). In memory only.
    sched::Guarded<std::map<store::DocumentKey, DiskUpdate>> news_;
};

// The version of the document's text now, in the form of a DiskState.
files::Version version_of(LiveDocument& document);
// The text that the document had at a version. O(text, and the changes up to it).
Result<std::string> text_at(LiveDocument& document, const files::Version& version);
// That text as a rope, which shares with the text now what they have in common. O(what has changed
// since).
Result<seq::Rope> rope_at(LiveDocument& document, const files::Version& version);
// The state after the bytes of the document's text were written to the disk.
files::DiskState saved_state(LiveDocument& document, const files::DiskState& before,
                             const fs::Saved& saved);

}  // namespace quire::kernel
