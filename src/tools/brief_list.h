// The list of tools in few words, as profile `model` publishes it: a model reads it at every start
// and pays for each byte. Calls are checked against the schemas as they were.
#pragma once

#include <vector>

#include "tools/tool.h"

namespace quire::tools {

// Shortens the input schemas of our own tools, in the order of the list:
// - an argument that is an object with members says them in its description, "{start, end}. …";
// - a list of more than three words that an earlier tool of the list gives an argument of the same
//   name is replaced by a reference to that tool, "As in block_create.";
// - bounds go: the description says from where an argument counts, and a refusal names its bounds.
// The words that name a tool's operations stay. Tools of other programs stay as they are. O(size of
// the schemas).
void make_brief(std::vector<ToolInfo>& tools);

}  // namespace quire::tools
