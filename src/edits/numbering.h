// Numbering: how lines are counted where a reader sees them. Inside, lines are 0-based and
// half-open; a profile shows them in one numbering everywhere, its errors included.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/value.h"
#include "text/units.h"

namespace quire::edits {

enum class Numbering {
    zero_half_open,  // The first line is 0; {2, 4} is the third and the fourth.
    one_inclusive,   // The first line is 1; the same two are 3 to 4.
};

std::size_t shown(Numbering numbering, text::Line line);
// {start_line, end_line} as the numbering counts them.
Map shown(Numbering numbering, text::LineRange range);
// "line 4", "lines 4-5" or, half-open, "lines [4, 6)".
std::string in_words(Numbering numbering, text::LineRange range);

// "number TAB text" for each of `lines`, the first of which is `first`. Terminators are kept; with
// `end_each_line` a line that lacks one gets '\n'.
std::string numbered(std::span<const std::string> lines, text::Line first, Numbering numbering,
                     bool end_each_line = false);

}  // namespace quire::edits
