#include "crdt/ids/beyond.h"

namespace quire::crdt {

// A change that is partly known is cut at the known end.
//
// The rest depends on its own predecessor alone, which the receiver has.
std::vector<Change> beyond(const VersionVector& known, std::span<const Change> changes) {
    std::vector<Change> out;
    for (const Change& each : changes) {
        const Counter begin = known.end_of(each.id.peer) - each.id.counter;
        const Counter count = atom_count(each);
        if (begin >= count) continue;
        out.push_back(begin <= 0 ? each : slice(each, begin, count));
    }
    return out;
}

}  // namespace quire::crdt
