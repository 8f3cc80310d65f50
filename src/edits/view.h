// What a reader is shown of a block: its lines, within limits, and what an edit has changed.
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

struct ViewLimits {
    std::size_t lines = 2000;
    std::size_t columns = 2000;  // Code points of one line.
};

struct View {
    std::vector<std::string> lines;  // With terminators; cut at ViewLimits::columns.
    text::Line first;
    bool truncated = false;  // Fewer or shorter lines than asked for; `notes` says which.
    std::vector<std::string> notes;
};

// Lines [range.begin, range.end), all when no range is given; an `end` beyond the last is clamped.
// O(log n) and what is shown. Errors: out_of_range "line_out_of_range" {requested, max} for a begin
// beyond lines(); invalid_argument "invalid_range" {start, end}.
Result<View> view(const seq::Rope& text, std::optional<text::LineRange> range,
                  const ViewLimits& limits);

// "lf", "crlf", "mixed", or "none" where there is no newline.
std::string_view eol_name(const seq::Rope& text);

// The first line that is not blank, without blanks at either end, at most 80 code points of it; ""
// when the first 64 KiB hold none.
std::string summary(const seq::Rope& text);

// What an edit did, as its reply shows it.
struct Change {
    text::LineRange changed;  // Lines of the new text that hold what was written; empty, at the
                              // place, where it was only taken away.
    text::LineRange shown;    // Two lines more on either side, at most kShownLines,
    std::vector<std::string> snippet;  // their text without terminators, cut at `columns`.
};
constexpr std::size_t kShownLines = 100;

// `splices` made `after`: ascending, in the text before. O(k log n).
Change change_made(const seq::Rope& after, std::span<const text::Splice> splices,
                   std::size_t columns);
// The same where the splices are not known: all from the first to the last byte that differs. O(n).
Change change_between(const seq::Rope& before, const seq::Rope& after, std::size_t columns);

}  // namespace quire::edits
