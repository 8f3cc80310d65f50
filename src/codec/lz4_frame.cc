// LZ4 frames are taken apart here, and only their blocks are given to liblz4: how large a frame
// becomes has to be checked against the budget before memory is taken for it. So a first pass over
// the blocks finds the size, and a second one decompresses. O(bytes).
//
// The lengths inside a compressed block say how much it holds. They may lie; the decompression then
// fails, but it never writes beyond the size that was measured, because it is given no more room.
#include "codec/lz4_frame.h"

#include <lz4.h>
#include <lz4frame.h>
#define XXH_STATIC_LINKING_ONLY
#include <algorithm>
#include <optional>

#include <xxhash.h>

#include "base/bytes.h"
#include "base/check.h"

namespace quire::codec {
namespace {

constexpr std::uint32_t kFrameMagic = 0x184D2204;
constexpr std::size_t kWindow = 64 << 10;

struct FrameHeader {
    bool independent = false;
    bool blocks_checked = false;
    bool content_checked = false;
    std::optional<std::uint64_t> content_size;
    std::size_t largest_block = 0;
};

struct FrameBlock {
    std::span<const std::uint8_t> bytes;
    bool stored = false;
    std::size_t size = 0;  // The size of its content.
};

std::uint32_t frame_checksum(std::span<const std::uint8_t> bytes) {
    return XXH32(bytes.data(), bytes.size(), 0);
}

FrameHeader read_header(ByteReader& in, std::span<const std::uint8_t> frame) {
    FrameHeader header;
    if (in.u32_le("LZ4 frame (too short)") != kFrameMagic) in.fail("LZ4 frame (not one)");
    const std::size_t begin = in.offset();
    const std::uint8_t flags = in.byte("flags of an LZ4 frame");
    constexpr std::uint8_t kVersionMask = 0xC0, kVersion = 0x40, kReserved = 0x02,
                           kDictionary = 0x01;
    if ((flags & kVersionMask) != kVersion || (flags & kReserved) != 0)
        in.fail("flags of an LZ4 frame");
    if ((flags & kDictionary) != 0) in.fail("LZ4 frame (it needs a dictionary)");
    header.independent = (flags & 0x20) != 0;
    header.blocks_checked = (flags & 0x10) != 0;
    header.content_checked = (flags & 0x04) != 0;
    const std::uint8_t sizes = in.byte("block size of an LZ4 frame");
    const unsigned step = (sizes >> 4) & 7U;
    if ((sizes & 0x8F) != 0 || step < 4) in.fail("block size of an LZ4 frame");
    // Steps 4 to 7 stand for 64 KB, 256 KB, 1 MB and 4 MB.
    header.largest_block = std::size_t{1} << (8 + 2 * step);
    if ((flags & 0x08) != 0) header.content_size = in.u64_le("content size of an LZ4 frame");
    const std::size_t end = in.offset();
    const std::uint8_t check = in.byte("header checksum of an LZ4 frame");
    if (in.ok() && check != static_cast<std::uint8_t>(
                                frame_checksum(frame.subspan(begin, end - begin)) >> 8)) {
        in.fail("header checksum of an LZ4 frame");
    }
    return header;
}

// A length of 15 goes on in bytes, up to one that is not 255.
std::size_t read_length(ByteReader& in, std::size_t length) {
    if (length != 15) return length;
    std::uint8_t more = 0;
    do {
        more = in.byte("length in an LZ4 block");
        length += more;
    } while (more == 255);
    return length;
}

// How much a compressed block holds, by adding up its lengths; what it copies from
// is not looked at.
std::size_t content_size(ByteReader& in) {
    constexpr std::size_t kShortestMatch = 4;
    std::size_t size = 0;
    while (in.ok()) {
        const std::uint8_t token = in.byte("LZ4 block");
        const std::size_t literals = read_length(in, token >> 4);
        in.take(literals, "literals of an LZ4 block");
        size += literals;
        if (in.at_end()) break;  // The last sequence is of literals alone.
        in.take(2, "offset in an LZ4 block");
        size += read_length(in, token & 15U) + kShortestMatch;
    }
    return size;
}

// None at the end of the blocks.
std::optional<FrameBlock> next_block(ByteReader& in, const FrameHeader& header) {
    constexpr std::uint32_t kStoredBit = 0x8000'0000;
    const std::uint32_t size = in.u32_le("size of an LZ4 block");
    if (size == 0) return std::nullopt;
    FrameBlock block;
    block.stored = (size & kStoredBit) != 0;
    ByteReader part = in.part(size & ~kStoredBit, "LZ4 block (cut short)");
    ByteReader measured = part;
    block.bytes = part.rest();
    block.size = block.stored ? block.bytes.size() : content_size(measured);
    in.adopt(measured);
    // No block is larger than 4 MB, so that sizes fit the int of liblz4.
    if (block.size > header.largest_block || block.bytes.size() > header.largest_block) {
        in.fail("size of an LZ4 block");
    }
    const std::uint32_t expected =
        header.blocks_checked ? in.u32_le("checksum of an LZ4 block") : 0;
    if (header.blocks_checked && expected != frame_checksum(block.bytes))
        in.fail("checksum of an LZ4 block");
    if (!in.ok()) return std::nullopt;
    return block;
}

// Appends the content of `block` to the `at` bytes in `out`, which has room for it.
// A dependent block copies from the 64 KB before it, which lie in `out` already.
bool decompress_block(const FrameBlock& block, bool independent, Bytes& out, std::size_t at) {
    auto* target = reinterpret_cast<char*>(out.data()) + at;
    const auto* source = reinterpret_cast<const char*>(block.bytes.data());
    const auto source_size = static_cast<int>(block.bytes.size());
    const auto size = static_cast<int>(block.size);
    const std::size_t window = independent ? 0 : std::min(at, kWindow);
    const int got = window == 0
                        ? LZ4_decompress_safe(source, target, source_size, size)
                        : LZ4_decompress_safe_usingDict(source, target, source_size, size,
                                                        target - window, static_cast<int>(window));
    return got == size;
}

}  // namespace

std::size_t measure_frame(std::span<const std::uint8_t> frame) {
    ByteReader in(frame);
    const FrameHeader header = read_header(in, frame);
    std::size_t size = 0;
    while (const auto block = next_block(in, header)) size += block->size;
    return in.ok() ? size : 0;
}

Result<Bytes> decompress_frame(std::span<const std::uint8_t> frame, std::size_t max_size) {
    ByteReader in(frame);
    const FrameHeader header = read_header(in, frame);
    // All are measured before any is decompressed, so that no more memory is asked for than they
    // fill. The first are noted on the way; a frame of more blocks is walked through twice.
    constexpr std::size_t kNoted = 256;
    std::vector<FrameBlock> noted;
    ByteReader rest = in;
    std::size_t size = 0;
    while (const auto block = next_block(in, header)) {
        size += block->size;
        if (noted.size() == kNoted) continue;
        noted.push_back(*block);
        rest = in;
    }
    if (header.content_size && *header.content_size != size)
        in.fail("content size of an LZ4 frame");
    if (size > max_size) in.fail("LZ4 frame (its content is too large for its input)");
    const std::uint32_t content_checksum =
        header.content_checked ? in.u32_le("checksum of an LZ4 frame") : 0;
    if (!in.at_end()) in.fail("end of an LZ4 frame");
    if (!in.ok()) return in.error();

    Bytes content(size);
    std::size_t at = 0;
    const auto append = [&](const FrameBlock& block) {
        if (block.stored) {
            std::copy(block.bytes.begin(), block.bytes.end(),
                      content.begin() + static_cast<std::ptrdiff_t>(at));
        } else if (!decompress_block(block, header.independent, content, at)) {
            return false;
        }
        at += block.size;
        return true;
    };
    bool fits = std::all_of(noted.begin(), noted.end(), append);
    for (auto block = next_block(rest, header); fits && block; block = next_block(rest, header))
        fits = append(*block);
    if (!fits) {
        return corrupt(cat("bad LZ4 block: it does not hold what its lengths say, ", at,
                           " bytes into its content"));
    }
    if (header.content_checked && frame_checksum(content) != content_checksum) {
        return corrupt("the content of an LZ4 frame does not match its checksum");
    }
    return content;
}

Bytes compress_frame(std::span<const std::uint8_t> content) {
    LZ4F_preferences_t preferences = LZ4F_INIT_PREFERENCES;
    preferences.frameInfo.blockMode = LZ4F_blockIndependent;
    preferences.frameInfo.blockSizeID =
        LZ4F_max4MB;  // At most: the library takes the smallest that fits.
    Bytes frame(LZ4F_compressFrameBound(content.size(), &preferences));
    const std::size_t size = LZ4F_compressFrame(frame.data(), frame.size(), content.data(),
                                                content.size(), &preferences);
    CHECK(LZ4F_isError(size) == 0);
    frame.resize(size);
    return frame;
}

}  // namespace quire::codec
