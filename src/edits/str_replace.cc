// The search goes from strict to lenient: the exact text; the same with "\r\n" and '\n' taken as
// equal; the same again without line numbers. Each step runs only if the one before found nothing,
// so an exact match is never passed over for a lenient one, and the usual call is a single pass.
//
// A miss answers with the most similar lines (closest.h): an agent that misremembers a line can
// repeat the call without reading the block.

#include "edits/str_replace.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/utf8.h"
#include "edits/closest.h"
#include "edits/edited_text.h"
#include "edits/lines.h"
#include "edits/occurrences.h"

namespace quire::edits {

namespace {

// Limits on lines that a message names or quotes.
constexpr std::size_t kMostLinesNamed = 50;
constexpr std::size_t kMostLinesShown = 30;
constexpr std::size_t kShownColumns = 400;
constexpr std::size_t kContext = 2;

struct Place {
    text::Byte begin;
    text::Byte end;
};

// The text to find and to write, with notes on what was forgiven to find it.
struct Wanted {
    std::string old_str;
    std::string new_str;
    std::vector<std::string> notes;
};

std::vector<Place> exact(const seq::Rope& text, std::string_view old_str) {
    std::vector<Place> places;
    for (const text::Byte at : occurrences(text, old_str, SIZE_MAX)) {
        // A '\n' also matches the second half of a "\r\n"; then the whole terminator is replaced.
        const bool after_cr =
            old_str.starts_with('\n') && at.n > 0 && text.slice({at.n - 1}, at) == "\r";
        places.push_back({{at.n - (after_cr ? 1 : 0)}, at + text::Byte{old_str.size()}});
    }
    return places;
}

// Like exact(), with "\r\n" and '\n' taken as equal.
std::vector<Place> with_any_line_end(const seq::Rope& text, std::string_view old_str) {
    if (old_str.find('\n') == std::string_view::npos || text.newlines() == 0) return {};
    const std::string raw = text.str();
    std::string lf;
    // Offsets in `lf` before which a '\r' was left out.
    std::vector<std::size_t> dropped;
    lf.reserve(raw.size());
    for (std::size_t i = 0; i < raw.size(); ++i) {
        if (raw[i] == '\r' && i + 1 < raw.size() && raw[i + 1] == '\n') {
            dropped.push_back(lf.size());
        } else {
            lf += raw[i];
        }
    }
    const std::string needle = to_lf(old_str);
    // A match that begins after a dropped '\r' is placed before it.
    const auto in_raw = [&](std::size_t at) {
        const auto bound = std::lower_bound(dropped.begin(), dropped.end(), at);
        return text::Byte{at + static_cast<std::size_t>(bound - dropped.begin())};
    };
    std::vector<Place> places;
    for (std::size_t at = lf.find(needle); at != std::string::npos; at = lf.find(needle, at + 1)) {
        places.push_back({in_raw(at), in_raw(at + needle.size())});
    }
    return places;
}

// `text` without the "number TAB" at the start of each line; nothing if a line has none.
std::optional<std::string> without_numbers(std::string_view text) {
    std::string out;
    if (text.empty()) return std::nullopt;
    while (!text.empty()) {
        const std::size_t newline = text.find('\n');
        const std::string_view line =
            text.substr(0, newline == std::string_view::npos ? text.size() : newline + 1);
        std::size_t i = line.find_first_not_of(' ');
        const std::size_t digits = i;
        while (i < line.size() && line[i] >= '0' && line[i] <= '9') ++i;
        if (i == digits || i >= line.size() || line[i] != '\t') return std::nullopt;
        out.append(line.substr(i + 1));
        text.remove_prefix(line.size());
    }
    return out;
}

// The line with tabs and trailing blanks made visible.
std::string visible(std::string_view line) {
    std::string out;
    const std::size_t last = line.find_last_not_of(" \t");
    const std::size_t body = last == std::string_view::npos ? 0 : last + 1;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '\t') {
            out += "→";
        } else if (line[i] == ' ' && i >= body) {
            out += "·";
        } else {
            out += line[i];
        }
    }
    return out;
}

// Carries one replacement out on one text.
class Replacer {
public:
    Replacer(const StrReplace& call, const seq::Rope& text) : call_(call), text_(text) {}

    // The steps of one replacement: limits, search, uniqueness, edit.
    Result<Planned> plan() {
        if (call_.old_str.empty()) {
            return invalid(
                "empty_content",
                cat(words_.old_str, " is empty. Give the text to replace, or ", words_.to_add));
        }
        TRY(check_written(call_.old_str, call_.limits));
        TRY(check_written(call_.new_str, call_.limits));

        Wanted wanted{call_.old_str, call_.new_str, {}};
        std::vector<Place> places = search(wanted);
        if (places.empty()) return no_match();
        if (!call_.replace_all && places.size() > 1) return not_unique(places);
        return replace(places, std::move(wanted));
    }

private:
    // Searches exactly first, then with one mistake forgiven after the other.
    std::vector<Place> search(Wanted& wanted) const {
        std::vector<Place> places = exact(text_, wanted.old_str);
        if (!places.empty()) return places;
        places = with_any_line_end(text_, wanted.old_str);
        if (!places.empty()) {
            wanted.notes.push_back(
                cat(words_.old_str, " was found with the other kind of line ends"));
            return places;
        }
        const std::optional<std::string> bare = without_numbers(call_.old_str);
        if (!bare || bare->empty()) return {};
        wanted.old_str = *bare;
        if (std::optional<std::string> replacement = without_numbers(call_.new_str)) {
            wanted.new_str = std::move(*replacement);
        }
        wanted.notes.push_back(cat("the line numbers in ", words_.old_str, " were ignored"));
        places = exact(text_, wanted.old_str);
        return places.empty() ? with_any_line_end(text_, wanted.old_str) : places;
    }

