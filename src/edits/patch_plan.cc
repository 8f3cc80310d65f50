// From places to splices. Each run of removed and added lines of a hunk is a region of the text;
// the regions of all hunks are sorted, must not overlap, and become the smallest splices. Context
// is never written, so that it keeps its blanks and terminators.
//
// The final newline: a unified diff says on both sides whether there is one, and what it says is
// done. Where the text differs from what the patch believes of it, or where the patch cannot say
// (the envelope), the text keeps its own state unless the patch changes it.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/concat.h"
#include "base/utf8.h"
#include "edits/closest.h"
#include "edits/lines.h"
#include "edits/patch.h"
#include "edits/patch_places.h"
#include "text/diff.h"
#include "text/merge3.h"

namespace quire::edits {
namespace {

// For so many failing hunks the most similar lines are looked for, which is a pass over the text.
constexpr std::size_t kMostSimilar = 5;
// A message quotes or names so many lines or hunks.
constexpr std::size_t kMostTold = 12;
constexpr std::size_t kShownOfLine = 400;

// A run of removed and added lines, at its place.
struct PatchRegion {
    std::size_t begin = 0;  // The removed lines.
    std::size_t end = 0;
    std::vector<const PatchLine*> added;
    std::size_t hunk = 0;
};

// Why a hunk does not apply.
struct HunkTrouble {
    std::size_t hunk = 0;
    std::string reason;
    std::string message;
    std::vector<std::size_t> lines = {};
};

class PatchPlanner {
public:
    PatchPlanner(const FilePatch& patch, const seq::Rope& rope, Numbering numbering,
                 const EditLimits& limits)
        : patch_(patch), rope_(rope), numbering_(numbering), limits_(limits), text_(rope) {}

    Result<PatchedText> plan() {
        found_ = find_hunks(patch_.hunks, text_);
        for (std::size_t i = 0; i < found_.size(); ++i) {
            if (found_[i].line) {
                add_regions(i);
            } else {
                troubles_.push_back(trouble_of(i));
            }
        }
        std::stable_sort(regions_.begin(), regions_.end(), [](const auto& a, const auto& b) {
            return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
        });
        check_overlaps();
        if (troubles_.empty() && patch_.action == PatchAction::erase) check_all_gone();
        if (!troubles_.empty()) return refusal();
        return planned();
    }

private:
    // Cuts a hunk into its runs of changed lines. `line` walks over the old lines of the text;
    // added lines do not move it.
    void add_regions(std::size_t i) {
        std::size_t line = *found_[i].line;
        bool in_run = false;
        for (const PatchLine& each : patch_.hunks[i].lines) {
            if (each.mark == PatchMark::context) {
                in_run = false;
                ++line;
                continue;
            }
            if (!in_run) regions_.push_back({line, line, {}, i});
            in_run = true;
            if (each.mark == PatchMark::added) {
                regions_.back().added.push_back(&each);
            } else {
                regions_.back().end = ++line;
            }
        }
    }

    // Two hunks may share context, and one may change what is the other's context.
    void check_overlaps() {
        for (std::size_t k = 1; k < regions_.size(); ++k) {
            const PatchRegion& before = regions_[k - 1];
            const PatchRegion& region = regions_[k];
            const bool both_insert = before.begin == before.end && region.begin == region.end;
            if (before.end < region.begin || (before.end == region.begin && !both_insert)) continue;
            const std::size_t other = std::min(before.hunk, region.hunk);
            troubles_.push_back(
                {std::max(before.hunk, region.hunk), "invalid_patch",
                 cat("it changes the same lines as the hunk at line ",
                     patch_.hunks[other].patch_line, " of the patch. Make one hunk of the two")});
        }
    }

    void check_all_gone() {
        if (patch_.hunks.empty()) return;
        std::size_t gone = 0;
        for (const PatchRegion& region : regions_) gone += region.end - region.begin;
        if (gone == text_.size()) return;
        troubles_.push_back({0, "hunk_not_found",
                             cat("the patch deletes a file of ", gone, " lines, and this one has ",
                                 text_.size())});
    }

