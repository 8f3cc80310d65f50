// Pending: changes that arrived before what they depend on, each parked under one id that is
// missing.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "crdt/ids/change.h"

namespace quire::crdt {

class Pending {
public:
    // What waits, and for what.
    struct Parked {
        OpId missing;
        std::shared_ptr<const Change> change;
    };

    // A change that waits for the same already, as long as this one or longer, is kept in its
    // place. O(log n).
    void park(Parked parked);
    // Takes out those that waited for an atom of `known`.
    std::vector<Parked> release(IdSpan known);
    void drop(const Parked& parked);

    // What waits, by its first id.
    std::vector<IdSpan> spans() const;
    bool empty() const { return by_missing_.empty(); }
    std::size_t size() const { return by_missing_.size(); }

private:
    // By what they wait for, then by their first ids.
    std::map<std::pair<OpId, OpId>, std::shared_ptr<const Change>> by_missing_;
};

}  // namespace quire::crdt
