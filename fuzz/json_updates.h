// Two targets are fed JSON updates (codec_json, import_json). They mutate and check them alike.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/value.h"
#include "crdt/ids/change.h"
#include "fuzz/mutate.h"

namespace quire::fuzz {

// Returns the JSON with other members or other changes; nothing if the input is no JSON.
Bytes mutated_json_updates(std::span<const std::uint8_t> input, Chance& chance);

// A CHECK fails unless the changes, written as JSON, read back as the same. Changes without a form as
// JSON pass.
void check_json_round_trip(const std::vector<crdt::Change>& changes);

}  // namespace quire::fuzz