    HunkTrouble trouble_of(std::size_t i) {
        const FoundHunk& found = found_[i];
        if (!found.several.empty()) {
            std::string named;
            for (std::size_t k = 0; k < std::min(found.several.size(), kMostTold); ++k)
                cat_to(named, cat(k == 0 ? "" : ", ",
                                  shown(numbering_, text::Line{found.several[k]})));
            if (found.several.size() > kMostTold) named += ", …";
            return {i, "ambiguous_hunk",
                    cat("its old lines are in the text ", found.several.size(),
                        found.several.size() >= 50 ? " times or more" : " times", " (at lines ",
                        named, "). Give more lines of context, until they are there once"),
                    found.several};
        }
        if (!found.trouble.empty()) {
            const bool nowhere = old_lines_of(patch_.hunks[i]).empty();
            return {i, nowhere ? "ambiguous_hunk" : "hunk_not_found", found.trouble};
        }
        return {i, "hunk_not_found", missing(i)};
    }

    // The message for a hunk whose lines are not there.
    std::string missing(std::size_t i) {
        std::string message = patch_.hunks[i].at_end ? "its old lines are not the end of the text"
                                                     : "its old lines are not in the text";
        if (++compared_ > kMostSimilar) return message;
        std::string wanted;
        for (const PatchLine* line : old_lines_of(patch_.hunks[i])) wanted += line->text + "\n";
        const std::optional<text::LineRange> closest = closest_lines(rope_, wanted);
        if (!closest) return message;
        const text::LineRange told{closest->begin,
                                   {std::min(closest->end.n, closest->begin.n + kMostTold)}};
        std::vector<std::string> lines;
        for_each_line(rope_, told, [&](text::Line, std::string_view line) {
            lines.emplace_back(utf8::prefix(without_terminator(line), kShownOfLine));
            return true;
        });
        return cat(message, ". The most similar text is ", in_words(numbering_, *closest), ":\n",
                   numbered(lines, told.begin, numbering_, true),
                   "Copy the lines from there, blanks included, without the numbers");
    }

    // One error for all hunks that fail, in the order of the patch.
    Failure refusal() {
        std::stable_sort(troubles_.begin(), troubles_.end(),
                         [](const auto& a, const auto& b) { return a.hunk < b.hunk; });
        List all;
        std::string message;
        for (const HunkTrouble& trouble : troubles_) {
            const std::size_t patch_line = patch_.hunks.at(trouble.hunk).patch_line;
            Map told{{"patch_line", patch_line}, {"reason", trouble.reason}};
            if (trouble.reason == "ambiguous_hunk") told.append("lines", shown_lines(trouble));
            all.emplace_back(std::move(told));
            if (all.size() == kMostTold + 1) cat_to(message, "\n…");
            if (all.size() > kMostTold) continue;
            cat_to(message, cat(message.empty() ? "" : "\n", "the hunk at line ", patch_line,
                                " of the patch does not apply: ", trouble.message));
        }
        const HunkTrouble& first = troubles_.front();
        Map details;
        if (first.reason == "ambiguous_hunk") details.append("lines", shown_lines(first));
        details.append("patch_line", patch_.hunks[first.hunk].patch_line);
        details.append("hunks", std::move(all));
        const Errc code =
            first.reason == "invalid_patch" ? Errc::invalid_argument : Errc::conflict;
        return fail(code, first.reason, std::move(message), std::move(details));
    }

    List shown_lines(const HunkTrouble& trouble) const {
        List lines;
        for (const std::size_t line : trouble.lines)
            lines.emplace_back(shown(numbering_, text::Line{line}));
        return lines;
    }

    Result<PatchedText> planned() {
        PatchedText out;
        out.hunks.resize(patch_.hunks.size());
        std::vector<bool> has_place(patch_.hunks.size());
        std::size_t size = rope_.bytes().n;
        std::size_t written = 0;
        std::size_t gone = 0;
        for (const PatchRegion& region : regions_) {
            // Regions are sorted, so the lines that were written and removed so far all lie above.
            if (!has_place[region.hunk]) {
                out.hunks[region.hunk].applied_at = {region.begin + written - gone};
                has_place[region.hunk] = true;
            }
            written += region.added.size();
            gone += region.end - region.begin;
            const std::string_view before = text_.bytes(region.begin, region.end);
            const std::string after = text_of(region);
            size = size - before.size() + after.size();
            for (text::Splice& splice : text::minimal_splices(before, after)) {
                splice.at.n += text_.start(region.begin);
                out.splices.push_back(std::move(splice));
            }
        }
        TRY(check_block_size(size, limits_));
        for (std::size_t i = 0; i < found_.size(); ++i) out.hunks[i].fuzz = fuzz_of(i);
        return out;
    }

