// Ops as rows of a block: four columns, and payloads in a stream of their own.
//
//   ops section            uleb 1, uleb 4 (one field, four columns), then sized columns:
//     container            DeltaRle  index into the containers
//     prop                 DeltaRle  position, key index, or what an unknown op says
//     payload kind         Rle byte  bit 7 does not count for kinds up to 16
//     atoms                Rle       how many atoms the op takes
//
//   op                     prop      kind  payload
//   text insert            position     5  uleb size, UTF-8
//   list insert            position    11  tagged list (values.h)
//   delete                 position     9  none; a row of the delete section
//   style start            position    12  byte info, uleb length, uleb key index, tagged value
//   style end                     0     0  none
//   move in movable list         to    14  uleb from, uleb peer index, uleb lamport of the element
//   set in movable list           0    15  uleb peer index, uleb lamport of it, tagged value
//   map set                key index   11  tagged value
//   map erase              key index    8  none
//   tree create, move             0    16  uleb peer index, uleb counter of the node,
//                                          uleb position index, byte 1 for a root, else byte 0 and
//                                          uleb peer index, uleb counter of the parent
//   tree erase                    0    16  a move below u64 max @ i32 max, position index 0
//   counter add                   0     3  sleb    (a whole number)
//                                       4  f64, most significant byte first
//   unknown                  any i32  any  payload.h
//
//   delete section         nothing without deletes, else uleb 1, uleb 3, then sized columns:
//     peer                 DeltaRle  index
//     counter              DeltaRle  of the smallest id deleted
//     length               DeltaRle  signed; negative for a run of backspaces
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "codec/columnar.h"
#include "codec/payload.h"
#include "codec/tables.h"
#include "crdt/ids/change_batch.h"

namespace quire::codec {

// Positions and lengths end here, as in Loro.
inline constexpr std::int64_t kMaxPosition = (std::int64_t{1} << 30) - 3;

// The numbers that the peers and containers of a block have in the batch that it is read into.
struct BatchNumbers {
    std::vector<std::uint32_t> peers;
    std::vector<std::uint32_t> containers;
};

// The ops of one block, in order. `values` and the sections outlive the reader.
class OpReader {
public:
    OpReader(ByteReader ops, ByteReader deletes, ByteReader values, const Tables& tables,
             const BatchNumbers& numbers, Budget& budget);
    OpReader(const OpReader&) = delete;
    OpReader& operator=(const OpReader&) = delete;
    ~OpReader() = default;

    // For as many rows as there are ops, each of which is charged as an Op. Before the first is
    // read.
    void make_room(crdt::ChangeBatch& batch);
    // Appends the ops of the next change, whose first atom is `id`, to the batch: those that make
    // up `atoms` exactly. False after a failure.
    bool read(crdt::OpId id, crdt::Counter atoms, crdt::ChangeBatch& batch);
    // Fails unless every column and payload was used up.
    void finish();

    bool ok() const {
        return columns_ok() && delete_in_.peer.ok() && delete_in_.counter.ok() &&
               delete_in_.length.ok() && ops_.ok() && deletes_.ok();
    }
    Failure error() const;  // The error of the stream that failed.

private:
    struct Columns {
        ByteReader container, prop, kind, atoms;
    };
    struct DeleteColumns {
        ByteReader peer, counter, length;
    };
    static Columns columns(ByteReader& ops);
    static DeleteColumns delete_columns(ByteReader& deletes);

    crdt::OpContent content(crdt::ContainerKind container, PayloadKind kind, crdt::OpId id);
    crdt::OpContent style(PayloadKind kind);
    crdt::OpContent list(PayloadKind kind);
    crdt::OpContent movable_list(PayloadKind kind);
    crdt::OpContent map(PayloadKind kind);
    crdt::OpContent tree(PayloadKind kind, crdt::OpId id);
    crdt::OpContent counter(PayloadKind kind);
    crdt::OpContent unknown();
    bool columns_ok() const {
        return values_.ok() && in_.container.ok() && in_.prop.ok() && in_.kind.ok() &&
               in_.atoms.ok();
    }
    void next(crdt::OpId id, std::uint64_t atoms, crdt::ChangeBatch& batch);
    bool aim_at(std::size_t container);
    void text(crdt::ChangeBatch::Row& row);
    void sequence_delete(crdt::ChangeBatch::Row& row);
    void check_atoms(const crdt::ChangeBatch::Row& row, std::int64_t atoms);
    std::uint32_t position();  // The position in `prop`.
    crdt::ElementId element();
    crdt::OpId node();
    crdt::OpContent wrong_kind();

    ByteReader ops_;
    ByteReader deletes_;
    ByteReader values_;
    const Tables& tables_;
    const BatchNumbers& numbers_;
    Budget& budget_;
    Columns in_;
    DeleteColumns delete_in_;
    DeltaRleReader containers_;
    DeltaRleReader props_;
    RleReader<ByteCell> kinds_;
    RleReader<UnsignedCell> atoms_;
    DeltaRleReader delete_peers_;
    DeltaRleReader delete_counters_;
    DeltaRleReader delete_lengths_;
    std::int64_t prop_ = 0;
    std::uint8_t raw_kind_ = 0;
    // The container of the op before: its index in the block, its number in the batch, and more.
    std::size_t target_ = std::numeric_limits<std::size_t>::max();
    std::uint32_t target_number_ = 0;
    crdt::ContainerKind target_kind_ = crdt::ContainerKind::map;
    std::size_t target_name_ = 0;  // The bytes of a root's name; 0 for a child.
};

class OpWriter {
public:
    explicit OpWriter(Registers& registers) : registers_(registers) {}
    OpWriter(const OpWriter&) = delete;
    OpWriter& operator=(const OpWriter&) = delete;
    ~OpWriter() = default;

    void append(const crdt::ChangeBatch& batch, const crdt::ChangeBatch::Row& row);
    // Ends the columns and writes the sections: ops, deletes, values, each sized. Then it is as it
    // was at first.
    void write_sections(ByteWriter& out);

private:
    struct Row {
        std::int64_t prop;
        PayloadKind kind;
    };
    Row row(const crdt::ChangeBatch& batch, const crdt::ChangeBatch::Row& row);
    struct ContentWriter;
    Row row(const crdt::OpContent& content);

    Registers& registers_;
    ByteWriter container_out_, prop_out_, kind_out_, atoms_out_;
    ByteWriter delete_peer_out_, delete_counter_out_, delete_length_out_;
    ByteWriter values_;
    DeltaRleWriter containers_{container_out_};
    DeltaRleWriter props_{prop_out_};
    RleWriter<ByteCell> kinds_{kind_out_};
    RleWriter<UnsignedCell> atoms_{atoms_out_};
    DeltaRleWriter delete_peers_{delete_peer_out_};
    DeltaRleWriter delete_counters_{delete_counter_out_};
    DeltaRleWriter delete_lengths_{delete_length_out_};
};

}  // namespace quire::codec
