// Cursor: a place in a text, list or movable list that stays where it was meant while others edit.
//
// A cursor holds on to an atom, not to a number: what is inserted or deleted elsewhere moves it
// along, and when its own atom is deleted it stands where that atom would be. Cursors can be kept,
// sent to others (codec/cursor.h) and looked up in any copy of the document that knows the atom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "crdt/doc/container_view.h"
#include "crdt/ids/ids.h"

namespace quire::crdt {

// On which side of its atom a cursor sticks: what a reader makes of it is the reader's own affair.
enum class Side : std::int8_t { left = -1, middle = 0, right = 1 };

struct Cursor {
    ContainerId container;
    // None: the start of the container when `side` is left, else its end, whatever is inserted
    // there.
    std::optional<OpId> anchor;
    Side side = Side::middle;
    // The position at which it was made, in code points or elements. A hint for people; resolving
    // does not read it.
    std::uint32_t origin = 0;

    friend bool operator==(const Cursor&, const Cursor&) = default;
};

struct CursorPlace {
    std::size_t pos = 0;  // In code points or elements; at most the container's size.
    Side side = Side::middle;
    // A cursor at the same place on an atom that is there, to be kept instead; none unless the atom
    // is gone.
    std::optional<Cursor> renewed;
};

// Returns a cursor on the character or element at `pos` of a text, list or movable list, in code
// points or elements; at the end it stays at the end. Errors: out_of_range "out_of_bound";
// invalid_argument "wrong_kind".
Result<Cursor> cursor_at(const Doc& doc, Handle container, std::size_t pos,
                         Side side = Side::middle);

// Returns the place of the cursor now. O(log n), once the container's order of atoms is built.
// Errors: not_found "unknown_cursor" when its atom is not known here, or is no character or element
// of its container; invalid_argument "wrong_kind".
Result<CursorPlace> resolve(const Doc& doc, const Cursor& cursor);

}  // namespace quire::crdt