    std::size_t fuzz_of(std::size_t i) const {
        if (found_[i].fit != HunkFit::blanks_at_end_differ) return 0;
        std::size_t fuzz = 0;
        std::size_t line = *found_[i].line;
        for (const PatchLine* old : old_lines_of(patch_.hunks[i])) {
            const bool other_end = patch_.hunks[i].tells_final_newline &&
                                   old->newline != text_.has_newline(line);
            if (other_end || text_.line(line) != old->text) ++fuzz;
            ++line;
        }
        return fuzz;
    }

    // The text that takes the place of a region.
    std::string text_of(const PatchRegion& region) const {
        const PatchHunk& hunk = patch_.hunks[region.hunk];
        // Line ends that a patch tells are taken as they are where its old lines have them too.
        const bool told = std::any_of(hunk.lines.begin(), hunk.lines.end(),
                                      [](const PatchLine& each) { return each.cr; }) &&
                          found_[region.hunk].fit != HunkFit::other_line_ends;
        const std::string_view newline = newline_at(region);
        const auto end_of = [&](const PatchLine& line) {
            return !told ? newline : line.cr ? std::string_view("\r\n") : std::string_view("\n");
        };
        std::string out;
        const bool at_end = region.end == text_.size();
        const bool is_open = text_.size() > 0 && !text_.ends_with_newline();
        // Lines are added behind a last line without a newline: that line gets one first.
        if (at_end && is_open && region.begin == region.end && !region.added.empty())
            out += newline;
        for (const PatchLine* line : region.added) {
            out += line->text;
            const bool is_last = at_end && line == region.added.back();
            if (!is_last || has_final_newline(hunk, region, is_open)) out += end_of(*line);
        }
        return out;
    }

    // Returns true if the text ends with a newline after a hunk that writes its last line.
    bool has_final_newline(const PatchHunk& hunk, const PatchRegion& region, bool is_open) const {
        const bool wanted = region.added.back()->newline;
        const std::vector<const PatchLine*> old = old_lines_of(hunk);
        if (text_.size() == 0) return wanted;
        if (!hunk.tells_final_newline || old.empty()) return wanted && !is_open;
        return old.back()->newline == wanted ? !is_open : wanted;
    }

    // The style of the text there: the first removed line's, else that of the lines beside.
    std::string_view newline_at(const PatchRegion& region) const {
        if (region.begin < region.end && text_.has_newline(region.begin))
            return text_.has_crlf(region.begin) ? "\r\n" : "\n";
        return newline_for(style_beside(rope_, {region.begin}), "");
    }

    const FilePatch& patch_;
    const seq::Rope& rope_;
    const Numbering numbering_;
    const EditLimits& limits_;
    const LineTable text_;
    std::vector<FoundHunk> found_;
    std::vector<PatchRegion> regions_;
    std::vector<HunkTrouble> troubles_;
    std::size_t compared_ = 0;
};

Result<PatchedText> plan_whole(const WholeText& whole, const seq::Rope& text) {
    // The usual case by far is that nobody has changed the text since.
    const std::string now = text.str();
    if (now == whole.before) return PatchedText{text::minimal_splices(now, whole.after), {}};
    const text::Merged merged =
        text::merge3(whole.before, now, whole.after, text::Side::ours, text::Side::ours);
    if (!merged.ties.empty()) {
        return fail(Errc::conflict, "disk_changed",
                    cat("others changed the same words meanwhile, at ", merged.ties.size(),
                        merged.ties.size() == 1 ? " place" : " places"));
    }
    return PatchedText{text::minimal_splices(now, merged.text), {}};
}

}  // namespace

Result<PatchedText> plan_patch(const FilePatch& patch, const seq::Rope& text, Numbering numbering,
                               const EditLimits& limits) {
    if (patch.whole) return plan_whole(*patch.whole, text);
    return PatchPlanner(patch, text, numbering, limits).plan();
}

}  // namespace quire::edits
