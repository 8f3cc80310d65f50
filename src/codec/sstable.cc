// A block is cut before it would grow beyond 4 KiB, and a value larger than that has a block of its
// own. The table of blocks is read and checked at once, a block when a cursor first comes to it.
// Finding a key is a binary search in the table, then one in the block.
//
//     "LORO" 0 | block | block | ... | table of blocks | where that begins
//                body, checksum        first key, last key, place and kind of each
//
// A block is checked against its checksum once, when something in it is first read, and the last
// one that was read is kept in a cache that all tables of a blob share. Writing keeps untouched
// blocks as they are encoded, so saving after a small edit copies bytes and compresses little.
#include "codec/sstable.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "codec/envelope.h"
#include "codec/lz4_frame.h"
#include "codec/ss_block.h"

namespace quire::codec {
namespace {

constexpr std::string_view kTableMagic = "LORO";
constexpr std::uint8_t kVersion = 0;
constexpr std::size_t kHeaderSize = 5;
constexpr std::size_t kChecksumSize = 4;
constexpr std::size_t kFooterSize = 4;
constexpr std::uint64_t kMaxBlocks = 10'000'000;
constexpr std::uint8_t kLargeBit = 0x80;
constexpr std::uint8_t kLz4 = 1;
// The size at which Loro ends a block, and the size of a large value.
constexpr std::size_t kBlockSize = 4096;

std::uint16_t u16_le(ByteReader& in, const char* what) {
    const std::uint8_t low = in.byte(what);
    return static_cast<std::uint16_t>(low | in.byte(what) << 8);
}

void u16_le(ByteWriter& out, std::size_t value) {
    out.byte(static_cast<std::uint8_t>(value));
    out.byte(static_cast<std::uint8_t>(value >> 8));
}

}  // namespace

// --- reading ---

Result<SsTable> SsTable::open(std::span<const std::uint8_t> bytes, std::size_t origin,
                              BlockCache& cache) {
    SsTable table;
    if (bytes.empty()) return table;
    table.bytes_ = bytes;
    table.origin_ = origin;
    table.cache_ = &cache;

    ByteReader in(bytes, origin);
    if (as_text(in.take(kTableMagic.size(), "table (shorter than its magic)")) != kTableMagic)
        in.fail("magic of a table");
    if (in.byte("version of a table") != kVersion) in.fail("version of a table");
    if (in.remaining() < kFooterSize) in.fail("table (cut short)");
    if (!in.ok()) return in.error();
    ByteReader footer(bytes.last(kFooterSize), origin + bytes.size() - kFooterSize);
    const std::size_t meta_at = footer.u32_le("place of a table's blocks");
    if (meta_at < kHeaderSize || meta_at > bytes.size() - kFooterSize) {
        // The footer is read anew, so that the error names the place of the footer and not of its
        // end.
        footer = ByteReader(bytes.last(kFooterSize), origin + bytes.size() - kFooterSize);
        footer.fail("place of a table's blocks");
        return footer.error();
    }
    ByteReader meta(bytes.subspan(meta_at, bytes.size() - kFooterSize - meta_at), origin + meta_at);
    table.read_blocks(meta);
    if (!meta.ok()) return meta.error();
    table.checked_.resize(table.blocks_.size());
    return table;
}

// A block has no length: it ends where the next one begins, and the last one at the table of
// blocks. So places have to grow by at least a checksum, or a body would have a negative size.
void SsTable::read_blocks(ByteReader& in) {
    constexpr std::size_t kSmallestEntry = 7;
    const std::size_t meta_at = in.offset() - origin_;
    const std::uint32_t count = in.u32_le("number of blocks");
    if (count == 0 || count > kMaxBlocks || in.remaining() < kChecksumSize ||
        count > in.remaining() / kSmallestEntry) {
        in.fail("number of blocks");
    }
    if (!in.ok()) return;
    ByteReader entries = in.part(in.remaining() - kChecksumSize, "table of blocks");
    ByteReader covered = entries;
    if (in.u32_le("checksum of a table") != envelope_checksum(covered.rest()))
        in.fail("checksum of a table");
    if (!in.ok()) return;

    blocks_.reserve(count);
    for (std::uint32_t i = 0; i < count && entries.ok(); ++i) {
        Entry& block = blocks_.emplace_back();
        block.begin = entries.u32_le("place of a block");
        block.first_key =
            as_text(entries.take(u16_le(entries, "first key of a block"), "first key of a block"));
        const std::uint8_t flags = entries.byte("flags of a block");
        block.large = (flags & kLargeBit) != 0;
        block.compressed = (flags & ~kLargeBit) == kLz4;
        if ((flags & ~kLargeBit) > kLz4) entries.fail("compression of a block");
        block.last_key = block.large ? block.first_key
                                     : as_text(entries.take(u16_le(entries, "last key of a block"),
                                                            "last key of a block"));
        if (i == 0) {
            if (block.begin != kHeaderSize) entries.fail("place of a block");
            continue;
        }
        Entry& before = blocks_[i - 1];
        before.end = block.begin;
        if (block.begin < std::size_t{before.begin} + kChecksumSize)
            entries.fail("place of a block");
        // Otherwise a key could stand in two blocks, and a search would find either.
        if (block.first_key <= before.last_key) entries.fail("order of the blocks");
    }
    if (entries.ok() && !entries.at_end()) entries.fail("end of the table of blocks");
    if (entries.ok() && meta_at < std::size_t{blocks_.back().begin} + kChecksumSize)
        entries.fail("place of a block");
    in.adopt(entries);
    blocks_.back().end = static_cast<std::uint32_t>(meta_at);
}

std::optional<std::size_t> SsTable::block_of(std::string_view key) const {
    const auto after = std::upper_bound(
        blocks_.begin(), blocks_.end(), key,
        [](std::string_view k, const Entry& block) { return k < block.first_key; });
    if (after == blocks_.begin()) return std::nullopt;
    return static_cast<std::size_t>(after - blocks_.begin()) - 1;
}

Result<void> SsTable::verify() const {
    for (std::size_t index = 0; index < blocks_.size(); ++index) TRY(verify(index));
    return {};
}

Result<void> SsTable::verify(std::size_t index) const {
    if (checked_[index]) return {};
    const Entry& entry = blocks_[index];
    const auto block_bytes = bytes_.subspan(entry.begin, entry.end - entry.begin);
    ByteReader expected(block_bytes.last(kChecksumSize));
    if (expected.u32_le("checksum") !=
        envelope_checksum(block_bytes.first(block_bytes.size() - kChecksumSize))) {
        return corrupt(cat("the block at byte ", origin_ + entry.begin,
                           " of the blob does not match its checksum"));
    }
    checked_[index] = true;
    return {};
}

// The content of a frame is found to fit before it is decompressed, and is charged as a working
// copy: the next block takes its place.
Result<std::shared_ptr<const SsBlock>> SsTable::load(std::size_t index, Budget& budget) const {
    const Entry& entry = blocks_[index];
    const std::uint8_t* place = bytes_.data() + entry.begin;
    if (cache_->block != nullptr && cache_->place == place) return cache_->block;
    TRY(verify(index));
    std::span<const std::uint8_t> body =
        bytes_.subspan(entry.begin, entry.end - entry.begin - kChecksumSize);
    const auto context = [&] { return cat("the block at byte ", origin_ + entry.begin); };
    std::shared_ptr<const Bytes> owner;
    if (entry.compressed) {
        *cache_ = {};  // Never two of them at once on our account.
        auto content = decompress_frame(body, budget.may_hold());
        if (!content && budget.draw()) content = decompress_frame(body, budget.may_hold());
        if (!content) return Failure(std::move(content).error().within(context()));
        CHECK(budget.hold(content->size()));
        owner = std::make_shared<const Bytes>(std::move(*content));
        body = *owner;
    }
    auto block = entry.large
                     ? SsBlock::large(entry.first_key, body, std::move(owner))
                     : SsBlock::normal(entry.first_key, entry.last_key, body, std::move(owner));
    if (!block) return Failure(std::move(block).error().within(context()));
    *cache_ = {place, *block};
    return *block;
}

std::size_t SsTable::content_size(std::size_t limit) const {
    std::size_t size = 0;
    for (const Entry& entry : blocks_) {
        if (size >= limit) return limit;
        const auto body = bytes_.subspan(entry.begin, entry.end - entry.begin - kChecksumSize);
        size += entry.compressed ? measure_frame(body) : body.size();
    }
    return std::min(size, limit);
}

SsTable::EncodedBlock SsTable::encoded_block(std::size_t index) const {
    const Entry& entry = blocks_[index];
    return {bytes_.subspan(entry.begin, entry.end - entry.begin), entry.first_key, entry.last_key,
            entry.large, entry.compressed};
}

Result<std::optional<Stored>> SsTable::find(std::span<const std::uint8_t> key,
                                            Budget& budget) const {
    const std::string_view wanted = as_text(key);
    const auto index = block_of(wanted);
    // The key falls between two blocks: no block needs to be read.
    if (!index || wanted > blocks_[*index].last_key) return std::nullopt;
    const std::shared_ptr<const SsBlock> block = TRY(load(*index, budget));
    const std::size_t entry = block->lower_bound(wanted);
    if (entry == block->size() || !block->has_key(entry, wanted)) return std::nullopt;
    return Stored{block->value(entry), block->owner()};
}

Result<SsTable::Cursor> SsTable::begin(Budget& budget) const {
    Cursor cursor(*this, budget);
    TRY(cursor.load(0, 0));
    return cursor;
}

Result<SsTable::Cursor> SsTable::floor(std::span<const std::uint8_t> key, Budget& budget) const {
    const auto index = block_of(as_text(key));
    if (!index) return begin(budget);
    Cursor cursor(*this, budget);
    const std::shared_ptr<const SsBlock> block = TRY(load(*index, budget));
    std::size_t entry = block->lower_bound(as_text(key));
    // The block's first key is not greater, so there is an entry before one that is.
    if (entry == block->size() || !block->has_key(entry, as_text(key))) --entry;
    TRY(cursor.load(*index, entry));
    return cursor;
}

Stored SsTable::Cursor::value() const {
    return {block_->value(entry_), block_->owner()};
}

Result<void> SsTable::Cursor::next() {
    return load(block_index_, entry_ + 1);
}

// An entry that is one too many is the first of the next block.
Result<void> SsTable::Cursor::load(std::size_t block, std::size_t entry) {
    if (block < table_->blocks_.size() && (block_ == nullptr || block_index_ != block)) {
        block_ = TRY(table_->load(block, *budget_));
    }
    if (block_ != nullptr && entry == block_->size()) {
        ++block;
        entry = 0;
        block_ = nullptr;
        if (block < table_->blocks_.size()) block_ = TRY(table_->load(block, *budget_));
    }
    block_index_ = block;
    entry_ = entry;
    if (block_ != nullptr) key_ = block_->key(entry);
    return {};
}

// --- writing ---

void SsTableWriter::begin_table() {
    if (!out_.empty()) return;
    out_.append(kTableMagic);
    out_.byte(kVersion);
}

// The first key of all may be empty, which nothing is less than.
void SsTableWriter::check_order(std::string_view key) const {
    CHECK(key > as_text(last_key_) || (blocks_ == 0 && offsets_.empty()));
}

void SsTableWriter::add(std::span<const std::uint8_t> key, std::span<const std::uint8_t> value) {
    CHECK(key.size() <= std::numeric_limits<std::uint16_t>::max());
    check_order(as_text(key));
    begin_table();
    const std::size_t size = value.size() + key.size() + kBlockSize / 64;
    // Loro ends a block at the same size. Readers accept any.
    if (!offsets_.empty() && (value.size() > kBlockSize || entries_.size() + size > kBlockSize))
        end_block();
    last_key_.assign(key.begin(), key.end());
    if (value.size() > kBlockSize) {
        first_key_ = last_key_;
        return put_block(value, true);
    }
    offsets_.push_back(static_cast<std::uint16_t>(entries_.size()));
    if (offsets_.size() == 1) {
        first_key_ = last_key_;
    } else {
        // The length of the shared prefix is stored in a byte.
        constexpr std::size_t kLongestPrefix = std::numeric_limits<std::uint8_t>::max();
        const std::size_t most = std::min({first_key_.size(), key.size(), kLongestPrefix});
        const auto differ = std::mismatch(
            key.begin(), key.begin() + static_cast<std::ptrdiff_t>(most), first_key_.begin());
        const auto prefix = static_cast<std::size_t>(differ.first - key.begin());
        entries_.byte(static_cast<std::uint8_t>(prefix));
        u16_le(entries_, key.size() - prefix);
        entries_.append(key.subspan(prefix));
    }
    entries_.append(value);
}

void SsTableWriter::end_block() {
    for (const std::uint16_t offset : offsets_) u16_le(entries_, offset);
    u16_le(entries_, offsets_.size());
    put_block(entries_.bytes(), false);
    entries_.clear();
    offsets_.clear();
}

void SsTableWriter::put_block(std::span<const std::uint8_t> body, bool large) {
    Bytes frame;
    if (compression_ == Compression::lz4) frame = compress_frame(body);
    // A body that does not shrink is stored as it is.
    const bool compressed =
        !frame.empty() && frame.size() < body.size() && may_pack(body.size(), frame.size());
    if (compressed) body = frame;
    list_block(as_text(first_key_), as_text(last_key_), large, compressed);
    out_.append(body);
    out_.u32_le(envelope_checksum(body));
    if (out_.size() > std::numeric_limits<std::uint32_t>::max()) too_large_ = true;
}

// Returns false if the content becomes so small that it would leave too little room to its reader.
// Otherwise uses up the room that it takes.
bool SsTableWriter::may_pack(std::size_t content, std::size_t frame) {
    // Up to here the budget of the frame itself is enough for texts and all but the simplest values.
    constexpr std::size_t kPlainRatio = 16;
    if (pack_room_ == nullptr || content / kPlainRatio <= frame) return true;
    if (content - frame > *pack_room_) return false;
    *pack_room_ -= content - frame;
    return true;
}

// The entry in the table of blocks for the block that goes to the end of the output.
void SsTableWriter::list_block(std::string_view first_key, std::string_view last_key, bool large,
                               bool compressed) {
    meta_.u32_le(static_cast<std::uint32_t>(out_.size()));
    u16_le(meta_, first_key.size());
    meta_.append(first_key);
    meta_.byte(static_cast<std::uint8_t>((large ? kLargeBit : 0) | (compressed ? kLz4 : 0)));
    if (!large) {
        u16_le(meta_, last_key.size());
        meta_.append(last_key);
    }
    ++blocks_;
}

// The block is copied with its checksum; the content is not looked at.
void SsTableWriter::add_block(const SsTable::EncodedBlock& block) {
    check_order(block.first_key);
    begin_table();
    if (!offsets_.empty()) end_block();
    list_block(block.first_key, block.last_key, block.large, block.compressed);
    if (block.compressed && pack_room_ != nullptr) {
        const auto frame = block.bytes.first(block.bytes.size() - kChecksumSize);
        if (!may_pack(measure_frame(frame), frame.size())) *pack_room_ = 0;
    }
    out_.append(block.bytes);
    const auto last_key = as_bytes(block.last_key);
    last_key_.assign(last_key.begin(), last_key.end());
    if (out_.size() > std::numeric_limits<std::uint32_t>::max()) too_large_ = true;
}

Result<void> SsTableWriter::add_all(const SsTable& table, const Entries& entries, Budget& budget) {
    auto next = entries.begin();
    // Adds the entries whose keys are less than `key`.
    const auto add_below = [&](std::string_view key) {
        for (; next != entries.end() && as_text(next->first) < key; ++next)
            add(next->first, next->second);
    };
    for (std::size_t i = 0; i < table.block_count(); ++i) {
        const SsTable::EncodedBlock block = table.encoded_block(i);
        add_below(block.first_key);
        // A new entry between two blocks goes into the first. Otherwise each save would leave
        // another block of one entry.
        const bool goes_in =
            next != entries.end() &&
            (as_text(next->first) <= block.last_key ||
             (!block.large && (i + 1 == table.block_count() ||
                               as_text(next->first) < table.encoded_block(i + 1).first_key)));
        if (!goes_in) {
            add_block(block);
            continue;
        }
        SsTable::Cursor at = TRY(table.floor(as_bytes(block.first_key), budget));
        for (;;) {
            // The view holds until next(), which makes the cursor's key anew.
            const std::string_view key = as_text(at.key());
            add_below(key);
            if (next != entries.end() && as_text(next->first) == key) {
                add(next->first, next->second);
                ++next;
            } else {
                add(at.key(), at.value().bytes);
            }
            if (key == block.last_key) break;
            TRY(at.next());
        }
    }
    for (; next != entries.end(); ++next) add(next->first, next->second);
    return {};
}

Result<Bytes> SsTableWriter::finish() && {
    if (!offsets_.empty()) end_block();
    if (blocks_ == 0) return Bytes();
    const std::size_t meta_at = out_.size();
    out_.u32_le(blocks_);
    out_.append(meta_.bytes());
    out_.u32_le(envelope_checksum(meta_.bytes()));
    out_.u32_le(static_cast<std::uint32_t>(meta_at));
    if (too_large_ || out_.size() > std::numeric_limits<std::uint32_t>::max()) {
        return fail(Errc::out_of_range, "snapshot_too_large",
                    "a section of a snapshot holds at most 4 GiB");
    }
    return std::move(out_).take();
}

}  // namespace quire::codec
