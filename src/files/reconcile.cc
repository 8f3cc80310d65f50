// The cases of a reconcile, in this order:
//
//   only the disk changed, or both in the same way     the disk's text
//   the rules keep none of the document's edits         the disk's text, and edits are lost
//   only the document changed                           the document's text
//   the file is never merged                            the document's text, and one tie of it all
//   otherwise                                           the merge by words, with its ties
//
// Everything is a function of three texts and the open records; no document is touched. The cost is
// that of the diffs.
#include "files/reconcile.h"

#include <algorithm>
#include <utility>

namespace quire::files {

std::vector<std::vector<text::Splice>> Reconciled::corrections(const Sides& sides,
                                                               std::string_view merged) const {
    if (merged == text) return {};
    // The base with the disk's deletions alone: merged with the document's edits, it is the text in
    // which nothing of the disk stands yet.
    std::string deleted;
    std::size_t done = 0;
    for (const text::Splice& splice : disk_edit) {
        deleted += sides.base.substr(done, splice.at.n - done);
        done = splice.at.n + splice.erase.n;
    }
    deleted += sides.base.substr(done);
    const std::string others =
        text::merge3(sides.base, sides.ours, deleted, text::Side::ours, text::Side::theirs).text;
    std::vector<std::vector<text::Splice>> out;
    for (auto& edit : {text::minimal_splices(merged, others), text::minimal_splices(others, text)})
        if (!edit.empty()) out.push_back(edit);
    return out;
}

namespace {

// The place of the base of an open conflict in the text that both sides changed.
struct OpenPlace {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t index = 0;
};

struct CommonBase {
    std::string text;
    std::vector<OpenPlace> places;
};

CommonBase with_bases(std::string_view disk, std::span<const Conflict> open) {
    CommonBase out;
    std::size_t done = 0;
    for (std::size_t i = 0; i < open.size(); ++i) {
        const Conflict& conflict = open[i];
        // A record whose words are not at their place in the disk's text is passed over: what
        // stands there is then text that both sides have.
        if (conflict.kind == ConflictKind::deletion || conflict.disk_at < done ||
            conflict.disk_at > disk.size() ||
            !disk.substr(conflict.disk_at).starts_with(conflict.disk))
            continue;
        out.text += disk.substr(done, conflict.disk_at - done);
        out.places.push_back({out.text.size(), out.text.size() + conflict.base.size(), i});
        out.text += conflict.base;
        done = conflict.disk_at + conflict.disk.size();
    }
    out.text += disk.substr(done);
    return out;
}

// The open conflict that the tie continues. One that it shares text with comes before one that it
// only touches. Each is taken once.
std::optional<std::size_t> continued(std::vector<OpenPlace>& places, std::size_t begin,
                                     std::size_t end) {
    const auto take = [&](auto fits) -> std::optional<std::size_t> {
        const auto found = std::ranges::find_if(places, fits);
        if (found == places.end()) return std::nullopt;
        const std::size_t index = found->index;
        places.erase(found);
        return index;
    };
    const auto shares = [&](const OpenPlace& place) {
        return (place.begin < end && begin < place.end) ||
               (place.begin == begin && place.end == end);
    };
    const auto touches = [&](const OpenPlace& place) {
        return place.begin <= end && begin <= place.end;
    };
    if (const auto index = take(shares)) return index;
    return take(touches);
}

// Both sides of a file that is never merged.
void reconcile_whole(const Sides& sides, const Manner& manner, Reconciled& out) {
    // Two whole texts are a choice that somebody has to make, so they become a tie. A file whose
    // rules do not keep all edits takes the disk's.
    out.is_edit_lost = manner.keeps != Keeps::all;
    out.text = out.is_edit_lost ? sides.theirs : sides.ours;
    if (out.is_edit_lost) return;
    Tie tie{out.base, std::string(sides.ours), std::string(sides.theirs)};
    tie.kind = ConflictKind::whole;
    if (!manner.open.empty()) tie.open = 0;
    out.ties.push_back(std::move(tie));
}

}  // namespace

std::string common_base(std::string_view disk, std::span<const Conflict> open) {
    return with_bases(disk, open).text;
}

Reconciled reconcile(const Sides& sides, const Manner& manner) {
    CommonBase common = with_bases(sides.base, manner.open);
    Reconciled out;
    out.disk_edit = text::minimal_splices(sides.base, sides.theirs);
    out.base = std::move(common.text);
    if (out.base == sides.ours || sides.ours == sides.theirs) {
        out.text = sides.theirs;
        return out;
    }
    const bool only_appended = sides.ours.starts_with(out.base);
    if (manner.keeps == Keeps::nothing || (manner.keeps == Keeps::appended && !only_appended)) {
        out.text = sides.theirs;
        out.is_edit_lost = true;
        return out;
    }
    if (out.base == sides.theirs) {
        out.text = sides.ours;
        return out;
    }
    const bool whole = manner.whole || std::ranges::any_of(manner.open, [](const Conflict& open) {
                           return open.kind == ConflictKind::whole;
                       });
    if (whole) {
        reconcile_whole(sides, manner, out);
        return out;
    }
    text::Merged merged =
        text::merge3(out.base, sides.ours, sides.theirs, text::Side::ours, text::Side::theirs);
    // Text was only added at the end, and the disk changed the end too: what was added goes behind
    // the disk's text, on a line of its own.
    if (manner.keeps == Keeps::appended && !merged.ties.empty()) {
        out.text = sides.theirs;
        if (!out.text.empty() && out.text.back() != '\n') out.text += '\n';
        out.text += sides.ours.substr(out.base.size());
        return out;
    }
    out.text = std::move(merged.text);
    for (text::Tie& tie : merged.ties) {
        const auto open = continued(common.places, tie.begin.n, tie.end.n);
        out.ties.push_back({out.base.substr(tie.begin.n, tie.end.n - tie.begin.n),
                            std::move(tie.ours), std::move(tie.theirs), tie.at.n, tie.theirs_at.n,
                            ConflictKind::lines, open});
    }
    return out;
}

}  // namespace quire::files
