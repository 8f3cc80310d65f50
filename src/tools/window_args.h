// The arguments of reading tools that say which lines, and which columns of a line, are read.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "edits/numbering.h"
#include "edits/view.h"
#include "json/fields.h"

namespace quire::tools {

// Lines, or columns of one line, as the caller counts them. Signed, so that -1 and mistakes arrive
// as they were written.
struct RangeAsked {
    std::int64_t start = 0;
    std::int64_t end = 0;
    static json::Fields<RangeAsked> fields();
};

// The lines or columns meant, counted from 0 and half-open. In the inclusive profiles -1 is the
// last one, and the end that comes of it is larger than any text. Nothing is checked against a text
// here. Errors: invalid_argument "invalid_range" {start, end}.
Result<text::LineRange> lines_asked(const RangeAsked& range, edits::Numbering numbering);
Result<edits::Columns> columns_asked(const RangeAsked& range, edits::Numbering numbering);

// Both together; without a range all lines, without columns whole lines. That columns need a range
// of one line is checked by the reader. Errors: those above.
Result<edits::Window> window_asked(const std::optional<RangeAsked>& range,
                                   const std::optional<RangeAsked>& columns,
                                   edits::Numbering numbering);

}  // namespace quire::tools
