// AtomTable: the number of every atom in this replica's history, and its id by number.
//
// Atoms are numbered in the order in which they became known here, which is a causal order. That
// number, the local version (Lv), is private to a replica: dense, so structures index by it, and
// never on the wire (Gentle & Kleppmann, "Collaborative Text Editing with Eg-walker", 2025, §3).
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "crdt/ids/ids.h"
#include "crdt/ids/version.h"

namespace quire::crdt {

// The local number of an atom.
using Lv = std::uint32_t;
inline constexpr Lv kNoLv = ~Lv{0};
// The limit for received atoms; local edits are checked before they are made and end at most 2^30 -
// 2 atoms later. A few bytes can name many atoms: peers who delete the same text at once.
inline constexpr Lv kMostAtoms = Lv{3} << 30;

// A range of atoms by number.
struct LvSpan {
    Lv begin = 0;
    Lv end = 0;
    Lv size() const { return end - begin; }
    friend bool operator==(const LvSpan&, const LvSpan&) = default;
};

// A peer by number: dense, in order of first appearance.
using PeerIndex = std::uint32_t;

// Both directions of the numbering.
class AtomTable {
public:
    // The number of a peer; a new one for a peer not seen before.
    PeerIndex intern(PeerId peer);
    // The number of a peer, if it is known; and the peer of a number. O(1).
    std::optional<PeerIndex> find(PeerId peer) const;
    PeerId peer(PeerIndex index) const { return peers_[index].id; }
    std::size_t peer_count() const { return peers_.size(); }

    Lv end() const { return end_; }
    // The next `count` atoms are the peer's next ones. O(1).
    void append(PeerIndex index, Lv count) {
        // Usually they continue the peer's last run.
        if (!is_last_of(index) || count >= kNoLv - end_) return begin_run(index, count);
        end_ += count;
        peers_[index].end += static_cast<Counter>(count);
    }
    // Like append() for one atom, if the last atom of all is the peer's.
    void extend(PeerIndex index) {
        ++end_;
        ++peers_[index].end;
    }
    // Returns true if the last atom of all is the peer's, and the peer's own last.
    bool is_last_of(PeerIndex peer) const {
        return end_ > base_ && !runs_.empty() && runs_.back().peer == peer;
    }
    // Forgets every atom from `end` on.
    void truncate(Lv end);

    // A base is the beginning of history of which only some atoms are known by id.
    static constexpr Counter kUnknown = -1;
    // Places `count` atoms of the base, whose ids count up from `first` (kUnknown for atoms
    // without ids). `listed`: the atoms can be found by id, through lv_of().
    void place(PeerIndex index, Counter first, Lv count, bool listed);
    // Makes room for so many runs of a base, if they are many beside those known.
    void expect(std::size_t runs) {
        if (runs >= runs_.size()) runs_.reserve(runs_.size() + runs);
    }
    // Ends the placing; appended atoms follow `version`. False if two placed atoms are equal, or if
    // the version does not include them.
    bool end_base(const VersionVector& version);
    // Every placed atom has a number below this.
    Lv base() const { return base_; }
    // The base's version holds the peer's atoms below this counter.
    Counter base_end_of(PeerIndex peer) const { return peers_[peer].base_end; }

    // The peer's exclusive end.
    Counter end_of(PeerIndex peer) const { return peers_[peer].end; }
    Counter end_of(PeerId peer) const;
    OpId id_of(Lv lv) const;  // O(log runs).
    PeerId peer_of(Lv lv) const { return peers_[runs_[run_of(lv)].peer].id; }
    // The exclusive end of the run after `lv` in which ids count up by one.
    Lv run_end(Lv lv) const;
    // The first atom of the run that contains `lv`. O(log runs).
    Lv run_begin(Lv lv) const { return runs_[run_of(lv)].lv; }
    bool follows(Lv lv) const {
        return lv > 0 && runs_[run_of(lv)].lv != lv;
    }  // True if id(lv) is id(lv - 1) plus one.
    // The number of a known atom; nothing for an unknown one, and for one of the base that was not
    // placed as listed. O(log runs).
    std::optional<Lv> lv_of(OpId id) const;
    std::optional<Lv> lv_of(PeerIndex peer, Counter counter) const;
    // The Lv spans of a span of known ids, in order of counter. Ids of the base are left out.
    std::vector<LvSpan> spans_of(IdSpan ids) const;
    void append_spans(IdSpan ids, std::vector<LvSpan>& out) const;
    // All atoms before `end` as a version.
    VersionVector version_before(Lv end) const;

    // CHECKs every structural invariant. O(runs).
    void check_invariants() const;

private:
    // A run of atoms with consecutive ids, found by number.
    struct Run {
        Lv lv;
        PeerIndex peer;
        Counter counter;
    };
    // That run among those of its peer, found by counter.
    struct PeerRun {
        Counter counter;
        Lv lv;
    };
    struct Peer {
        PeerId id;
        Counter end = 0;
        Counter base_end = 0;
        std::vector<PeerRun> runs = {};
    };
    std::size_t run_of(Lv lv) const;
    bool place_in_order(Peer& peer, std::vector<std::uint64_t>& listed) const;
    void begin_run(PeerIndex index, Lv count);

    Lv end_ = 0;
    Lv base_ = 0;
    std::vector<Run> runs_;
    std::vector<Peer> peers_;
    std::unordered_map<PeerId, PeerIndex> by_id_;
    PeerIndex asked_ = 0;  // The last answer of intern().
};

}  // namespace quire::crdt
