// Adopting a directory: what it and the workspace have in common, before anything was brought.
//
// A path that has the same bytes in both trees has these in common. Where they differ, the common text is
// that of the commit from which both trees have come, if git knows one; else the workspace's, if that
// has not changed since the directory was made; else there is none, and the path is a conflict until the
// two sides agree. A file of one tree alone is new there, unless that commit has it: then the other
// tree has deleted it.
#pragma once

#include <string>

#include "base/function.h"
#include "base/result.h"
#include "fs/ignore_names.h"
#include "policy/actor.h"

namespace quire {
class Clock;
}
namespace quire::views {
struct TreeState;
}

namespace quire::kernel {

class OpenTree;
class TreeRegistry;

// An adopted tree and the workspace.
struct TwoTrees {
    const OpenTree& tree;
    const OpenTree& shared;
    const std::string& workspace;
};

// Checks that the directory may be adopted, and returns it without links. One in the workspace has to be a work
// tree of git or left out by ignore files: `shared` are the workspace's files. Errors: not_found
// "file_not_found"; invalid_argument "not_a_directory", "not_a_tree"; denied "foreign_directory".
Result<std::string> check_adoptable(const std::string& directory, const std::string& workspace,
                                    const OpenTree& shared, const fs::IgnoreNames& ignore);

// Fills the heads of `state`, and gives the common bytes to the registry's bases; the caller saves
// both. Reads all files of both trees, of `shared` those for which `sees` holds. A file that cannot
// be read now gets no head and is looked at again with the next land. Runs git where both are
// checkouts. O(bytes of both trees). Errors: those of listing the files and of BaseTexts::add().
Result<void> find_common(const TwoTrees& trees, const fs::IgnoreNames& ignore,
                         Function<bool(const std::string& path)> sees, Clock& clock,
                         TreeRegistry& registry, views::TreeState& state);

// The file in an adopted directory that leads to its workspace.
inline constexpr const char* kTreeFile = ".quire";
// Writes it where it is not there yet, and tells git to leave it out. Its lines are "tree of
// WORKSPACE" and "actor ACTOR". A failure of git is no failure: the file is then listed as a new
// one. Errors: conflict "has_workspace" {directory} for a directory that is a workspace itself;
// unavailable "io_error" {path}.
Result<void> mark_tree(const std::string& directory, const std::string& workspace,
                       const policy::Actor& actor, Clock& clock);
// Removes it, as far as it is a file. Failures are ignored.
void unmark_tree(const std::string& directory);

}  // namespace quire::kernel
