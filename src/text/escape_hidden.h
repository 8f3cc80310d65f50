// Escaping of what cannot be seen in names and texts of others, before a person decides about them.
// Pure.
#pragma once

#include <string>
#include <string_view>

namespace quire::text {

// Control characters, direction marks and invisible characters are written as their number,
// "\u{202e}", and bytes that are not UTF-8 as "\x{ff}". O(text).
std::string escape_hidden(std::string_view text);

}  // namespace quire::text
