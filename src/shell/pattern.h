// Patterns of file names, as bash matches them: `*`, `?`, sets such as [a-z], and a backslash that takes
// the next character as it is. A pattern and a name may hold kSomeName (values.h), a run of characters
// that is not known; it fits whatever it may fit.
#pragma once

#include <string>
#include <string_view>

namespace quire::shell {

// Returns true if the name may fit the pattern. A set that is not plain takes every character.
// O(pattern · name).
bool fits(std::string_view pattern, std::string_view name);
// Returns true if a wildcard stands in the pattern without a backslash.
bool has_wildcard(std::string_view pattern);
// Returns true if every set of the pattern consists of ASCII characters, ranges and classes, which
// mean the same in every locale.
bool has_plain_sets(std::string_view pattern);

// The text with a backslash before each character that would be a wildcard or a part of one.
std::string escaped(std::string_view text);
void add_escaped(std::string& out, char c);
// The pattern without its backslashes.
std::string unescaped(std::string_view pattern);

}  // namespace quire::shell
