// Pending: changes that arrived before what they depend on, each parked under one id that is
// missing.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "crdt/ids/change.h"

namespace quire::crdt {

class Pending {
public:
    using Parked =
        std::shared_ptr<const Change>;  // Shared, so that an import can be tried on a copy.

    // A change that is already parked, as long as this one or longer, is kept in its place.
    void park(OpId missing, Parked change);
    // Takes out those that waited for an atom of `known`.
    std::vector<Parked> release(IdSpan known);
    void drop(const Parked& change);

    // What waits, by its first id.
    std::vector<IdSpan> spans() const;
    bool empty() const { return by_missing_.empty(); }
    std::size_t size() const { return by_missing_.size(); }

private:
    std::multimap<OpId, Parked> by_missing_;
};

}  // namespace quire::crdt
