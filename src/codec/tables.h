// The tables to which the ops of one block refer by number: peers, keys, containers and
// positions.
//
//   keys        (uleb size, UTF-8) until the end
//   containers  uleb count, then rows of
//                   uleb 4 (fields in a row)
//                   byte root: 1 named, 0 made by an atom
//                   byte kind, raw numbering (crdt::ContainerKind)
//                   uleb peer index (0 for a root)
//                   zigzag key index of a root's name, or counter of the creating atom
//   positions   nothing at all when there are none, else
//                   uleb 1, uleb 2 (one field, two columns)
//                   sized Rle column: how many bytes are shared with the position before
//                   sized plain column: uleb count, then (uleb size, bytes) for what follows those
//
// Peers are u64le each; their count stands in the block's header.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/register.h"
#include "codec/budget.h"
#include "crdt/ids/ids.h"

namespace quire::codec {

inline constexpr std::int64_t kMaxCounter = INT32_MAX - 1;

// --- reading ---

struct Tables {
    std::vector<crdt::PeerId> peers;     // The first is the block's own.
    std::vector<std::string_view> keys;  // Into the blob.
    std::vector<crdt::ContainerId> containers;
    std::vector<Bytes> positions;

    // Each reads an index or takes one; out of range is a failure of `in`.
    crdt::PeerId peer(ByteReader& in, std::uint64_t index, const char* what) const;
    std::string_view key(ByteReader& in, std::uint64_t index, const char* what) const;
};

// Failures go to `in`.
void read_peers(ByteReader& in, Tables& tables);
void read_keys(ByteReader& in, Tables& tables, Budget& budget);
void read_containers(ByteReader& in, Tables& tables, Budget& budget);  // After peers and keys.
void read_positions(ByteReader& in, Tables& tables, Budget& budget);

// --- writing ---

// Points at a ContainerId that outlives the block's writing; equal when those are.
struct ContainerRef {
    const crdt::ContainerId* id;
    friend bool operator==(ContainerRef a, ContainerRef b) {
        return a.id == b.id || *a.id == *b.id;
    }
};

}  // namespace quire::codec

template <>
struct std::hash<quire::codec::ContainerRef> {
    std::size_t operator()(quire::codec::ContainerRef ref) const noexcept {
        return std::hash<quire::crdt::ContainerId>{}(*ref.id);
    }
};

namespace quire::codec {

// Filled while ops are written; keys and container names point into those ops.
struct Registers {
    Register<crdt::PeerId> peers;
    Register<std::string_view> keys;
    Register<ContainerRef> containers;
    std::vector<std::string_view>
        positions;  // Sorted by bytes, each once; all known before the first op.

    std::uint32_t position(const Bytes& position) const;  // CHECKs that it is registered.
    void clear();                                         // Keeps the memory.
};

void write_keys(ByteWriter& out, const Registers& registers);
void write_containers(ByteWriter& out,
                      Registers& registers);  // Registers peers and names on its way.
void write_positions(ByteWriter& out, const Registers& registers);

}  // namespace quire::codec
