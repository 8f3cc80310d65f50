// The state of a map: the register of each key that was ever set.
//
//   uleb count, then for each key that has a value:
//       uleb size, UTF-8 key, value (state_value.h); in any order
//   uleb count, then the keys that were erased: uleb size, UTF-8
//   peers (state_columns.h)
//   for each key of both lists together, in order of their bytes:
//       uleb index of the peer that wrote it last
//       uleb lamport of that
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codec/state_value.h"

namespace quire::codec {

struct MapRegister {
    std::string key;
    std::optional<StateSlot>
        value;  // None: the key was erased, and the stamp still decides what wins.
    Stamp stamp;
    friend bool operator==(const MapRegister&, const MapRegister&) = default;
};

struct MapState {
    std::vector<MapRegister> registers;  // Sorted by the bytes of the key, each key once.
    friend bool operator==(const MapState&, const MapState&) = default;
};

// Failures go to `in`, which has to be used up.
MapState read_map_state(ByteReader& in, Budget& budget);
void write_map_state(ByteWriter& out, const MapState& state);  // CHECKs the order of keys.

}  // namespace quire::codec
