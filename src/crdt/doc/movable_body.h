// MovableBody: a movable list. Its entities are slots; an insert or a move makes one. Which slot
// and which value an element has is decided among all writes to it by (lamport, peer), and a state
// keeps what was decided. Readers see the slots that show an element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/value.h"
#include "crdt/doc/sequence_body.h"

namespace quire::crdt {

class MovableState;

// An element that a movable list shows: the atom that placed it, and the one that gave its value.
struct MovableItem {
    Lv slot;
    Lv value;
};

struct MovableBody : SequenceBody, Underived {
    MovableBody();
    MovableBody(const MovableBody&) = delete;
    MovableBody& operator=(const MovableBody&) = delete;
    ~MovableBody();
    // O(items + slots · log slots).
    void copy_from(const MovableBody& other);

    Followed followed;

    // The state with every op of the log in. O(new ops · log n).
    MovableState& latest(Site site);
    // The elements that a version shows, in order; a null `at` means after every op. O(n), at a
    // version O(history of the container · log n).
    std::vector<MovableItem> items(Site site, const Past* at);
    // The elements at the version that readers see. CHECKs that the document is detached.
    const std::vector<MovableItem>& shown(Site site);
    Value value(Site site, int depth, const Past* at);

    // Positions as readers count them.
    std::size_t shown_size(Site site);
    Lv anchor_at(Site site, std::size_t pos);
    // The position where an atom's slot stands or would stand, and true if it is there.
    std::pair<std::size_t, bool> place_of(Site site, Lv anchor);
    // The index at which the slot that an atom made shows an element after every op; none if it
    // shows none, or the atom made no slot.
    std::optional<std::uint32_t> index_of(Site site, Lv lv);

    // O(ops · log n) for the log's last ops.
    ListDelta delta_of(Site site, LvSpan span, const Past& a, const Past& b);
    ListDelta delta_between(Site site, const Past& a, const Past& b);
    ListDelta delta_from_nothing(Site site, const Past* at);

    bool holds_child(Site site, Lv creator);
    bool holds_child(Site site, Lv creator, Reach& reach);
    PathStep step_to(Site site, Lv creator);

    // Local ops: `from` and `to` count slots, `number` is an element's.
    void move(Site site, std::uint32_t from, std::uint32_t to, std::uint32_t number);
    Lv set(Site site, std::uint32_t number, Slot value);

    void check(Site site);

private:
    struct Kept;  // movable_body.cc

    void apply(Site site, const Run& run, LvSpan span);
    // The number of the element that a slot was made for.
    std::uint32_t element_in(Site site, Lv slot) const;
    // The slot and the value that each element has at a version, by its number; kNoLv where it has
    // none yet.
    std::vector<MovableItem> winners(Site site, const Past& at);

    std::unique_ptr<Kept> kept_;
};

}  // namespace quire::crdt
