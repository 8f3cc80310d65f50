// Versions as bytes, for cursors, presence and the sync protocol.
//
//   version vector   uleb count, then for each: uleb peer, zigzag exclusive end; in any order
//   frontiers        uleb count, then for each: uleb peer, zigzag counter; written in order
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "base/result.h"
#include "crdt/ids/version.h"

namespace quire::codec {

Bytes encode_version(const crdt::VersionVector& version);
// Entries may be zero.
Bytes encode_version(const std::map<crdt::PeerId, crdt::Counter>& ends);
// Errors: corrupt, also for a peer that is there twice.
Result<crdt::VersionVector> decode_version(std::span<const std::uint8_t> bytes);

Bytes encode_frontiers(const crdt::Frontiers& frontiers);
Result<crdt::Frontiers> decode_frontiers(std::span<const std::uint8_t> bytes);  // Errors: corrupt.

}  // namespace quire::codec