    // Overlapping matches are replaced once, from the front.
    Result<Planned> replace(const std::vector<Place>& places, Wanted wanted) const {
        EditedText draft(text_);
        std::size_t grown = 0;
        std::size_t shrunk = 0;
        // The end of the last replacement; matches that overlap it are skipped.
        std::size_t free = 0;
        for (const Place& place : places) {
            if (place.begin.n < free) continue;
            free = place.end.n;
            const std::string content = in_style(wanted.new_str, style_at(place), text_);
            draft.splice({place.begin.n + grown - shrunk}, place.end - place.begin, content);
            grown += content.size();
            shrunk += (place.end - place.begin).n;
            TRY(check_block_size(draft.text().bytes().n, call_.limits));
        }
        auto splices = draft.splices();
        // Nothing was replaced where the new text is the old one.
        if (call_.replace_all && !splices.empty()) wanted.notes.push_back(replaced(places));
        return Planned{std::move(splices), std::move(wanted.notes)};
    }

    static std::string replaced(const std::vector<Place>& places) {
        std::size_t count = 0;
        std::size_t free = 0;
        for (const Place& place : places) {
            if (place.begin.n < free) continue;
            free = place.end.n;
            ++count;
        }
        return cat(count, count == 1 ? " occurrence was replaced" : " occurrences were replaced");
    }

    // The style of the line in which the place begins, else of the line before.
    Eol style_at(const Place& place) const {
        const text::Line line = text_.to_line(place.begin);
        if (line >= text_.lines()) return style_beside(text_, text_.lines());
        const Eol own = terminator(text_, line);
        return own != Eol::none ? own : style_beside(text_, line);
    }

    // The message names the lines, so that the caller can add context around one of them.
    Failure not_unique(const std::vector<Place>& places) const {
        List lines;
        std::string named;
        for (const Place& place : places) {
            const std::size_t number = shown(call_.numbering, text_.to_line(place.begin));
            if (!lines.empty() && lines.back() == Value(number)) continue;
            if (lines.size() == kMostLinesNamed) {
                named += ", …";
                break;
            }
            named += cat(lines.empty() ? "" : ", ", number);
            lines.emplace_back(number);
        }
        std::string message =
            cat(words_.old_str, " occurs ", places.size(), " times (",
                lines.size() == 1 ? "line " : "lines ", named,
                "). Add lines before or after it until it occurs once", words_.to_replace_all);
        return fail(Errc::conflict, "not_unique", std::move(message),
                    {{"lines", std::move(lines)}});
    }

    // The message shows the most similar lines with their blanks made visible: most misses are a
    // matter of blanks.
    Failure no_match() const {
        const std::string wanted = without_numbers(call_.old_str).value_or(call_.old_str);
        const std::optional<text::LineRange> closest = closest_lines(text_, wanted);
        if (!closest) {
            return fail(Errc::conflict, "no_match",
                        cat(words_.old_str, " does not occur in ", words_.whole,
                            ", and nothing similar does (", text_.lines().n,
                            text_.lines().n == 1 ? " line" : " lines", "). ", words_.look,
                            " and copy ", words_.old_str, " from it"));
        }
        const text::LineRange around{{closest->begin.n - std::min(closest->begin.n, kContext)},
                                     {std::min({text_.lines().n, closest->end.n + kContext,
                                                closest->begin.n + kMostLinesShown})}};
        std::vector<std::string> lines;
        for_each_line(text_, around, [&](text::Line, std::string_view line) {
            lines.push_back(visible(utf8::prefix(without_terminator(line), kShownColumns)));
            return true;
        });
        std::string message =
            cat(words_.old_str, " does not occur in ", words_.whole, ". The most similar text is ",
                in_words(call_.numbering, *closest), " (→ is a tab, · a blank at the end):\n",
                numbered(lines, around.begin, call_.numbering, true), "Copy ", words_.old_str,
                " from there, blanks included, without the numbers");
        return fail(Errc::conflict, "no_match", std::move(message),
                    {{"closest", shown(call_.numbering, *closest)}});
    }

    const StrReplace& call_;
    const StrReplaceWords& words_ = call_.words;
    const seq::Rope& text_;
};

}  // namespace

Plan str_replace(StrReplace replace) {
    return [replace = std::move(replace)](const seq::Rope& text, std::uint64_t) {
        return Replacer(replace, text).plan();
    };
}

}  // namespace quire::edits
