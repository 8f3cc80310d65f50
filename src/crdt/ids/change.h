// Ops and changes at the engine's border: the form that codecs read and write, and that import and
// export use. The content of an op is kept verbatim, down to a delete's start id, a number's type,
// a style's info byte and a position's bytes, because Loro peers refuse a history that differs in
// any of them.
//
// A change is a commit as other peers see it, and has this shape:
//
//     Change  id 7@ada   deps [3@bo]   lamport 12   timestamp   message
//       Op 7@ada   text "notes"    insert "ab" at 0     atoms 7, 8
//       Op 9@ada   map "meta"      set "title"          atom 9
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/value.h"
#include "crdt/ids/ids.h"
#include "crdt/ids/version.h"

namespace quire::crdt {

// The content of a list slot or map entry: a plain value, or a new child container whose id is the
// atom's.
using Slot = std::variant<Value, ContainerKind>;

// Positions and lengths of text ops count entities: code points plus style anchors.
struct TextInsert {
    std::uint32_t pos;
    std::string text;
    bool operator==(const TextInsert&) const = default;
};
// Inserts values before position `pos`.
struct ListInsert {
    std::uint32_t pos;
    std::vector<Slot> values;
    bool operator==(const ListInsert&) const = default;
};
// Deletes |len| atoms; len < 0 is a run of backspaces: the k-th deletes position pos - k. `start`
// is the smallest deleted id if the writer was right; the position decides.
struct SequenceDelete {
    std::int32_t pos;
    std::int32_t len;
    OpId start;
    bool operator==(const SequenceDelete&) const = default;
};
// A style begins: its range as the writer saw it, its key and value, and its expansion byte.
struct StyleStart {
    std::uint32_t start;
    std::uint32_t end;
    std::string key;
    Value value;
    std::uint8_t info;
    bool operator==(const StyleStart&) const = default;
};
// The end of the style that the op before began.
struct StyleEnd {
    bool operator==(const StyleEnd&) const = default;
};
// Moves an element of a movable list between positions.
struct ListMove {
    std::uint32_t from;
    std::uint32_t to;
    ElementId element;
    bool operator==(const ListMove&) const = default;
};
// Replaces the value of an element of a movable list.
struct ListSet {
    ElementId element;
    Slot value;
    bool operator==(const ListSet&) const = default;
};
// Writes an entry of a map.
struct MapSet {
    std::string key;
    Slot value;
    bool operator==(const MapSet&) const = default;
};
// Removes an entry of a map.
struct MapErase {
    std::string key;
    bool operator==(const MapErase&) const = default;
};
// Creates a node below `parent`, or as a root of the tree if there is no parent. `target` is the
// id of this very op; `position` orders the node among its siblings as bytes.
struct TreeCreate {
    OpId target;
    std::optional<OpId> parent;
    Bytes position;
    bool operator==(const TreeCreate&) const = default;
};
// Moves a node below another parent, to a position among its children.
struct TreeMove {
    OpId target;
    std::optional<OpId> parent;
    Bytes position;
    bool operator==(const TreeMove&) const = default;
};
// Moves a node to the erased ones.
struct TreeErase {
    OpId target;
    bool operator==(const TreeErase&) const = default;
};
// Adds to a counter.
struct CounterAdd {
    Value delta;
    bool operator==(const CounterAdd&) const = default;
};  // Integer or float, as on the wire.
// An op of an unknown kind: its bytes and numbers as received.
// It counts as one atom and shows nothing, but is passed on, so that a newer peer gets it whole.
struct UnknownOp {
    std::int32_t prop;
    std::uint8_t value_kind;
    Bytes value;
    bool operator==(const UnknownOp&) const = default;
};

// The content of any op. Which of them an op may have depends on its container's kind
// (doc/validate.h).
using OpContent =
    std::variant<TextInsert, ListInsert, SequenceDelete, StyleStart, StyleEnd, ListMove, ListSet,
                 MapSet, MapErase, TreeCreate, TreeMove, TreeErase, CounterAdd, UnknownOp>;

// One op of one container. A run of atoms (a typed word) is one op; its atoms count up from
// `counter`.
// A delete of several stretches of ids, or a text that was typed in several places, is several ops.
struct Op {
    ContainerId container;
    Counter counter = 0;  // The first atom's.
    OpContent content;
    friend bool operator==(const Op&, const Op&) = default;
};

// The number of atoms in the op: code points, elements, |len|, or 1.
Counter atom_count(const OpContent& content);

// A run of ops by one peer. `ops` are contiguous from id.counter on.
struct Change {
    OpId id;
    // The heads of what the writer knew. The peer's own predecessor is implied, and is here only if
    // the change listed it.
    Frontiers deps;
    Lamport lamport = 0;         // Importers recompute it from deps.
    std::int64_t timestamp = 0;  // Seconds, as in Loro; 0 when not recorded.
    std::string message;         // "" for none.
    std::vector<Op> ops;
    friend bool operator==(const Change&, const Change&) = default;
};

// The number of atoms in all ops of the change.
Counter atom_count(const Change& change);

// Atoms [from, to) of an op or a change, 0-based; requires 0 <= from < to <= its atoms. A change
// that loses its first atoms depends only on its peer's predecessor.
Op slice(const Op& op, Counter from, Counter to);
// Lamports and counters of a part go on counting from where it begins. O(ops + text).
Change slice(const Change& change, Counter from, Counter to);

// Returns true if two runs of ops are equal atom by atom, however each is cut into ops. O(ops + text).
bool same_atoms(const std::vector<Op>& a, const std::vector<Op>& b);

}  // namespace quire::crdt
