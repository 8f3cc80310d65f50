// Where the demo plays: a directory of its own, with rules that let agents write in it.
#pragma once

#include <array>
#include <string>

#include "base/result.h"
#include "cli/commands/scratch.h"

namespace quire::cli::show {

struct Setting {
    ScratchDirectory directory;
    std::array<std::string, 2> files;  // Paths in it, that are edited.
};

// Two small files; or a copy of the directory `source` (without what is hidden, built or huge), of
// whose text files two are chosen. Errors: not_found when `source` has not two text files;
// unavailable.
Result<Setting> make_setting(const std::string& source);

}  // namespace quire::cli::show
