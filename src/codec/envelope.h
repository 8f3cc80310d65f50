// The frame around every blob of Loro's current formats.
//
//   offset  size  field
//        0     4  "loro"
//        4    12  zero; not looked at when reading
//       16     4  u32le  xxHash32 of everything from offset 20 on, seed 0x4F524F4C ("LORO")
//       20     2  u16be  mode: 3 snapshot, 4 updates (1 and 2 are not in use any more)
//       22        body
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "base/result.h"

namespace quire::codec {

inline constexpr std::size_t kEnvelopeSize = 22;

enum class Mode : std::uint16_t { snapshot = 3, updates = 4 };

// The checksum that belongs into an envelope whose mode and body are `covered`.
std::uint32_t envelope_checksum(std::span<const std::uint8_t> covered);

struct Envelope {
    Mode mode;
    ByteReader body;
};

// Errors: corrupt; unsupported "unsupported_mode".
Result<Envelope> open_envelope(std::span<const std::uint8_t> blob);

// Room for the envelope at the start of `out`, which must be empty; the body is appended to it;
// then seal_envelope() fills it in.
void begin_envelope(ByteWriter& out);
void seal_envelope(ByteWriter& out, Mode mode);

}  // namespace quire::codec
