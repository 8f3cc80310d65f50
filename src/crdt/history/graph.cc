// History is mostly long runs with few branches, so the graph stores one entry per run, with a
// shortcut: `covers` names the lowest atom such that everything from there on is an ancestor. A
// walk (Descent) keeps a queue of atoms and takes the highest each time; at an entry it jumps to
// `covers` at once. A difference of two versions walks both at the same time and marks each atom
// with the sides that reach it; as soon as every atom in the queue is marked with both, the rest is
// common and the walk ends. So comparing two versions that differ by a few edits costs O(those
// edits), however long the history is.

#include "crdt/history/graph.h"

#include <algorithm>

#include "base/check.h"

namespace quire::crdt {

namespace {

constexpr std::size_t kNear = 6;

void push_span(std::vector<LvSpan>& spans, LvSpan span) {
    // Walks go downwards, so a span that ends where the last one begins continues it.
    if (!spans.empty() && spans.back().begin == span.end) {
        spans.back().begin = span.begin;
    } else {
        spans.push_back(span);
    }
}

}  // namespace

void Graph::append(std::span<const Lv> parents, Lv count) {
    const Lv begin = end();
    if (!entries_.empty() && parents.size() == 1 && parents[0] + 1 == begin) {
        entries_.back().end += count;
        return;
    }
    Entry& entry = add(parents, count);
    for (const Link& parent : this->parents(entry)) {
        const Entry& before = entries_[parent.entry];
        entry.lamport = std::max(entry.lamport, before.lamport + (parent.lv - before.begin) + 1);
    }
}

void Graph::place(std::span<const Lv> parents, Lv count, Lamport lamport) {
    add(parents, count).lamport = lamport;
}

Graph::Entry& Graph::add(std::span<const Lv> parents, Lv count) {
    const Lv begin = end();
    const auto at = static_cast<std::uint32_t>(links_.size());
    const auto n = static_cast<std::uint32_t>(parents.size());
    for (const Lv parent : parents) links_.push_back(link_to(parent));
    // Filled in its place: a copy would wait until all of it is written.
    Entry& entry = entries_.emplace_back();
    entry.begin = begin;
    entry.end = begin + count;
    entry.lamport = 0;
    entry.parents = entry.beyond = at;
    entry.parent_count = entry.beyond_count = n;
    entry.covers = begin;
    if (n == 1 && parents[0] + 1 == begin) {
        // An entry that follows the whole one before covers what that covers, which has been found:
        // a state that is opened has thousands of such entries.
        const Entry& before = entries_[entries_.size() - 2];
        entry.covers = before.covers;
        entry.beyond = before.beyond;
        entry.beyond_count = before.beyond_count;
    } else if (n > 1) {
        cover(entry);
    }
    return entry;
}

// Jumps as far down as all atoms on the way are ancestors.
void Graph::cover(Entry& entry) {
    const auto found = parents(entry);
    way_.assign(found.begin(), found.end());  // Ascending.
    while (!way_.empty() && way_.back().lv + 1 >= entry.covers) {
        const Entry& next = entries_[way_.back().entry];
        // An atom takes with it all that it follows.
        while (!way_.empty() && way_.back().lv >= next.covers) way_.pop_back();
        entry.covers = std::min(entry.covers, next.covers);
        for (const Link& link : beyond(next)) {
            const auto at = std::lower_bound(way_.begin(), way_.end(), link);
            if (at == way_.end() || at->lv != link.lv) way_.insert(at, link);
        }
    }
    if (entry.covers == entry.begin) return;
    entry.beyond = static_cast<std::uint32_t>(links_.size());
    // The `beyond` heads cover everything from here on, up to the largest of them.
    Lv known = entry.covers;
    for (auto link = way_.rbegin(); link != way_.rend(); ++link) {
        if (links_.size() > entry.beyond && link->lv >= known) continue;
        known = entries_[link->entry].covers;
        links_.push_back(*link);
    }
    entry.beyond_count = static_cast<std::uint32_t>(links_.size()) - entry.beyond;
}

void Graph::truncate(Lv end) {
    while (!entries_.empty() && entries_.back().begin >= end) {
        links_.resize(entries_.back().parents);
        entries_.pop_back();
    }
    if (!entries_.empty()) entries_.back().end = end;
}

void Graph::expect(std::size_t runs) {
    if (runs < entries_.size()) return;
    entries_.reserve(entries_.size() + runs);
    links_.reserve(links_.size() + runs);
}

std::uint32_t Graph::entry_of(Lv lv) const {
    // Usually it is one of the last entries.
    std::size_t last = entries_.size() - 1;
    for (std::size_t i = std::min(last, kNear); i > 0 && entries_[last].begin > lv; --i) --last;
    if (entries_[last].begin <= lv) return static_cast<std::uint32_t>(last);
    const auto after =
        std::upper_bound(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(last), lv,
                         [](Lv value, const Entry& entry) { return value < entry.begin; });
    return static_cast<std::uint32_t>(after - entries_.begin()) - 1;
}

Lamport Graph::lamport(Lv lv) const {
    const Entry& entry = entries_[entry_of(lv)];
    return entry.lamport + (lv - entry.begin);
}

Heads Graph::parents_of(Lv lv) const {
    const Entry& entry = entries_[entry_of(lv)];
    if (lv > entry.begin) return {lv - 1};
    Heads out;
    for (const Link& parent : parents(entry)) out.push_back(parent.lv);
    return out;
}

// A walk down from some atoms to their ancestors that meets atoms in descending order.
class Graph::Descent {
public:
    // Atoms below `floor` will not be asked for.
    Descent(const Graph& graph, Lv floor) : graph_(graph), floor_(floor) {}

