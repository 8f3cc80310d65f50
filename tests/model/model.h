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

// The deep value that these changes amount to, as Doc::value() gives it. CHECKs that their deps are
// among them.
Value replay(std::span<const crdt::Change> changes);

// The visible entities of a text in order, after these changes; anchors have no text.
struct Entity {
    crdt::OpId id;
    crdt::Lamport lamport;
    std::string text;
};
std::vector<Entity> entities(std::span<const crdt::Change> changes, const crdt::ContainerId& text);

}  // namespace quire::model
