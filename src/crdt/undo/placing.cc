#include "crdt/undo/placing.h"

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
    const Lv lv = pieces_[piece].lv;
    if (&from_ == &to_) return among_copies(body_.sequence(from_).place_of(lv).pos, lv);
    Lv behind = left_[piece];
    if (behind != kNoLv && behind >= kPieces) behind = ends_[behind - kPieces];
    return among_copies(behind == kNoLv ? 0 : body_.sequence(to_).place_of(behind).pos + 1, lv);
}

void Placing::placed(std::size_t piece, Lv first) {
    if (&from_ != &to_) ends_[piece] = first + pieces_[piece].len - 1;
}

const Identities& Placing::names() const {
    const StandIns& all = stand_ins_of(body_);
    return from_.id.kind == ContainerKind::movable_list ? all.slots : all.atoms;
}

// --- among what is there ---

// From `pos` on, past those that are on the other side of the atom.
std::uint32_t Placing::among_copies(std::uint32_t pos, Lv lv) {
    if (names().empty()) return pos;
    const Sequence& order = body_.sequence(to_);
    const ContainerLog& log = body_.log_of(to_);
    // Anchors of styles are passed over where what lies behind them is.
    const auto side = [&](std::uint32_t at) {
        const Lv atom = order.atom_at(at);
        return log.runs()[log.find(atom)].kind == RunKind::anchor ? Side::none : side_of(atom, lv);
    };
    std::uint32_t best = pos;
    for (std::uint32_t at = pos; at > 0; --at) {
        const Side now = side(at - 1);
        if (now == Side::before) break;
        if (now == Side::behind) best = at - 1;
    }
    if (best < pos) return best;
    for (std::uint32_t at = pos; at < order.visible(); ++at) {
        const Side now = side(at);
        if (now == Side::behind) break;
        if (now == Side::before) best = at + 1;
    }
    return best;
}

Placing::Side Placing::side_of(Lv atom, Lv lv) {
    const Identities& all = names();
    // The older one as it stood when the younger came in.
    const auto both = all.first_together(all.origin(atom).lv, all.origin(lv).lv, body_.oplog());
    if (!both) return Side::none;
    Container& home = body_.container(body_.oplog().container_of(both->first));
    return body_.sequence(home).before(both->first, both->second) ? Side::before : Side::behind;
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
        const Identities::Stretch last = names().newest(lv, len);
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
