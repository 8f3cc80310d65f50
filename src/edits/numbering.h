// Numbering: how readers see line numbers. Internally lines are 0-based and half-open; a profile
// shows them in one numbering everywhere, errors included.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/value.h"
#include "text/units.h"

namespace quire::edits {

enum class Numbering {
    // The first line is 0; {2, 4} means the third and the fourth.
    zero_half_open,
    // The first line is 1; the same two lines are 3 to 4.
    one_inclusive,
};

// The number that a reader sees for the line.
std::size_t shown(Numbering numbering, text::Line line);
// {start_line, end_line} in that numbering.
Map shown(Numbering numbering, text::LineRange range);
// "line 4", "lines 4-5" or, half-open, "lines [4, 6)".
std::string in_words(Numbering numbering, text::LineRange range);

// "number TAB text" for each of `lines`; the first has the number of `first`. Terminators are kept;
// with `end_each_line` a line without one gets '\n'.
std::string numbered(std::span<const std::string> lines, text::Line first, Numbering numbering,
                     bool end_each_line = false);

}  // namespace quire::edits
