// Snapshots that Loro wrote, from tests/data/snapshot (PROVENANCE.md there), and damage that reaches deep.
#pragma once

#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/cat.h"
#include "codec/envelope.h"

namespace quire::codec {

inline constexpr const char* kSnapshotNames[] = {
    "empty",        "map",           "list",         "text",          "marks",        "movable_list",
    "tree",         "counter",       "nested",       "several_peers", "emptied",      "big_values",
    "many_containers", "many_changes", "trimmed",    "trimmed_with_state", "mergeable", "unknown_container",
    "1_10_8_nested", "1_10_8_marks", "1_10_8_tree", "1_10_8_movable_list"};

inline std::string snapshot_file(const std::string& name) {
    std::ifstream file(cat(QUIRE_SOURCE_DIR, "/tests/data/snapshot/", name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline Bytes snapshot_golden(const std::string& name) {
    const std::string bytes = snapshot_file(name + ".bin");
    return {bytes.begin(), bytes.end()};
}

// Makes the checksums of a blob fit what it holds now, as far as its tables can still be followed: those of
// each table's blocks, of the tables of blocks, and the envelope's.
inline void reseal_snapshot(Bytes& blob) {
    const std::span<const std::uint8_t> view(blob);
    const auto u32_at = [&](std::size_t at) {
        ByteReader in(view.subspan(at, 4));
        return in.u32_le("");
    };
    const auto put = [&](std::size_t at, std::size_t begin, std::size_t end) {
        const std::uint32_t sum = envelope_checksum(view.subspan(begin, end - begin));
        for (std::size_t i = 0; i < 4; ++i) blob[at + i] = static_cast<std::uint8_t>(sum >> (8 * i));
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
