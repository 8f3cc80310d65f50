// Graph: the causal order of atoms. A run of atoms that each follow the one before is one entry;
// parents may point at any atom, so entries are split in thought but never in memory.
//
// Costs follow the difference between versions, not the length of history: walks go down from the
// heads in order of Lv and stop where both sides have met (eg-walker, 2025, §3.2).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "crdt/history/atoms.h"

namespace quire::crdt {

// The heads of a version: ascending, none an ancestor of another.
using Heads = std::vector<Lv>;

// The atoms that only one of two versions contains; spans ascending.
struct Difference {
    std::vector<LvSpan> only_a;
    std::vector<LvSpan> only_b;
};

// The entries of the graph, in order of Lv.
class Graph {
public:
    // Adds the atoms [end, end + count): the first follows `parents` (ascending, possibly with
    // ancestors of each other), each other one its predecessor.
    void append(std::span<const Lv> parents, Lv count);
    // Like append(), if the lamport of the first atom cannot be computed here.
    void place(std::span<const Lv> parents, Lv count, Lamport lamport);
    // Adds `count` atoms after the last.
    void extend(Lv count) { entries_.back().end += count; }
    // Forgets every atom from `end` on.
    void truncate(Lv end);
    // Makes room for so many runs with one parent each, if they are many beside those known.
    void expect(std::size_t runs);

    Lv end() const { return entries_.empty() ? 0 : entries_.back().end; }
    // The beginning of the last run: from there on each atom follows the one before. The graph must
    // not be empty.
    Lv last_run() const { return entries_.back().begin; }
    // The end of the run that contains an atom. O(log runs).
    Lv run_end(Lv lv) const { return entries_[entry_of(lv)].end; }
    // The lamport of an atom. O(log entries).
    Lamport lamport(Lv lv) const;
    // The atoms that an atom directly follows. O(log runs).
    Heads parents_of(Lv lv) const;
    // Returns true if `target` is in the version with these heads. Jumps over covered atoms, so the cost
    // is the number of branches that were not merged.
    bool contains(std::span<const Lv> heads, Lv target) const;
    // Answers the same for several ascending targets, in one walk.
    bool contains_all(std::span<const Lv> heads, std::span<const Lv> targets) const;
    // The atoms that only one of the two versions contains. O(difference).
    void diff(std::span<const Lv> a, std::span<const Lv> b, Difference& out) const;
    // The heads among `of`: sorts, and drops atoms that another one contains. One walk.
    Heads minimal(Heads of) const;

    // Returns true if the atom follows all atoms that are numbered below it. O(log runs).
    bool follows_all(Lv lv) const { return entries_[entry_of(lv)].covers == 0; }

    // CHECKs every structural invariant, `covers` among them. The lamports of atoms below `base` were
    // placed, not computed. O(entries).
    void check_invariants(Lv base = 0) const;

private:
    struct Entry {
        Lv begin;
        Lv end;
        Lamport lamport;  // The lamport of `begin`.
        std::uint32_t parents;
        std::uint32_t parent_count;
        // Each atom of the entry follows all atoms from `covers` on up to itself; `beyond` are the
        // heads of what it follows below that. Walks jump over covered atoms.
        Lv covers;
        std::uint32_t beyond;
        std::uint32_t beyond_count;
    };
    // An atom, and the index of its entry, so that a walk does not search for it.
    struct Link {
        Lv lv;
        std::uint32_t entry;
        friend bool operator<(const Link& a, const Link& b) { return a.lv < b.lv; }
    };
    class Descent;
    std::uint32_t entry_of(Lv lv) const;
    Link link_to(Lv lv) const { return {lv, entry_of(lv)}; }
    std::span<const Link> parents(const Entry& entry) const {
        return std::span(links_).subspan(entry.parents, entry.parent_count);
    }
    std::span<const Link> beyond(const Entry& entry) const {
        return std::span(links_).subspan(entry.beyond, entry.beyond_count);
    }
    Entry& add(std::span<const Lv> parents, Lv count);
    void cover(Entry& entry);

    std::vector<Entry> entries_;
    std::vector<Link> links_;  // The parents and the `beyond` heads of all entries.
    std::vector<Link> way_;    // Scratch space of cover().
};

}  // namespace quire::crdt
