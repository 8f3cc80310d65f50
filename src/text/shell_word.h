// Words of a shell's command line.
#pragma once

#include <string>
#include <string_view>

namespace quire::text {

// `word` as a shell reads it back: quoted if it has to be. O(n).
std::string for_shell(std::string_view word);

}  // namespace quire::text
