// Mergeable children: containers whose id says which entry of which map they belong to, so that
// peers who make one at once make the same. To the engine they are roots with a strange name.
//
//   name      U+1F91D ':' base ('>' key)+, a key for each map on the way
//   base      '$' name of a root map, or '@' peer ':' counter of another, both in base 36
//   escapes   "\\" a backslash, "\>" a '>', "\s" a '/', "\0" a NUL
#pragma once

#include <optional>

#include "crdt/ids/ids.h"

namespace quire::codec {

// The map that a mergeable child belongs to; none for every other container.
std::optional<crdt::ContainerId> mergeable_parent(const crdt::ContainerId& id);

}  // namespace quire::codec
