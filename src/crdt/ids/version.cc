// Ends are kept sorted by peer, so equal versions are equal maps and encode to equal bytes. A peer
// with no known atoms has no entry at all, which set() and extend() see to.
#include "crdt/ids/version.h"

#include <algorithm>

namespace quire::crdt {

Counter VersionVector::end_of(PeerId peer) const {
    const auto at = ends_.find(peer);
    return at == ends_.end() ? 0 : at->second;
}

bool VersionVector::includes(const VersionVector& other) const {
    return std::all_of(other.ends_.begin(), other.ends_.end(),
                       [&](const auto& entry) { return entry.second <= end_of(entry.first); });
}

void VersionVector::extend(PeerId peer, Counter end) {
    if (end > end_of(peer)) ends_[peer] = end;
}

void VersionVector::set(PeerId peer, Counter end) {
    if (end > 0) {
        ends_[peer] = end;
    } else {
        ends_.erase(peer);
    }
}

void VersionVector::merge(const VersionVector& other) {
    for (const auto& [peer, end] : other.ends_) extend(peer, end);
}

}  // namespace quire::crdt
