// The settings that later versions act on. This one reads and checks them, so that one file serves
// both, and says of each that is written that it has no effect yet: an operator might rely on it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/settings/toml_section.h"

namespace quire::cli {

// Check the later members of these sections.
Result<void> check_later_limits(Section& section);
Result<void> check_later_memory(Section& section);

// A sentence for each setting in `table` that has no effect in this version, with its line.
std::vector<std::string> without_effect(const toml::table& table, std::string_view file);

}  // namespace quire::cli
