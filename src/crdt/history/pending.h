// Pending: changes that arrived before their dependencies, each stored under one missing id.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "crdt/ids/change.h"

namespace quire::crdt {

// The changes that wait.
class Pending {
public:
    // Changes that wait, and the atoms they wait for.
    struct Parked {
        OpId missing;
        std::shared_ptr<const Change> change;
    };

    // Stores the change, unless one that waits for the same atom and is at least as long is there.
    // O(log n).
    void park(Parked parked);
    // Removes and returns the changes that waited for an atom of `known`.
    std::vector<Parked> release(IdSpan known);
    // Removes a change that cannot be applied. O(log n).
    void drop(const Parked& parked);

    // The waiting changes, in no order, and their ids, by first id.
    std::vector<std::shared_ptr<const Change>> changes() const;
    std::vector<IdSpan> spans() const;
    bool empty() const { return by_missing_.empty(); }
    std::size_t size() const { return by_missing_.size(); }

private:
    // Indexed by the missing atom, then by first id.
    std::map<std::pair<OpId, OpId>, std::shared_ptr<const Change>> by_missing_;
};

}  // namespace quire::crdt
