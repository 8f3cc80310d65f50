// Planning a batch is running it on an EditedText, a copy-on-write rope that remembers how it
// differs from the original. Sequential operations simply run one after the other. Original ones
// are all checked first, sorted from top to bottom, and then run with their line numbers moved by
// the lines that earlier ones added or removed. Either way the plan is the draft's difference: a
// few splices, ascending, without text that an operation only rewrote as it was.
//
// The newline rules are in put() and replace(): the text around decides the style, and a final
// newline is neither lost nor invented.

#include "edits/line_edit.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/concat.h"
#include "base/utf8.h"
#include "edits/edited_text.h"
#include "edits/lines.h"
#include "edits/quoted.h"

namespace quire::edits {

namespace {

// Limits on the numbered lines that an error message quotes.
constexpr std::size_t kQuotedLines = 20;
constexpr std::size_t kQuotedColumns = 400;

template <class... F>
struct Overloaded : F... {
    using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;  // clang 14 does not deduce an aggregate without it.

// The lines that an operation names; an empty range if it only inserts.
text::LineRange lines_of(const LineOp& op) {
    return std::visit(Overloaded{[](const InsertLines& o) {
                                     return text::LineRange{o.at, o.at};
                                 },
                                 [](const DeleteLines& o) { return o.lines; },
                                 [](const ReplaceLines& o) { return o.lines; }},
                      op);
}

std::string_view word_for(const LineOp& op) {
    static constexpr std::string_view kWords[] = {"insert", "delete", "replace"};
    return kWords[op.index()];
}

// The operation with its line numbers moved by `by`.
LineOp moved(LineOp op, std::ptrdiff_t by) {
    const auto move = [by](text::Line& line) { line.n += static_cast<std::size_t>(by); };
    const auto move_range = [&](auto& o) {
        move(o.lines.begin);
        move(o.lines.end);
    };
    std::visit(
        Overloaded{[&](InsertLines& o) { move(o.at); }, [&](DeleteLines& o) { move_range(o); },
                   [&](ReplaceLines& o) { move_range(o); }},
        op);
    return op;
}

std::string with_last_newline(std::string text) {
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    return text;
}

// Runs a batch over one text.
class Editor {
public:
    Editor(const LineEdit& edit, const seq::Rope& text, std::uint64_t version)
        : edit_(edit), draft_(text), version_(version) {}

    Result<void> run(Coords coords) {
        coords_ = coords;
        return coords == Coords::sequential ? in_turn() : by_original();
    }
    const EditedText& draft() const { return draft_; }

private:
    // Each operation sees the lines as the ones before it left them.
    Result<void> in_turn() {
        for (std::size_t i = 0; i < edit_.operations.size(); ++i) {
            TRY(check(i, edit_.operations[i]));
            TRY(apply(i, edit_.operations[i]));
        }
        return {};
    }

