// Unit: one entry of a block's history, and one step of undo. A unit belongs to one accepted
// call; the appends of one actor between status changes form a group, which is undone together.
//
// A unit holds the atoms that embody its change now. At first these are the atoms of the call.
// After an undo they are the atoms of the undo, so that reverting them is the redo, and so on. An
// undo that had to leave a part because others had changed it does not embody the whole change.
// Then `kept` holds what it took back, so that the next undo takes back everything.
//
//   call    spans: the atoms of the call    done
//   undo    spans: the atoms of the undo    undone    reverting them is the redo
//   redo    spans: the atoms of the redo    done      reverting them is the next undo
//
// A unit is written again under its version whenever its state changes, so the store has it as it
// is now.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/enum_words.h"
#include "conversation/block.h"
#include "crdt/doc/doc.h"
#include "crdt/undo/revert.h"
#include "store/store.h"

namespace quire::kernel {

struct UndoWhich;

enum class UnitKind : std::uint8_t {
    content = 0,    // Changed the text.
    status = 1,     // Set the status.
    create = 2,     // Made the block: undone by deleting it.
    erase = 3,      // Deleted it: undone by bringing it back.
    take_back = 4,  // An undo or a redo: history, not itself undoable.
    record = 5,     // Changed what is known of a whole document beside its content.
};

// A unit is in effect, undone, or can never be undone or redone again.
enum class UnitState : std::uint8_t { done = 0, undone = 1, gone = 2 };
constexpr auto words_of(UnitState) {
    return word_table("done", "undone", "gone");
}

// The part of a document's record that calls change.
struct RecordState {
    std::string name;
    bool deleted = false;
    Bytes header;
    friend bool operator==(const RecordState&, const RecordState&) = default;
};
// The change that a call made of it. An undo sets back what differs between the two.
struct RecordChange {
    RecordState before;
    RecordState after;
    // The other document of a call that changed two, which are taken back together; else 0.
    store::DocumentKey partner = 0;
};

struct Unit {
    std::uint64_t version = 0;
    std::string actor;
    std::int64_t at_ms = 0;
    // The operation in words, for histories: "edit", "append", "undo of edit".
    std::string description;
    UnitKind kind = UnitKind::content;
    UnitState state = UnitState::done;
    std::uint64_t group = 0;  // The version that began the run of appends; 0: alone.
    std::vector<crdt::IdSpan> spans;
    // Spans that the undo or redo after the next takes back too, beside the atoms of the next.
    std::vector<crdt::IdSpan> kept = {};
    // An undo or redo lists what it restored and what that stands for; an undone unit lists what
    // was taken back without an op.
    std::vector<crdt::StandIn> stand_ins = {};
    // A change of status. Units stored before this field existed have none.
    struct StatusChange {
        conversation::Status from;
        conversation::Status to;
    };
    std::optional<StatusChange> status = {};
    // The version of the document after the unit, for rollback. Units stored before this field
    // existed have none.
    std::optional<crdt::Frontiers> heads = {};
    std::shared_ptr<const RecordChange> record = {};  // Null for most units.

    // Returns true for the entry that says that a file was deleted.
    bool deletes_file() const;
};

// The unit as the store keeps it (unit.cc has the format).
store::UnitRecord to_record(const Unit& unit, store::DocumentKey document, std::string_view block);
// Errors: corrupt.
Result<Unit> from_record(const store::UnitRecord& record);

// Returns true if an undo selects the unit: by its actor, its time and its version.
bool selects(const UndoWhich& which, const Unit& unit);

}  // namespace quire::kernel
