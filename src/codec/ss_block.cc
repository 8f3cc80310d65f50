// Checks a block when it is made, so that reading an entry later needs no check: offsets count up,
// and keys increase. Keys share a prefix with the first key of their block.
//
//     entries   [ value 0 | 3, 2, "xy", value 1 | 1, 4, "abcd", value 2 ]
//     offsets   [ 0       | ^                   | ^                     ]   then their number
//
// Entry 0 has no key of its own: its key stands in the table of blocks. A binary search compares
// keys in their two parts, without building them.
#include "codec/ss_block.h"

#include <utility>

namespace quire::codec {
namespace {

constexpr std::size_t kOffsetSize = 2;
constexpr std::size_t kKeyHeader = 3;  // How much is shared, and the size of the rest.

std::size_t u16_le(std::span<const std::uint8_t> bytes, std::size_t at) {
    return bytes[at] | static_cast<std::size_t>(bytes[at + 1]) << 8;
}

std::shared_ptr<SsBlock> make() {
    return std::make_shared<SsBlock>();
}

}  // namespace

Result<std::shared_ptr<const SsBlock>> SsBlock::large(std::string_view key,
                                                      std::span<const std::uint8_t> body,
                                                      std::shared_ptr<const Bytes> owner) {
    const auto block = make();
    block->first_key_ = key;
    block->entries_ = body;
    block->count_ = 1;
    block->owner_ = std::move(owner);
    return block;
}

Result<std::shared_ptr<const SsBlock>> SsBlock::normal(std::string_view first_key,
                                                       std::string_view last_key,
                                                       std::span<const std::uint8_t> body,
                                                       std::shared_ptr<const Bytes> owner) {
    if (body.size() < kOffsetSize) return corrupt("bad block of a table: it is too short");
    // The offsets and their count stand at the end, so that a writer can append entries as they
    // come.
    const std::size_t count = u16_le(body, body.size() - kOffsetSize);
    if (count == 0 || (count + 1) * kOffsetSize > body.size()) {
        return corrupt("bad block of a table: it has no room for its entries");
    }
    const auto block = make();
    block->first_key_ = first_key;
    block->count_ = count;
    block->entries_ = body.first(body.size() - (count + 1) * kOffsetSize);
    block->offsets_ = body.subspan(block->entries_.size(), count * kOffsetSize);
    block->owner_ = std::move(owner);
    TRY(block->verify(last_key));
    return block;
}

// The last key has to be the one that the table of blocks gives, since find() decides by that which
// block a key is in. O(entries).
Result<void> SsBlock::verify(std::string_view last_key) const {
    const auto bad = [](std::size_t index, const char* what) {
        return corrupt(cat("bad block of a table: ", what, " of entry ", index));
    };
    if (offset(0) != 0) return bad(0, "offset");
    for (std::size_t i = 0; i < count_; ++i) {
        if (end_of(i) < offset(i) || end_of(i) > entries_.size()) return bad(i, "offset");
        if (i == 0) continue;
        const std::size_t size = end_of(i) - offset(i);
        if (size < kKeyHeader || entries_[offset(i)] > first_key_.size() ||
            u16_le(entries_, offset(i) + 1) > size - kKeyHeader) {
            return bad(i, "key");
        }
        // Entry i - 1 was found sound on the turn before.
        if (compare(i, as_text(key(i - 1))) <= 0) return bad(i, "order of the key");
    }
    if (compare(count_ - 1, last_key) != 0)
        return bad(count_ - 1, "key (it is not the block's last)");
    return {};
}

std::size_t SsBlock::offset(std::size_t index) const {
    return offsets_.empty() ? 0 : u16_le(offsets_, index * kOffsetSize);
}

SsBlock::Parts SsBlock::parts(std::size_t index) const {
    if (index == 0) return {first_key_, {}};
    const std::size_t at = offset(index);
    return {first_key_.substr(0, entries_[at]),
            as_text(entries_.subspan(at + kKeyHeader, u16_le(entries_, at + 1)))};
}

Bytes SsBlock::key(std::size_t index) const {
    const auto [prefix, rest] = parts(index);
    Bytes key(prefix.begin(), prefix.end());
    key.insert(key.end(), rest.begin(), rest.end());
    return key;
}

std::span<const std::uint8_t> SsBlock::value(std::size_t index) const {
    const std::size_t at = offset(index);
    const std::size_t before = index == 0 ? 0 : kKeyHeader + u16_le(entries_, at + 1);
    return entries_.subspan(at + before, end_of(index) - at - before);
}

int SsBlock::compare(std::size_t index, std::string_view key) const {
    const auto [prefix, rest] = parts(index);
    const int first = prefix.compare(key.substr(0, prefix.size()));
    if (first != 0) return first;
    return rest.compare(key.substr(prefix.size()));
}

std::size_t SsBlock::lower_bound(std::string_view key) const {
    std::size_t low = 0;
    std::size_t high = count_;
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        if (compare(middle, key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

}  // namespace quire::codec
