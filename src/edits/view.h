// Reading a block for display: its lines within limits, and the lines that an edit changed.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "seq/rope.h"
#include "text/units.h"

namespace quire::edits {

// The most that one view contains.
struct ViewLimits {
    std::size_t lines = 2000;
    std::size_t columns = 2000;  // Code points of one line.
};

// A stretch of one line in code points, half-open. The line's terminator is not counted.
struct Columns {
    std::size_t begin = 0;
    std::size_t end = 0;
    friend bool operator==(const Columns&, const Columns&) = default;
};
// The part of a block that is asked for: all of it, some lines, or a part of one line.
struct Window {
    Window() = default;
    Window(text::LineRange range) : lines(range) {}  // NOLINT(*-explicit-*)
    Window(std::optional<text::LineRange> range,     // NOLINT(*-explicit-*)
           std::optional<Columns> part = {})
        : lines(range), columns(part) {}

    std::optional<text::LineRange> lines;
    std::optional<Columns> columns;  // With a range of one line.
};

// Lines of a block, ready for display.
struct View {
    std::vector<std::string> lines;  // With terminators; cut at ViewLimits::columns.
    text::Line first;
    // True if there are fewer or shorter lines than asked for; `notes` says which.
    bool truncated = false;
    std::vector<std::string> notes;
    // The columns that are shown, if some were asked for, and how many the line has.
    std::optional<Columns> columns = {};
    std::size_t line_columns = 0;
};

// The lines [begin, end) of the window, or all; an `end` beyond the last line or column is clamped.
// A part of a line keeps the terminator if it reaches the line's end. O(log n + output), and
// O(line) for a part of one. Errors: out_of_range "line_out_of_range" {requested, max} if `begin`
// is beyond lines(); invalid_argument "invalid_range" {start, end}, and {start, max} for columns
// that begin beyond the line; invalid_argument "invalid_arguments" for columns of several lines.
Result<View> view(const seq::Rope& text, const Window& window, const ViewLimits& limits);

// "lf", "crlf", "mixed", or "none" for a text without newlines.
std::string_view eol_name(const seq::Rope& text);

// The first line that is not blank, trimmed and cut at 80 code points; "" if the first 64 KiB
// contain none.
std::string summary(const seq::Rope& text);

// The effect of an edit, as its reply shows it.
struct Change {
    text::LineRange changed;  // Lines of the new text that hold what was written; empty, at the
                              // place, where it was only taken away.
    text::LineRange shown;    // Two lines more on either side, at most kShownLines,
    std::vector<std::string> snippet;  // their text without terminators, cut at `columns`.
};
constexpr std::size_t kShownLines = 100;

// The change that `splices` made; they are ascending and count in the text before, `after` is the
// text after. O(k log n).
Change change_made(const seq::Rope& after, std::span<const text::Splice> splices,
                   std::size_t columns);
// The change between two texts if the splices are not known: everything from the first to the last
// byte that differs. O(n).
Change change_between(const seq::Rope& before, const seq::Rope& after, std::size_t columns);

}  // namespace quire::edits
