// Percent escapes: %XX in upper-case hex. The first pair of functions is for names that are inserted
// where some characters have a meaning; the others are for URIs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace quire::text {

// Escapes '%' and the bytes of `reserved`; different texts stay different.
std::string percent_escaped(std::string_view text, std::string_view reserved);

// Undoes percent_escaped() with the same `reserved`; none if that cannot have written the text.
std::optional<std::string> percent_unescaped(std::string_view text, std::string_view reserved);

// Escapes every byte but letters, digits and the characters of `plain`.
std::string percent_encoded(std::string_view text, std::string_view plain);
// Undoes any escape. None if a '%' begins no escape; the second function keeps such a '%'.
std::optional<std::string> percent_decoded(std::string_view text);
std::string percent_decoded_loosely(std::string_view text);

}  // namespace quire::text
