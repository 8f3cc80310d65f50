// An unknown op is copied payload by payload, so that its keys, which are numbers in a block's
// table, can be put in place of those numbers and back.
//
// Reading and writing are one function, copy_payload(), which differs only in what it does with a
// key: from a block a number becomes a key, into a block a key becomes a number. So both directions
// agree on every kind by construction. Nothing is interpreted; a number is read and written again
// only to find its end and to spell it in the shortest way.
#include "codec/payload.h"

#include "base/check.h"
#include "base/varint.h"
#include "codec/values.h"

namespace quire::codec {
namespace {

void copy_numbers(ByteReader& in, ByteWriter& out, int count) {
    for (int i = 0; i < count; ++i) write_uleb(out, read_uleb(in, "number of an unknown op"));
}

// `kind` is canonical. A kind without a case below fails in `in`, as does what is cut short.
void copy_payload(ByteReader& in, ByteWriter& out, std::uint8_t kind, const CopyKey& copy_key) {
    if ((kind & kFutureBit) != 0)
        return write_sized(out, read_sized(in, "payload of an unknown op"));
    switch (static_cast<PayloadKind>(kind)) {
        case PayloadKind::null:
        case PayloadKind::yes:
        case PayloadKind::no:
        case PayloadKind::delete_once:
        case PayloadKind::delete_sequence:
            return;
        case PayloadKind::i64:
        case PayloadKind::delta:
            return write_sleb(out, read_sleb(in, "number of an unknown op"));
        case PayloadKind::f64:
            return out.append(in.take(8, "number of an unknown op"));
        case PayloadKind::string:
        case PayloadKind::bytes:
            return write_sized(out, read_sized(in, "payload of an unknown op"));
        case PayloadKind::index:
            return copy_numbers(in, out, 1);
        case PayloadKind::value:
            return copy_value(in, out, copy_key);
        case PayloadKind::style_start:
            out.byte(in.byte("style of an unknown op"));
            copy_numbers(in, out, 1);
            copy_key(in, out);
            return copy_value(in, out, copy_key);
        case PayloadKind::old_tree_move: {
            copy_numbers(in, out, 1);
            const std::uint8_t is_root = in.byte("parent in an unknown op");
            out.byte(is_root);
            return copy_numbers(in, out, is_root == 0 ? 2 : 1);
        }
        case PayloadKind::list_move:
            return copy_numbers(in, out, 3);
        case PayloadKind::list_set:
            copy_numbers(in, out, 2);
            return copy_value(in, out, copy_key);
        case PayloadKind::tree_move: {
            copy_numbers(in, out, 3);
            const std::uint8_t is_root = in.byte("parent in an unknown op");
            out.byte(is_root);
            return copy_numbers(in, out, is_root == 0 ? 2 : 0);
        }
    }
    in.fail("kind of an unknown op");
}

}  // namespace

// Peers write a kind from the future with or without its bit; one spelling is kept, so that equal
// ops compare equal.
std::uint8_t canonical_kind(std::uint8_t raw) {
    const auto kind = static_cast<std::uint8_t>(raw & ~kFutureBit);
    return kind <= kLastKnownKind ? kind : static_cast<std::uint8_t>(kind | kFutureBit);
}

// The keys are charged as they are copied, because a short number may stand for a long key; all
// other bytes are charged by their length in the block.
crdt::UnknownOp read_unknown(ByteReader& in, std::int32_t prop, std::uint8_t raw_kind,
                             const Tables& tables, Budget& budget) {
    const std::uint8_t kind = canonical_kind(raw_kind);
    const std::size_t before = in.remaining();
    ByteWriter kept;
    copy_payload(in, kept, kind, [&](ByteReader& from, ByteWriter& to) {
        const std::string_view key = tables.key(from, read_uleb(from, "key"), "key");
        // The vector that grows holds its old self beside the new one.
        if (!budget.take(3 * key.size())) from.fail("op (too large for its input)");
        if (from.ok()) write_sized(to, key);
    });
    if (!budget.take_heap(before - in.remaining())) in.fail("op (too large for its input)");
    return {prop, kind, std::move(kept).take()};
}

// The op came through read_unknown() or unknown_from_json(), so its bytes are sound.
void write_unknown(ByteWriter& out, const crdt::UnknownOp& op, Registers& registers) {
    ByteReader in(op.value);
    copy_payload(in, out, op.value_kind, [&](ByteReader& from, ByteWriter& to) {
        write_uleb(to, registers.keys.add(as_text(read_sized(from, "key"))));
    });
    CHECK(in.ok() && in.at_end());
}

}  // namespace quire::codec
