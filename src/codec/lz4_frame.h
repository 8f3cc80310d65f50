// LZ4 frames: how a table's blocks may be compressed.
// https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md
//
//   u32le  184D2204
//   byte   flags: 01 (version), blocks independent, blocks checked, content size there,
//          content checked, 0, dictionary id there (refused)
//   byte   0, 3 bits of largest block (4 64K, 5 256K, 6 1M, 7 4M), 0000
//   u64le  content size, if it is there
//   byte   second byte of xxHash32 over flags to here
//   for each block
//       u32le  size, bit 31 set when it is stored as it is
//       bytes
//       u32le  xxHash32 of them, if blocks are checked
//   u32le  0
//   u32le  xxHash32 of the content, if that is checked
//
// Every xxHash32 here has seed 0. A block that is not independent may copy from the 64K before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"

namespace quire::codec {

// Exactly one frame. The size of its content is found before any memory is taken for it; it is
// refused when that is more than `max_size`. Errors: corrupt.
Result<Bytes> decompress_frame(std::span<const std::uint8_t> frame, std::size_t max_size);

// The size of a frame's content, found without decompressing it; 0 if the frame is unsound. O(frame).
std::size_t measure_frame(std::span<const std::uint8_t> frame);

// Frames in Loro's form: independent blocks, no checksums, no content size.
Bytes compress_frame(std::span<const std::uint8_t> content);

}  // namespace quire::codec
