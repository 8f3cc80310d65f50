// Hunks are placed by their numbers first, then by a search. In a text that a patch was made for,
// all hunks are exactly at their numbers, and nothing is searched for. A number is trusted only
// while every hunk before it was found at its own; once one was found elsewhere, the text has
// moved, and a hunk that occurs twice is refused even if one of the places has its number.
//
// Else all hunks are searched for in one pass (line_table.h), first exactly, then those that were
// not found with the blanks at the ends of lines ignored. Headings choose among the places: from
// each occurrence of the outermost heading the next ones follow in order, and so does the hunk. If
// that leads to several places, the hunk is ambiguous.
#include "edits/patch_places.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/concat.h"

namespace quire::edits {
namespace {

// A refusal names so many places of an ambiguous hunk.
constexpr std::size_t kMostPlaces = 50;
// Headings choose among so many.
constexpr std::size_t kMostUnderHeadings = 10'000;

std::string_view without_indent(std::string_view line) {
    const std::size_t begin = line.find_first_not_of(" \t");
    return compared_part(begin == std::string_view::npos ? "" : line.substr(begin),
                         LineLikeness::blanks_at_end_ignored);
}

class HunkFinder {
public:
    HunkFinder(std::span<const PatchHunk> hunks, const LineTable& text)
        : hunks_(hunks), text_(text), found_(hunks.size()) {
        old_.reserve(hunks.size());
        for (const PatchHunk& hunk : hunks) old_.push_back(old_lines_of(hunk));
    }

    std::vector<FoundHunk> find() {
        std::vector<std::size_t> wanted;
        bool trusted = true;
        for (std::size_t i = 0; i < hunks_.size(); ++i) {
            const PatchHunk& hunk = hunks_[i];
            const std::optional<std::size_t> direct = only_place(i);
            if (old_[i].empty() && !direct) {
                found_[i].trouble =
                    "it has no line of context, so nothing says where it goes. Give the lines "
                    "before or after it as context";
            } else if (direct) {
                settle_at(i, *direct);
            } else if (hunk.hint && hunk.headings.empty() && trusted && fits_line(i, *hunk.hint)) {
                settle_at(i, *hunk.hint);
            } else {
                trusted = false;
                wanted.push_back(i);
            }
        }
        if (!wanted.empty()) {
            search(wanted, LineLikeness::exact);
            std::erase_if(wanted, [&](std::size_t i) {
                return found_[i].line || !found_[i].several.empty() || !found_[i].trouble.empty();
            });
        }
        if (!wanted.empty()) search(wanted, LineLikeness::blanks_at_end_ignored);
        return std::move(found_);
    }

private:
    // The place of a hunk that can have only one: at the end of the text, or in an empty one.
    std::optional<std::size_t> only_place(std::size_t i) const {
        const std::size_t count = old_[i].size();
        if (hunks_[i].at_end) return text_.size() - std::min(count, text_.size());
        if (count == 0 && text_.size() == 0) return 0;
        return std::nullopt;
    }

    void settle_at(std::size_t i, std::size_t line) {
        if (const std::optional<HunkFit> fit = fit_at(i, line)) {
            found_[i].line = line;
            found_[i].fit = *fit;
        }
    }

    bool fits_line(std::size_t i, std::size_t line) const {
        const std::optional<HunkFit> fit = fit_at(i, line);
        return fit && *fit != HunkFit::blanks_at_end_differ;
    }

    // How the hunk fits at the line; nothing if it does not.
    std::optional<HunkFit> fit_at(std::size_t i, std::size_t line) const {
        const std::vector<const PatchLine*>& old = old_[i];
        if (line > text_.size() || old.size() > text_.size() - line) return std::nullopt;
        if (hunks_[i].at_end && line + old.size() != text_.size()) return std::nullopt;
        const bool tells_cr = std::any_of(hunks_[i].lines.begin(), hunks_[i].lines.end(),
                                          [](const PatchLine& each) { return each.cr; });
        HunkFit fit = HunkFit::exact;
        for (std::size_t k = 0; k < old.size(); ++k) {
            const std::string_view there = text_.line(line + k);
            if (there != old[k]->text) {
                constexpr auto kLoosely = LineLikeness::blanks_at_end_ignored;
                if (compared_part(there, kLoosely) != compared_part(old[k]->text, kLoosely))
                    return std::nullopt;
                fit = HunkFit::blanks_at_end_differ;
            }
            if (hunks_[i].tells_final_newline && old[k]->newline != text_.has_newline(line + k)) {
                fit = HunkFit::blanks_at_end_differ;
            } else if (tells_cr && old[k]->cr != text_.has_crlf(line + k)) {
                fit = std::max(fit, HunkFit::other_line_ends);
            }
        }
        return fit;
    }

