// Repository: reads a git repository, and adds commits to a ref of our own.
//
// Git itself does the work, through commands that touch neither the index nor the work tree and run
// no hook; commits are made by `git fast-import`, whose stream commit_stream.h writes. A ref only
// moves forward: a commit whose ref was moved by someone else meanwhile is refused.
//
// Ids are in hexadecimal. Paths are the repository's: bytes, from the top of its tree. Each call
// runs one program and blocks until it has ended. Thread-safe; the clock outlives the object.
//
// Errors of every call: not_found "program_not_found" without git; unavailable "git_failed" {command,
// output}; unavailable "kernel_ending" if the stop token asked for the end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "git/commit_stream.h"

namespace quire::git {

// The content of a path in a tree.
struct TreeEntry {
    std::string mode;  // "100644", "100755", "120000", or "160000" for a submodule.
    std::string id;
    friend bool operator==(const TreeEntry&, const TreeEntry&) = default;
};
// A path, and what a later tree has there; none where it has nothing.
struct TreeChange {
    std::string path;
    std::optional<TreeEntry> entry;
};

class Repository {
public:
    // The repository whose work tree contains `directory`, as git finds it. Errors: not_found
    // "no_repository" {directory}.
    static Result<Repository> find(const std::string& directory, Clock& clock,
                                   std::stop_token stop = {});

    // The directory's path in the work tree, with a '/' at its end: "" for the top.
    const std::string& prefix() const { return prefix_; }
    // The commit that a ref, HEAD included, names; none if there is no such ref.
    Result<std::optional<std::string>> commit_of(const std::string& ref) const;
    // The message of a commit.
    Result<std::string> message_of(const std::string& commit) const;
    // The files of a commit, by path. O(files).
    Result<std::map<std::string, TreeEntry>> files(const std::string& commit) const;
    // The newest commit that both lead back to; none if there is none, or one of them is not here.
    Result<std::optional<std::string>> merge_base(const std::string& a, const std::string& b) const;
    // The bytes of a file by its id.
    Result<std::string> blob(const std::string& id) const;
    // Makes a work tree of this repository in a directory that is not there yet, with HEAD as its commit and
    // its index, and no file. Its branch is new, or none where there is one of that name. Errors: also
    // unavailable "git_failed" where the directory is there.
    Result<void> add_worktree(const std::string& directory, const std::string& branch) const;
    // Forgets the work trees whose directories are gone.
    Result<void> forget_worktrees() const;
    // The file with patterns of names that git leaves out here and that is no part of the work tree.
    Result<std::string> exclude_file() const;
    // The changes between two commits' trees.
    Result<std::vector<TreeChange>> changes(const std::string& from, const std::string& to) const;
    // Those of the paths that git would not track: ignore files leave them out and the index does
    // not hold them, or they lie in a submodule.
    Result<std::vector<std::string>> ignored(std::span<const std::string> paths) const;
    // Those of the paths, which are taken from `directory`, that an index file has entries for.
    Result<std::vector<std::string>> indexed(const std::string& index,
                                             std::span<const std::string> paths) const;
    // The mode that a file of the directory has on the disk; "100644" for one that is not there.
    std::string mode_on_disk(const std::string& path) const;
    // The id that a file of these bytes has.
    std::string id_of(std::string_view bytes) const;

    // Makes the commits of the stream, in order, and moves their ref to the last. Returns their
    // ids. Errors: conflict "ref_moved" {ref}, and the ref stays.
    Result<std::vector<std::string>> import(CommitStream stream) const;

private:
    Repository(std::string directory, Clock& clock, std::stop_token stop)
        : directory_(std::move(directory)), clock_(&clock), stop_(std::move(stop)) {}

    struct Run {
        std::string output;
        std::string errors;
        int exit_code = 0;
    };
    // Errors are those of running at all; a failure is in the exit code. `index`: the index file, "" for
    // the repository's.
    Result<Run> run(std::vector<std::string> arguments, std::string input = {},
                    const std::string& index = {}) const;
    // The output. Errors: unavailable "git_failed".
    Result<std::string> ask(std::vector<std::string> arguments) const;
    Failure failed(std::string_view command, const Run& run) const;

    std::string directory_;
    Clock* clock_;
    std::stop_token stop_;
    std::string prefix_;
    bool sha256_ = false;  // Ids are SHA-256, not SHA-1.
};

// Returns true for the full name of a ref that Quire may write: well formed, below refs/, and no
// branch, tag, remote branch, note or stash.
bool is_own_ref(std::string_view ref);

}  // namespace quire::git
