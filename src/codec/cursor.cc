// A cursor is read and written field by field; what follows the last field makes it corrupt.
//
// Every field has one range, and a value outside it is corrupt. Whether the anchor exists is a
// question for the document that the cursor is resolved in.
#include "codec/cursor.h"

#include "base/bytes.h"
#include "base/varint.h"
#include "codec/budget.h"
#include "codec/container_ids.h"

namespace quire::codec {

Bytes encode_cursor(const crdt::Cursor& cursor) {
    ByteWriter out;
    out.byte(cursor.anchor ? 1 : 0);
    if (cursor.anchor) {
        write_uleb(out, cursor.anchor->peer);
        write_zigzag(out, cursor.anchor->counter);
    }
    write_container_id(out, cursor.container);
    write_uleb(out, static_cast<std::uint64_t>(std::int64_t{static_cast<int>(cursor.side)} + 1));
    write_uleb(out, cursor.origin);
    return std::move(out).take();
}

Result<crdt::Cursor> decode_cursor(std::span<const std::uint8_t> bytes) {
    ByteReader in(bytes);
    Budget budget(bytes.size());
    crdt::Cursor cursor;
    const std::uint8_t anchored = in.byte("cursor");
    if (anchored > 1) in.fail("cursor");
    if (anchored == 1) {
        const crdt::PeerId peer = read_uleb(in, crdt::kNoPeer - 1, "peer of a cursor");
        cursor.anchor = {peer, static_cast<crdt::Counter>(
                                   read_zigzag(in, 0, INT32_MAX - 1, "counter of a cursor"))};
    }
    cursor.container = read_container_id(in, budget);
    cursor.side =
        static_cast<crdt::Side>(static_cast<int>(read_uleb(in, 2, "side of a cursor")) - 1);
    cursor.origin = static_cast<std::uint32_t>(read_uleb(in, UINT32_MAX, "position of a cursor"));
    if (in.ok() && !in.at_end()) in.fail("end of a cursor");
    if (!in.ok()) return in.error();
    return cursor;
}

}  // namespace quire::codec