    void search(const std::vector<std::size_t>& wanted, LineLikeness likeness) {
        std::vector<SoughtLines> sought;
        for (const std::size_t i : wanted) {
            SoughtLines each;
            for (const PatchLine* line : old_[i]) each.lines.emplace_back(line->text);
            each.most = hunks_[i].headings.empty() ? kMostPlaces + 1 : kMostUnderHeadings;
            sought.push_back(std::move(each));
        }
        const auto places = find_sequences(text_, sought, likeness);
        for (std::size_t k = 0; k < wanted.size(); ++k) choose(wanted[k], places[k], likeness);
    }

    // Takes the place of a hunk, if there is one, or notes all of them.
    void choose(std::size_t i, const std::vector<std::uint32_t>& all, LineLikeness likeness) {
        const HunkFit worst = likeness == LineLikeness::exact ? HunkFit::other_line_ends
                                                              : HunkFit::blanks_at_end_differ;
        HunkFit best = worst;
        std::vector<std::size_t> places;
        for (const std::uint32_t line : all) {
            const std::optional<HunkFit> fit = fit_at(i, line);
            // Only the best kind of fit counts: a hunk that is exact at one place is not ambiguous
            // because it nearly fits at another.
            if (!fit || *fit > best) continue;
            if (*fit < best) places.clear();
            best = *fit;
            places.push_back(line);
        }
        FoundHunk& found = found_[i];
        if (!hunks_[i].headings.empty() && !places.empty()) places = under_headings(i, places);
        found.fit = best;
        if (places.size() == 1) {
            found.line = places.front();
        } else {
            places.resize(std::min(places.size(), kMostPlaces));
            found.several = std::move(places);
        }
    }

    // The lines that read like a heading, ascending. One pass over the text for all headings.
    const std::vector<std::size_t>& lines_of_heading(const std::string& heading) {
        if (headings_.empty()) {
            for (const PatchHunk& hunk : hunks_) {
                for (const std::string& each : hunk.headings) headings_[without_indent(each)];
            }
            for (std::size_t line = 0; line < text_.size(); ++line) {
                const auto at = headings_.find(without_indent(text_.line(line)));
                if (at != headings_.end()) at->second.push_back(line);
            }
        }
        return headings_.find(without_indent(heading))->second;
    }

    // The places to which the headings lead: the first one below each occurrence of them all. Each
    // step is a binary search, and the occurrences that lead to one place are passed over together.
    std::vector<std::size_t> under_headings(std::size_t i,
                                            const std::vector<std::size_t>& places) {
        const std::vector<std::string>& headings = hunks_[i].headings;
        const auto first_from = [](const std::vector<std::size_t>& lines, std::size_t from) {
            return std::lower_bound(lines.begin(), lines.end(), from);
        };
        for (const std::string& heading : headings) {
            if (!lines_of_heading(heading).empty()) continue;
            found_[i].trouble = cat("no line reads '", heading, "', which is its heading");
            return {};
        }
        const std::vector<std::size_t>& outermost = lines_of_heading(headings.front());
        // The place below the occurrence number `k` of the outermost heading; none: the end.
        const auto place_below = [&](std::size_t k) -> std::optional<std::size_t> {
            std::size_t line = outermost[k];
            for (std::size_t inner = 1; inner < headings.size(); ++inner) {
                const std::vector<std::size_t>& lines = lines_of_heading(headings[inner]);
                const auto next = first_from(lines, line + 1);
                if (next == lines.end()) return std::nullopt;
                line = *next;
            }
            const auto place = first_from(places, line);
            if (place == places.end()) return std::nullopt;
            return *place;
        };
        std::vector<std::size_t> out;
        for (std::size_t k = 0; k < outermost.size() && out.size() <= kMostPlaces;) {
            const std::optional<std::size_t> place = place_below(k);
            if (!place) break;
            out.push_back(*place);
            // The first occurrence that leads further down.
            std::size_t low = k + 1;
            std::size_t high = outermost.size();
            while (low < high) {
                const std::size_t middle = low + (high - low) / 2;
                const auto other = place_below(middle);
                if (other && *other <= *place) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            k = low;
        }
        if (out.empty()) found_[i].trouble = "its lines are nowhere below its heading";
        return out;
    }

    std::span<const PatchHunk> hunks_;
    const LineTable& text_;
    std::vector<std::vector<const PatchLine*>> old_;
    std::vector<FoundHunk> found_;
    std::map<std::string_view, std::vector<std::size_t>> headings_;
};

}  // namespace

std::vector<const PatchLine*> old_lines_of(const PatchHunk& hunk) {
    std::vector<const PatchLine*> out;
    for (const PatchLine& line : hunk.lines) {
        if (line.mark != PatchMark::added) out.push_back(&line);
    }
    return out;
}

std::vector<FoundHunk> find_hunks(std::span<const PatchHunk> hunks, const LineTable& text) {
    return HunkFinder(hunks, text).find();
}

}  // namespace quire::edits
