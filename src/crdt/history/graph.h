// Graph: which atoms come before which. Runs of atoms that each follow the one before are one
// entry; parents may point at any atom, so an entry is split in thought, never in memory.
//
// Costs follow the difference between versions, not the length of history: walks go down from the
// heads in order of Lv and stop where both sides have met (eg-walker, 2025, §3.2).
#pragma once

#include <span>
#include <vector>

#include "crdt/history/atoms.h"

namespace quire::crdt {

// The heads of a version: ascending, no one an ancestor of another.
using Heads = std::vector<Lv>;

// What one version has and another lacks; spans ascending.
struct Difference {
    std::vector<LvSpan> only_a;
    std::vector<LvSpan> only_b;
};

class Graph {
public:
    // [end, end + count): the first follows `parents` (ascending, may name ancestors of each
    // other), each other one its predecessor.
    void append(std::span<const Lv> parents, Lv count);
    // The same where nothing here can tell the lamport of the first.
    void place(std::span<const Lv> parents, Lv count, Lamport lamport);
    // `count` more atoms after the last.
    void extend(Lv count) { entries_.back().end += count; }
    void truncate(Lv end);

    Lv end() const { return entries_.empty() ? 0 : entries_.back().end; }
    // Where the last run begins: from there on each atom follows the one before it. Not empty.
    Lv last_run() const { return entries_.back().begin; }
    // Where the run that an atom is in ends. O(log runs).
    Lv run_end(Lv lv) const { return entries_[entry_of(lv)].end; }
    Lamport lamport(Lv lv) const;
    Heads parents_of(Lv lv) const;
    // Whether `target` is in the version with these heads.
    bool contains(std::span<const Lv> heads, Lv target) const;
    // Whether all of them are; ascending. One walk, however many there are.
    bool contains_all(std::span<const Lv> heads, std::span<const Lv> targets) const;
    void diff(std::span<const Lv> a, std::span<const Lv> b, Difference& out) const;
    // The heads among `of`: drops what another one contains. Sorts. One walk as well.
    Heads minimal(Heads of) const;

    void check_invariants() const;

private:
    struct Entry {
        Lv begin;
        Lv end;
        Lamport lamport;  // Of `begin`.
        std::uint32_t parents;
        std::uint32_t parent_count;
        // Each atom of the entry follows all from `covers` on up to itself; `beyond` are heads of
        // what it follows below that. Walks jump over what is covered.
        Lv covers;
        std::uint32_t beyond;
        std::uint32_t beyond_count;
    };
    class Descent;
    std::size_t entry_of(Lv lv) const;
    std::span<const Lv> parents(const Entry& entry) const {
        return std::span(parents_).subspan(entry.parents, entry.parent_count);
    }
    std::span<const Lv> beyond(const Entry& entry) const {
        return std::span(parents_).subspan(entry.beyond, entry.beyond_count);
    }
    void cover(Entry& entry);

    std::vector<Entry> entries_;
    std::vector<Lv> parents_;  // And what is beyond.
    std::vector<Lv> way_;      // Of cover().
};

}  // namespace quire::crdt
