// Texts and lists: what the spans inserted goes, what they deleted comes back. Two lists of
// stretches are made of the spans' ops first, since a letter may be in both; then each stretch is
// done at once, in O(log n), or letter by letter where the spans themselves brought letters back.
#include <algorithm>

#include "crdt/doc/order.h"
#include "crdt/undo/reversal.h"

namespace quire::crdt {

void Reversal::sequence(Container& c) {
    std::vector<LvSpan> inserted;
    std::vector<Sequence::Target> targets;
    Lv first_delete = kNoLv;
    Sequence& order = order_of({body_, c});
    const ContainerLog& log = *c.log;
    for (const LvSpan& span : spans_) {
        for (const Run& run : log.runs_in(span)) {
            const Lv from = std::max(run.lv, span.begin);
            const Lv to = std::min(run.end(), span.end);
            if (run.kind == RunKind::insert) inserted.push_back({from, to});
            if (!run.is_erase()) continue;
            first_delete = std::min(first_delete, from);
            for (const Sequence::Target& target : order.targets(from, to - from))
                targets.push_back(target);
        }
    }
    const FirstTouches first = first_touches(inserted, targets);
    std::vector<LvSpan> deleted_spans;
    for (const Sequence::Target& target : targets)
        deleted_spans.push_back({target.first, target.first + target.len});
    const std::vector<Stretch> deleted = counted(deleted_spans);
    const std::vector<Piece> back = missing(deleted, first);
    if (!first.empty()) {
        // Letters that the spans deleted before they brought them back are not theirs to remove.
        std::vector<LvSpan> all;
        all.swap(inserted);
        for (const LvSpan& span : all) {
            for (Lv lv = span.begin; lv < span.end; ++lv) {
                if (showed_first(first, lv)) inserted.push_back({lv, lv + 1});
            }
        }
    }
    for (const Stretch& stretch : counted(inserted)) remove(stretch, deleted);
    for (auto from = back.begin(); from != back.end();) {
        const auto to = std::find_if(from, back.end(), [&](const Piece& piece) {
            return piece.container != from->container;
        });
        restore({from, to}, first_delete);
        from = to;
    }
}

// The first thing that the spans did to each letter that they may have both brought back and
// deleted: only that one has to be taken back. Empty if there are no such letters.
Reversal::FirstTouches Reversal::first_touches(const std::vector<LvSpan>& inserted,
                                               const std::vector<Sequence::Target>& targets) const {
    const Identities& names = stand_ins_.atoms;
    FirstTouches first;
    const bool any_copies = std::any_of(inserted.begin(), inserted.end(), [&](LvSpan span) {
        return names.last_copy(span.begin, span.end) != kNoLv;
    });
    if (!any_copies || targets.empty()) return first;
    const auto note = [&](Lv atom, Lv op, bool shows) {
        const auto [at, is_new] = first.emplace(names.origin(atom).lv, Touch{op, shows});
        if (!is_new && op < at->second.op) at->second = {op, shows};
    };
    for (const LvSpan& span : inserted) {
        for (Lv lv = span.begin; lv < span.end; ++lv) note(lv, lv, true);
    }
    for (const Sequence::Target& target : targets) {
        for (Lv at = 0; at < target.len; ++at) note(target.first + at, target.op, false);
    }
    return first;
}

// Returns true if taking the spans back is to hide the letter, as far as `first` can tell.
bool Reversal::showed_first(const FirstTouches& first, Lv atom) const {
    const auto touch = first.find(stand_ins_.atoms.origin(atom).lv);
    return touch != first.end() && touch->second.shows;
}

// The letters that the spans deleted and that have to come back, in document order: without those
// that they inserted themselves, and those that came back already.
std::vector<Piece> Reversal::missing(const std::vector<Stretch>& deleted,
                                     const FirstTouches& first) {
    std::vector<Piece> back;
    for (const Stretch& stretch : deleted) {
        for (Lv lv = stretch.begin; lv < stretch.end;) {
            const auto [own, until] = holds(lv);
            const Identities::Stretch last =
                stand_ins_.atoms.newest(lv, std::min(stretch.end, until) - lv);
            Container& home = body_.container(body_.oplog().container_of(last.lv));
            const Sequence::Place place = order_of({body_, home}).place_of(last.lv);
            const ContainerLog& log = *home.log;
            const Run& run = log.runs()[log.find(last.lv)];
            const auto [times, end] = last.lv == lv ? std::pair(stretch.times, stretch.end)
                                                    : erased_copy(last.lv, deleted);
            std::uint32_t n = std::min({last.len, place.len, run.end() - last.lv, end - last.lv});
            if (!first.empty()) n = 1;
            const bool is_ours = own || showed_first(first, lv);
            if (run.kind == RunKind::insert && !is_ours && place.erased > 0) {
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
        return order_of({body_, body_.container(a.container)}).before(a.lv, b.lv);
    });
    // The spans may have deleted several copies of a letter; the newest of them comes back once.
    std::vector<Piece> once;
    for (Piece piece : back) {
        if (!once.empty() && once.back().container == piece.container &&
            once.back().lv <= piece.lv && piece.lv < once.back().lv + once.back().len) {
            const Lv end = std::max(piece.lv + piece.len, once.back().lv + once.back().len);
            piece.lv = once.back().lv + once.back().len;
            piece.len = end - piece.lv;
        }
        if (piece.len > 0) once.push_back(piece);
    }
    return once;
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
        const Sequence::Place place = order_of({body_, home}).place_of(last.lv);
        const std::uint32_t len = std::min(place.len, last.len);
        if (place.erased == 0) {
            if (body_.is_alive(home)) {
                visit_sequence(home, [&](auto& body) {
                    body.erase({body_, home}, place.pos, len);
                });
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
    // The container is gone with its parent, and comes back with that one or not at all.
    if (to == nullptr) {
        for (const Piece& piece : pieces) undone_.skipped += piece.len;
        return;
    }
    Placing placing(body_, *to);
    // A piece is parted where something stands between its letters by now.
    std::vector<Piece> parts;
    std::vector<Lv> made;
    for (Piece rest : pieces) {
        while (rest.len > 0) {
            const Placing::Spot spot = placing.spot(rest);
            parts.push_back({rest.container, rest.lv, spot.len});
            made.push_back(body_.oplog().end());
            insert(*to, spot.pos, parts.back());
            rest.lv += spot.len;
            rest.len -= spot.len;
        }
    }
    if (home.has_anchors() || to->has_anchors()) restyle(home, *to, parts, made, first);
}

void Reversal::insert(Container& to, std::uint32_t pos, const Piece& piece) {
    const ContainerLog& log = *body_.container(piece.container).log;
    const Run run = log.runs()[log.find(piece.lv)];
    const Lv first = body_.oplog().end();
    undone_.restored += piece.len;
    if (log.kind() == ContainerKind::text) {
        to.as<TextBody>().insert({body_, to}, pos, std::string(log.text(run, piece.lv, piece.len)),
                                 piece.len);
        stand_ins_.atoms.add(piece.lv, first, piece.len);
        return;
    }
    std::vector<Slot> values;
    for (Lv at = piece.lv; at < piece.lv + piece.len; ++at) values.push_back(log.value(run, at));
    to.sequence()->insert_values({body_, to}, pos, values);
    stand_ins_.atoms.add(piece.lv, first, piece.len);
    for (std::uint32_t i = 0; i < piece.len; ++i) copy_slot(values[i], piece.lv + i, first + i);
}

}  // namespace quire::crdt
