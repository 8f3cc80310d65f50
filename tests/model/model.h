// The naive document: every change replayed atom by atom, every version a set, every search a scan.
//
// Written from the rules alone (docs/engine.md, "Merging"), to be compared with; no product code
// may link it. Cubic in the worst case: for hundreds of atoms.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/value.h"
#include "crdt/ids/change.h"

namespace quire::model {

// The faults that can be planted in a model. A comparison must find that a model with one of these
// differs; if it does not, it compares nothing (planted_test.cc).
enum class Fault {
    none,
    tie_break,    // The other of two peers at one place, or with one lamport, is first.
    erase,        // Deletes with an odd counter do nothing.
    number_type,  // Whole numbers in lists and maps are floats.
};

// The deep value that these changes amount to, as Doc::value() gives it. CHECKs that their deps are
// among them.
Value replay(std::span<const crdt::Change> changes, Fault fault = Fault::none);
// Returns true if both say the same, op by op and byte by byte, however they are cut into changes.
bool same_history(std::span<const crdt::Change> a, std::span<const crdt::Change> b);

// The visible entities of a text in order, after these changes; anchors have no text.
struct Entity {
    crdt::OpId id;
    crdt::Lamport lamport;
    std::string text;
};
std::vector<Entity> entities(std::span<const crdt::Change> changes, const crdt::ContainerId& text);

}  // namespace quire::model
