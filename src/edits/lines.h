// Lines of a rope: their terminators, and reading many of them in one pass.
#pragma once

#include <string>
#include <string_view>

#include "base/function.h"
#include "seq/rope.h"
#include "text/units.h"

namespace quire::edits {

// The terminator of a line.
enum class Eol { none, lf, crlf };

// The terminator of one line; none for a last line without newline. Requires line < lines(). O(log
// n).
Eol terminator(const seq::Rope& text, text::Line line);
// The style for a newline that is written beside `line`: the one of the line before, else of the
// line itself, else none. O(log n).
Eol style_beside(const seq::Rope& text, text::Line line);

// `content` with its line ends in the style of the text beside it: in CRLF text every '\n' becomes
// "\r\n"; beside an LF line of a mixed text "\r\n" becomes '\n'; otherwise unchanged.
std::string in_style(std::string content, Eol style, const seq::Rope& text);
// The terminator to add to or before `content`. Without a style to follow, the content's own.
std::string_view newline_for(Eol style, std::string_view content);

// All line ends as '\n'.
std::string to_lf(std::string_view text);
// All line ends as "\r\n".
std::string to_crlf(std::string_view text);

// `line` without its '\n' or "\r\n".
std::string_view without_terminator(std::string_view line);
// Cuts the line to at most `columns` code points and keeps its terminator. True if something was
// cut.
bool cut_line(std::string& line, std::size_t columns);

// Calls `take` for each line of [range.begin, range.end) with its terminator, until it returns
// false; the view is valid during that call. One pass; O(1) memory unless a line is long.
void for_each_line(const seq::Rope& text, text::LineRange range,
                   Function<bool(text::Line, std::string_view)> take);

}  // namespace quire::edits
