// The log joins three tables: AtomTable (ids and numbers), Graph (causal order) and one
// ContainerLog per container (content). A change is begun with its dependencies, receives atoms,
// and is finished; only finishing makes it a head, so a failed import is undone by truncating all
// tables to a mark. Every append is O(1) amortised. Local changes that continue the last one with
// the same properties are merged into it, which keeps an hour of typing at one change.

#include "crdt/history/oplog.h"

#include <algorithm>
#include <unordered_set>

#include "base/check.h"

namespace quire::crdt {

// The parents of a change of `peer` with these deps: sorted, and with the predecessor unless the
// deps imply it.
void OpLog::find_parents(PeerIndex peer, const Heads& deps) {
    parents_ = deps;
    if (parents_.size() > 1) std::sort(parents_.begin(), parents_.end());
    if (parents_ == heads_) return;  // The heads include everything, the predecessor too.
    const Counter known = atoms_.end_of(peer);
    if (known > atoms_.base_end_of(peer)) {  // Every version includes the base.
        const Lv before = *atoms_.lv_of(peer, known - 1);
        if (parents_.size() == 1 && parents_[0] == before) return;
        // A head has no followers yet.
        const bool is_head = std::binary_search(heads_.begin(), heads_.end(), before);
        if (is_head ? !std::binary_search(parents_.begin(), parents_.end(), before)
                    : !graph_.contains(parents_, before)) {
            parents_.insert(std::upper_bound(parents_.begin(), parents_.end(), before), before);
        }
    }
    if (parents_.size() > 1) parents_ = graph_.minimal(std::move(parents_));
}

void OpLog::expect(std::size_t changes) {
    // A few more are left to the vectors, which grow by doubling.
    if (changes < changes_.size()) return;
    changes_.reserve(changes_.size() + changes);
    deps_.reserve(deps_.size() + changes);
}

std::uint32_t OpLog::number_message(std::string_view message) {
    const auto [at, added] =
        message_index_.emplace(std::string(message), static_cast<std::uint32_t>(messages_.size()));
    if (added) messages_.emplace_back(message);
    return at->second;
}

// Atoms are appended between begin() and finish().
void OpLog::begin(PeerIndex peer, const Heads& deps, std::int64_t timestamp,
                  std::string_view message) {
    current_ = peer;
    find_parents(peer, deps);
    opening_ = true;
    joins_ =
        end() > 0 && parents_.size() == 1 && parents_[0] + 1 == end() && atoms_.is_last_of(peer);
    changes_.push_back({end(), static_cast<std::uint32_t>(deps_.size()),
                        static_cast<std::uint32_t>(deps.size()), intern_message(message),
                        timestamp});
    deps_.insert(deps_.end(), deps.begin(), deps.end());
}

void OpLog::go_on(std::int64_t timestamp, std::string_view message) {
    changes_.push_back(
        {end(), static_cast<std::uint32_t>(deps_.size()), 1, intern_message(message), timestamp});
    deps_.push_back(end() - 1);
}

void OpLog::begin_local(PeerIndex peer) {
    marked_ = 0;
    current_ = peer;
    parents_ = heads_;
    opening_ = true;
    joins_ = parents_.size() == 1 && parents_[0] + 1 == end() && atoms_.is_last_of(peer);
    changes_.push_back({end(), static_cast<std::uint32_t>(deps_.size()),
                        static_cast<std::uint32_t>(heads_.size()), 0, 0});
    deps_.insert(deps_.end(), heads_.begin(), heads_.end());
    if (heads_.size() > 1) {
        std::sort(deps_.end() - static_cast<std::ptrdiff_t>(heads_.size()), deps_.end(),
                  [&](Lv a, Lv b) { return atoms_.id_of(a) < atoms_.id_of(b); });
    }
}

// Merging keeps the number of changes low while somebody types.
void OpLog::finish_local(std::int64_t timestamp, std::string_view message,
                         std::int64_t merge_interval) {
    finish();
    ChangeInfo& change = changes_.back();
    const std::uint32_t words = intern_message(message);
    if (changes_.size() > 1 && change.dep_count == 1 && deps_.back() + 1 == change.lv &&
        atoms_.follows(change.lv)) {
        const ChangeInfo& before = changes_[changes_.size() - 2];
        // A change is no earlier than its dependencies, and the distance may exceed a signed
        // number.
        const auto apart =
            static_cast<std::uint64_t>(timestamp) - static_cast<std::uint64_t>(before.timestamp);
        const bool is_soon =
            merge_interval >= 0 && apart <= static_cast<std::uint64_t>(merge_interval);
        if (is_soon && before.message == words) {
            deps_.resize(change.deps);
            changes_.pop_back();
            return;
        }
    }
    change.timestamp = timestamp;
    change.message = words;
}

void OpLog::finish() {
    CHECK(!opening_);
    const Lv last = end() - 1;
    if (heads_ == parents_) {
        for (const Lv head : heads_) drop_head(head);
        heads_.assign(1, last);
        return;
    }
    for (const Lv parent : parents_) {
        const auto at = std::lower_bound(heads_.begin(), heads_.end(), parent);
        if (at == heads_.end() || *at != parent) continue;
        drop_head(parent);
        heads_.erase(at);
    }
    heads_.push_back(last);
}

void OpLog::place(ContainerIndex container, const Placed& atoms) {
    const Lv begin = end();
    atoms_.place(atoms_.intern(atoms.peer), atoms.first, atoms.count,
                 atoms.first != AtomTable::kUnknown);
    if (begin > 0 && graph_.lamport(begin - 1) + 1 == atoms.lamport) {
        graph_.extend(atoms.count);
    } else {
        const Lv before[] = {begin - 1};
        graph_.place(std::span(before).first(begin == 0 ? 0 : 1), atoms.count, atoms.lamport);
    }
    base_lamport_ = std::max(base_lamport_, atoms.lamport + (atoms.count - 1));
    if (owners_.empty() || owners_.back().container != container)
        owners_.push_back({begin, container});
}

// A head may also be an atom of the state; then it is placed once more, as a head only.
bool OpLog::end_base(const VersionVector& version, std::span<const Placed> heads,
                     std::int64_t timestamp) {
    // Heads have no container. They are atoms of their own even if the state holds the same ones,
    // so that the graph has something for each head of the version to stand on.
    CHECK(changes_.empty());
    const Heads before = end() == 0 ? Heads{} : Heads{end() - 1};
    for (const Placed& head : heads) {
        base_heads_.push_back(end());
        atoms_.place(atoms_.intern(head.peer), head.first, 1, false);
        graph_.place(before, 1, head.lamport);
    }
    heads_ = base_heads_;
    changes_.push_back({0, 0, 0, 0, timestamp});
    return atoms_.end_base(version);
}

std::optional<Lv> OpLog::version_atom(PeerIndex peer, Counter counter) const {
    if (counter >= atoms_.base_end_of(peer)) return atoms_.lv_of(peer, counter);
    const OpId id{atoms_.peer(peer), counter};
    for (const Lv head : base_heads_) {
        if (atoms_.id_of(head) == id) return head;
    }
    return std::nullopt;
}

std::size_t OpLog::change_of(Lv lv) const {
    if (changes_.back().lv <= lv) return changes_.size() - 1;
    const auto after =
        std::upper_bound(changes_.begin(), changes_.end(), lv,
                         [](Lv value, const ChangeInfo& change) { return value < change.lv; });
    return static_cast<std::size_t>(after - changes_.begin()) - 1;
}

std::int64_t OpLog::latest_timestamp(std::span<const Lv> of) const {
    std::int64_t latest = 0;
    for (const Lv lv : of) latest = std::max(latest, changes_[change_of(lv)].timestamp);
    return latest;
}

std::size_t OpLog::owner_of(Lv lv) const {
    if (owners_.back().lv <= lv) return owners_.size() - 1;
    const auto after =
        std::upper_bound(owners_.begin(), owners_.end(), lv,
                         [](Lv value, const Owner& owner) { return value < owner.lv; });
    return static_cast<std::size_t>(after - owners_.begin()) - 1;
}

// From one atom of a peer to its next the lamport grows by at least one.
std::optional<Lv> OpLog::atom_of(ElementId id) const {
    const std::optional<PeerIndex> peer = atoms_.find(id.peer);
    if (!peer) return std::nullopt;
    if (const std::optional<Lv> lv = base_element(id)) return lv;
    const auto lv_at = [&](std::int64_t counter) {
        return *atoms_.lv_of({id.peer, static_cast<Counter>(counter)});
    };
    std::int64_t low = atoms_.base_end_of(*peer);
    std::int64_t high = atoms_.end_of(*peer) - 1;
    if (low > high) return std::nullopt;
    // Lamports run ahead of counters by a distance that never shrinks, and that mostly stays the
    // same for long. So every other step guesses by the distance and the rest halve what is left:
    // O(log atoms) steps at worst, one or two usually.
    // The least distance of lamports from `low` on ahead of counters.
    std::int64_t ahead = graph_.lamport(lv_at(low)) - low;
    for (bool guess = true; low <= high; guess = !guess) {
        const std::int64_t at =
            guess ? std::min(high, std::int64_t{id.lamport} - ahead) : low + (high - low) / 2;
        if (at < low) return std::nullopt;
        const Lv lv = lv_at(at);
        const std::int64_t lamport = graph_.lamport(lv);
        if (lamport == id.lamport) return lv;
        if (lamport < id.lamport) {
            low = at + 1;
            ahead = lamport - at;
        } else {
            high = at - 1;
            low = std::max(low, id.lamport - (lamport - at));
        }
    }
    return std::nullopt;
}

// An empty slot of a base is there with an element that kNoPeer moved away. It is left out: where an op moved another
// element than the one at the position it named, the slot that its element left has the element's name.
std::optional<Lv> OpLog::base_element(ElementId id) const {
    if (base() == 0) return std::nullopt;
    if (!base_elements_) {
        base_elements_.emplace();
        for (ContainerIndex i = 0; i < logs_.size(); ++i) {
            if (logs_[i].kind() != ContainerKind::movable_list) continue;
            std::unordered_set<Lv> of_slots;
            for (const Run& run : logs_[i].runs()) {
                if (run.lv >= base()) break;
                if (run.kind == RunKind::move && atoms_.peer_of(run.lv) == kNoPeer)
                    of_slots.insert(run.extra);
            }
            for (const Run& run : logs_[i].runs()) {
                if (run.lv >= base()) break;
                if (run.kind != RunKind::insert) continue;
                for (Lv lv = run.lv; lv < run.end(); ++lv) {
                    if (!of_slots.contains(lv)) base_elements_->emplace(element_id(lv), lv);
                }
            }
        }
    }
    const auto at = base_elements_->find(id);
    return at == base_elements_->end() ? std::nullopt : std::optional(at->second);
}

bool OpLog::outranks(Lv a, Lv b) const {
    const Lamport of_a = graph_.lamport(a);
    const Lamport of_b = graph_.lamport(b);
    return of_a != of_b ? of_a > of_b : atoms_.peer_of(a) > atoms_.peer_of(b);
}

ContainerIndex OpLog::container_of(Lv lv) const {
    return owners_[owner_of(lv)].container;
}

OpLog::Mark OpLog::mark() {
    marked_ = end();
    dropped_heads_.clear();
    return {end(), changes_.size(), deps_.size(), owners_.size()};
}

Heads OpLog::heads_at(const Mark& mark) const {
    CHECK(marked_ == mark.end);
    Heads heads = dropped_heads_;
    for (const Lv head : heads_) {
        if (head < mark.end) heads.push_back(head);
    }
    std::sort(heads.begin(), heads.end());
    return heads;
}

// Every table is cut back to its length at the mark.
void OpLog::rewind(const Mark& mark) {
    atoms_.truncate(mark.end);
    graph_.truncate(mark.end);
    changes_.resize(mark.changes);
    deps_.resize(mark.deps);
    owners_.resize(mark.owners);
    heads_ = heads_at(mark);
    opening_ = false;
}

void OpLog::check_invariants() const {
    atoms_.check_invariants();
    graph_.check_invariants(base());
    CHECK(atoms_.end() == graph_.end());
    CHECK(graph_.minimal(heads_) == heads_);
    // The heads of a base are atoms of no container.
    Lv atoms = static_cast<Lv>(base_heads_.size());
    for (ContainerIndex i = 0; i < logs_.size(); ++i) {
        Lv last = 0;
        for (const Run& run : logs_[i].runs()) {
            CHECK(run.len > 0 && (run.lv >= last || last == 0) && run.end() <= end());
            CHECK(container_of(run.lv) == i && container_of(run.end() - 1) == i);
            last = run.end();
            atoms += run.len;
        }
    }
    CHECK(atoms == end());
    for (std::size_t i = base() > 0 ? 1 : 0; i < changes_.size(); ++i) {
        CHECK(changes_[i].lv < change_end(i));
        // All atoms of a change belong to one peer and count up.
        CHECK(atoms_.run_end(changes_[i].lv) >= change_end(i));
        for (const Lv dep : deps_of(changes_[i])) CHECK(dep < changes_[i].lv);
    }
}

}  // namespace quire::crdt
