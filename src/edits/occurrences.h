// Finding a string in a rope.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "seq/rope.h"
#include "text/units.h"

namespace quire::edits {

// All places at which `needle` begins, ascending, overlapping ones included; at most `limit`.
// Requires a needle that is not empty. One pass in pieces, so the text is never copied as a whole.
std::vector<text::Byte> occurrences(const seq::Rope& text, std::string_view needle,
                                    std::size_t limit);

}  // namespace quire::edits
