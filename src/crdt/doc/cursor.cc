// A cursor is an atom's id, so making one is finding the atom at a position and resolving one is
// finding the atom's position. At the latest version both are questions to the state and the
// sequence, O(log n). At another version the sequence is moved there and walked, O(n).
#include "crdt/doc/cursor.h"

#include <algorithm>

#include "base/check.h"
#include "base/concat.h"
#include "crdt/doc/body.h"
#include "crdt/doc/history.h"
#include "crdt/doc/limits.h"
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

// Returns true if only the trimmed history of a shallow document may know the atom.
bool is_trimmed(const AtomTable& atoms, OpId id) {
    const std::optional<PeerIndex> peer = atoms.find(id.peer);
    return peer && id.counter >= 0 && id.counter < atoms.base_end_of(*peer);
}

std::size_t size_of(Site site) {
    return visit_sequence(site.container, [&](auto& body) { return body.shown_size(site); });
}

// At the end there is no atom to stand on: the cursor then has no anchor and sticks to the end. In
// an empty container it sticks to the start unless the right side was asked for.
Cursor cursor_in(Site site, std::size_t pos, Side side) {
    const ContainerId& id = site.container.id;
    const std::size_t size = size_of(site);
    CHECK(pos <= size);
    if (size == 0) return {id, {}, side == Side::right ? side : Side::left, 0};
    const auto origin = static_cast<std::uint32_t>(pos);
    if (pos == size) return {id, {}, Side::right, origin};
    const Lv anchor =
        visit_sequence(site.container, [&](auto& body) { return body.anchor_at(site, pos); });
    return {id, site.document.oplog().atoms().id_of(anchor), side, origin};
}

Result<CursorPlace> resolve_in(Site site, const Cursor& cursor) {
    if (!cursor.anchor) {
        return CursorPlace{cursor.side == Side::left ? 0 : size_of(site), cursor.side, {}};
    }
    const OpLog& oplog = site.document.oplog();
    const Past* at = site.document.at();
    const std::optional<Lv> lv = oplog.atoms().lv_of(*cursor.anchor);
    if (!lv || oplog.container_of(*lv) != site.container.index ||
        (at != nullptr && !at->contains(*lv))) {
        if (!lv && is_trimmed(oplog.atoms(), *cursor.anchor))
            return before_start(
                "the place of the deleted text or element that the cursor stands on");
        return unknown_anchor(cursor);
    }
    const ContainerLog& log = *site.container.log;
    const RunKind kind = log.runs()[log.find(*lv)].kind;
    if (kind != RunKind::insert && kind != RunKind::move) return unknown_anchor(cursor);
    const auto [pos, is_there] =
        visit_sequence(site.container, [&](auto& body) { return body.place_of(site, *lv); });
    if (is_there) return CursorPlace{pos, cursor.side, {}};
    // The atom is deleted: the caller gets a cursor on what stands there now, to use from here on.
    return CursorPlace{pos, Side::left, cursor_in(site, pos, Side::left)};
}

}  // namespace

Result<Cursor> cursor_at(const Doc& doc, Handle container, std::size_t pos, Side side) {
    DocBody& body = body_of(doc);
    Container& c = body.container(container);
    if (!c.is_sequence()) return not_a_sequence(c.id.kind);
    const std::size_t size = size_of({body, c});
    if (pos > size) {
        return fail(Errc::out_of_range, "out_of_bound",
                    cat("position ", pos, " lies beyond the end, which is ", size));
    }
    return cursor_in({body, c}, pos, side);
}

Result<CursorPlace> resolve(const Doc& doc, const Cursor& cursor) {
    DocBody& body = body_of(doc);
    Container& c = body.container(body.open(cursor.container));
    if (!c.is_sequence()) return not_a_sequence(c.id.kind);
    Result<CursorPlace> place = resolve_in({body, c}, cursor);
    if (place || doc.history().is_loaded()) return place;
    // The atom may be one that was deleted before the opening.
    TRY(doc.history().load());
    return resolve(doc, cursor);
}

}  // namespace quire::crdt
