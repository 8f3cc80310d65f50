// How atoms are placed, and how the sequence moves between versions. sequence.h has the idea; here
// stand, in this order, linear ops, concurrent ops (integrate() and Fugue's rule in spot()), moves
// between versions, and questions.
#include "crdt/merge/sequence.h"

#include <algorithm>
#include <span>

#include "base/check.h"

namespace quire::crdt {

using Cursor = ItemTree::Cursor;

namespace {

// A move between versions is done in bulk from this many runs on, if they are at least one
// kBulkShare-th of all items.
#ifdef QUIRE_SMALL_NODES
constexpr std::size_t kBulkRuns = 2;
constexpr std::size_t kBulkShare = 8;
#else
constexpr std::size_t kBulkRuns = 8;
constexpr std::size_t kBulkShare = 16;
#endif
// Every how many siblings a milestone is set.
#ifdef QUIRE_SMALL_NODES
constexpr std::size_t kMilestone = 2;
#else
constexpr std::size_t kMilestone = 8;
#endif
// A bulk move needs a byte for each atom, and is not done where items are longer than this on
// average.
constexpr std::size_t kBulkAtoms = 64;

}  // namespace

Sequence::Target Sequence::Target::part(Lv from, Lv to) const {
    const Lv skip = from - op;
    const std::uint32_t n = to - from;
    return {from, n, reversed ? first + (len - skip - n) : first + skip, reversed};
}

// --- linear ops, by position alone ---

// Linear ops need no version to be moved to: their positions count what is visible after
// everything. While a sequence stands at an earlier version (not at_last_), they are still placed
// by `last`, and their atoms are not there in `now`.
void Sequence::catch_up(const History& history, Lv until) {
    const auto& runs = history.log.runs();
    // The last run may have grown since.
    if (next_run_ > 0 && runs[next_run_ - 1].end() > end_) --next_run_;
    for (; next_run_ < runs.size() && runs[next_run_].lv < until; ++next_run_) {
        const Run& run = runs[next_run_];
        const Lv from = std::max(run.lv, end_);
        const Lv to = std::min(run.end(), until);
        if (from >= to) continue;
        if (!run.in_sequence()) {
            end_ = to;
            continue;
        }
        const std::uint32_t done = from - run.lv;
        const std::uint32_t len = to - from;
        if (!run.linear) {
            CHECK(integrate(history, run, {from, from + len}, history.graph.parents_of(from),
                            nullptr));
        } else {
            if (!at_last_) {
                // Moving to the last version pays off once as many atoms have come in as lie
                // between.
                linear_ += len;
                if (linear_ > distance_) {
                    move_to(history, history.graph.parents_of(from));
                    at_last_ = true;
                    linear_ = distance_ = 0;
                }
            }
            if (run.is_insert()) {
                insert_last(history, from, len, run.pos + done);
            } else if (run.kind == RunKind::move) {
                erase_last(from, 1, run.pos, false);
                insert_last(history, from, 1, run.payload);
            } else if (run.kind == RunKind::erase_forward) {
                erase_last(from, len, run.pos, false);
            } else {
                erase_last(from, len, run.pos - done, true);
            }
            if (at_last_) version_.assign(1, to - 1);
            end_ = to;
        }
        if (to < run.end()) break;
    }
}

// The origins are found although a linear op does not need them: a later concurrent one does.
void Sequence::insert_last(const History& history, Lv lv, std::uint32_t len, std::uint32_t pos) {
    Cursor at;
    Lv left = kNoLv;
    Lv right = kNoLv;
    if (pos == 0) {
        at = items_.begin();
        if (!items_.empty()) right = items_.item(at).lv;
    } else {
        at = items_.find_last(pos - 1);
        left = items_.item(at).lv + at.offset;
        ++at.offset;
        // Its version holds everything, so its right origin is simply the next atom.
        Cursor after = at;
        if (at.offset < items_.item(at).len) {
            right = left + 1;
        } else if (items_.next(after)) {
            right = items_.item(after).lv;
        }
    }
    items_.insert(at, {lv, len, left, right, at_last_ ? 1U : 0U, 0}, history.atoms.follows(lv));
}

// Records as many of the `len` deletions from `op` on as hit the item at the cursor, and returns
// that stretch as an item of its own. A reversed run moves `pos` before the stretch.
ItemTree::Cursor Sequence::take_erased(Cursor at, Lv op, std::uint32_t len, std::uint32_t& pos,
                                       bool reversed) {
    std::uint32_t n = 0;
    if (reversed) {
        n = std::min(len, at.offset + 1);
        at.offset -= n - 1;
        pos -= n;
    } else {
        n = std::min(len, items_.item(at).len - at.offset);
    }
    at = items_.isolate(at, n);
    record(op, n, items_.item(at).lv, reversed);
    return at;
}

void Sequence::erase_last(Lv op, std::uint32_t len, std::uint32_t pos, bool reversed) {
    while (len > 0) {
        const Cursor at = take_erased(items_.find_last(pos), op, len, pos, reversed);
        const std::uint32_t n = items_.item(at).len;
        items_.adjust(at, at_last_ ? 1 : 0, 1);
        op += n;
        len -= n;
    }
}

void Sequence::record(Lv op, std::uint32_t len, Lv first, bool reversed) {
    if (!targets_.empty()) {
        Target& last = targets_.back();
        if (last.end() == op && last.reversed == reversed &&
            (reversed ? first + len == last.first : last.first + last.len == first)) {
            if (reversed) last.first = first;
            last.len += len;
            return;
        }
    }
    targets_.push_back({op, len, first, reversed});
}

// --- concurrent ops, in the version that wrote them ---

// The positions come from a peer and are checked against the version: false leaves the sequence
// half changed, and the caller drops it.
bool Sequence::integrate(const History& history, const Run& run, LvSpan span, const Heads& parents,
                         std::vector<Effect>* effects) {
    const Lv lv = span.begin;
    const std::uint32_t len = span.end - span.begin;
    move_to(history, parents);
    at_last_ = false;
    const std::uint32_t done = lv - run.lv;
    if (run.is_insert()) {
        const auto effect = insert_now(history, lv, len, run.pos + done);
        if (!effect) return false;
        if (effects != nullptr) effects->push_back(*effect);
    } else if (run.kind == RunKind::move) {
        // The old slot is deleted first: the new position is counted without it.
        if (!erase_now(lv, 1, run.pos, false, effects)) return false;
        const auto effect = insert_now(history, lv, 1, run.payload);
        if (!effect) return false;
        if (effects != nullptr) effects->push_back(*effect);
    } else {
        const bool reversed = run.kind == RunKind::erase_backward;
        if (!erase_now(lv, len, reversed ? run.pos - done : run.pos, reversed, effects))
            return false;
    }
    version_.assign(1, lv + len - 1);
    end_ = lv + len;
    return true;
}

std::optional<Effect> Sequence::insert_now(const History& history, Lv lv, std::uint32_t len,
                                           std::uint32_t pos) {
    if (pos > items_.total().now) return std::nullopt;
    Cursor at = items_.begin();
    Lv left = kNoLv;
    if (pos > 0) {
        at = items_.find_now(pos - 1);
        left = items_.item(at).lv + at.offset;
        ++at.offset;
    }
    Lv right = kNoLv;
    bool between = false;
    if (pos > 0 && at.offset < items_.item(at).len) {
        right = left + 1;
    } else if (!items_.empty()) {
        // The right origin is the first atom that the version knows, deleted or not. The atoms
        // before it are concurrent.
        Cursor after = at;
        bool more = pos == 0 || items_.next(after);
        if (more && items_.item(after).now == 0) {
            between = true;
            more = items_.next_known(after);
        }
        if (more) right = items_.item(after).lv;
        if (between) at = spot(history.atoms, {lv, left, right, at, after});
    }
    const Cursor placed =
        items_.insert(at, {lv, len, left, right, 1, 0}, history.atoms.follows(lv));
    const std::uint32_t offset = lv - items_.item(placed).lv;
    return Effect{lv, len, items_.last_before({placed.leaf, placed.index, offset}), false};
}

Cursor Sequence::find_behind(Lv lv, const Cursor& at) const {
    for (std::uint32_t i = at.index + 1; i < at.leaf->count; ++i) {
        const ItemTree::Item& item = items_.item({at.leaf, i, 0});
        if (lv - item.lv < item.len) return {at.leaf, i, lv - item.lv};
    }
    return items_.find_atom(lv);
}

// Moves to the last known milestone of the gap that comes before the peer's atom; false if there is none.
bool Sequence::skip_siblings(const Gap& gap, PeerId peer, Cursor& at) const {
    const auto known = milestones_.find({gap.left, gap.right});
    if (known == milestones_.end()) return false;
    const auto after = known->second.lower_bound(peer);
    if (after == known->second.begin()) return false;
    at = items_.find_atom(std::prev(after)->second);
    return true;
}

// Walks over the concurrent items between the origins and returns the place behind the last one
// that belongs before the new atom. `scanning` is true behind an item of which that is not decided
// yet: it and those below it belong before only if a later sibling does.
Cursor Sequence::spot(const AtomTable& atoms, const Gap& gap) {
    const PeerId peer = atoms.peer_of(gap.lv);
    // An atom's right parent is its right origin if that has the same left origin, else the end.
    const auto hangs_on_left = [&](const Cursor& origin) {
        const ItemTree::Item& item = items_.item(origin);
        return (origin.offset == 0 ? item.left : item.lv + origin.offset - 1) == gap.left;
    };
    const bool mine_is_end = gap.right == kNoLv || !hangs_on_left(gap.behind);
    const Lv mine = mine_is_end ? kNoLv : gap.right;
    const auto holds = [&](ItemTree::Leaf* leaf, std::uint32_t from, std::uint32_t to, Lv atom) {
        for (std::uint32_t i = to; i-- > from;) {
            const ItemTree::Item& item = items_.item({leaf, i, 0});
            if (atom - item.lv < item.len) return true;
        }
        return false;
    };
    // Returns true if an atom before `at` lies behind the left origin. It is mostly near one of the
    // two.
    const auto is_passed = [&](Lv origin, const Cursor& at) {
        if (gap.left == kNoLv) return true;
        if (at.leaf == gap.before.leaf)
            return holds(at.leaf, gap.before.index + 1, at.index, origin);
        if (holds(at.leaf, 0, at.index, origin)) return true;
        if (holds(gap.before.leaf, 0, gap.before.index + 1, origin)) return false;
        return items_.before(gap.before, items_.find_atom(origin));
    };
    Cursor best = gap.before;
    bool scanning = false;
    std::size_t siblings = 0;
    Cursor at = gap.before;
    bool more = gap.left == kNoLv;
    if (!milestones_.empty() && skip_siblings(gap, peer, at)) {
        best = {at.leaf, at.index, items_.item(at).len};
        more = false;
    }
    more = more || items_.next(at);
    for (; more; more = items_.next(at)) {
        const ItemTree::Item& other = items_.item(at);
        if (other.lv == gap.right) break;
        if (other.left != gap.left) {
            if (other.left == kNoLv || !is_passed(other.left, at)) break;
        } else if (other.right == gap.right) {
            const PeerId sibling = atoms.peer_of(other.lv);
            if (sibling > peer) break;
            scanning = false;
            if (++siblings % kMilestone == 0)
                milestones_[{gap.left, gap.right}].emplace(sibling, other.lv);
        } else {
            Lv theirs = kNoLv;
            Cursor origin;
            if (other.right != kNoLv) {
                // An atom lies before its right origin, and mostly near it.
                origin = find_behind(other.right, at);
                if (hangs_on_left(origin)) theirs = other.right;
            }
            if (theirs == mine) {
                if (atoms.peer_of(other.lv) > peer) break;
                scanning = false;
            } else {
                scanning = mine == kNoLv || (theirs != kNoLv && items_.before(origin, gap.behind));
            }
        }
        if (!scanning) best = {at.leaf, at.index, other.len};
    }
    return best;
}

bool Sequence::erase_now(Lv op, std::uint32_t len, std::uint32_t pos, bool reversed,
                         std::vector<Effect>* effects) {
    const std::uint32_t total = items_.total().now;
    if (reversed ? pos >= total || len > pos + 1 : pos > total || len > total - pos) return false;
    while (len > 0) {
        const Cursor at = take_erased(items_.find_now(pos), op, len, pos, reversed);
        const std::uint32_t n = items_.item(at).len;
        if (effects != nullptr && items_.item(at).erased == 0) {
            effects->push_back({op, n, items_.last_before(at), true});
        }
        items_.adjust(at, 1, 1);
        op += n;
        len -= n;
    }
    return true;
}

template <class Take>
void Sequence::for_each_target(Lv op, std::uint32_t len, Take take) const {
    auto at = std::upper_bound(targets_.begin(), targets_.end(), op,
                               [](Lv value, const Target& target) { return value < target.op; });
    const Lv end = op + len;
    for (at = at == targets_.begin() ? at : at - 1; at != targets_.end() && at->op < end; ++at) {
        const Lv from = std::max(op, at->op);
        const Lv to = std::min(end, at->end());
        if (from < to) take(at->part(from, to));
    }
}

// --- moving between versions ---

// The ops that only one of the versions has are taken back or done, in any order (invariant 1).
void Sequence::move_to(const History& history, const Heads& version) {
    if (version_ == version) return;
    history.graph.diff(version_, version, difference_);
    if (!shift_in_bulk(history.log)) {
        ItemTree::Shift items(items_);
        for (const LvSpan& span : difference_.only_a) shift(history.log, span, -1, items);
        for (const LvSpan& span : difference_.only_b) shift(history.log, span, 1, items);
    }
    for (const LvSpan& span : difference_.only_a) distance_ += span.size();
    for (const LvSpan& span : difference_.only_b) distance_ += span.size();
    version_ = version;
    at_last_ = false;
}

// Shifts all items in one pass, which is cheaper than seeking each one if a good part of them
// changes. Otherwise does nothing and returns false.
bool Sequence::shift_in_bulk(const ContainerLog& log) {
    const std::size_t fewest = std::max(kBulkRuns, items_.item_count() / kBulkShare);
    std::size_t atoms = 0;
    for (const LvSpan& span : difference_.only_a) atoms += span.size();
    for (const LvSpan& span : difference_.only_b) atoms += span.size();
    if (atoms < fewest || end_ / kBulkAtoms > items_.item_count()) return false;
    struct Part {
        LvSpan span;
        std::int32_t by;
    };
    std::vector<Part> parts;
    std::size_t runs = 0;
    const auto add = [&](const LvSpan& span, std::int32_t by) {
        const LvSpan known{span.begin, std::min(span.end, end_)};
        if (known.begin >= known.end) return;
        runs += log.find(known.end) - log.find(known.begin);
        parts.push_back({known, by});
    };
    for (const LvSpan& span : difference_.only_a) add(span, -1);
    for (const LvSpan& span : difference_.only_b) add(span, 1);
    if (runs < fewest) return false;

    // The change of each atom's count. Gives up if a count does not fit a byte.
    std::vector<std::int8_t> changes(end_);
    bool fit = true;
    const auto change = [&](Lv lv, std::uint32_t len, std::int32_t by) {
        for (std::int8_t& each : std::span(changes).subspan(lv, len)) {
            fit &= each < 127 && each > -127;
            each = static_cast<std::int8_t>(each + by);
        }
    };
    for (const Part& part : parts) {
        const LvSpan& span = part.span;
        cut_at(log, span.begin);
        cut_at(log, span.end);
        std::fill(changes.begin() + span.begin, changes.begin() + span.end,
                  static_cast<std::int8_t>(part.by));
    }
    for (const Part& part : parts) {
        for_each_target(part.span.begin, part.span.size(), [&](const Target& target) {
            // Only the ends of a part can cut an item in two.
            if (target.op == part.span.begin || target.end() == part.span.end)
                cut_out(target.first, target.len);
            change(target.first, target.len, part.by);
        });
    }
    if (!fit) return false;
    items_.adjust_all([&](const ItemTree::Item& item) { return changes[item.lv]; });
    return true;
}

// Splits items so that none reaches over either end of these atoms, which are here.
void Sequence::cut_out(Lv lv, std::uint32_t len) {
    while (len > 0) {
        const Cursor at = items_.find_atom(lv);
        const std::uint32_t n = std::min(len, items_.item(at).len - at.offset);
        items_.isolate(at, n);
        lv += n;
        len -= n;
    }
}

// Splits the item, if any, that begins before `lv` and ends behind it.
void Sequence::cut_at(const ContainerLog& log, Lv lv) {
    if (lv == 0 || lv >= end_) return;
    // An item reaches over it only if both neighbours were inserted.
    for (const Lv atom : {lv - 1, lv}) {
        const std::size_t i = log.find(atom);
        if (i == log.runs().size() || log.runs()[i].lv > atom) return;
        const Run& run = log.runs()[i];
        if (!run.is_insert() && run.kind != RunKind::move) return;
    }
    Cursor at = items_.find_atom(lv);
    if (at.offset > 0) items_.isolate(at, items_.item(at).len - at.offset);
}

// An insertion and each deletion count one, so the order in which ops are taken back does not
// matter. A move of an element is both.
void Sequence::shift(const ContainerLog& log, LvSpan span, std::int32_t by,
                     ItemTree::Shift& items) {
    const auto& runs = log.runs();
    for (std::size_t i = log.find(span.begin); i < runs.size() && runs[i].lv < span.end; ++i) {
        const Run& run = runs[i];
        const Lv from = std::max(run.lv, span.begin);
        const Lv to = std::min({run.end(), span.end, end_});
        if (from >= to) continue;
        if (run.is_insert() || run.kind == RunKind::move) items.add(from, to - from, by);
        if (run.is_erase() || run.kind == RunKind::move) {
            for_each_target(from, to - from,
                            [&](const Target& target) { items.add(target.first, target.len, by); });
        }
    }
}

// --- asking ---

Lv Sequence::atom_at(std::uint32_t pos) const {
    const Cursor at = items_.find_last(pos);
    return items_.item(at).lv + at.offset;
}

Sequence::Place Sequence::place_of(Lv lv) const {
    const Cursor at = items_.find_atom(lv);
    const ItemTree::Item& item = items_.item(at);
    return {items_.last_before(at), item.erased, item.len - at.offset};
}

std::vector<Sequence::Target> Sequence::targets(Lv op, std::uint32_t len) const {
    std::vector<Target> parts;
    for_each_target(op, len, [&](const Target& part) { parts.push_back(part); });
    return parts;
}

void Sequence::check_invariants() const {
    items_.check_invariants();
    for (std::size_t i = 0; i < targets_.size(); ++i) {
        CHECK(targets_[i].len > 0 && targets_[i].end() <= end_);
        CHECK(i == 0 || targets_[i - 1].end() <= targets_[i].op);
    }
}

}  // namespace quire::crdt
