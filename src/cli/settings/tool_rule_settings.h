// The [[tools.rules]] of quire.toml, of all agents or of one.
#pragma once

#include <vector>

#include "base/result.h"
#include "policy/tool_rule.h"

namespace quire::cli {

class Section;

// The tables `rules` of the section. Errors: invalid_argument "invalid_config". The rules are in
// the order of the file, with their lines. Absent is empty.
Result<std::vector<policy::ToolRule>> read_tool_rules(Section& section);

}  // namespace quire::cli
