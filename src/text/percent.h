// Percent escapes: characters that have a meaning where a name is inserted are written as %XX.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace quire::text {

// Escapes '%' and the bytes of `reserved` in upper-case hex; different texts stay different.
std::string percent_escaped(std::string_view text, std::string_view reserved);

// The text that percent_escaped() was given, with the same `reserved`; nothing if it cannot have
// produced the input.
std::optional<std::string> percent_unescaped(std::string_view text, std::string_view reserved);

}  // namespace quire::text
