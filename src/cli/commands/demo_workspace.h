// The demo's workspace: a scratch directory, with rules that let agents write anywhere in it.
#pragma once

#include <array>
#include <string>

#include "base/result.h"
#include "cli/commands/scratch.h"

namespace quire::cli::show {

struct Setting {
    ScratchDirectory directory;
    std::array<std::string, 2> files;  // The files to edit, by their paths in it.
};

// Makes two small files; or copies the directory `source` (without hidden, built and huge files)
// and chooses two of its text files. Errors: not_found if `source` has fewer than two; unavailable.
Result<Setting> make_setting(const std::string& source);

}  // namespace quire::cli::show
