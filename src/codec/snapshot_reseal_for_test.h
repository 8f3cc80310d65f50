// Damage that reaches deep: a snapshot whose checksums fit what it holds now.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "codec/envelope.h"

namespace quire::codec {

// Makes the checksums of a blob fit what it holds now, as far as its tables can still be followed:
// those of each table's blocks, of the tables of blocks, and the envelope's.
inline void reseal_snapshot(Bytes& blob) {
    const std::span<const std::uint8_t> view(blob);
    const auto u32_at = [&](std::size_t at) {
        ByteReader in(view.subspan(at, 4));
        return in.u32_le("");
    };
    const auto put = [&](std::size_t at, std::size_t begin, std::size_t end) {
        const std::uint32_t sum = envelope_checksum(view.subspan(begin, end - begin));
        for (std::size_t i = 0; i < 4; ++i)
            blob[at + i] = static_cast<std::uint8_t>(sum >> (8 * i));
    };
    const auto reseal_table = [&](std::size_t begin, std::size_t end) {
        if (end - begin < 17) return;
        const std::size_t meta = begin + u32_at(end - 4);
        if (meta < begin + 5 || meta + 8 > end - 4) return;
        ByteReader entries(view.subspan(meta + 4, end - 8 - (meta + 4)));
        std::size_t block = begin + 5;
        bool first = true;
        while (!entries.at_end() && entries.ok()) {
            const auto key = [&] {
                const std::size_t low = entries.byte("");
                entries.take(low | static_cast<std::size_t>(entries.byte("")) << 8, "");
            };
            const std::size_t at = begin + entries.u32_le("");
            key();
            if ((entries.byte("") & 0x80) == 0) key();
            if (!entries.ok() || at > meta) break;
            if (!first && at >= block + 4) put(at - 4, block, at - 4);
            block = at;
            first = false;
        }
        if (meta >= block + 4) put(meta - 4, block, meta - 4);
        put(end - 8, meta + 4, end - 8);
    };
    std::size_t at = kEnvelopeSize;
    for (int section = 0; section < 3 && at + 4 <= blob.size(); ++section) {
        const std::size_t size = u32_at(at);
        at += 4;
        if (size > blob.size() - at) break;
        reseal_table(at, at + size);
        at += size;
    }
    if (blob.size() >= kEnvelopeSize) put(16, 20, blob.size());
}

}  // namespace quire::codec
