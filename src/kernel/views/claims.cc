// Claims are computed from three texts for each of the other trees: the base, the other tree's file
// and the asking tree's own. The diff from the base to the other's text gives the lines that the
// other has changed; the diff from the base to the own text moves them to the lines on which the
// asking tree has them now. A file that is no text, and one whose base is not kept any more, gives
// a claim without lines.
#include "kernel/views/claims.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/utf8.h"
#include "kernel/views/tree_registry.h"
#include "text/diff.h"

namespace quire::kernel {
namespace {

using views::Content;

std::optional<Content> read(const TreeSide& side, const std::string& path) {
    Result<std::optional<Content>> content = side.files->files().read(path);
    return content ? std::move(*content) : std::nullopt;
}

const views::Head* head_of(const views::TreeState* state, const std::string& path) {
    if (state == nullptr) return nullptr;
    const auto found = state->heads.find(path);
    return found == state->heads.end() ? nullptr : &found->second;
}

// The lines of `to` that stand where the lines [begin, end) of the other text stood.
text::LineRange moved(text::LineRange lines, const std::vector<text::Hunk>& hunks) {
    // A line behind a hunk moves with what the hunk added or removed. One inside of a hunk has no
    // counterpart, so a begin goes to the hunk's begin and an end to its end: the claim covers
    // rather too much than too little. At a place where the own text only inserted (`begin == end`)
    // a line moves behind what was inserted.
    const auto place = [&](std::size_t line, bool is_end) {
        std::size_t out = line;
        for (const text::Hunk& hunk : hunks) {
            const std::size_t begin = hunk.before.begin.n, end = hunk.before.end.n;
            if (line >= end && (line > begin || begin == end)) {
                out = line - end + hunk.after.end.n;
            } else if (line > begin) {
                return is_end ? hunk.after.end.n : hunk.after.begin.n;
            } else {
                break;
            }
        }
        return out;
    };
    const std::size_t begin = place(lines.begin.n, false);
    return {{begin}, {std::max(begin, place(lines.end.n, true))}};
}

// The lines of `own` in whose place `theirs` has something else than both had, in `base`.
std::vector<text::LineRange> changed_lines(const std::string& base, const std::string& theirs,
                                           const std::string& own) {
    const std::vector<text::Hunk> mine = text::diff_lines(base, own);
    std::vector<text::LineRange> out;
    for (const text::Hunk& hunk : text::diff_lines(base, theirs))
        out.push_back(moved(hunk.before, mine));
    return out;
}

}  // namespace

std::vector<Claim> claims_on(const std::string& path, const TreeSide& own,
                             const std::vector<TreeSide>& others, const views::BaseTexts& bases) {
    std::vector<Claim> out;
    const std::optional<Content> mine = read(own, path);
    const std::string text = mine && utf8::is_valid(mine->bytes) ? mine->bytes : std::string();
    for (const TreeSide& other : others) {
        // The workspace's change is one since this tree met it, another tree's since that tree did.
        const views::Head* const head =
            head_of(other.state != nullptr ? other.state : own.state, path);
        const std::optional<Content> theirs = read(other, path);
        const bool is_same = head == nullptr ? !theirs : theirs && theirs->sight.hash == head->base;
        const bool agrees =
            theirs.has_value() == mine.has_value() && (!theirs || theirs->bytes == mine->bytes);
        // No claim where the other tree has what both had, or where both made the same of it.
        if (is_same || agrees) continue;
        Claim claim;
        claim.path = path;
        if (other.state != nullptr) {
            claim.tree = other.state->directory;
            claim.actor = other.state->actor.str();
        }
        if (theirs) claim.since_ms = theirs->sight.stamp.modified_ns / 1'000'000;
        // Without a head the path is new on the other side, and all of its lines are the other's.
        const Result<std::string> base =
            head != nullptr ? bases.get(head->base) : Result<std::string>(std::string());
        if (base && utf8::is_valid(*base) && (!theirs || utf8::is_valid(theirs->bytes)))
            claim.lines = changed_lines(*base, theirs ? theirs->bytes : std::string(), text);
        out.push_back(std::move(claim));
    }
    return out;
}

}  // namespace quire::kernel
