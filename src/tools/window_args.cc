// Ranges arrive signed, so that -1 and mistakes can be told from large numbers, and leave as the
// kernel counts. The conversion takes 1 from the start only: an included end counted from 1 is an
// excluded end counted from 0.
#include "tools/window_args.h"

#include <string_view>

#include "base/concat.h"

namespace quire::tools {
namespace {

struct Stretch {
    std::size_t begin = 0;
    std::size_t end = 0;
};

// `thing`: "line" or "column".
Result<Stretch> stretch(const RangeAsked& range, edits::Numbering numbering,
                        std::string_view thing) {
    const bool inclusive = numbering == edits::Numbering::one_inclusive;
    const std::int64_t first = inclusive ? 1 : 0;
    const std::int64_t end = inclusive && range.end == -1 ? INT64_MAX : range.end;
    if (range.start < first || end < range.start) {
        return invalid("invalid_range",
                       cat("a range of ", thing, "s starts at ", first,
                           " or later and ends at its start or later",
                           inclusive ? cat("; -1 is the last ", thing) : std::string()),
                       {{"start", range.start}, {"end", range.end}});
    }
    return Stretch{static_cast<std::size_t>(range.start - first), static_cast<std::size_t>(end)};
}

}  // namespace

json::Fields<RangeAsked> RangeAsked::fields() {
    return json::Fields<RangeAsked>()
        .required("start", &RangeAsked::start)
        .required("end", &RangeAsked::end);
}

Result<text::LineRange> lines_asked(const RangeAsked& range, edits::Numbering numbering) {
    const Stretch lines = TRY(stretch(range, numbering, "line"));
    return text::LineRange{{lines.begin}, {lines.end}};
}

Result<edits::Columns> columns_asked(const RangeAsked& range, edits::Numbering numbering) {
    const Stretch columns = TRY(stretch(range, numbering, "column"));
    return edits::Columns{columns.begin, columns.end};
}

Result<edits::Window> window_asked(const std::optional<RangeAsked>& range,
                                   const std::optional<RangeAsked>& columns,
                                   edits::Numbering numbering) {
    edits::Window window;
    if (range) window.lines = TRY(lines_asked(*range, numbering));
    if (columns) window.columns = TRY(columns_asked(*columns, numbering));
    return window;
}

}  // namespace quire::tools
