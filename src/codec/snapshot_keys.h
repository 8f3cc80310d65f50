// The keys of a snapshot's tables (snapshot.h).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "codec/tables.h"
#include "crdt/ids/ids.h"

namespace quire::codec {

inline constexpr std::string_view kEndKey = "vv";
inline constexpr std::string_view kHeadsKey = "fr";
inline constexpr std::string_view kStartKey = "sv";
inline constexpr std::string_view kStartHeadsKey = "sf";
// In place of a table of states: it was left out.
inline constexpr std::string_view kNoState = "E";

inline bool is_version_key(std::span<const std::uint8_t> key) {
    const std::string_view text = as_text(key);
    return text == kEndKey || text == kHeadsKey || text == kStartKey || text == kStartHeadsKey;
}

inline Bytes block_key(crdt::OpId first) {
    ByteWriter out;
    out.u64_be(first.peer);
    const auto counter = static_cast<std::uint32_t>(first.counter);
    out.u16_be(static_cast<std::uint16_t>(counter >> 16));
    out.u16_be(static_cast<std::uint16_t>(counter));
    return std::move(out).take();
}

inline Result<crdt::OpId> read_block_key(std::span<const std::uint8_t> key) {
    ByteReader in(key);
    crdt::OpId first;
    first.peer = in.u64_be("key of a block of changes");
    const std::uint32_t high = in.u16_be("key of a block of changes");
    const std::uint32_t counter = high << 16 | in.u16_be("key of a block of changes");
    if (first.peer == crdt::kNoPeer || counter > kMaxCounter || !in.at_end())
        in.fail("key of a block of changes");
    if (!in.ok()) return in.error();
    first.counter = static_cast<crdt::Counter>(counter);
    return first;
}

}  // namespace quire::codec
