// Words of a shell's command line.
#pragma once

#include <string>
#include <string_view>

namespace quire::text {

// Quotes the word for a shell if that is necessary. O(n).
std::string for_shell(std::string_view word);

}  // namespace quire::text
