// TreeCopy: a new directory with the workspace's files as they are now, also those that git does not know
// yet or knows otherwise.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/function.h"
#include "base/result.h"
#include "kernel/views/tree_registry.h"

namespace quire::kernel {

// Makes the directory, as a work tree of the workspace's git repository where there is one, with the files of
// `shared` for which `sees` holds; their times and permissions stay. Blocks share their place on the
// disk where the file system can do that. Where the directory lies in the workspace, an ignore file beside it
// keeps its parent out of the workspace's files. After an error the directory is gone again.
//
// Errors: conflict "file_exists" {directory}; those of reading; unavailable "io_error" {path}.
Result<void> copy_tree(const std::string& workspace, const OpenTree& shared,
                       const fs::IgnoreNames& ignore, Function<bool(const std::string& path)> sees,
                       const std::string& directory, Clock& clock);
// Removes a directory that copy_tree() made, with all that is in it, and lets git forget it; the
// branch stays. A directory that is gone already is no error. Errors: unavailable "io_error"
// {path}.
Result<void> remove_tree(const std::string& workspace, const std::string& directory, Clock& clock);

}  // namespace quire::kernel
