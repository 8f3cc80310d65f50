// A map's entries and its erased keys, then the last writer of each key, in the order of all keys.
//
// The stamps follow all keys and are assigned by the order of keys, so the registers of both lists
// are sorted together before the stamps are read.
#include "codec/state_map.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/check.h"
#include "base/key_order.h"
#include "base/varint.h"
#include "codec/state_columns.h"

namespace quire::codec {
namespace {

std::string read_key(ByteReader& in, Budget& budget) {
    const std::string_view key = read_utf8(in, "key of a map");
    if (!budget.take_string(key.size())) in.fail("key of a map (too large for its input)");
    return std::string(in.ok() ? key : std::string_view());
}

// Reads a number of keys. Each key takes its size here and, further on, a peer and a lamport.
std::size_t read_count(ByteReader& in, const char* what) {
    constexpr std::size_t kSmallestKey = 3;
    return static_cast<std::size_t>(read_uleb(in, in.remaining() / kSmallestKey, what));
}

// Moves each register once: there are as many as the map has keys, and other writers keep them in
// the order of a hash table.
void sort_by_key(std::vector<MapRegister>& registers) {
    const auto by_key = [](const MapRegister& a, const MapRegister& b) { return a.key < b.key; };
    if (std::is_sorted(registers.begin(), registers.end(), by_key)) return;
    const std::vector<std::uint32_t> order = order_by_key(
        0, registers.size(), [&](std::size_t i) { return std::string_view(registers[i].key); });
    // To move them in place takes steps that each wait for the one before; these do not.
    std::vector<MapRegister> sorted;
    sorted.reserve(registers.size());
    for (const std::uint32_t number : order) sorted.push_back(std::move(registers[number]));
    registers = std::move(sorted);
}

}  // namespace

MapState read_map_state(ByteReader& in, Budget& budget) {
    MapState state;
    std::vector<MapRegister>& registers = state.registers;
    const auto grow = [&](std::size_t count) {
        // Twice over: the registers move when the erased keys join them, and when they are sorted.
        if (!budget.take_heap(2 * count * sizeof(MapRegister)))
            in.fail("number of keys (too many for their size)");
        if (in.ok()) registers.reserve(registers.size() + count);
    };
    const std::size_t set = read_count(in, "number of keys");
    grow(set);
    for (std::size_t i = 0; i < set && in.ok(); ++i) {
        MapRegister& entry = registers.emplace_back();
        entry.key = read_key(in, budget);
        entry.value = read_state_slot(in, budget);
    }
    const std::size_t erased = read_count(in, "number of erased keys");
    grow(erased);
    for (std::size_t i = 0; i < erased && in.ok(); ++i)
        registers.emplace_back().key = read_key(in, budget);

    sort_by_key(registers);
    const auto twice = std::adjacent_find(
        registers.begin(), registers.end(),
        [](const MapRegister& a, const MapRegister& b) { return a.key == b.key; });
    if (twice != registers.end()) in.fail("keys of a map (one is there twice)");

    const std::vector<crdt::PeerId> peers = read_state_peers(in, budget);
    for (MapRegister& entry : registers) {
        const std::uint64_t peer = read_uleb(in, "peer of a key");
        entry.stamp.lamport =
            static_cast<crdt::Lamport>(read_uleb(in, kMaxStateLamport, "lamport of a key"));
        if (peer >= peers.size()) in.fail("peer of a key");
        if (!in.ok()) break;
        entry.stamp.peer = peers[peer];
    }
    if (!in.at_end()) in.fail("end of a map's state");
    return state;
}

// Peers are registered in the order of keys, which makes equal states equal bytes.
void write_map_state(ByteWriter& out, const MapState& state) {
    const std::vector<MapRegister>& registers = state.registers;
    CHECK(std::adjacent_find(registers.begin(), registers.end(),
                             [](const MapRegister& a, const MapRegister& b) {
                                 return a.key >= b.key;
                             }) == registers.end());
    const auto set = static_cast<std::size_t>(
        std::count_if(registers.begin(), registers.end(),
                      [](const MapRegister& entry) { return entry.value.has_value(); }));

    write_uleb(out, set);
    for (const MapRegister& entry : registers) {
        if (!entry.value) continue;
        write_sized(out, entry.key);
        write_state_slot(out, *entry.value);
    }
    write_uleb(out, registers.size() - set);
    for (const MapRegister& entry : registers) {
        if (!entry.value) write_sized(out, entry.key);
    }
    Register<crdt::PeerId> peers;
    for (const MapRegister& entry : registers) peers.add(entry.stamp.peer);
    write_state_peers(out, peers);
    for (const MapRegister& entry : registers) {
        write_uleb(out, peers.add(entry.stamp.peer));
        write_uleb(out, entry.stamp.lamport);
    }
}

}  // namespace quire::codec
