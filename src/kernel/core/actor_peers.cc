// A document has few peers: one for each actor, and one more for each time that an actor wrote at
// an older version. So lookups go through a vector. A record stands at the index of its number, and
// no number is given twice, because ids of blocks that clients have seen contain it.
#include "kernel/core/actor_peers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"

namespace quire::kernel {

ActorPeers::ActorPeers(std::vector<store::PeerRecord> records) : records_(std::move(records)) {}

const store::PeerRecord* ActorPeers::with_number(std::int64_t number) const {
    const auto index = static_cast<std::size_t>(number);
    return number >= 0 && index < records_.size() ? &records_[index] : nullptr;
}

std::int64_t ActorPeers::number_of(std::uint64_t peer) const {
    const auto found =
        std::find_if(records_.begin(), records_.end(),
                     [&](const store::PeerRecord& record) { return record.peer == peer; });
    CHECK(found != records_.end());  // Every peer that makes blocks has a number.
    return found->number;
}

const store::PeerRecord* ActorPeers::writer_at(std::string_view actor, const Ends& version,
                                               const Ends& now) const {
    // A peer that is missing from a version has written nothing there: its ops count from 0.
    const auto end_in = [](const Ends& ends, std::uint64_t peer) {
        const auto found = ends.find(peer);
        return found == ends.end() ? 0 : found->second;
    };
    const auto found =
        std::find_if(records_.begin(), records_.end(), [&](const store::PeerRecord& record) {
            return record.actor == actor &&
                   end_in(now, record.peer) == end_in(version, record.peer);
        });
    return found == records_.end() ? nullptr : &*found;
}

const store::PeerRecord& ActorPeers::add(store::DocumentKey document, std::string_view actor,
                                         std::uint64_t peer) {
    const auto number = static_cast<std::int64_t>(records_.size());
    return records_.emplace_back(store::PeerRecord{document, number, std::string(actor), peer});
}

}  // namespace quire::kernel
