// OpReader: the ops of a block, from its columns and payloads (ops.h) into rows of a batch.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "codec/columnar.h"
#include "codec/ops.h"
#include "codec/payload.h"
#include "codec/tables.h"
#include "crdt/ids/change_batch.h"

namespace quire::codec {

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
    // Appends the ops of the block's changes to the batch. They have `atoms` atoms in all, from `first`
    // on. False after a failure.
    bool read(crdt::OpId first, crdt::Counter atoms, crdt::ChangeBatch& batch);
    // Gives the block's changes their rows, which begin at `first_row` of the batch. Fails if an op
    // does not end where its change does.
    void share_out(std::span<crdt::ChangeBatch::Head> heads, std::size_t first_row,
                   const crdt::ChangeBatch& batch);
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

    // Cells of the columns, read in bulk: `at` is the next one of `size`.
    static constexpr std::size_t kBulk = 128;
    template <class T>
    using Cells = std::array<T, kBulk>;
    struct OpCells {
        std::size_t at = 0, size = 0;
        std::uint64_t sum = 0;  // The sum of the cells of `atoms`.
        Cells<std::uint32_t> container;
        Cells<std::int32_t> prop;
        Cells<std::uint8_t> kind;
        Cells<std::uint64_t> atoms;
    };
    struct DeleteCells {
        std::size_t at = 0, size = 0;
        Cells<std::uint32_t> peer;
        Cells<std::int32_t> counter, length;
    };
    bool read_cells(std::uint64_t left);
    bool read_delete_cells();
    bool is_typing();
    void read_typing(crdt::ChangeBatch& batch);

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
    void read_text(crdt::ChangeBatch::Row& row);
    void put_text(crdt::ChangeBatch::Row& row, std::string_view text, std::size_t length);
    void read_delete(crdt::ChangeBatch::Row& row);
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
    OpCells cells_;
    DeleteCells delete_cells_;
    std::int64_t prop_ = 0;
    std::uint8_t raw_kind_ = 0;
    // The container of the op before: its index in the block, its number in the batch, and more.
    std::size_t target_ = std::numeric_limits<std::size_t>::max();
    std::uint32_t target_number_ = 0;
    crdt::ContainerKind target_kind_ = crdt::ContainerKind::map;
    std::size_t target_name_ = 0;  // The bytes of a root's name; 0 for a child.
};

}  // namespace quire::codec
