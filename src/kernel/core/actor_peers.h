// ActorPeers: the peers that write in one document, each with its actor and its small number.
//
// Each actor writes with a peer of its own, so that undo can tell actors apart. An actor gets another
// peer where it writes at an older version: a peer numbers its ops without a gap, so one that has gone on
// cannot write there. Ids of blocks contain a peer's number instead of the peer, so that they are short
// enough for a model to repeat.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "store/store_records.h"

namespace quire::kernel {

class ActorPeers {
public:
    // A version of the document, as crdt::VersionVector::ends() has it: for each peer, the counter at
    // which its next atom begins.
    using Ends = std::map<std::uint64_t, std::int32_t>;

    ActorPeers() = default;
    // `records` are those of one document; each stands at the index of its number.
    explicit ActorPeers(std::vector<store::PeerRecord> records);

    // Returns null if no peer has this number.
    const store::PeerRecord* with_number(std::int64_t number) const;
    // CHECKs that the peer is one of these. O(peers).
    std::int64_t number_of(std::uint64_t peer) const;
    // Returns a peer of the actor that has written nothing between `version` and `now`; null if each
    // of its peers has. O(peers).
    const store::PeerRecord* writer_at(std::string_view actor, const Ends& version,
                                       const Ends& now) const;
    // Gives the actor a further peer. The caller stores the record before or with the peer's first change.
    const store::PeerRecord& add(store::DocumentKey document, std::string_view actor,
                                 std::uint64_t peer);

private:
    std::vector<store::PeerRecord> records_;
};

}  // namespace quire::kernel
