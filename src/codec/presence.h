// Presence as bytes, which are Loro's: uleb count, then for each entry: uleb size, UTF-8 key; 0 where
// it was erased, else 1 and the value (state_value.h); the time it was written in ms, zigzag.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "crdt/state/presence.h"

namespace quire::codec {

Bytes encode_presence(const crdt::PresenceEntries& entries);
// Entries may stand in any order; of two with one key the later counts, as in Presence::merge().
// Errors: corrupt.
Result<crdt::PresenceEntries> decode_presence(std::span<const std::uint8_t> bytes);

}  // namespace quire::codec
