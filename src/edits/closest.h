// The lines of a text most like some that are not in it: what to show a caller who misremembers.
#pragma once

#include <optional>
#include <string_view>

#include "seq/rope.h"
#include "text/units.h"

namespace quire::edits {

// As many lines as `wanted` has, where most of them stand when blanks are not counted; else those
// around the line most like its longest line. None when nothing is similar. One pass over the text.
std::optional<text::LineRange> closest_lines(const seq::Rope& text, std::string_view wanted);

}  // namespace quire::edits
