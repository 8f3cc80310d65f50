#include "crdt/doc/cursor.h"

#include "base/cat.h"
#include "base/check.h"
#include "crdt/doc/body.h"
#include "crdt/ids/container_text.h"

namespace quire::crdt {

namespace {

Failure not_a_sequence(ContainerKind kind) {
    return invalid("wrong_kind",
                   cat("a ", to_text(kind), " has no positions; cursors are for texts and lists"));
}

Failure unknown_anchor(const Cursor& cursor) {
    return fail(Errc::not_found, "unknown_cursor",
                cat("the cursor stands on ", to_text(*cursor.anchor),
                    ", which is nothing that this document has in ", to_text(cursor.container)));
}

}  // namespace

std::size_t DocBody::cursor_size(Container& c) {
    return c.id.kind == ContainerKind::text ? text(c).code_points().n : c.size;
}

Cursor DocBody::cursor_at(Container& c, std::size_t pos, Side side) {
    const std::size_t size = cursor_size(c);
    CHECK(pos <= size);
    if (size == 0) return {c.id, {}, side == Side::right ? side : Side::left, 0};
    const auto origin = static_cast<std::uint32_t>(pos);
    if (pos == size) return {c.id, {}, Side::right, origin};
    std::size_t entity = pos;
    if (c.id.kind == ContainerKind::text) {
        entity = c.text->character(static_cast<std::uint32_t>(pos));
    }
    return {c.id, log_.atoms().id_of(atom_at(c, entity)), side, origin};
}

Result<CursorPlace> DocBody::resolve(Container& c, const Cursor& cursor) {
    if (!cursor.anchor) {
        return CursorPlace{cursor.side == Side::left ? 0 : cursor_size(c), cursor.side, {}};
    }
    const std::optional<Lv> lv = log_.atoms().lv_of(*cursor.anchor);
    if (!lv || log_.container_of(*lv) != c.index) return unknown_anchor(cursor);
    const ContainerLog& log = log_of(c);
    if (log.runs()[log.find(*lv)].kind != RunKind::insert) return unknown_anchor(cursor);

    const Sequence::Place place = sequence(c).place_of(*lv);
    std::size_t pos = place.pos;
    if (c.id.kind == ContainerKind::text) {
        flush(c);
        pos = c.text->code_point(place.pos);
    }
    if (place.erased == 0) return CursorPlace{pos, cursor.side, {}};
    return CursorPlace{pos, Side::left, cursor_at(c, pos, Side::left)};
}

Result<Cursor> Doc::cursor(Handle container, std::size_t pos, Side side) const {
    Container& c = body_->container(container);
    if (!DocBody::has_positions(c)) return not_a_sequence(c.id.kind);
    const std::size_t size = body_->cursor_size(c);
    if (pos > size) {
        return fail(Errc::out_of_range, "out_of_bound",
                    cat("position ", pos, " lies beyond the end, which is ", size));
    }
    return body_->cursor_at(c, pos, side);
}

Result<CursorPlace> Doc::resolve(const Cursor& cursor) const {
    Container& c = body_->container(body_->open(cursor.container));
    if (!DocBody::has_positions(c)) return not_a_sequence(c.id.kind);
    return body_->resolve(c, cursor);
}

}  // namespace quire::crdt
