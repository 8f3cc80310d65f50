// Mergeable children: containers whose id says which entry of which map they belong to, so that
// peers who make one at once make the same. Their ids are those of roots with a strange name.
//
//   name      U+1F91D ':' base ('>' key)+, a key for each map on the way
//   base      '$' name of a root map, or '@' peer ':' counter of another, both in base 36
//   escapes   "\\" a backslash, "\>" a '>', "\s" a '/', "\0" a NUL
//
// The entry holds a marker: 8 bytes, 00 4C 4D 01, the child's kind, and the low 24 bits,
// big-endian, of the CRC-32 of "loro.mergeable.marker.v1", the map's id and the key, each after its
// length, and the kind. So bytes that only look like one, in whatever entry, are bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/value.h"
#include "crdt/ids/ids.h"

namespace quire::crdt {

// Returns true if a root's name begins like that of a mergeable child, well formed or not.
bool is_mergeable_name(std::string_view name);

// The map that a name names if it is a mergeable child's; nothing for every other name.
std::optional<ContainerId> parent_in_name(std::string_view name);
// The map that a mergeable child belongs to; nothing for every other container. Every commit asks, so
// that a root whose name has another first byte is told without a call.
inline std::optional<ContainerId> mergeable_parent(const ContainerId& id) {
    if (!id.is_root() || !id.root_name().starts_with('\xF0')) return std::nullopt;
    return parent_in_name(id.root_name());
}
// The entry of that map; nothing for every other container, and for a name that no entry has.
std::optional<std::string> mergeable_key(const ContainerId& id);

// The marker: the entry of a map that holds it shows its mergeable child of this kind. CHECKs that
// the kind is one of the six.
Value mergeable_marker(const ContainerId& map, std::string_view key, ContainerKind kind);

// The child that is shown if the map's entry holds this value; nothing if the value is no marker of
// exactly this entry.
std::optional<ContainerId> mergeable_child(const ContainerId& map, std::string_view key,
                                           const Value& value);

}  // namespace quire::crdt
