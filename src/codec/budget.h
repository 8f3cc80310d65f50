// The memory that decoding may allocate: a constant times its input, so that a small blob cannot
// demand a large machine. Run-length columns make this a real danger: thirty bytes can spell a
// billion ops.
#pragma once

#include <cstddef>
#include <string>

namespace quire::codec {

inline constexpr std::size_t kAllocationFactor = 64;
inline constexpr std::size_t kAllocationBase = std::size_t{64} << 20;

// Charged before memory is taken, and never refunded: what it bounds is the sum.
class Budget {
public:
    explicit Budget(std::size_t input_size)
        : left_(input_size * kAllocationFactor + kAllocationBase) {}

    bool take(std::size_t bytes) {
        if (bytes > left_) return false;
        left_ -= bytes;
        return true;
    }
    bool take_heap(std::size_t bytes) { return bytes == 0 || take(bytes + kHeapOverhead); }
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

private:
    static constexpr std::size_t kHeapOverhead = 16;
    std::size_t left_;
    std::size_t held_ = 0;
};

}  // namespace quire::codec
