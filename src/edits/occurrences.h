// Where a string occurs in a rope.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "seq/rope.h"
#include "text/units.h"

namespace quire::edits {

// Each place at which `needle` begins, ascending, those that overlap included; at most `limit` of
// them. Requires a needle. One pass, in pieces: the text is not copied as a whole.
std::vector<text::Byte> occurrences(const seq::Rope& text, std::string_view needle,
                                    std::size_t limit);

}  // namespace quire::edits
