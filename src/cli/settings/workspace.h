// Finds the workspace of a command: the nearest directory with a quire.toml or a .quire/, walking up
// from the working directory, as git finds its repository.
//
// A quire.toml above a directory decides what agents may do in it, so a stranger must not be able to
// put one there: the walk stays in one file system and passes over a workspace that others may change.
//
// A directory that a workspace has adopted (quire view adopt) has a file .quire, which leads there.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace quire::cli {

// A workspace that the walk did not take.
struct PassedOver {
    std::string path;  // Its quire.toml or .quire.
    std::string why;   // "it belongs to user 1001".
};

// The outcome of the walk.
struct FoundWorkspace {
    std::string directory;  // Absolute.
    // False if no workspace was found. `directory` is then where a new one belongs: the top of the
    // enclosing git work tree, or else where the walk began.
    bool is_there = false;
    // The adopted tree from which a file .quire led to the workspace; "" for none.
    std::string tree = {};
    std::string tree_actor = {};  // The actor whose work its changes are.
    std::vector<PassedOver> passed_over = {};
};

// Walks up from `from`. A workspace counts only if its quire.toml and .quire, and the directory that
// they are in, belong to the caller or to root, and nobody else may write in that directory. One
// lstat() for each candidate. Errors: not_found "no_such_workspace" when `from` cannot be resolved.
Result<FoundWorkspace> find_workspace(const std::string& from);

// The words for people: "passed over /tmp/quire.toml: others may write in /tmp".
std::string passed_over_text(const PassedOver& passed);

// Checks a directory that the command line names. Errors: not_found "no_such_workspace";
// invalid_argument "not_a_directory", "adopted_tree" {path, workspace} for a tree of another
// workspace.
Result<void> check_workspace(const std::string& directory);

}  // namespace quire::cli
