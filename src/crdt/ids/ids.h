// The engine's nouns. They know nothing of bytes, JSON, SQL or state.
//
// A document is known by three kinds of names. An atom, the unit of history, has an id: its peer
// and the counter of that peer. A container has the id of the atom that made it, or a name. An
// element of a movable list is named by the lamport and peer of its insert. All are plain values
// that sort, and they mean the same in every replica.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>

namespace quire::crdt {

// A peer is one writer of one history; u64 max is reserved. A counter numbers the atoms of a peer
// from 0 to i32 max - 1. A lamport is larger than that of everything its writer knew.
using PeerId = std::uint64_t;  // u64 max is reserved.
using Counter = std::int32_t;  // 0 .. i32 max - 1, one per atom.
using Lamport = std::uint32_t;

// No peer has this id.
inline constexpr PeerId kNoPeer = ~PeerId{0};

// An atom of history: the counter-th of its peer.
struct OpId {
    PeerId peer = 0;
    Counter counter = 0;
    friend auto operator<=>(const OpId&, const OpId&) = default;
};

// Half-open run of one peer's atoms.
struct IdSpan {
    PeerId peer = 0;
    Counter begin = 0;
    Counter end = 0;
    // Requires begin <= end.
    Counter size() const { return end - begin; }
    bool empty() const { return begin == end; }
    // Ordered by peer, then by beginning: the spans of one peer stand side by side, in the order of
    // its history.
    friend auto operator<=>(const IdSpan&, const IdSpan&) = default;
};

// An element of a movable list, named by the lamport and peer of the atom that inserted it.
// The lamport instead of the counter, because that is what decides between concurrent writes.
struct ElementId {
    PeerId peer = 0;
    Lamport lamport = 0;
    friend auto operator<=>(const ElementId&, const ElementId&) = default;
};

// The kinds, in Loro's numbering. Kinds above `counter` come from newer peers; their ops are kept
// without being understood.
enum class ContainerKind : std::uint8_t {
    map = 0,
    list = 1,
    text = 2,
    tree = 3,
    movable_list = 4,
    counter = 5
};

// A root container is named and exists implicitly; any other is named by the atom that created it.
// The kind belongs to the id: roots of one name and different kinds are different containers.
struct ContainerId {
    ContainerKind kind = ContainerKind::map;
    std::variant<std::string, OpId> name;  // Root name, or the creating atom.

    // A root container by its name, and a child by the atom that created it.
    static ContainerId root(std::string name, ContainerKind kind) {
        return {kind, std::move(name)};
    }
    static ContainerId normal(OpId id, ContainerKind kind) { return {kind, id}; }
    // Returns true if the container is a root. root_name() requires a root; op() requires a child.
    bool is_root() const { return std::holds_alternative<std::string>(name); }
    const std::string& root_name() const { return std::get<std::string>(name); }
    OpId op() const { return std::get<OpId>(name); }

    friend auto operator<=>(const ContainerId&, const ContainerId&) = default;
};

}  // namespace quire::crdt

template <>
struct std::hash<quire::crdt::OpId> {
    std::size_t operator()(const quire::crdt::OpId& id) const noexcept {
        return (id.peer ^
                (static_cast<std::uint64_t>(static_cast<std::uint32_t>(id.counter)) << 32)) *
               0x9E3779B97F4A7C15ULL;
    }
};

template <>
struct std::hash<quire::crdt::ContainerId> {
    std::size_t operator()(const quire::crdt::ContainerId& id) const noexcept {
        const std::size_t name = id.is_root() ? std::hash<std::string>{}(id.root_name())
                                              : std::hash<quire::crdt::OpId>{}(id.op());
        return name * 31 + static_cast<std::size_t>(id.kind);
    }
};
