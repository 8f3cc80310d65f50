// Tape: text as it is written, one piece behind the other, never changed, and moved only while it
// is short.
//
// The bytes lie in reels, which ropes may show instead of copying (Rope::insert): text that is kept
// for good exists once. A reel counts its users and lives as long as they do; they may read it in
// other threads while the tape is written. Otherwise thread-confined.
//
//     parts  [ 0 | 1 | 2 | 3 | 4 | 5 ... ]     an offset is a part and a place in it
//              \___reel A___/ |   \_reel C, open: written at begin_ + used_
//                             reel B, one long piece
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace quire::seq {

// Bytes that never move. Bytes that have been shown never change.
class Reel {
public:
    // A reel of `capacity` bytes, in one allocation with this object. The caller is its first
    // owner.
    static Reel* make(std::size_t capacity);  // Has one owner.
    // Adds an owner. Any thread.
    void retain() { refs_.fetch_add(1, std::memory_order_relaxed); }
    // Gives up one owner; the last one frees the reel.
    void release();

    char* text() { return text_; }
    const char* text() const { return text_; }
    std::size_t capacity() const { return capacity_; }
    // Marks the bytes before `end` as shown. Tape's thread only, unless they are marked already.
    void show(std::size_t end) {
        if (end > shown_) shown_ = end;
    }
    // The end of the bytes that somebody else may be reading.
    std::size_t shown() const { return shown_; }

private:
    explicit Reel(char* text, std::size_t capacity) : capacity_(capacity), text_(text) {}
    ~Reel() = default;

    std::atomic<std::uint32_t> refs_{1};
    std::size_t capacity_;
    std::size_t shown_ = 0;
    char* text_;  // Behind this object, in the same allocation.
};

// The writer of reels.
class Tape {
public:
    // The start of a piece. Offsets ascend; pieces written one after the other into one reel are
    // adjacent.
    using Offset = std::uint32_t;

    // Pieces longer than 2^part_bits bytes get a reel of their own; others share reels of 16 times
    // that size.
    explicit Tape(unsigned part_bits = 12) : part_bits_(part_bits) {}
    // A copy has the same offsets. It shares all reels but the one that is still written, and may be
    // written in another thread. O(parts and one reel).
    Tape(const Tape& other);
    Tape& operator=(const Tape&) = delete;
    // Moving keeps all offsets and reels valid; the source is empty afterwards.
    Tape(Tape&& other) noexcept;
    Tape& operator=(Tape&& other) noexcept;
    ~Tape();

    // Returns true if the piece that ends at `end` can grow by `bytes` bytes: it was written last, and its
    // reel has room.
    bool may_lengthen(Offset end, std::size_t bytes) {
        return end == begin_ + used_ && reel_ != nullptr && (bytes <= room_ - used_ || grow(bytes));
    }
    // Requires may_lengthen().
    void lengthen(std::string_view utf8) {
        char* to = reel_->text() + used_;
        if (utf8.size() == 1) {
            *to = utf8[0];
        } else {
            std::memcpy(to, utf8.data(), utf8.size());
        }
        used_ += static_cast<std::uint32_t>(utf8.size());
    }
    // Writes a piece, which lies in one reel. Requires fits().
    Offset write(std::string_view utf8);
    // Returns true if there are offsets for `bytes` more bytes; in total there are about 2^32.
    bool fits(std::size_t bytes) const;

    // `size` bytes from an offset on, within one piece or adjacent ones.
    std::string_view read(Offset at, std::size_t size) const {
        return {parts_[at >> part_bits_].text + (at & (part_size() - 1)), size};
    }
    // The reel of these bytes if they will not move any more, else null.
    Reel* reel(Offset at) const {
        Reel* holder = parts_[at >> part_bits_].reel;
        return holder != reel_ || room_ == reel_size() || is_final_ ? holder : nullptr;
    }

    // Gives back the room behind what was written, where nobody reads it. Ropes may then show all of
    // it. Text that is written later moves it once more. O(reel).
    void fit();

    // A position to return to.
    struct Mark {
        std::size_t parts;
        bool is_open;
        Offset begin;
        std::uint32_t used;
    };
    Mark mark() const { return {parts_.size(), reel_ != nullptr, begin_, used_}; }
    // Forgets everything written since the mark. Shown bytes stay valid.
    void rewind(const Mark& mark);

    // The bytes of its reels. O(1).
    std::size_t memory_bytes() const {
        const std::size_t open = std::min(parts_.size(), (room_ + part_size() - 1) / part_size());
        return room_ + (parts_.size() - open) * part_size() + parts_.capacity() * sizeof(Part);
    }

    // CHECKs that parts, reels and sizes agree. O(reels).
    void check_invariants() const;

private:
    // Offsets count in parts, so that they become addresses without a search.
    struct Part {
        Reel* reel;
        char* text;
    };
    std::size_t part_size() const { return std::size_t{1} << part_bits_; }
    std::size_t reel_size() const { return part_size() * 16; }
    // Gives the open reel more room, by moving it to a larger one; false if it would be too large.
    bool grow(std::size_t bytes);
    // The tape's own views are mapped anew; whoever keeps an address of the text must retain its
    // reel.
    void move_to(std::size_t room);
    void add(Reel* reel, std::size_t end);
    // Forgets the parts from `parts` on, and releases the reels that lie in none of the others.
    void drop(std::size_t parts);

    std::vector<Part> parts_;
    Reel* reel_ = nullptr;    // The reel for short pieces.
    Offset begin_ = 0;        // Its first offset,
    std::uint32_t used_ = 0;  // the bytes written,
    std::uint32_t room_ = 0;  // and the bytes available; grows up to reel_size().
    unsigned part_bits_;
    bool is_final_ = false;  // The reel is as large as its text, and stays where it is.
};

}  // namespace quire::seq
