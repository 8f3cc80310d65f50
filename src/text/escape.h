// Percent escapes, in upper-case hex: of the characters that mean something where a name is put, and
// of those that a URI does not hold.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace quire::text {

// '%' itself and the bytes of `reserved` escaped, in upper-case hex; so nothing else reads the
// same.
std::string percent_escaped(std::string_view text, std::string_view reserved);

// What percent_escaped() had for the same `reserved`; none for what it cannot have made.
std::optional<std::string> percent_unescaped(std::string_view text, std::string_view reserved);

// For a URI: letters, digits and the characters of `plain` stay, every other byte is escaped.
std::string percent_encoded(std::string_view text, std::string_view plain);
// The other way. None where a '%' begins no escape; the second lets such a '%' stand.
std::optional<std::string> percent_decoded(std::string_view text);
std::string percent_decoded_loosely(std::string_view text);

}  // namespace quire::text
