// The state of a movable list: slots, of which each insert and each move made one, and the elements
// that some of them show. A slot that shows nothing stays, because positions in ops count it.
//
//   uleb count, then each element's value (state_value.h)
//   peers (state_columns.h)
//   uleb 4 (four fields)
//   uleb 3, three columns: a row that shows nothing, then one for each element:
//       hidden     DeltaRle  how many slots that show nothing follow
//       same id    BoolRle   the element is named by its slot's atom
//       same set   BoolRle   its value is the one it was inserted with
//   uleb 3, the atoms' columns: a row for each slot
//   uleb 2, stamps' columns: the names of the elements whose "same id" is false
//   uleb 2, stamps' columns: the last sets of the elements whose "same set" is false
//
// Both flags of the first row are true.
#pragma once

#include <vector>

#include "codec/state_columns.h"

namespace quire::codec {

struct MovableSlot {
    StampedId atom;
    bool shows = false;  // The next element.
    friend bool operator==(const MovableSlot&, const MovableSlot&) = default;
};

struct MovableElement {
    Stamp id;        // The stamp of the atom that inserted it.
    Stamp last_set;  // The stamp of the atom that gave it its value; equal to id until it was set.
    StateSlot value;
    friend bool operator==(const MovableElement&, const MovableElement&) = default;
};

struct MovableListState {
    std::vector<MovableSlot> slots;
    std::vector<MovableElement> elements;  // One for each slot that shows one, in order.
    friend bool operator==(const MovableListState&, const MovableListState&) = default;
};

// Failures go to `in`, which has to be used up.
MovableListState read_movable_list_state(ByteReader& in, Budget& budget);
// CHECKs that there is an element for each slot that shows one.
void write_movable_list_state(ByteWriter& out, const MovableListState& state);

}  // namespace quire::codec
