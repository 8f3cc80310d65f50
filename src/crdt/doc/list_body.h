// ListBody: a list of values and child containers. Its order and its log are all the state it has:
// the value of an element stays in the log.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/value.h"
#include "crdt/doc/sequence_body.h"

namespace quire::crdt {

struct ListBody : SequenceBody, Underived {
    // The visible atoms in order; a null `at` means after every op. O(n), at a version O(history).
    std::vector<Lv> atoms(Site site, const Past* at);
    // The atoms at the version that readers see. CHECKs that the document is detached.
    const std::vector<Lv>& shown(Site site);
    Value value(Site site, int depth, const Past* at);

    // Positions as readers count them.
    std::size_t shown_size(Site site);
    Lv anchor_at(Site site, std::size_t pos);
    // The position where an atom stands or would stand, and true if it is there.
    std::pair<std::size_t, bool> place_of(Site site, Lv anchor);

    ListDelta delta_of(Site site, LvSpan span, const Past& a, const Past& b);
    ListDelta delta_between(Site site, const Past& a, const Past& b);
    ListDelta delta_from_nothing(Site site, const Past* at);

    bool holds_child(Site site, Lv creator);
    bool holds_child(Site site, Lv creator, Reach& reach);
    PathStep step_to(Site site, Lv creator);

    void check(Site site) { check_order(site); }
};

}  // namespace quire::crdt
