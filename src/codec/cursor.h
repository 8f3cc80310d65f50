// Cursors as bytes, as Loro writes them, so that any peer can look up any other's.
//
//   byte 0 | byte 1, uleb peer, zigzag counter     what it stands on, if anything
//   the container                                  as inside a state (container_ids.h)
//   uleb 0 left, 1 middle, 2 right                 the side
//   uleb                                           where it stood when it was made
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "crdt/doc/cursor.h"

namespace quire::codec {

Bytes encode_cursor(const crdt::Cursor& cursor);
// Errors: corrupt, also for bytes after the end.
Result<crdt::Cursor> decode_cursor(std::span<const std::uint8_t> bytes);

}  // namespace quire::codec
