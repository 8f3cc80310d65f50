#include "crdt/doc/revert_place.h"

#include <utility>

namespace quire::crdt {

namespace {

// More than there can be atoms.
constexpr Lv kPieces = Lv{1} << 31;

}  // namespace

Placing::Placing(DocBody& body, Container& from, Container& to, const std::vector<Piece>& pieces)
    : body_(body), from_(from), to_(to), pieces_(pieces) {
    if (&from == &to) return;
    left_.assign(pieces.size(), kNoLv);
    ends_.assign(pieces.size(), kNoLv);
    find_neighbours();
}

std::uint32_t Placing::position(std::size_t piece) {
    if (&from_ == &to_) {
        const Lv lv = pieces_[piece].lv;
        return among_copies(body_.sequence(from_).place_of(lv).pos, lv);
    }
    Lv behind = left_[piece];
    if (behind == kNoLv) return 0;
    if (behind >= kPieces) behind = ends_[behind - kPieces];
    return body_.sequence(to_).place_of(behind).pos + 1;
}

void Placing::placed(std::size_t piece, Lv first) {
    const Piece& done = pieces_[piece];
    if (&from_ == &to_) {
        body_.stand_ins().places.add(done.lv, first, done.len);
    } else {
        ends_[piece] = first + done.len - 1;
    }
}

// --- among others of the same container ---

std::uint32_t Placing::among_copies(std::uint32_t pos, Lv lv) {
    if (body_.stand_ins().places.empty()) return pos;
    const Sequence& order = body_.sequence(from_);
    const ContainerLog& log = body_.log_of(from_);
    // Anchors of styles are passed over where what lies behind them is.
    const auto is_anchor = [&](Lv atom) {
        return log.runs()[log.find(atom)].kind == RunKind::anchor;
    };
    std::uint32_t best = pos;
    for (std::uint32_t at = pos; at > 0; --at) {
        const Lv atom = order.atom_at(at - 1);
        if (is_anchor(atom)) continue;
        if (precedes(atom, lv)) break;
        best = at - 1;
    }
    if (best < pos) return best;
    for (std::uint32_t at = pos; at < order.visible(); ++at) {
        const Lv atom = order.atom_at(at);
        if (is_anchor(atom)) continue;
        if (!precedes(atom, lv)) break;
        best = at + 1;
    }
    return best;
}

bool Placing::precedes(Lv a, Lv b) {
    const Identities& places = body_.stand_ins().places;
    const Lv first = places.origin(a).lv;
    const Lv second = places.origin(b).lv;
    // The older one as it stood when the younger came in.
    const Graph& graph = body_.oplog().graph();
    return body_.sequence(from_).before(places.newest_before(first, second, graph),
                                        places.newest_before(second, first, graph));
}

// --- in a copy of the container ---

// One walk through the atoms in the order that they have in `from`.
void Placing::find_neighbours() {
    std::vector<LvSpan> order;
    body_.sequence(from_).for_each_last([&](Lv lv, std::uint32_t len, bool) {
        order.push_back({lv, lv + len});
    });
    Lv last = kNoLv;
    std::size_t next = 0;
    for (const LvSpan& part : order) {
        for (Lv lv = part.begin; lv < part.end && next < pieces_.size();) {
            const Lv place = pieces_[next].lv;
            if (lv == place) {
                left_[next] = last;
                last = kPieces + static_cast<Lv>(next);
                lv += pieces_[next++].len;
                continue;
            }
            const Lv stop = lv < place && place < part.end ? place : part.end;
            if (const Lv found = last_visible(lv, stop - lv); found != kNoLv) last = found;
            lv = stop;
        }
        if (next == pieces_.size()) return;
    }
}

// The last atom in `to` that stands for one of lv .. lv + len and is visible; kNoLv for none.
Lv Placing::last_visible(Lv lv, std::uint32_t len) {
    Lv found = kNoLv;
    while (len > 0) {
        const bool by_slot = from_.id.kind == ContainerKind::movable_list;
        const StandIns& all = body_.stand_ins();
        const Identities::Stretch last = (by_slot ? all.slots : all.atoms).newest(lv, len);
        if (last.lv != lv && body_.oplog().container_of(last.lv) == to_.index) {
            for (Lv at = last.lv + last.len; at > last.lv; --at) {
                if (body_.sequence(to_).place_of(at - 1).erased > 0) continue;
                found = at - 1;
                break;
            }
        }
        lv += last.len;
        len -= last.len;
    }
    return found;
}

}  // namespace quire::crdt
