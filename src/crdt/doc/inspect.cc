// What a document can tell of itself beyond its values: for codecs and tests.
#include <algorithm>

#include "crdt/doc/body.h"

namespace quire::crdt {

Frontiers Doc::heads_of(const VersionVector& version) const {
    const AtomTable& atoms = body_->oplog().atoms();
    Heads last;
    for (const auto& [peer, end] : version.ends()) {
        const Counter known = std::min(end, atoms.end_of(peer));
        if (known > 0) last.push_back(*atoms.lv_of({peer, known - 1}));
    }
    return body_->frontiers_of(body_->oplog().graph().minimal(std::move(last)));
}

}  // namespace quire::crdt
