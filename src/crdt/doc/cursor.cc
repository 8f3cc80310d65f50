// A cursor is an atom's id, so making one is finding the atom at a position and resolving one is
// finding the atom's position. At the latest version both are questions to the state and the
// sequence, O(log n). At another version the sequence is moved there and walked, O(n).
#include "crdt/doc/cursor.h"

#include <algorithm>

#include "base/check.h"
#include "base/concat.h"
#include "crdt/doc/body.h"
#include "crdt/doc/history.h"
#include "crdt/doc/movable_body.h"
#include "crdt/ids/container_text.h"
#include "crdt/state/text_state.h"

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
    if (c.id.kind == ContainerKind::text) return shown_text(c).code_points().n;
    if (c.id.kind == ContainerKind::movable_list)
        return view_ == nullptr ? movable(c).slots().shown() : shown_movable(c).size();
    return view_ == nullptr ? c.size : shown_list(c).size();
}

// The character or element at a position before the end.
Lv DocBody::anchor_at(Container& c, std::size_t pos) {
    if (c.id.kind == ContainerKind::list) return list_atom(c, pos);
    if (c.id.kind == ContainerKind::movable_list) {
        if (view_ != nullptr) return shown_movable(c)[pos].slot;
        return movable(c).slots().shown_at(static_cast<std::uint32_t>(pos)).lv;
    }
    if (view_ == nullptr) {
        flush(c);
        return atom_at(c, c.text->character(static_cast<std::uint32_t>(pos)));
    }
    Lv found = kNoLv;
    std::size_t left = pos;
    for_each_shown(c, [&](Lv lv, std::uint32_t len, bool visible) {
        if (visible && found == kNoLv && left < len) found = lv + static_cast<Lv>(left);
        if (visible) left -= std::min<std::size_t>(left, len);
    });
    CHECK(found != kNoLv);
    return found;
}

// Stretches of characters or elements, and whether readers see them.
void DocBody::for_each_shown(Container& c, Function<void(Lv, std::uint32_t, bool)> take) {
    const ContainerLog& log = log_of(c);
    Sequence& order = sequence(c);
    order.move_to(history(c), shown_heads());
    order.for_each([&](Lv lv, std::uint32_t len, bool visible) {
        while (len > 0) {
            const Run& run = log.runs()[log.find(lv)];
            const std::uint32_t n = std::min(len, run.end() - lv);
            if (run.kind == RunKind::insert) take(lv, n, visible);
            lv += n;
            len -= n;
        }
    });
}

Cursor DocBody::cursor_at(Container& c, std::size_t pos, Side side) {
    const std::size_t size = cursor_size(c);
    CHECK(pos <= size);
    if (size == 0) return {c.id, {}, side == Side::right ? side : Side::left, 0};
    const auto origin = static_cast<std::uint32_t>(pos);
    if (pos == size) return {c.id, {}, Side::right, origin};
    return {c.id, log_.atoms().id_of(anchor_at(c, pos)), side, origin};
}

Result<CursorPlace> DocBody::resolve(Container& c, const Cursor& cursor) {
    if (!cursor.anchor) {
        return CursorPlace{cursor.side == Side::left ? 0 : cursor_size(c), cursor.side, {}};
    }
    const std::optional<Lv> lv = log_.atoms().lv_of(*cursor.anchor);
    if (!lv || log_.container_of(*lv) != c.index ||
        (view_ != nullptr && !view_->past.contains(*lv)))
        return unknown_anchor(cursor);
    const ContainerLog& log = log_of(c);
    const RunKind kind = log.runs()[log.find(*lv)].kind;
    if (kind != RunKind::insert && kind != RunKind::move) return unknown_anchor(cursor);
    const auto [pos, is_there] = place_of(c, *lv);
    if (is_there) return CursorPlace{pos, cursor.side, {}};
    return CursorPlace{pos, Side::left, cursor_at(c, pos, Side::left)};
}

std::pair<std::size_t, bool> DocBody::place_of(Container& c, Lv anchor) {
    if (c.id.kind == ContainerKind::movable_list) {
        if (view_ == nullptr) {
            if (const auto index = movable_index_of(c, anchor)) return {*index, true};
            // A slot whose element another move placed elsewhere is there still, unseen.
            const Sequence::Place place = sequence(c).place_of(anchor);
            return {movable(c).slots().shown_before(place.pos), place.erased == 0};
        }
        Sequence& order = sequence(c);
        order.move_to(history(c), shown_heads());
        std::size_t pos = 0;
        for (const MovableItem& item : shown_movable(c)) {
            if (order.before(item.slot, anchor)) ++pos;
        }
        return {pos, order.is_visible(anchor)};
    }
    if (view_ == nullptr) {
        const Sequence::Place place = sequence(c).place_of(anchor);
        if (c.id.kind == ContainerKind::list) return {place.pos, place.erased == 0};
        flush(c);
        return {c.text->code_point(place.pos), place.erased == 0};
    }
    std::size_t pos = 0;
    bool passed = false;
    bool is_there = false;
    for_each_shown(c, [&](Lv at, std::uint32_t len, bool visible) {
        if (passed) return;
        passed = anchor >= at && anchor < at + len;
        if (passed) is_there = visible;
        if (visible) pos += passed ? anchor - at : len;
    });
    return {pos, is_there};
}

Result<Cursor> cursor_at(const Doc& doc, Handle container, std::size_t pos, Side side) {
    DocBody& body = body_of(doc);
    Container& c = body.container(container);
    if (!DocBody::has_positions(c)) return not_a_sequence(c.id.kind);
    const std::size_t size = body.cursor_size(c);
    if (pos > size) {
        return fail(Errc::out_of_range, "out_of_bound",
                    cat("position ", pos, " lies beyond the end, which is ", size));
    }
    return body.cursor_at(c, pos, side);
}

Result<CursorPlace> resolve(const Doc& doc, const Cursor& cursor) {
    DocBody& body = body_of(doc);
    Container& c = body.container(body.open(cursor.container));
    if (!DocBody::has_positions(c)) return not_a_sequence(c.id.kind);
    Result<CursorPlace> place = body.resolve(c, cursor);
    if (place || doc.history().is_loaded()) return place;
    // The atom may be one that was deleted before the opening.
    TRY(doc.history().load());
    return resolve(doc, cursor);
}

}  // namespace quire::crdt
