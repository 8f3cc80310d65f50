// Percent escapes: characters that mean something where a name is put stand there as %XX.
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

}  // namespace quire::text
