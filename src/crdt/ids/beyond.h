// The part of changes that lies beyond a version: what a peer at that version still has to be sent.
#pragma once

#include <span>
#include <vector>

#include "crdt/ids/change.h"

namespace quire::crdt {

// The changes without the atoms that the version contains: known ones are left out, others cut.
std::vector<Change> beyond(const VersionVector& known, std::span<const Change> changes);

}  // namespace quire::crdt
