// Views read a rope in one pass over the lines they show and never copy the whole text. Lines are
// cut by code points, so that no output contains half a character.
//
// A view is cut where it would fill a model's context, and its notes say how to read on. A change
// is shown by the lines of the new text that its splices touch, with two lines around them.

#include "edits/view.h"

#include <algorithm>

#include "base/concat.h"
#include "base/utf8.h"
#include "edits/lines.h"
#include "edits/text_change.h"

namespace quire::edits {

namespace {

constexpr std::size_t kSummaryColumns = 80;
constexpr std::size_t kSummaryBytes = 64 << 10;
constexpr std::size_t kSnippetContext = 2;

std::string_view trimmed(std::string_view line) {
    constexpr std::string_view kBlanks = " \t\r\n\f\v";
    const std::size_t begin = line.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return {};
    return line.substr(begin, line.find_last_not_of(kBlanks) + 1 - begin);
}

// The lines of the range. One that ends too late is clamped, one that begins too late is an error:
// the first is a guess, the second a mistake.
Result<text::LineRange> lines_in(const seq::Rope& text, std::optional<text::LineRange> range) {
    const text::Line count = text.lines();
    text::LineRange lines = range.value_or(text::LineRange{{0}, count});
    if (lines.begin > lines.end) {
        return invalid(
            "invalid_range",
            cat("the range starts at ", lines.begin.n, " and ends at ", lines.end.n, ". Swap them"),
            {{"start", lines.begin.n}, {"end", lines.end.n}});
    }
    if (lines.begin > count) {
        return fail(Errc::out_of_range, "line_out_of_range",
                    cat("line ", lines.begin.n, " is past the end: the block has ", count.n,
                        count.n == 1 ? " line" : " lines", ". Valid for start: 0 to ", count.n),
                    {{"requested", lines.begin.n}, {"max", count.n}});
    }
    lines.end = std::min(lines.end, count);
    return lines;
}

// A part of the one line in `lines`.
Result<View> part_of_line(const seq::Rope& text, text::LineRange lines, const Columns& wanted,
                          std::size_t most) {
    if (lines.begin.n + 1 != lines.end.n) {
        return invalid("invalid_arguments",
                       "columns are a part of one line: ask for a range of just that line");
    }
    if (wanted.begin > wanted.end) {
        return invalid(
            "invalid_range",
            cat("the columns start at ", wanted.begin, " and end at ", wanted.end, ". Swap them"),
            {{"start", wanted.begin}, {"end", wanted.end}});
    }
    std::string line;
    for_each_line(text, lines, [&](text::Line, std::string_view whole) {
        line = whole;
        return true;
    });
    const std::string_view body = without_terminator(line);
    View out;
    out.first = lines.begin;
    out.line_columns = utf8::count_code_points(body);
    if (wanted.begin > out.line_columns) {
        return invalid("invalid_range",
                       cat("column ", wanted.begin, " is past the end of the line, which has ",
                           out.line_columns, " characters"),
                       {{"start", wanted.begin}, {"max", out.line_columns}});
    }
    const std::size_t end = std::min(wanted.end, out.line_columns);
    // A line may have megabytes, so a part of it is cut like a view of lines.
    out.columns = Columns{wanted.begin, std::min(end, wanted.begin + most)};
    out.truncated = out.columns->end < end;
    const std::size_t from = utf8::prefix(body, wanted.begin).size();
    const std::string_view part = utf8::prefix(body.substr(from), out.columns->end - wanted.begin);
    const bool reaches_the_end = out.columns->end == out.line_columns;
    // The terminator belongs to the part that reaches the line's end.
    out.lines.push_back(reaches_the_end ? line.substr(from) : std::string(part));
    return out;
}

}  // namespace

Result<View> view(const seq::Rope& text, const Window& window, const ViewLimits& limits) {
    const text::LineRange lines = TRY(lines_in(text, window.lines));
    if (window.columns) return part_of_line(text, lines, *window.columns, limits.columns);
    const text::Line stop{std::min(lines.end.n, lines.begin.n + limits.lines)};

    View out;
    out.first = lines.begin;
    std::size_t cut = 0;
    for_each_line(text, {lines.begin, stop}, [&](text::Line, std::string_view line) {
        out.lines.emplace_back(line);
        cut += cut_line(out.lines.back(), limits.columns);
        return true;
    });
    out.truncated = stop < lines.end || cut > 0;
    if (stop < lines.end) {
        out.notes.push_back(cat("the first ", limits.lines, " of ", lines.end.n - lines.begin.n,
                                " lines; read on from where they end"));
    }
    if (cut > 0) {
        out.notes.push_back(cat(cut, cut == 1 ? " line was" : " lines were", " cut at ",
                                limits.columns,
                                " characters; columns, with a range of one line, read on"));
    }
    return out;
}

// The rope counts its newlines; only the "\r\n" among them have to be searched.
std::string_view eol_name(const seq::Rope& text) {
    const std::size_t newlines = text.newlines();
    if (newlines == 0) return "none";
    const std::size_t crlfs = text.crlfs();
    if (crlfs == 0) return "lf";
    return crlfs == newlines ? "crlf" : "mixed";
}

// Reads only the beginning of the text, and stops at the first line with content.
std::string summary(const seq::Rope& text) {
    std::string out;
    const text::Byte end{std::min(text.bytes().n, kSummaryBytes)};
    std::string line;
    const auto finished = [&](std::string_view part) {
        line.append(part);
        const std::string_view body = trimmed(line);
        if (body.empty()) {
            line.clear();
            return false;
        }
        out = utf8::prefix(body, kSummaryColumns);
        return true;
    };
    bool found = false;
    text.for_each_chunk({0}, end, [&](std::string_view chunk) {
        while (!found && !chunk.empty()) {
            const std::size_t newline = chunk.find('\n');
            if (newline == std::string_view::npos) {
                line.append(chunk);
                break;
            }
            found = finished(chunk.substr(0, newline));
            chunk.remove_prefix(newline + 1);
        }
        return !found && line.size() < kSummaryBytes;
    });
    if (!found) {
        while (!utf8::is_valid(line)) line.pop_back();  // The last code point may be cut.
        finished("");
    }
    return out;
}

// Maps each splice to lines of the new text and takes the range around all of them.
Change change_made(const seq::Rope& after, std::span<const text::Splice> splices,
                   std::size_t columns) {
    const std::size_t count = after.lines().n;
    std::size_t begin = count;
    std::size_t end = 0;
    std::size_t grown = 0;
    std::size_t shrunk = 0;
    for (const text::Splice& splice : splices) {
        const std::size_t at = splice.at.n + grown - shrunk;
        grown += splice.insert.size();
        shrunk += splice.erase.n;
        std::size_t first = after.to_line({at}).n;
        std::size_t last = first;
        if (!splice.insert.empty()) {
            last = after.to_line({at + splice.insert.size() - 1}).n + 1;
            // A newline that ends the line before is not part of the lines that follow it.
            const bool ends_line =
                splice.insert.starts_with('\n') || splice.insert.starts_with("\r\n");
            if (ends_line && last > first + 1 && after.line_start({first}).n < at) ++first;
        } else if (after.line_start({first}).n < at) {
            // Part of a line was removed; the changed line is the rest of it.
            last = first + 1;
        }
        begin = std::min(begin, first);
        end = std::max({end, first, last});
    }
    if (splices.empty()) begin = end = 0;

    Change out;
    out.changed = {{std::min(begin, count)}, {std::min(end, count)}};
    out.shown.begin = {out.changed.begin.n - std::min(out.changed.begin.n, kSnippetContext)};
    out.shown.end = {
        std::min({count, out.changed.end.n + kSnippetContext, out.shown.begin.n + kShownLines})};
    out.snippet.reserve(out.shown.end.n - std::min(out.shown.begin.n, out.shown.end.n));
    for_each_line(after, out.shown, [&](text::Line, std::string_view line) {
        out.snippet.emplace_back(without_terminator(line));
        cut_line(out.snippet.back(), columns);
        return true;
    });
    return out;
}

Change change_between(const seq::Rope& before, const seq::Rope& after, std::size_t columns) {
    const UnlikePart part = unlike_part(before, after);
    std::vector<text::Splice> splices;
    if (part.begin < std::max(part.old_end, part.new_end)) {
        splices.push_back(
            {{part.begin}, {part.old_end - part.begin}, after.slice({part.begin}, {part.new_end})});
    }
    return change_made(after, splices, columns);
}

}  // namespace quire::edits
