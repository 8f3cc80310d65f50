// Versions: the known part of each peer's history (VersionVector), and the heads of a version
// (Frontiers). A version vector says everything on its own; frontiers are shorter but need the
// graph of the history to be compared.
#pragma once

#include <map>
#include <vector>

#include "crdt/ids/ids.h"

namespace quire::crdt {

// Peer to exclusive end. Sorted by peer; a peer without known atoms has no entry.
class VersionVector {
public:
    // The number of known atoms of the peer; 0 if none.
    Counter end_of(PeerId peer) const;
    // Returns true if the version contains an atom, or all of another version. O(log peers), and
    // O(peers).
    bool includes(OpId id) const { return id.counter < end_of(id.peer); }
    bool includes(const VersionVector& other) const;
    // Raises the end of `peer` to at least `end`.
    void extend(PeerId peer, Counter end);
    // Sets the end of `peer`, even to a lower value.
    void set(PeerId peer, Counter end);
    // Raises the ends to those of `other` where they are higher.
    void merge(const VersionVector& other);

    // All known peers with their exclusive ends, by peer.
    const std::map<PeerId, Counter>& ends() const { return ends_; }
    bool empty() const { return ends_.empty(); }
    friend bool operator==(const VersionVector&, const VersionVector&) = default;

private:
    std::map<PeerId, Counter> ends_;
};

// Inclusive ids, sorted by peer then counter, minimal by convention.
using Frontiers = std::vector<OpId>;

}  // namespace quire::crdt
