// What changes say beyond a version.
#pragma once

#include <span>
#include <vector>

#include "crdt/ids/change.h"

namespace quire::crdt {

// The changes without what the version has: whole ones are left out, others cut.
std::vector<Change> beyond(const VersionVector& known, std::span<const Change> changes);

}  // namespace quire::crdt
