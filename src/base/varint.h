// Integers of variable length, seven bits a byte, least significant first.
//
// Two spellings of signed numbers exist and differ: signed LEB128 extends the sign of the last
// group (-1 is 7F); zigzag maps 0, -1, 1, -2 to 0, 1, 2, 3 and writes that unsigned (-1 is 01).
// Padding with empty groups is accepted, as other readers do; more than 64 bits is not.
//
//     value        300                  -1 signed LEB128     -1 zigzag
//     bytes        AC 02                7F                   01
//     groups       0101100, 0000010     1111111              0000001
//
// The high bit of a byte says that another group follows. A number of 64 bits takes at most ten
// bytes, so reading one is bounded whatever the bytes are. A bad number fails the reader with the
// name `what`, and the number that is returned then means nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"

namespace quire {

// Reads the groups after a first one that is not the last. Not inlined, so that read_uleb() is
// small where it is. The tenth group has room for one bit only.
[[gnu::noinline]] inline std::uint64_t read_long_uleb(ByteReader& reader, std::uint8_t first,
                                                      const char* what) {
    std::uint64_t value = first & 0x7F;
    for (unsigned shift = 7; shift < 64; shift += 7) {
        const std::uint8_t group = reader.byte(what);
        if (shift == 63 && group > 1) break;
        value |= static_cast<std::uint64_t>(group & 0x7F) << shift;
        if ((group & 0x80) == 0) return value;
    }
    reader.fail(what);
    return 0;
}

// Most numbers are one group. The read is inlined for them; a call is paid by longer numbers alone.
inline std::uint64_t read_uleb(ByteReader& reader, const char* what) {
    const std::uint8_t first = reader.byte(what);
    return first < 0x80 ? first : read_long_uleb(reader, first, what);
}

// At most `max`. A larger number fails the reader: for lengths and counts that index something.
inline std::uint64_t read_uleb(ByteReader& reader, std::uint64_t max, const char* what) {
    const std::uint64_t value = read_uleb(reader, what);
    if (value <= max) return value;
    reader.fail(what);
    return 0;
}

// Signed LEB128: bit 6 of the last group is the sign, and fills all higher bits.
inline std::int64_t read_sleb(ByteReader& reader, const char* what) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const std::uint8_t group = reader.byte(what);
        // The tenth group holds the sign alone.
        if (shift == 63 && group != 0 && group != 0x7F) break;
        value |= static_cast<std::uint64_t>(group & 0x7F) << shift;
        if ((group & 0x80) != 0) continue;
        if ((group & 0x40) != 0 && shift + 7 < 64) value |= ~std::uint64_t{0} << (shift + 7);
        return static_cast<std::int64_t>(value);
    }
    reader.fail(what);
    return 0;
}

// Zigzag keeps numbers near zero short in both directions: the sign is the lowest bit.
inline std::int64_t unzigzag(std::uint64_t value) {
    return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}
inline std::uint64_t zigzag(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1) ^ (value < 0 ? ~std::uint64_t{0} : 0);
}
inline std::int64_t read_zigzag(ByteReader& reader, const char* what) {
    return unzigzag(read_uleb(reader, what));
}
// Within [min, max]. A number outside fails the reader.
inline std::int64_t read_zigzag(ByteReader& reader, std::int64_t min, std::int64_t max,
                                const char* what) {
    const std::int64_t value = read_zigzag(reader, what);
    if (value >= min && value <= max) return value;
    reader.fail(what);
    return 0;
}

// The shortest form, as are those of the writers below.
inline void write_uleb(ByteWriter& writer, std::uint64_t value) {
    while (value >= 0x80) {
        writer.byte(static_cast<std::uint8_t>(value | 0x80));
        value >>= 7;
    }
    writer.byte(static_cast<std::uint8_t>(value));
}

// A last group of seven bits holds -64 to 63. The shift keeps the sign.
inline void write_sleb(ByteWriter& writer, std::int64_t value) {
    while (value < -64 || value > 63) {
        writer.byte(static_cast<std::uint8_t>((value & 0x7F) | 0x80));
        value >>= 7;
    }
    writer.byte(static_cast<std::uint8_t>(value & 0x7F));
}

inline void write_zigzag(ByteWriter& writer, std::int64_t value) {
    write_uleb(writer, zigzag(value));
}

// Bytes with their length before them. The bytes that are read stay where they are: the span is
// valid as long as the reader's bytes. A length beyond them fails the reader and gives an empty
// span.
inline std::span<const std::uint8_t> read_sized(ByteReader& reader, const char* what) {
    const std::uint64_t size = read_uleb(reader, what);
    return reader.take(static_cast<std::size_t>(size), what);
}
inline void write_sized(ByteWriter& writer, std::span<const std::uint8_t> bytes) {
    write_uleb(writer, bytes.size());
    writer.append(bytes);
}
inline void write_sized(ByteWriter& writer, std::string_view text) {
    write_sized(writer, as_bytes(text));
}

}  // namespace quire
