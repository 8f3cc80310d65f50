// The general categories of Unicode by name, as regular expressions of ECMA-262 write them.
#pragma once

#include <optional>
#include <string_view>

namespace quire::text {

// The short name ("Lu") of a category by its long or its short name; nothing for any other name,
// and for Other and Unassigned, which RE2 does not have.
std::optional<std::string_view> unicode_category(std::string_view name);

}  // namespace quire::text
