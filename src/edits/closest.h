// The lines of a text that are most like some that it does not contain, to help a caller who
// misremembers them.
#pragma once

#include <optional>
#include <string_view>

#include "seq/rope.h"
#include "text/units.h"

namespace quire::edits {

// The result has as many lines as `wanted`, at the place where most of them occur (blanks ignored);
// else the lines around the one most like the longest wanted line. Nothing if no line is similar.
// One pass over the text.
std::optional<text::LineRange> closest_lines(const seq::Rope& text, std::string_view wanted);

}  // namespace quire::edits
