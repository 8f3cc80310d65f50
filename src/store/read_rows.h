// Rows as records: the columns of each table in the order in which every statement selects them.
#pragma once

#include <bit>
#include <cstdint>

#include "store/database.h"
#include "store/store.h"

namespace quire::store {

// SQLite's integers are signed: peers and versions keep their bits.
inline std::int64_t to_signed(std::uint64_t value) {
    return std::bit_cast<std::int64_t>(value);
}
inline std::uint64_t to_unsigned(std::int64_t value) {
    return std::bit_cast<std::uint64_t>(value);
}

// document, number, actor, peer
inline PeerRecord peer_of(const Statement& row) {
    return {.document = row.integer(0),
            .number = row.integer(1),
            .actor = row.text(2),
            .peer = to_unsigned(row.integer(3))};
}
// document, block, version, header
inline BlockRecord block_of(const Statement& row) {
    return {.document = row.integer(0),
            .block = row.text(1),
            .version = to_unsigned(row.integer(2)),
            .header = row.blob(3)};
}
// document, block, version, actor, at_ms, description, state, body
inline UnitRecord unit_of(const Statement& row) {
    return {.document = row.integer(0),
            .block = row.text(1),
            .version = to_unsigned(row.integer(2)),
            .actor = row.text(3),
            .at_ms = row.integer(4),
            .description = row.text(5),
            .state = row.text(6),
            .body = row.blob(7)};
}

}  // namespace quire::store
