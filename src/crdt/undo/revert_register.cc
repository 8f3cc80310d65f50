// Registers, where the last write by (lamport, peer) decides: a style's key, a node's
// place, an element's value. Which writes are the spans', and which stood before them.
#include <algorithm>

#include "crdt/undo/reversal.h"

namespace quire::crdt {

void Reversal::note(Register& taken, Lv write) const {
    taken.first = std::min(taken.first, write);
    taken.writes.push_back(names(taken).origin(write).lv);
}

bool Reversal::is_ours(const Register& taken, Lv write) const {
    if (holds(write).first) return true;
    const Lv origin = names(taken).origin(write).lv;
    return std::find(taken.writes.begin(), taken.writes.end(), origin) != taken.writes.end();
}

bool Reversal::stood_before(const Register& taken, Lv write) const {
    if (is_ours(taken, write) || was_taken_back(taken, write)) return false;
    const OpLog& log = body_.oplog();
    const Lv origin = names(taken).origin(write).lv;
    const PeerId peer = log.atoms().peer_of(origin);
    const bool by_spans_peer = std::any_of(spans_.begin(), spans_.end(), [&](LvSpan span) {
        return log.atoms().peer_of(span.begin) == peer;
    });
    if (!by_spans_peer) return true;
    // In a container that was brought back, what was there before is there as a copy.
    if (log.container_of(write) != log.container_of(taken.first)) write = origin;
    return log.graph().contains(log.graph().parents_of(taken.first), write);
}

// The shown write may be the spans' own value again, restored by an actor who undid a write above
// it.
bool Reversal::was_taken_back(const Register& taken, Lv write) const {
    if (taken.shown == kNoLv || holds(taken.shown).first) return false;
    const Lv stands_for = names(taken).origin(taken.shown).lv;
    if (stands_for == taken.shown) return false;
    const Graph& graph = body_.oplog().graph();
    return ranks_below(stands_for, write) && graph.contains(graph.parents_of(taken.shown), write) &&
           !graph.contains(graph.parents_of(taken.first), write);
}

bool Reversal::ranks_below(Lv a, Lv b) const {
    const OpLog& log = body_.oplog();
    const Lamport lamport_a = log.graph().lamport(a);
    const Lamport lamport_b = log.graph().lamport(b);
    if (lamport_a != lamport_b) return lamport_a < lamport_b;
    return log.atoms().peer_of(a) < log.atoms().peer_of(b);
}

}  // namespace quire::crdt
