// Escaping of what cannot be seen in names and texts of others, before a person decides about them.
// Pure.
#pragma once

#include <string>
#include <string_view>

namespace quire::text {

// Control characters, direction marks and invisible characters are written as their number,
// "\u{202e}", and bytes that are not UTF-8 as "\x{ff}". O(text).
std::string escape_hidden(std::string_view text);

// Escapes a text of several lines likewise; its line feeds and tabs stay.
std::string escape_hidden_lines(std::string_view text);

// Returns true if the text, which is UTF-8, has a character that a name must not have: a control
// character (Cc), a direction mark, or a line or paragraph separator. O(text).
bool has_forbidden_in_name(std::string_view text);

}  // namespace quire::text