    // Checks all operations against the original text, then runs them downwards through it, each
    // moved by the lines that those above it added or removed.
    Result<void> by_original() {
        std::vector<std::size_t> order(edit_.operations.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        for (const std::size_t i : order) TRY(check(i, edit_.operations[i]));
        const auto place = [&](std::size_t i) {
            const text::LineRange lines = lines_of(edit_.operations[i]);
            // An insert before a line runs ahead of changes to that line.
            return std::pair(lines.begin, lines.begin != lines.end);
        };
        std::ranges::stable_sort(order,
                                 [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
        for (std::size_t k = 1; k < order.size(); ++k) {
            const text::LineRange above = lines_of(edit_.operations[order[k - 1]]);
            if (lines_of(edit_.operations[order[k]]).begin < above.end) {
                return overlap(order[k - 1], order[k]);
            }
        }
        // The number of lines tells how far those further down have moved. It also covers an insert
        // that adds the missing newline of a last line: that changes no number.
        const auto before = static_cast<std::ptrdiff_t>(draft_.text().lines().n);
        for (const std::size_t i : order) {
            const auto now = static_cast<std::ptrdiff_t>(draft_.text().lines().n);
            TRY(apply(i, moved(edit_.operations[i], now - before)));
        }
        return {};
    }

    // Checks that the lines exist and read as expected.
    Result<void> check(std::size_t index, const LineOp& op) const {
        TRY(check_lines(index, op));
        return std::visit(Overloaded{[&](const InsertLines& o) -> Result<void> {
                                         if (!o.expected_before) return {};
                                         return check_expected(
                                             index, lines_before(o.at, *o.expected_before),
                                             *o.expected_before);
                                     },
                                     [&](const auto& o) -> Result<void> {
                                         if (!o.expected) return {};
                                         return check_expected(index, o.lines, *o.expected);
                                     }},
                          op);
    }

    // Runs one operation and checks the size of the block after it.
    Result<void> apply(std::size_t index, const LineOp& op) {
        TRY(std::visit(Overloaded{[&](const InsertLines& o) { return put(index, o.at, o.content); },
                                  [&](const DeleteLines& o) { return erase(o.lines); },
                                  [&](const ReplaceLines& o) { return replace(index, o); }},
                       op));
        return located(index, check_block_size(draft_.text().bytes().n, edit_.limits));
    }

    // The lines before `at`, as many as `expected` has or fewer at the beginning of the text.
    static text::LineRange lines_before(text::Line at, std::string_view expected) {
        const auto newlines =
            static_cast<std::size_t>(std::count(expected.begin(), expected.end(), '\n'));
        const std::size_t named = newlines + (expected.ends_with('\n') ? 0 : 1);
        return {{at.n - std::min(at.n, named)}, at};
    }

    // Inserts whole lines before `at`.
    Result<void> put(std::size_t index, text::Line at, const std::string& raw) {
        if (raw.empty()) {
            return located(index,
                           invalid("empty_content",
                                   cat("there is nothing to insert; a blank line is \"\\n\", and ",
                                       edit_.words.to_delete)));
        }
        TRY(located(index, check_written(raw, edit_.limits)));
        const seq::Rope& text = draft_.text();
        // The newline rules ask if this text is empty and if it has a final newline.
        const seq::Rope& asked = coords_ == Coords::original ? draft_.original() : text;
        if (text.empty() && asked.empty()) {
            draft_.splice({0}, {0}, raw);
            return {};
        }
        const Eol style = text.empty() ? style_beside(asked, at) : style_beside(text, at);
        std::string content = in_style(raw, style, text.empty() ? asked : text);
        const std::string newline(newline_for(style, content));
        const bool at_end = at == text.lines();
        const bool terminated = content.ends_with('\n');
        if (at_end && !text.empty() && !text.ends_with_newline()) content.insert(0, newline);
        if (!terminated && (!at_end || asked.ends_with_newline())) content += newline;
        draft_.splice(text.line_start(at), {0}, content);
        return {};
    }

    // Removes the lines with their terminators.
    Result<void> erase(text::LineRange lines) {
        const text::Byte begin = draft_.text().line_start(lines.begin);
        const text::Byte end = draft_.text().line_start(lines.end);
        if (begin != end) draft_.splice(begin, end - begin, "");
        return {};
    }

    // Replaces the lines; the last terminator stays if there was one.
    Result<void> replace(std::size_t index, const ReplaceLines& o) {
        if (o.lines.begin == o.lines.end) return put(index, o.lines.begin, o.content);
        if (o.content.empty()) return erase(o.lines);
        TRY(located(index, check_written(o.content, edit_.limits)));

        const seq::Rope& text = draft_.text();
        const text::Line last{o.lines.end.n - 1};
        const Eol own = terminator(text, last);
        const Eol style = own != Eol::none ? own : style_beside(text, o.lines.begin);
        std::string content = in_style(o.content, style, text);
        if (!content.ends_with('\n') && own != Eol::none) content += newline_for(own, content);
        const text::Byte begin = text.line_start(o.lines.begin);
        draft_.splice(begin, text.line_start(o.lines.end) - begin, content);
        return {};
    }

    // The error for lines that do not exist, in the caller's numbering.
    Result<void> check_lines(std::size_t index, const LineOp& op) const {
        const text::LineRange lines = lines_of(op);
        const std::size_t max = draft_.text().lines().n;
        if (lines.begin > lines.end) {
            return located(index, invalid("invalid_range",
                                          cat("start_line ", shown(edit_.numbering, lines.begin),
                                              " is after end_line ", lines.end.n,
                                              ". Swap them, or read the block again"),
                                          shown(edit_.numbering, lines)));
        }
        if (lines.end.n <= max) return {};
        const bool one = edit_.numbering == Numbering::one_inclusive;
        const bool inserts = lines.begin == lines.end;
        // `requested` is the number that the caller wrote: the start where that is past the end
        // already, else the end.
        const bool begins_past = lines.begin.n > max || (one && lines.begin.n == max);
        const std::size_t requested =
            begins_past && !inserts ? shown(edit_.numbering, lines.begin) : lines.end.n;
        const std::string_view unit = max == 1 ? " line" : " lines";
        std::string message = cat("line ", requested, " is past the end: the block ",
                                  is_changed() ? "would then have " : "has ", max, unit);
        if (std::holds_alternative<InsertLines>(op)) {
            message += cat(". Valid for ", edit_.words.line, ": 0 to ", max);
        } else if (one) {
            message +=
                max == 0 ? cat(". ", edit_.words.to_begin) : cat(". Valid lines: 1 to ", max);
        } else {
            message += cat(". Valid for start_line and end_line: 0 to ", max);
        }
        return located(index, fail(Errc::out_of_range, "line_out_of_range", std::move(message),
                                   {{"requested", requested}, {"max", max}}));
    }

    Result<void> check_expected(std::size_t index, text::LineRange lines,
                                std::string_view expected) const {
        if (lines_match(draft_.text(), lines, expected)) return {};
        return mismatch(index, lines, expected);
    }

    // The error for lines that do not read as expected; it quotes them, so that the caller can
    // repeat the call without reading the block.
    Result<void> mismatch(std::size_t index, text::LineRange lines,
                          std::string_view expected) const {
        const seq::Rope& text = draft_.text();
        const text::Byte begin = text.line_start(lines.begin);
        const text::Byte end = text.line_start(lines.end);
        // `actual` is what a caller passes as the expected text next time, so it has '\n' for every
        // line end and one behind the last line, as lines_match() reads it.
        const Quoted part = quoted(text, begin, end);
        std::string actual = to_lf(part.text);

        Map details = shown(edit_.numbering, lines);
        details.append("expected", expected);
        details.append("actual",
                       part.whole ? with_last_newline(std::move(actual)) : std::move(actual));
        if (!part.whole) details.append("actual_truncated", true);

        const std::string named = in_words(edit_.numbering, lines);
        std::string message;
        if (lines.begin == lines.end) {
            message =
                cat("there is no line to compare with the expected text (the block is at version ",
                    version_, "). Call again without the expected text, or read the block first");
        } else {
            std::vector<std::string> now;
            const text::Line stop{std::min(lines.end.n, lines.begin.n + kQuotedLines)};
            for_each_line(text, {lines.begin, stop}, [&](text::Line, std::string_view line) {
                now.emplace_back(without_terminator(line));
                cut_line(now.back(), kQuotedColumns);
                return true;
            });
            message = cat(named, stop.n - lines.begin.n == 1 ? " differs" : " differ",
                          " from the text expected (the block is at version ", version_, "). ",
                          is_changed() ? "After the operations before it there would be"
                          : lines.end.n - lines.begin.n == 1 ? "It is now"
                                                             : "They are now",
                          ":\n", numbered(now, lines.begin, edit_.numbering, true));
            if (stop < lines.end) message += cat("… and ", lines.end.n - stop.n, " more lines\n");
            if (!part.whole) message += "The rest does not fit into an error: read the block. ";
            message +=
                "Call again with these lines as the expected text if the change is still right";
        }
        return located(index, fail(Errc::conflict, "content_mismatch", std::move(message),
                                   std::move(details)));
    }

    // The error names both operations with their lines.
    Failure overlap(std::size_t above, std::size_t below) const {
        const auto name = [&](std::size_t i) {
            const LineOp& op = edit_.operations[i];
            const text::LineRange lines = lines_of(op);
            const std::string where = lines.begin == lines.end
                                          ? cat("at line ", lines.begin.n)
                                          : cat("of ", in_words(edit_.numbering, lines));
            return cat("operations[", i, "] (", word_for(op), " ", where, ")");
        };
        return invalid("overlapping_operations",
                       cat(name(above), " and ", name(below),
                           " touch the same lines, which coords \"original\" does not allow. Join "
                           "them into one "
                           "operation, or use coords \"sequential\""),
                       {{"operation", std::max(above, below)}, {"other", std::min(above, below)}});
    }

    // Adds the index of the failing operation to its error.
    Result<void> located(std::size_t index, Result<void> done) const {
        if (done) return done;
        Error error = std::move(done).error();
        Map details{{"operation", index}};
        for (const Map::Entry& entry : error.details()) details.append(entry.key, entry.value);
        error.details() = std::move(details);
        if (edit_.operations.size() == 1) return Failure(std::move(error));
        return Failure(std::move(error).within(
            cat("operations[", index, "] (", word_for(edit_.operations[index]), ")")));
    }

    // Returns true if earlier operations of the batch have changed the text.
    bool is_changed() const { return coords_ == Coords::sequential && !draft_.splices().empty(); }

    const LineEdit& edit_;
    EditedText draft_;
    Coords coords_ = Coords::sequential;
    std::uint64_t version_;
};

bool is_about_lines(const Error& error) {
    return error.reason() == "content_mismatch" || error.reason() == "line_out_of_range";
}

// The error of a failed batch, with a hint if it would have fitted under the other Coords.
Failure explained(Error error, const LineEdit& edit, const seq::Rope& text, std::uint64_t version) {
    if (edit.operations.size() < 2 || !is_about_lines(error)) return Failure(std::move(error));
    const bool sequential = edit.coords == Coords::sequential;
    if (!Editor(edit, text, version).run(sequential ? Coords::original : Coords::sequential)) {
        return Failure(std::move(error));
    }
    return fail(error.code(), error.reason(),
                cat(error.message(), ".\nWith coords ",
                    sequential ? "\"original\"" : "\"sequential\"", " this batch would fit: ",
                    sequential ? "its lines are those of the text before the call"
                               : "its lines are those that the operations before left"),
                error.details());
}

// Limits first, then the batch; a failure is explained.
Result<Planned> plan(const LineEdit& edit, const seq::Rope& text, std::uint64_t version) {
    if (edit.base_version) TRY(check_base(*edit.base_version, version));
    if (edit.operations.size() > edit.limits.operations) {
        return fail(Errc::out_of_range, "too_large",
                    cat("the call has ", edit.operations.size(), " operations; at most ",
                        edit.limits.operations, " are allowed. Make several calls"),
                    {{"limit", edit.limits.operations}});
    }
    Editor editor(edit, text, version);
    if (Result<void> done = editor.run(edit.coords); !done) {
        return explained(std::move(done).error(), edit, text, version);
    }
    return Planned{editor.draft().splices(), {}};
}

}  // namespace

bool lines_match(const seq::Rope& text, text::LineRange range, std::string_view expected) {
    const text::Byte begin = text.line_start(range.begin);
    const text::Byte end = text.line_start(range.end);
    // Every newline may have a '\r' before it that `expected` lacks.
    if (end.n - begin.n > 2 * expected.size() + 2) return false;
    const std::string actual = with_last_newline(to_lf(text.slice(begin, end)));
    const std::string wanted = to_lf(expected);
    if (wanted == actual) return true;
    return !actual.empty() && wanted == std::string_view(actual).substr(0, actual.size() - 1);
}

Plan line_edits(LineEdit edit) {
    return [edit = std::move(edit)](const seq::Rope& text, std::uint64_t version) {
        return plan(edit, text, version);
    };
}

}  // namespace quire::edits
