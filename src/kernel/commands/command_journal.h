// The journal of a command's commit: it stands beside the command's stage from the moment when nothing
// can refuse the commit any more until the commit is done. A kernel that is killed in between leaves
// both, and the next one completes what was begun.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fs/file_system.h"
#include "stage/changes.h"

namespace quire::kernel {

// Files without a document are read whole; larger ones are left out.
inline constexpr std::size_t kLargestFile = std::size_t{512} << 20;

// The permissions that a directory must have for its owner to fill it.
inline constexpr std::uint32_t kToFill = 0700;

// One change that is to be committed.
struct JournalEntry {
    std::string path;
    stage::ChangeKind kind = stage::ChangeKind::modified;
    bool is_directory = false;
    bool was_link = false;
    bool sets_mode = false;
    std::uint32_t mode = 0;
    std::string target = {};
    // The hashes of a file's bytes: those that it has, and those that it gets. "" for none.
    std::string before = {};
    std::string after = {};
    friend bool operator==(const JournalEntry&, const JournalEntry&) = default;
};

// `stage`: the directory that has the upper directory. Durable when it returns.
Result<void> write_journal(const std::string& stage, const std::vector<JournalEntry>& entries);
// Withdraws it: the commit is done, or was taken back.
void remove_journal(const std::string& stage);

// A commit that was begun, and is done now.
struct CompletedCommit {
    std::size_t changes = 0;
    std::vector<std::string> left;  // The paths that were left alone.
};
// Completes the commit in `directory` whose journal and bytes are in `stage`. Returns none if `stage`
// has no journal. A file is left alone if its bytes are neither those from before the commit nor those
// that the commit writes. A second call changes nothing. Errors: those of opening the directory.
Result<std::optional<CompletedCommit>> complete_commit(const std::string& stage,
                                                       const std::string& directory,
                                                       fs::FileSystem& files);

// Completes the commits that a kernel which was killed has begun in the workspace. Returns a sentence for each command, for the operator.
std::vector<std::string> complete_commands(const std::string& workspace, fs::FileSystem& files);

}  // namespace quire::kernel
