// The journal of a command's commit: it stands beside the command's stage from the moment when nothing
// can refuse the commit any more until the audit log has it. A kernel that is killed in between leaves
// both, and the next one completes what was begun (command_completion.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/fields.h"
#include "kernel/oversight/command_record.h"
#include "stage/changes.h"

namespace quire::kernel {

// Files without a document are read whole; larger ones are left out.
inline constexpr std::size_t kLargestFile = std::size_t{512} << 20;

// The permissions that a directory must have for its owner to fill it.
inline constexpr std::uint32_t kToFill = 0700;
// Those of a new file.
inline constexpr std::uint32_t kNewFile = 0644;

// One change that is to be committed.
// The completion takes one kind after another. Within a kind a directory stands before what is in
// it.
struct JournalEntry {
    std::string path;
    stage::ChangeKind kind = stage::ChangeKind::modified;
    bool is_directory = false;
    bool was_link = false;
    bool sets_mode = false;
    std::size_t mode = 0;
    std::string target = {};
    // The hashes of a file's bytes: those that it has, and those that it gets. "" for none.
    std::string before = {};
    std::string after = {};
    // The state of the path before the commit: permissions of a file or directory, and a link's target.
    std::optional<std::size_t> old_mode = {};
    std::string old_target = {};
    // The file is a text with a history, which has this version before the commit; 0 if it is new.
    bool is_text = false;
    std::size_t version = 0;
    // The bytes that a text gets, where they are not those in the stage, because others' changes are merged.
    std::optional<std::string> bytes = {};

    static json::Fields<JournalEntry> fields();
    friend bool operator==(const JournalEntry&, const JournalEntry&) = default;
};

// The command, for its entry in the audit log, and the call that ran it.
struct JournalOrigin {
    std::string actor;
    std::string profile;
    std::string tool;
    std::string operation;  // Names the versions in histories.
    CommandRan ran;

    static json::Fields<JournalOrigin> fields();
};

struct Journal {
    std::vector<JournalEntry> entries;
    std::optional<JournalOrigin> origin = {};  // None where the audit log needs no entry.
    std::string past = {};                     // The name that the record of an undo gets.

    static json::Fields<Journal> fields();
};

// `stage`: the directory that has the upper directory. Durable when it returns.
// Errors: unavailable "io_error" {path}; an earlier journal is then as it was.
Result<void> write_journal(const std::string& stage, Journal journal);
// Returns none if there is none, or if it was not written to its end, for then nothing was begun.
std::optional<Journal> read_journal(const std::string& stage);
// Withdraws it: the commit is done, or was taken back.
void remove_journal(const std::string& stage);

// The repository of git is one unit, of which nothing is recorded for an undo.
inline constexpr std::string_view kGitDirectory = ".git";
bool is_of_git(std::string_view path);

}  // namespace quire::kernel
