// cursor.*: positions that keep their place while others edit. In a text they count the unit that
// the request names.
//
// A cursor travels as the bytes that Loro writes. It names an atom of the container, or its end, so
// a place is found again in O(log n). Places in lists count elements in every unit.
#include "codec/cursor.h"

#include <array>

#include "cli/driver/operation.h"
#include "cli/driver/text_unit.h"
#include "cli/driver/view_argument.h"

namespace quire::cli {
namespace {

using crdt::ContainerKind;

Result<Bytes> cursor_get(AnyDocument document, const crdt::ContainerId& id, std::size_t pos,
                         std::optional<std::int64_t> side, TextUnit unit) {
    if (side && (*side < -1 || *side > 1))
        return invalid("invalid_argument", "`side` must be -1, 0 or 1");
    const crdt::Handle handle = TRY(EngineDocuments::open(*document, id));
    if (id.kind == ContainerKind::text)
        pos = TRY(code_point(document->doc.text(handle).rope(), pos, unit)).n;
    return codec::encode_cursor(TRY(
        crdt::cursor_at(document->doc, handle, pos, static_cast<crdt::Side>(side.value_or(0)))));
}

// The container is opened first, so that a cursor into a container that this document does not know
// gives the same error as every other operation on it.
Result<Map> cursor_pos(AnyDocument document, const Bytes& bytes, TextUnit unit) {
    const crdt::Cursor cursor = TRY(codec::decode_cursor(bytes));
    TRY(EngineDocuments::open(*document, cursor.container));
    const crdt::CursorPlace place = TRY(crdt::resolve(document->doc, cursor));
    std::size_t at = place.pos;
    if (cursor.container.kind == ContainerKind::text) {
        const crdt::Handle handle = document->doc.open(cursor.container);
        at = in_unit(document->doc.text(handle).rope(), {at}, unit);
    }
    return Map{{"pos", at}, {"side", static_cast<std::int64_t>(place.side)}};
}

constexpr std::array kCursorOps = {
    engine_op<cursor_get>("cursor.get", "cid", "pos", "side", "unit"),
    engine_op<cursor_pos>("cursor.pos", "cursor", "unit")};

}  // namespace

std::span<const EngineOp> engine_cursor_ops() {
    return kCursorOps;
}

}  // namespace quire::cli
