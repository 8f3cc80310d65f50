// A letter's place in the standing order is a path of steps, from the text's beginning to the letter
// (placing.h draws it). A step depends only on atoms that are there already, so what a letter was put
// behind is worked out once and kept in StandIns. Comparing two letters walks their paths to where
// they part: O(steps), and the order of the sequence decides there in O(log n). Texts whose replicas
// edited at the same time are compared as they were shown instead.
#include "crdt/undo/placing.h"

#include <algorithm>

#include "crdt/doc/order.h"
#include "crdt/state/movable_state.h"

namespace quire::crdt {

namespace {

// The beginning of a container; more than there can be atoms.
constexpr Lv kStart = kNoLv - 1;

}  // namespace

// --- the standing order ---

StandingOrder::StandingOrder(DocBody& body, ContainerKind kind)
    : body_(body),
      all_(stand_ins_of(body)),
      names_(kind == ContainerKind::movable_list ? all_.slots : all_.atoms) {}

bool StandingOrder::before(Lv a, Lv b) const {
    if (const auto shown = as_shown(a, b)) return *shown;
    const std::vector<Step> one = path(a);
    const std::vector<Step> other = path(b);
    for (std::size_t i = 0; i < one.size() && i < other.size(); ++i) {
        // Behind the same letter: what was put there later stands before what was there.
        if (one[i].behind != other[i].behind) return one[i].behind > other[i].behind;
        const Lv x = one[i].atom;
        const Lv y = other[i].atom;
        if (x == y) continue;
        if (x == kStart || y == kStart) return x == kStart;
        const ContainerIndex home = body_.oplog().container_of(x);
        // Notes that were recalled in part may say less than this needs.
        if (home != body_.oplog().container_of(y)) return x < y;
        return order_of({body_, body_.container(home)}).before(x, y);
    }
    return one.size() < other.size();
}

// How two letters lay when they were first shown together; none if they never were, or if nobody
// edited at the same time, since their paths say it then.
std::optional<bool> StandingOrder::as_shown(Lv a, Lv b) const {
    if (!is_concurrent(a) && !is_concurrent(b)) return std::nullopt;
    const OpLog& log = body_.oplog();
    const auto both = names_.first_together(origin(a), origin(b), log);
    if (!both) return std::nullopt;
    const auto [x, y] = *both;
    const Sequence& order = order_of({body_, body_.container(log.container_of(x))});
    // They were shown together if the writers of both letters' deletes knew the other letter.
    bool together = true;
    const auto outlived = [&](Lv atom, Lv other) {
        order.for_each_delete_of(atom, [&](Lv op) {
            together = together && log.graph().contains(log.graph().parents_of(op), other);
        });
    };
    outlived(x, y);
    outlived(y, x);
    return together ? std::optional(order.before(x, y)) : std::nullopt;
}

bool StandingOrder::is_concurrent(Lv atom) const {
    return facts_of(body_.oplog().container_of(atom)).is_concurrent;
}

// Looks at the runs that are new since it was asked last.
const StandIns::Facts& StandingOrder::facts_of(ContainerIndex home) const {
    const auto& runs = body_.oplog().logs()[home].runs();
    StandIns::Facts& known = all_.facts[home];
    if (known.runs > runs.size()) known = {};  // An import was taken back.
    for (; known.runs < runs.size(); ++known.runs) {
        const Run& run = runs[known.runs];
        if (!run.linear && !known.is_concurrent) {
            known.is_concurrent = true;
            known.first_replacement = kNoLv;
            all_.put_behind.clear();  // It may tell of replacements.
        }
        if (known.is_concurrent || known.first_replacement != kNoLv) continue;
        if (replaced_by(body_.container(home), run.lv) != kNoLv) known.first_replacement = run.lv;
    }
    return known;
}

// From the top down. Each step leads to older atoms, so it ends.
std::vector<StandingOrder::Step> StandingOrder::path(Lv atom) const {
    std::vector<Step> steps;
    for (Lv at = origin(atom);;) {
        const Lv behind = put_behind(at);
        if (behind != kNoLv) {
            steps.push_back({behind, at});
            at = origin(behind);
            continue;
        }
        const ContainerIndex home = body_.oplog().container_of(at);
        if (all_.sources.contains(home)) {
            steps.push_back({*body_.oplog().atoms().lv_of(body_.container(home).id.op()), at});
            at = kStart;
        }
        steps.push_back({kNoLv, at});
        break;
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
}

// The first letter on the atom's way of left origins that the atom or what it was typed behind was
// put behind in the standing order: a copy, or the last of the letters that were replaced there.
// kNoLv for none.
Lv StandingOrder::put_behind(Lv atom) const {
    const ContainerIndex index = body_.oplog().container_of(atom);
    Container& home = body_.container(index);
    const Lv first_replacement = facts_of(index).first_replacement;
    const Lv oldest =
        names_.empty() ? first_replacement : std::min(first_replacement, names_.first_copy());
    const Sequence& order = order_of({body_, home});
    const ContainerLog& log = *home.log;
    std::vector<Lv> passed;
    Lv found = kNoLv;
    for (Lv end = atom; atom != kNoLv && atom >= oldest;) {
        const auto [first, left] = order.origin_of(atom);
        if (!names_.empty()) found = last_copy(log, first, end);
        if (found == kNoLv && first >= first_replacement) found = replaced_by(home, first);
        if (found != kNoLv) break;
        if (const auto known = all_.put_behind.find(first); known != all_.put_behind.end()) {
            found = known->second;
            break;
        }
        passed.push_back(first);
        if (left == kNoLv) break;
        atom = left;
        end = left + 1;
    }
    for (const Lv first : passed) all_.put_behind[first] = found;
    return found;
}

// The last letter that whoever typed `first` had deleted at this very place just before; kNoLv for
// none.
Lv StandingOrder::replaced_by(const Container& home, Lv first) const {
    if (home.id.kind != ContainerKind::text && home.id.kind != ContainerKind::list) return kNoLv;
    const OpLog& log = body_.oplog();
    const ContainerLog& runs = *home.log;
    const Run& typed = runs.runs()[runs.find(first)];
    const OpId id = log.atoms().id_of(first);
    if (typed.lv != first || typed.kind != RunKind::insert || id.counter == 0) return kNoLv;
    // A shallow history does not know what was replaced before its start.
    const std::optional<Lv> before = log.atoms().lv_of({id.peer, id.counter - 1});
    if (first < log.base() || !before) return kNoLv;
    const Lv erased = *before;
    const Heads known = log.graph().parents_of(first);
    if (known.size() != 1 || *known.begin() != erased) return kNoLv;
    if (log.container_of(erased) != home.index) return kNoLv;
    const Run& erase = runs.runs()[runs.find(erased)];
    if (!erase.is_erase()) return kNoLv;
    const std::uint32_t steps = erase.kind == RunKind::erase_backward ? erased - erase.lv : 0;
    if (erase.pos - steps != typed.pos) return kNoLv;
    return order_of({body_, body_.container(home.index)}).targets(erased, 1).front().first;
}

// Among the atoms begin .. end. Anchors of styles stand for each other in another way.
Lv StandingOrder::last_copy(const ContainerLog& log, Lv begin, Lv end) const {
    for (Lv copy = names_.last_copy(begin, end); copy != kNoLv;
         copy = names_.last_copy(begin, copy)) {
        if (log.runs()[log.find(copy)].kind != RunKind::anchor) return copy;
    }
    return kNoLv;
}

// --- among what is there ---

Placing::Placing(DocBody& body, Container& to) : body_(body), to_(to), order_(body, to.id.kind) {}

Placing::Spot Placing::spot(const Piece& piece) {
    std::uint32_t near = 0;
    if (piece.container == to_.index) near = order_of({body_, to_}).place_of(piece.lv).pos;
    if (order_.is_plain(to_.index)) return {near, piece.len};
    const Range found = gap(piece.lv, near);
    const std::uint32_t pos = std::clamp(near, found.begin, found.end);
    const Sequence& order = order_of({body_, to_});
    if (found.end == order.visible() || piece.len == 1) return {pos, piece.len};
    // Something may stand between the piece's atoms by now.
    const Lv behind = order.atom_at(found.end);
    std::uint32_t fits = 1;
    for (std::uint32_t until = piece.len; fits < until;) {
        const std::uint32_t middle = fits + (until - fits + 1) / 2;
        // Mostly all of it fits.
        const std::uint32_t probe = until == piece.len ? until : middle;
        if (order_.before(piece.lv + probe - 1, behind)) {
            fits = probe;
        } else {
            until = probe - 1;
        }
    }
    return {pos, fits};
}

// Returns true if the entity's place counts: it is neither an anchor of a style nor a slot that
// shows nothing.
bool Placing::counts(std::uint32_t at, Lv lv) {
    const Lv atom = order_of({body_, to_}).atom_at(at);
    if (order_.origin(atom) == order_.origin(lv)) return false;
    if (to_.id.kind == ContainerKind::movable_list) {
        const SlotTree& slots = to_.as<MovableBody>().latest({body_, to_}).slots();
        return slots.shown_before(at) != slots.shown_before(at + 1);
    }
    if (!to_.has_anchors()) return true;
    const ContainerLog& log = *to_.log;
    return log.runs()[log.find(atom)].kind != RunKind::anchor;
}

// The first and the last entity of the range that counts; the range's end where none does.
std::uint32_t Placing::next(Range range, Lv lv) {
    while (range.begin < range.end && !counts(range.begin, lv)) ++range.begin;
    return range.begin;
}
std::uint32_t Placing::previous(Range range, Lv lv) {
    for (std::uint32_t at = range.end; at > range.begin; --at) {
        if (counts(at - 1, lv)) return at - 1;
    }
    return range.end;
}

bool Placing::is_before(std::uint32_t at, Lv lv) {
    return order_.before(order_of({body_, to_}).atom_at(at), lv);
}

// The places that the atom may go to: behind the last entity that stands before it, and before the
// first that stands behind it. Looked for from `near` on, in steps that double.
Placing::Range Placing::gap(Lv lv, std::uint32_t near) {
    const std::uint32_t size = order_of({body_, to_}).visible();
    Range range{0, size};
    const std::uint32_t left = previous({0, near}, lv);
    if (left < near && !is_before(left, lv)) {
        range.end = left;
        for (std::uint32_t step = 1; range.end > 0; step *= 2) {
            const std::uint32_t from = range.end > step ? range.end - step : 0;
            const std::uint32_t at = next({from, range.end}, lv);
            if (at == range.end) {
                if (from == 0) break;
                continue;
            }
            if (is_before(at, lv)) {
                range.begin = at + 1;
                break;
            }
            range.end = at;
        }
        return search(range, lv);
    }
    if (left < near) range.begin = left + 1;
    for (std::uint32_t step = 0; range.begin < size;) {
        const std::uint32_t from = std::max(range.begin, near);
        const std::uint32_t at = next({std::min(size, from + step), size}, lv);
        if (at == size) break;
        if (!is_before(at, lv)) {
            range.end = at;
            break;
        }
        range.begin = at + 1;
        step = step == 0 ? 1 : step * 2;
    }
    return search(range, lv);
}

Placing::Range Placing::search(Range range, Lv lv) {
    while (range.begin < range.end) {
        const std::uint32_t middle = range.begin + (range.end - range.begin) / 2;
        std::uint32_t at = next({middle, range.end}, lv);
        if (at == range.end) {
            at = previous({range.begin, middle}, lv);
            if (at == middle) return range;
        }
        if (is_before(at, lv)) {
            range.begin = at + 1;
        } else {
            range.end = at;
        }
    }
    return range;
}

}  // namespace quire::crdt
