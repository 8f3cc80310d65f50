// The common parts of several kinds of states: a table of peers, and rows that name atoms.
//
//   peers     uleb count, u64le each
//   atoms     three sized columns
//     peer       DeltaRle  index into the peers
//     counter    DeltaRle
//     lamport    DeltaRle  less the counter
//   stamps    two sized columns
//     peer       DeltaRle  index into the peers
//     lamport    DeltaRle
//
// A column holds no row count and is used up exactly.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "codec/budget.h"
#include "codec/column_writers.h"
#include "codec/columnar.h"
#include "codec/state_value.h"
#include "codec/tables.h"
#include "crdt/ids/ids.h"

namespace quire::codec {

// An atom that is part of a state, with its place in time.
struct StampedId {
    crdt::OpId id;
    crdt::Lamport lamport = 0;
    friend auto operator<=>(const StampedId&, const StampedId&) = default;
};

// Atoms whose counters and lamports follow each other.
struct IdRun {
    StampedId first;
    crdt::Counter size = 0;
    friend bool operator==(const IdRun&, const IdRun&) = default;
};

inline constexpr std::int64_t kMaxStateLamport = UINT32_MAX - 1;

// Reads a number that can only be `expected`: how many fields or columns follow.
void expect_shape(ByteReader& in, std::uint64_t expected, const char* what);

std::vector<crdt::PeerId> read_state_peers(ByteReader& in, Budget& budget);
void write_state_peers(ByteWriter& out, const Register<crdt::PeerId>& peers);

class AtomReader {
public:
    // Takes the three columns out of `in`.
    AtomReader(ByteReader& in, const std::vector<crdt::PeerId>& peers);
    AtomReader(const AtomReader&) = delete;
    AtomReader& operator=(const AtomReader&) = delete;
    ~AtomReader() = default;

    bool at_end() const { return peers_.at_end(); }
    bool ok() const { return peer_in_.ok() && counter_in_.ok() && lamport_in_.ok(); }
    StampedId next();
    // Reads the next atoms, up to kBulk of them, and returns how many. They are there as atom(i) until
    // the next call. Not to be mixed with next().
    static constexpr std::size_t kBulk = 128;
    std::size_t read();
    StampedId atom(std::size_t i) {
        return {{peer_of(peer_cells_[i]), counter_cells_[i]},
                static_cast<crdt::Lamport>(counter_cells_[i] + lamport_cells_[i])};
    }
    // The most atoms that are left if each takes a byte of the column of counters, as where text was
    // written all over. There are more where they follow each other.
    std::size_t guessed_count() const { return counter_in_.remaining(); }
    // Hands a failure to `in`; with none, the columns have to be used up.
    void finish(ByteReader& in);

private:
    crdt::PeerId peer_of(std::uint32_t index) {
        if (index < table_.size()) return table_[index];
        peer_in_.fail("index of a peer");
        return 0;
    }

    const std::vector<crdt::PeerId>& table_;
    ByteReader peer_in_, counter_in_, lamport_in_;
    DeltaRleReader peers_, counters_, lamports_;
    std::array<std::uint32_t, kBulk> peer_cells_;
    std::array<crdt::Counter, kBulk> counter_cells_;
    std::array<std::int64_t, kBulk> lamport_cells_;
};

class AtomWriter {
public:
    explicit AtomWriter(Register<crdt::PeerId>& peers) : table_(peers) {}
    AtomWriter(const AtomWriter&) = delete;
    AtomWriter& operator=(const AtomWriter&) = delete;
    ~AtomWriter() = default;

    void append(const StampedId& atom);
    void write_columns(ByteWriter& out);

private:
    Register<crdt::PeerId>& table_;
    ByteWriter peer_out_, counter_out_, lamport_out_;
    DeltaRleWriter peers_{peer_out_}, counters_{counter_out_}, lamports_{lamport_out_};
};

class StampReader {
public:
    StampReader(ByteReader& in, const std::vector<crdt::PeerId>& peers);
    StampReader(const StampReader&) = delete;
    StampReader& operator=(const StampReader&) = delete;
    ~StampReader() = default;

    bool ok() const { return peer_in_.ok() && lamport_in_.ok(); }
    Stamp next();
    void finish(ByteReader& in);

private:
    const std::vector<crdt::PeerId>& table_;
    ByteReader peer_in_, lamport_in_;
    DeltaRleReader peers_, lamports_;
};

class StampWriter {
public:
    explicit StampWriter(Register<crdt::PeerId>& peers) : table_(peers) {}
    StampWriter(const StampWriter&) = delete;
    StampWriter& operator=(const StampWriter&) = delete;
    ~StampWriter() = default;

    void append(const Stamp& stamp);
    void write_columns(ByteWriter& out);

private:
    Register<crdt::PeerId>& table_;
    ByteWriter peer_out_, lamport_out_;
    DeltaRleWriter peers_{peer_out_}, lamports_{lamport_out_};
};

// Runs of atoms, to find whether two of them name the same one.
class AtomRuns {
public:
    // The most memory that a run takes here, but for those of a peer's first.
    static constexpr std::size_t kScratch = 4 * sizeof(std::uint64_t);

    // 8 bytes each, and as many again and half as many while its vector doubles.
    void add(crdt::OpId first, crdt::Counter size);
    // O(n log n); O(n) where the runs of each peer came in order or lie close together, then with 8
    // bytes more for each.
    bool overlap();

private:
    std::unordered_map<crdt::PeerId, std::vector<std::uint64_t>> by_peer_;  // Counter, size.
    std::vector<std::uint64_t>* last_ = nullptr;
    crdt::PeerId last_peer_ = 0;
};

}  // namespace quire::codec