    void add(Lv lv) {
        if (lv >= floor_) add(graph_.link_to(lv));
    }
    // Returns true if the target was added or is an ancestor of an added atom. Later questions and
    // additions must lie below it.
    bool reaches(Lv target) {
        while (!queue_.empty() && queue_.back().lv > target) {
            const Entry& entry = graph_.entries_[queue_.back().entry];
            if (target >= entry.covers) return true;
            while (!queue_.empty() && queue_.back().lv >= entry.covers) queue_.pop_back();
            for (const Link& link : graph_.beyond(entry)) {
                if (link.lv >= floor_) add(link);
            }
        }
        return !queue_.empty() && queue_.back().lv == target;
    }

private:
    void add(const Link& link) {
        const auto place = std::lower_bound(queue_.begin(), queue_.end(), link);
        if (place == queue_.end() || place->lv != link.lv) queue_.insert(place, link);
    }

    const Graph& graph_;
    Lv floor_;
    std::vector<Link> queue_;  // Ascending, each atom once.
};

bool Graph::contains(std::span<const Lv> heads, Lv target) const {
    return contains_all(heads, {&target, 1});
}

bool Graph::contains_all(std::span<const Lv> heads, std::span<const Lv> targets) const {
    if (targets.empty()) return true;
    Descent descent(*this, targets.front());
    for (const Lv head : heads) descent.add(head);
    return std::all_of(targets.rbegin(), targets.rend(),
                       [&](Lv target) { return descent.reaches(target); });
}

// Both walks share one queue of atoms, each with the sides that reach it. The walk ends when no atom
// is left that only one side reaches.
void Graph::diff(std::span<const Lv> a, std::span<const Lv> b, Difference& out) const {
    out.only_a.clear();
    out.only_b.clear();
    if (std::equal(a.begin(), a.end(), b.begin(), b.end())) return;
    if (a.size() == 1 && b.size() == 1) {
        const std::size_t entry = entry_of(std::max(a[0], b[0]));
        if (entries_[entry].begin <= std::min(a[0], b[0])) {
            if (a[0] > b[0]) out.only_a.push_back({b[0] + 1, a[0] + 1});
            if (b[0] > a[0]) out.only_b.push_back({a[0] + 1, b[0] + 1});
            return;
        }
    }
    // The versions that are known to contain an atom on the way down.
    enum Side : std::uint8_t { in_a = 1, in_b = 2, in_both = 3 };
    struct Visit {
        Link at;
        Side side;
    };
    // Ascending, each atom once. It is as long as branches run side by side, which are few, so that
    // moving what lies behind a new one is cheaper than a heap.
    std::vector<Visit> queue;
    std::size_t one_sided = 0;
    const auto push = [&](const Link& at, Side side) {
        const auto place =
            std::lower_bound(queue.begin(), queue.end(), at.lv,
                             [](const Visit& visit, Lv lv) { return visit.at.lv < lv; });
        if (place == queue.end() || place->at.lv != at.lv) {
            queue.insert(place, {at, side});
            if (side != in_both) ++one_sided;
        } else if ((place->side | side) != place->side) {
            if (place->side != in_both) --one_sided;
            place->side = in_both;
        }
    };
    const auto pop = [&] {
        const Visit top = queue.back();
        queue.pop_back();
        if (top.side != in_both) --one_sided;
        return top;
    };
    const auto mark = [&](Lv begin, Lv end, Side side) {
        if (begin == end || side == in_both) return;
        push_span(side == in_a ? out.only_a : out.only_b, {begin, end});
    };
    for (const Lv lv : a) push(link_to(lv), in_a);
    for (const Lv lv : b) push(link_to(lv), in_b);
    while (one_sided > 0) {
        Visit top = pop();
        const Entry& entry = entries_[top.at.entry];
        Lv end = top.at.lv + 1;
        while (!queue.empty() && queue.back().at.lv >= entry.begin) {
            const Visit next = pop();
            if ((top.side | next.side) != top.side) {
                mark(next.at.lv + 1, end, top.side);
                end = next.at.lv + 1;
                top.side = static_cast<Side>(top.side | next.side);
            }
        }
        mark(entry.begin, end, top.side);
        for (const Link& parent : parents(entry)) push(parent, top.side);
    }
    std::reverse(out.only_a.begin(), out.only_a.end());
    std::reverse(out.only_b.begin(), out.only_b.end());
}

// Drops each head that a later one contains.
Heads Graph::minimal(Heads of) const {
    std::sort(of.begin(), of.end());
    of.erase(std::unique(of.begin(), of.end()), of.end());
    if (of.size() < 2) return of;
    Descent descent(*this, of.front());
    Heads heads;
    for (auto lv = of.rbegin(); lv != of.rend(); ++lv) {
        if (descent.reaches(*lv)) continue;
        heads.push_back(*lv);
        descent.add(*lv);
    }
    std::reverse(heads.begin(), heads.end());
    return heads;
}

void Graph::check_invariants(Lv base) const {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        const Entry& entry = entries_[i];
        CHECK(entry.begin < entry.end && entry.begin == (i == 0 ? 0 : entries_[i - 1].end));
        Lamport least = 0;
        Heads before;
        for (const Link& parent : parents(entry)) {
            CHECK(parent.lv < entry.begin && parent.entry == entry_of(parent.lv));
            least = std::max(least, lamport(parent.lv) + 1);
            before.push_back(parent.lv);
        }
        CHECK(entry.lamport == least || entry.begin < base);
        CHECK(entry.covers <= entry.begin);
        CHECK(entry.covers == entry.begin || contains(before, entry.covers));
        for (const Link& link : beyond(entry)) {
            CHECK(link.lv < entry.covers && link.entry == entry_of(link.lv));
            CHECK(contains(before, link.lv));
        }
    }
}

}  // namespace quire::crdt
