// Loro's FastUpdates blobs (mode 4): changes to bytes and back. docs/formats/updates.md is the
// page.
//
// Decoding verifies everything that can be told without a document: envelope, checksum, columns,
// bounds, UTF-8. It allocates at most a constant times the input.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "crdt/ids/change.h"

namespace quire::codec {

// Errors: corrupt (what is wrong and at which byte); unsupported for another mode of the format.
Result<std::vector<crdt::Change>> decode_updates(std::span<const std::uint8_t> blob);

// `changes` in any order; those of one peer that follow each other share a block.
Bytes encode_updates(std::span<const crdt::Change> changes);

}  // namespace quire::codec
