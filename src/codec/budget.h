// The memory that decoding may allocate, so that a small blob cannot demand a large machine. Run-length
// columns make this a real danger: thirty bytes can spell a billion ops.
//
//     64 bytes for each byte of input
//     64 MB on top
//     256 bytes for each byte of content: of updates, which are not compressed, that is the blob; of a
//     snapshot what its blocks hold decompressed, up to 1 MB more than the size of the blob
//
// The last is for documents of many equal members. A value in a list may be spelled by one byte of
// content and takes 140 bytes of memory, an op likewise 312; and LZ4 packs such content 250 to 1. Because
// that makes content cheap, only so much of it counts: a small snapshot can demand 64 + 256 MB. Our own
// tables pack away no more than that 1 MB (sstable.h), so that any document that was written can be read,
// at 320 bytes for each byte of input.
//
// A snapshot's content is a Reserve, since to measure it takes a walk over the blob and most need none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace quire::codec {

inline constexpr std::size_t kAllocationFactor = 64;
inline constexpr std::size_t kAllocationBase = std::size_t{64} << 20;
inline constexpr std::size_t kContentFactor = 256;
inline constexpr std::size_t kMostPacked = std::size_t{1} << 20;

// Tells how much more a blob may take than a budget has. It is asked only when that is used up.
class Reserve {
public:
    virtual std::size_t bytes() const = 0;

protected:
    ~Reserve() = default;
};

// Charged before memory is taken. Only scratch memory is given back, once it is free again.
class Budget {
public:
    explicit Budget(std::size_t input_size)
        : left_(input_size * kAllocationFactor + kAllocationBase) {}
    // For input that is content.
    static Budget for_content(std::size_t size) {
        Budget budget(size);
        budget.left_ += size * kContentFactor;
        return budget;
    }
    // A copy that may draw on a reserve, which outlives it.
    Budget with(const Reserve& reserve) const {
        Budget copy = *this;
        copy.reserve_ = &reserve;
        return copy;
    }

    bool take(std::size_t bytes) {
        if (bytes > left_ && !(draw() && bytes <= left_)) return false;
        left_ -= bytes;
        return true;
    }
    bool take_heap(std::size_t bytes) { return bytes == 0 || take(bytes + kHeapOverhead); }
    void give_back(std::size_t bytes) { left_ += bytes; }
    // Makes room for one more at the end of a vector that grows to a size that nothing tells. The old
    // items and the new are there at once, for a moment.
    template <class T>
    bool grow(std::vector<T>& items) {
        constexpr std::size_t kLeast = 8;
        const std::size_t capacity = items.capacity();
        if (items.size() < capacity) return true;
        const std::size_t more = std::max(kLeast, 2 * capacity);
        if (!take(more * sizeof(T) + kHeapOverhead)) return false;
        items.reserve(more);
        if (capacity > 0) give_back(capacity * sizeof(T) + kHeapOverhead);
        return true;
    }
    // For a working copy that takes the place of the one before: what the largest takes is charged
    // once.
    std::size_t may_hold() const { return held_ + left_; }
    bool hold(std::size_t bytes) {
        if (bytes <= held_) return true;
        if (!take(bytes - held_)) return false;
        held_ = bytes;
        return true;
    }
    // A string's characters, where they do not fit inside the object.
    bool take_string(std::size_t size) {
        return size < sizeof(std::string) / 2 || take_heap(size + 1);
    }
    // Adds the reserve, once. Returns false if there is nothing to add.
    bool draw() {
        if (reserve_ == nullptr) return false;
        const std::size_t more = reserve_->bytes();
        reserve_ = nullptr;
        left_ += more;
        return more > 0;
    }

private:
    static constexpr std::size_t kHeapOverhead = 16;
    std::size_t left_;
    std::size_t held_ = 0;
    const Reserve* reserve_ = nullptr;
};

}  // namespace quire::codec
