// The ignore files of a folder, read in the course of a walk. Both file systems walk from the root
// downwards and hand the chain of a folder to the folders in it.
#pragma once

#include <optional>
#include <string>

#include "base/function.h"
#include "fs/ignore_names.h"
#include "text/ignore.h"

namespace quire::fs {

// The chain of `folder` ("" for the root): its ignore files, got from `read` by their paths, before
// those of `parent`. In the root, .git/info/exclude counts before all of them if .gitignore is
// among the names, so that it decides last, as in git.
text::IgnoreChain chain_below(const text::IgnoreChain& parent, const std::string& folder,
                              const IgnoreNames& names,
                              Function<std::optional<std::string>(const std::string& path)> read);

}  // namespace quire::fs
