// Sorted tables of byte strings: what the sections of a snapshot are. Reading is lazy: opening
// looks at the table of blocks only, and a block is checked and decompressed when a key in it is
// asked for; verify() checks all of them.
//
//   (nothing)                     an empty table; else
//   "LORO", byte 0                magic, version
//   blocks, one after the other
//   table of blocks
//       u32le   count, at least 1
//       for each
//           u32le   where it begins in the table
//           u16le   size, first key
//           byte    0x80 one large value, and 0 as it is or 1 one LZ4 frame (lz4_frame.h)
//           u16le   size, last key; not for a large value
//       u32le   checksum of the entries
//   u32le  where the table of blocks begins
//
//   block          body, u32le checksum of it
//   large value    the body is the value of the first key
//   other body     the entries; u16le where each begins; u16le how many, at least 1
//   first entry    the value of the first key
//   others         byte how much of the first key is shared, u16le size, rest of the key, the value
//
// Checksums are xxHash32 with the envelope's seed. Keys increase strictly, as unsigned bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "codec/budget.h"

namespace quire::codec {

// A value in a table: in place, or in a decompressed block that it keeps alive.
struct Stored {
    std::span<const std::uint8_t> bytes;
    std::shared_ptr<const Bytes> owner;
};

class SsBlock;

// The block that was read last, for all tables of a blob.
struct BlockCache {
    const std::uint8_t* place = nullptr;
    std::shared_ptr<const SsBlock> block;
};

// Reads bytes that outlive it, as does its cache. A const table is still for one thread at a time.
// Blocks that are decompressed are charged to the budget as a working copy. Every error is
// `corrupt`.
class SsTable {
public:
    SsTable() = default;
    // `origin` is where the bytes stand in their blob, for errors.
    static Result<SsTable> open(std::span<const std::uint8_t> bytes, std::size_t origin,
                                BlockCache& cache);

    // O(log n) and one block. None when the key is not there.
    Result<std::optional<Stored>> find(std::span<const std::uint8_t> key, Budget& budget) const;
    bool empty() const { return blocks_.empty(); }
    // The size of what its blocks hold, decompressed, at most `limit`. Decompresses none. O(bytes).
    std::size_t content_size(std::size_t limit) const;
    // Checks every block against its checksum, without decompressing any. O(bytes).
    Result<void> verify() const;

    // A block as it stands in the table, for SsTableWriter::add_block(). It views the table's bytes.
    struct EncodedBlock {
        std::span<const std::uint8_t> bytes;  // With its checksum.
        std::string_view first_key;
        std::string_view last_key;
        bool large = false;
        bool compressed = false;
    };
    std::size_t block_count() const { return blocks_.size(); }
    EncodedBlock encoded_block(std::size_t index) const;

    // Walks over entries in order of their keys. The table and the budget outlive it.
    class Cursor {
    public:
        bool at_end() const { return block_ == nullptr; }
        const Bytes& key() const { return key_; }
        Stored value() const;
        Result<void> next();

    private:
        friend class SsTable;
        Cursor(const SsTable& table, Budget& budget) : table_(&table), budget_(&budget) {}
        Result<void> load(std::size_t block, std::size_t entry);

        const SsTable* table_;
        Budget* budget_;
        std::shared_ptr<const SsBlock> block_;
        std::size_t block_index_ = 0;
        std::size_t entry_ = 0;
        Bytes key_;
    };
    Result<Cursor> begin(Budget& budget) const;
    // At the last key that is not greater than `key`; at the first of all when there is none.
    Result<Cursor> floor(std::span<const std::uint8_t> key, Budget& budget) const;

private:
    struct Entry {
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
        std::string_view first_key;
        std::string_view last_key;
        bool large = false;
        bool compressed = false;
    };

    void read_blocks(ByteReader& in);
    // The block that holds `key`, if any does: the last whose first key is not greater.
    std::optional<std::size_t> block_of(std::string_view key) const;
    Result<void> verify(std::size_t index) const;
    Result<std::shared_ptr<const SsBlock>> load(std::size_t index, Budget& budget) const;

    std::span<const std::uint8_t> bytes_;
    std::size_t origin_ = 0;
    BlockCache* cache_ = nullptr;
    std::vector<Entry> blocks_;
    mutable std::vector<bool> checked_;  // Blocks whose checksum was found right.
};

enum class Compression { none, lz4 };

// Keys and values to a table, in increasing order of keys, of at most 65535 bytes each.
//
// A body that LZ4 makes very small, as one of many equal values, says little about the memory that its
// reader needs, and readers grant only so much to such bodies (budget.h). So a blob has a room for what
// they are made smaller by, which its tables share; where it is used up, they are stored as they are.
class SsTableWriter {
public:
    // Without a room everything may become small.
    explicit SsTableWriter(Compression compression, std::size_t* pack_room = nullptr)
        : compression_(compression), pack_room_(pack_room) {}

    void add(std::span<const std::uint8_t> key,
             std::span<const std::uint8_t> value);  // CHECKs the order.
    // Adds the entries of a block as they are encoded. CHECKs the order.
    void add_block(const SsTable::EncodedBlock& block);
    // Adds all of a table, and `entries` (sorted, each key once) in place of those with the same keys.
    // The blocks into which no entry goes stay as they are encoded. O(bytes), of which most are
    // copied. Errors: corrupt, if a block into which an entry goes cannot be read.
    using Entries = std::vector<std::pair<Bytes, Bytes>>;
    Result<void> add_all(const SsTable& table, const Entries& entries, Budget& budget);
    // Errors: out_of_range "snapshot_too_large" beyond 4 GiB.
    Result<Bytes> finish() &&;

private:
    void begin_table();
    void check_order(std::string_view key) const;
    void end_block();
    void put_block(std::span<const std::uint8_t> body, bool large);
    bool may_pack(std::size_t content, std::size_t frame);
    void list_block(std::string_view first_key, std::string_view last_key, bool large,
                    bool compressed);

    Compression compression_;
    std::size_t* pack_room_;
    ByteWriter out_;
    ByteWriter meta_;
    std::uint32_t blocks_ = 0;
    bool too_large_ = false;
    ByteWriter entries_;
    std::vector<std::uint16_t> offsets_;
    Bytes first_key_;
    Bytes last_key_;
};

}  // namespace quire::codec
