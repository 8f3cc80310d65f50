// Lines of a rope: their terminators, and reading many of them in one pass.
#pragma once

#include <string>
#include <string_view>

#include "base/function.h"
#include "seq/rope.h"
#include "text/units.h"

namespace quire::edits {

enum class Eol { none, lf, crlf };

// The terminator of one line; none for an unterminated last one. Requires line < lines(). O(log n).
Eol terminator(const seq::Rope& text, text::Line line);
// The style a newline gets when it is written beside `line`: that of the line before, else of the
// line itself, else none. Where every terminator is the same this is that one. O(log n).
Eol style_beside(const seq::Rope& text, text::Line line);

// `content` with its line ends in the style that text beside it has: in CRLF text every '\n'
// becomes
// "\r\n"; beside an LF line of a mixed text "\r\n" becomes '\n'. Else as it is.
std::string in_style(std::string content, Eol style, const seq::Rope& text);
// The terminator to add to or before `content` in `style`; with no style to follow, content's own.
std::string_view newline_for(Eol style, std::string_view content);

std::string to_lf(std::string_view text);
std::string to_crlf(std::string_view text);

// `line` without its '\n' or "\r\n".
std::string_view without_terminator(std::string_view line);
// The longest prefix of at most `columns` code points, terminator kept. True when something was
// cut.
bool cut_line(std::string& line, std::size_t columns);

// Calls `take` for each line of [range.begin, range.end) with its terminator; the view is valid for
// that call. Stops when `take` returns false. One pass over the text, O(1) memory but for long
// lines.
void for_each_line(const seq::Rope& text, text::LineRange range,
                   Function<bool(text::Line, std::string_view)> take);

}  // namespace quire::edits
