// Ids as text, as Loro writes them in JSON and URLs.
//
//   container   cid:root-NAME:Text   cid:12@34:Map   (counter@peer); the name may hold colons
//   kind        Map List Text Tree MovableList Counter, Unknown(9) for one from the future
//   atom        12@34
//   peer        decimal
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "crdt/ids/ids.h"

namespace quire::crdt {

// The one spelling of each id. O(length of the name).
std::string to_text(const ContainerId& id);
std::string to_text(ContainerKind kind);
std::string to_text(OpId id);

// Each reads all of `text`, in the one spelling that to_text() writes; nothing otherwise. A root's
// name is not empty. Loro refuses '/' and NUL where it asks for a root by its bare name, but not in
// an id, and only ids are read here.
std::optional<ContainerId> parse_container_id(std::string_view text);
std::optional<ContainerKind> parse_container_kind(std::string_view text);
std::optional<OpId> parse_op_id(std::string_view text);
std::optional<PeerId> parse_peer_id(std::string_view text);

}  // namespace quire::crdt
