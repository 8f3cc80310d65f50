// Names and texts that others chose, as they may be shown to whoever decides about them. Pure.
#pragma once

#include <string>
#include <string_view>

namespace quire::text {

// What would draw on a terminal, turn the direction of reading or be invisible is written as its
// number, "\u{202e}"; of bytes that are no UTF-8 each as "\x{ff}". O(text).
std::string shown(std::string_view text);

}  // namespace quire::text
