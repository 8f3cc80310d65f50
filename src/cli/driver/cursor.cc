// cursor.*: positions that keep their place while others edit. In a text they count the unit that
// the request names.
#include "codec/cursor.h"

#include <array>

#include "base/bytes.h"
#include "cli/driver/session.h"
#include "cli/driver/text_unit.h"
#include "json/json.h"

namespace quire::cli {
namespace {

using crdt::ContainerKind;

Result<crdt::Side> cursor_side(const EngineRequest& request) {
    if (!request.has("side")) return crdt::Side::middle;
    const std::int64_t side = TRY(request.integer("side"));
    if (side < -1 || side > 1) return invalid("invalid_argument", "`side` must be -1, 0 or 1");
    return static_cast<crdt::Side>(side);
}

Result<Value> cursor_get(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find(request));
    const crdt::ContainerId id = TRY(request.container("cid"));
    std::size_t pos = TRY(request.size("pos"));
    const crdt::Side side = TRY(cursor_side(request));
    const crdt::Handle handle = document->doc.open(id);
    if (id.kind == ContainerKind::text) {
        const TextUnit unit = TRY(unit_of(request));
        pos = TRY(code_point(document->doc.text(handle).rope(), pos, unit)).n;
    }
    const crdt::Cursor cursor = TRY(crdt::cursor_at(document->doc, handle, pos, side));
    return Value(json::base64(as_text(codec::encode_cursor(cursor))));
}

Result<Value> cursor_pos(EngineDocuments& documents, const EngineRequest& request) {
    EngineDocument* document = TRY(documents.find(request));
    const Bytes bytes = TRY(request.bytes("cursor"));
    const crdt::Cursor cursor = TRY(codec::decode_cursor(bytes));
    const TextUnit unit = TRY(unit_of(request));
    const crdt::CursorPlace place = TRY(crdt::resolve(document->doc, cursor));
    std::size_t at = place.pos;
    if (cursor.container.kind == ContainerKind::text) {
        const crdt::Handle handle = document->doc.open(cursor.container);
        at = in_unit(document->doc.text(handle).rope(), {at}, unit);
    }
    return Value(Map{{"pos", at}, {"side", static_cast<std::int64_t>(place.side)}});
}

constexpr std::array kCursorOps = {EngineOp{"cursor.get", cursor_get},
                                   EngineOp{"cursor.pos", cursor_pos}};

}  // namespace

std::span<const EngineOp> engine_cursor_ops() {
    return kCursorOps;
}

}  // namespace quire::cli
