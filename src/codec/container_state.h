// The state of one container, as a value of a snapshot's state table, at the container's id.
//
//   byte   kind, numbered as in a key (container_ids.h)
//   uleb   depth: 1 for a root, one more for each container around it
//   byte   1 and the id of the container around it, or 0
//   rest   by kind: state_map.h, state_list.h, state_text.h, state_tree.h, state_movable_list.h;
//          counter   f64, least significant byte first; nothing means 0
//          the future, bytes that we carry
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "base/bytes.h"
#include "base/result.h"
#include "codec/budget.h"
#include "codec/state_list.h"
#include "codec/state_map.h"
#include "codec/state_movable_list.h"
#include "codec/state_text.h"
#include "codec/state_tree.h"
#include "crdt/ids/ids.h"

namespace quire::codec {

struct CounterState {
    double value = 0;
    friend bool operator==(const CounterState&, const CounterState&) = default;
};

struct UnknownState {
    Bytes bytes;
    friend bool operator==(const UnknownState&, const UnknownState&) = default;
};

// Up to the counter's, alternatives stand in the order of crdt::ContainerKind.
using State = std::variant<MapState, ListState, TextState, TreeState, MovableListState,
                           CounterState, UnknownState>;

struct ContainerState {
    crdt::ContainerId id;
    std::uint32_t depth = 1;
    std::optional<crdt::ContainerId> parent;
    State state;
    friend bool operator==(const ContainerState&, const ContainerState&) = default;
};

// The part of a state that is known without decoding the rest.
struct ContainerHeader {
    std::uint32_t depth = 1;
    std::optional<crdt::ContainerId> parent;
};

// `stored` is the value at the key of `id`. Errors: corrupt; its message names the container, and
// its offset counts from the start of `stored`.
Result<ContainerHeader> read_container_header(const crdt::ContainerId& id,
                                              std::span<const std::uint8_t> stored);
Result<ContainerState> read_container_state(const crdt::ContainerId& id,
                                            std::span<const std::uint8_t> stored, Budget& budget);
// CHECKs that the state is of the id's kind.
void write_container_state(ByteWriter& out, const ContainerState& container);

}  // namespace quire::codec
