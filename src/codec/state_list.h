// The state of a list: what it shows, and the atom behind each value. What was deleted has left
// no trace.
//
//   uleb count, then each value (state_value.h)
//   peers (state_columns.h)
//   uleb 1, uleb 3 (one field, three columns), then the atoms' columns, a row for each value
#pragma once

#include <vector>

#include "codec/state_columns.h"

namespace quire::codec {

struct ListState {
    std::vector<StateSlot> values;
    std::vector<IdRun> ids;  // The ids of the values, in their order; together as long as `values`.
    friend bool operator==(const ListState&, const ListState&) = default;
};

// Failures go to `in`, which has to be used up. Runs are as long as they can be.
ListState read_list_state(ByteReader& in, Budget& budget);
void write_list_state(ByteWriter& out,
                      const ListState& state);  // CHECKs that ids and values are of one length.

}  // namespace quire::codec
