// GitCommit: what a flush takes from the documents, and the commit that it makes of that.
//
// The documents are read first, each on its strand; git then works for a while, on a thread that
// may wait. This is the second half, which knows no document.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "git/repository.h"

namespace quire::kernel {

// One entry of a file's history.
struct FlushedOperation {
    std::string actor;
    // The word of the history: "edit", "undo of edit".
    std::string description;
    std::uint64_t version = 0;
    std::string path = {};
};
// A file that may have changed since the last flush.
struct FlushedFile {
    std::string path;                  // In the workspace.
    std::optional<std::string> bytes;  // None: the file was deleted.
    std::vector<FlushedOperation> operations;
};

// The author of an actor's commit: "agent:ada" <ada@agent.quire.invalid>. The address ends in a
// domain that never exists, so no mail and no account is meant.
git::Person flush_author(const std::string& actor);
// The message of a commit that has one operation.
std::string export_message(const FlushedOperation& operation);

// The state of the ref before a flush.
struct FlushBase {
    std::optional<std::string> tip;
    std::optional<std::string> head;  // HEAD's commit; none in a repository without one.
    std::string included;             // The HEAD that the tip's tree includes; "" if unknown.
    std::int64_t tip_at_ms = 0;       // When the tip was made.
};
// Errors: those of git::Repository.
Result<FlushBase> flush_base(const git::Repository& repository, const std::string& ref);

struct FlushCommit {
    std::string commit;  // The tip now; "" for none.
    // The paths that the commit changed, and those that git ignores; both in the workspace.
    std::vector<std::string> files;
    std::vector<std::string> ignored;
};
// Adds a commit to the ref if one of the files has other bytes than there. Errors: those of
// git::Repository.
Result<FlushCommit> commit_flush(const git::Repository& repository, const std::string& ref,
                                 const FlushBase& base, const std::vector<FlushedFile>& files,
                                 std::int64_t at_ms);

}  // namespace quire::kernel
