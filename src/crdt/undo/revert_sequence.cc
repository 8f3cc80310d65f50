// Taking back what was done to texts and lists.
#include <algorithm>

#include "crdt/undo/reversal.h"

namespace quire::crdt {

void Reversal::sequence(Container& c) {
    std::vector<LvSpan> inserted;
    std::vector<LvSpan> deleted_spans;
    Lv first_delete = kNoLv;
    Sequence& order = body_.sequence(c);
    const ContainerLog& log = body_.log_of(c);
    for (const LvSpan& span : spans_) {
        for (const Run& run : log.runs_in(span)) {
            const Lv from = std::max(run.lv, span.begin);
            const Lv to = std::min(run.end(), span.end);
            if (run.kind == RunKind::insert) inserted.push_back({from, to});
            if (!run.is_erase()) continue;
            first_delete = std::min(first_delete, from);
            for (const Sequence::Target& target : order.targets(from, to - from)) {
                deleted_spans.push_back({target.first, target.first + target.len});
            }
        }
    }
    const std::vector<Stretch> deleted = counted(deleted_spans);
    const std::vector<Piece> back = missing(deleted);
    for (const Stretch& stretch : counted(inserted)) remove(stretch, deleted);
    for (auto from = back.begin(); from != back.end();) {
        const auto to = std::find_if(from, back.end(), [&](const Piece& piece) {
            return piece.container != from->container;
        });
        restore({from, to}, first_delete);
        from = to;
    }
}

// What the spans deleted and is to come back, in document order: not what they inserted themselves,
// nor what came back already.
std::vector<Piece> Reversal::missing(const std::vector<Stretch>& deleted) {
    std::vector<Piece> back;
    for (const Stretch& stretch : deleted) {
        for (Lv lv = stretch.begin; lv < stretch.end;) {
            const auto [own, until] = holds(lv);
            const Identities::Stretch last =
                stand_ins_.atoms.newest(lv, std::min(stretch.end, until) - lv);
            Container& home = body_.container(body_.oplog().container_of(last.lv));
            const Sequence::Place place = body_.sequence(home).place_of(last.lv);
            const ContainerLog& log = body_.log_of(home);
            const Run& run = log.runs()[log.find(last.lv)];
            const auto [times, end] = last.lv == lv ? std::pair(stretch.times, stretch.end)
                                                    : erased_copy(last.lv, deleted);
            const std::uint32_t n =
                std::min({last.len, place.len, run.end() - last.lv, end - last.lv});
            if (run.kind == RunKind::insert && !own && place.erased > 0) {
                if (place.erased == times || options_.shared_deletes) {
                    back.push_back({home.index, last.lv, n});
                } else {
                    undone_.skipped += n;
                }
            }
            lv += n;
        }
    }
    std::sort(back.begin(), back.end(), [&](const Piece& a, const Piece& b) {
        if (a.container != b.container) return a.container < b.container;
        return body_.sequence(body_.container(a.container)).before(a.lv, b.lv);
    });
    return back;
}

// How often the spans deleted a copy that they had brought back themselves, and up to where that
// goes on; 0 for one that is not of theirs.
std::pair<std::uint32_t, Lv> Reversal::erased_copy(Lv copy,
                                                   const std::vector<Stretch>& deleted) const {
    const auto [own, until] = holds(copy);
    if (!own) return {0, until};
    const auto after = std::upper_bound(deleted.begin(), deleted.end(), copy,
                                        [](Lv value, const Stretch& s) { return value < s.begin; });
    if (after != deleted.begin() && copy < (after - 1)->end)
        return {(after - 1)->times, std::min(until, (after - 1)->end)};
    return {0, after == deleted.end() ? until : std::min(until, after->begin)};
}

void Reversal::remove(const Stretch& stretch, const std::vector<Stretch>& deleted) {
    for (Lv lv = stretch.begin; lv < stretch.end;) {
        const Identities::Stretch last = stand_ins_.atoms.newest(lv, stretch.end - lv);
        Container& home = body_.container(body_.oplog().container_of(last.lv));
        const Sequence::Place place = body_.sequence(home).place_of(last.lv);
        const std::uint32_t len = std::min(place.len, last.len);
        if (place.erased == 0) {
            if (body_.is_alive(home)) {
                body_.erase(home, place.pos, len);
                undone_.removed += len;
            } else {
                undone_.skipped += len;
            }
        } else {
            // Deleted already: by the same spans, which is nothing left to do, or by others.
            auto mine =
                std::upper_bound(deleted.begin(), deleted.end(), lv,
                                 [](Lv value, const Stretch& s) { return value < s.begin; });
            if (mine != deleted.begin()) --mine;
            std::uint32_t ours = 0;
            for (; mine != deleted.end() && mine->begin < lv + len; ++mine) {
                const Lv from = std::max(lv, mine->begin);
                const Lv to = std::min(lv + len, mine->end);
                if (from < to) ours += to - from;
            }
            undone_.skipped += len - ours;
        }
        lv += len;
    }
}

void Reversal::restore(const std::vector<Piece>& pieces, Lv first) {
    Container& home = body_.container(pieces.front().container);
    Container* to = living(home);
    if (to == nullptr) {
        for (const Piece& piece : pieces) undone_.skipped += piece.len;
        return;
    }
    Placing placing(body_, home, *to, pieces);
    std::vector<Lv> made;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        made.push_back(body_.oplog().end());
        insert(*to, placing.position(i), pieces[i]);
        placing.placed(i, made.back());
    }
    if (home.has_anchors || to->has_anchors) restyle(home, *to, pieces, made, first);
}

void Reversal::insert(Container& to, std::uint32_t pos, const Piece& piece) {
    const ContainerLog& log = body_.log_of(body_.container(piece.container));
    const Run run = log.runs()[log.find(piece.lv)];
    const Lv first = body_.oplog().end();
    undone_.restored += piece.len;
    if (log.kind() == ContainerKind::text) {
        body_.insert_text(to, pos, std::string(log.text(run, piece.lv, piece.len)), piece.len);
        stand_ins_.atoms.add(piece.lv, first, piece.len);
        return;
    }
    std::vector<Slot> values;
    for (Lv at = piece.lv; at < piece.lv + piece.len; ++at) values.push_back(log.value(run, at));
    body_.insert_values(to, pos, values);
    stand_ins_.atoms.add(piece.lv, first, piece.len);
    for (std::uint32_t i = 0; i < piece.len; ++i) copy_slot(values[i], piece.lv + i, first + i);
}

}  // namespace quire::crdt
