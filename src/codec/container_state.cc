// A state begins with the kind, depth and parent of its container, and goes on as its kind has it.
// A kind that we do not know is kept as bytes.
//
// The key and the state both tell the kind; they have to agree. The message of an error names the
// container, because offsets count within its state and would tell little by themselves.
#include "codec/container_state.h"

#include <bit>
#include <type_traits>

#include "base/check.h"
#include "base/varint.h"
#include "codec/container_ids.h"
#include "crdt/ids/container_text.h"

namespace quire::codec {
namespace {

using crdt::ContainerKind;

ContainerHeader read_header(ByteReader& in, const crdt::ContainerId& id, Budget& budget) {
    ContainerHeader header;
    if (static_cast<ContainerKind>(in.byte("kind of a container")) != id.kind)
        in.fail("kind of a container");
    header.depth = static_cast<std::uint32_t>(read_uleb(in, UINT32_MAX, "depth of a container"));
    header.parent = read_parent(in, budget);
    return header;
}

CounterState read_counter(ByteReader& in) {
    CounterState state;
    if (in.at_end()) return state;
    state.value = std::bit_cast<double>(in.u64_le("value of a counter"));
    if (!in.at_end()) in.fail("end of a counter's state");
    return state;
}

UnknownState read_unknown_state(ByteReader& in, Budget& budget) {
    const auto bytes = in.rest();
    if (!budget.take_heap(bytes.size())) in.fail("state (too large for its input)");
    if (!in.ok()) return {};
    return {{bytes.begin(), bytes.end()}};
}

State read_state(ByteReader& in, ContainerKind kind, Budget& budget) {
    switch (kind) {
        case ContainerKind::map:
            return read_map_state(in, budget);
        case ContainerKind::list:
            return read_list_state(in, budget);
        case ContainerKind::text:
            return read_text_state(in, budget);
        case ContainerKind::tree:
            return read_tree_state(in, budget);
        case ContainerKind::movable_list:
            return read_movable_list_state(in, budget);
        case ContainerKind::counter:
            return read_counter(in);
    }
    return read_unknown_state(in, budget);
}

Failure failure(const ByteReader& in, const crdt::ContainerId& id) {
    return Failure(Error(in.error().value()).within(cat("the state of ", to_text(id))));
}

}  // namespace

// For callers that only need to know where a container hangs: O(header), whatever the state holds.
Result<ContainerHeader> read_container_header(const crdt::ContainerId& id,
                                              std::span<const std::uint8_t> stored) {
    ByteReader in(stored);
    Budget budget(stored.size());
    ContainerHeader header = read_header(in, id, budget);
    if (!in.ok()) return failure(in, id);
    return header;
}

Result<ContainerState> read_container_state(const crdt::ContainerId& id,
                                            std::span<const std::uint8_t> stored, Budget& budget) {
    ByteReader in(stored);
    ContainerHeader header = read_header(in, id, budget);
    if (!in.ok()) return failure(in, id);
    ContainerState container{id, header.depth, std::move(header.parent),
                             read_state(in, id.kind, budget)};
    if (!in.ok()) return failure(in, id);
    return container;
}

// Kinds beyond the counter all have the last alternative, UnknownState.
void write_container_state(ByteWriter& out, const ContainerState& container) {
    const auto kind = static_cast<std::size_t>(container.id.kind);
    CHECK(container.state.index() == std::min(kind, std::variant_size_v<State> - 1));
    out.byte(static_cast<std::uint8_t>(kind));
    write_uleb(out, container.depth);
    write_parent(out, container.parent);
    struct Writer {
        ByteWriter& out;
        void operator()(const MapState& state) const { write_map_state(out, state); }
        void operator()(const ListState& state) const { write_list_state(out, state); }
        void operator()(const TextState& state) const { write_text_state(out, state); }
        void operator()(const TreeState& state) const { write_tree_state(out, state); }
        void operator()(const MovableListState& state) const {
            write_movable_list_state(out, state);
        }
        void operator()(const CounterState& state) const {
            out.u64_le(std::bit_cast<std::uint64_t>(state.value));
        }
        void operator()(const UnknownState& state) const { out.append(state.bytes); }
    };
    std::visit(Writer{out}, container.state);
}

}  // namespace quire::codec
