// ByteReader and ByteWriter: bytes, read and written in order.
//
// ByteReader never reads past its end. Its failure is sticky: it remembers the first one, with
// the field that was being read and the offset. Everything read after it is zero or empty, so one
// check at the end of a record is enough. A loop whose bound was itself read must check ok() on
// each turn, or a hostile bound makes it long.
//
// Offsets are absolute: a reader over a part of a file reports places in the file.
//
//     ByteReader reader(bytes);
//     const std::uint32_t magic = reader.u32_le("magic");
//     const std::uint64_t count = read_uleb(reader, "count");    // base/varint.h
//     if (!reader.ok()) return reader.error();                   // "bad count at byte 4"
//
// ByteWriter is the other direction. Both are defined here whole, because formats are read and
// written byte by byte and a call for each byte would cost more than the work.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "base/concat.h"
#include "base/result.h"
#include "base/value.h"

namespace quire {

// Views of text as bytes and of bytes as text, without a copy. The view lives as long as the bytes
// that it shows.
inline std::string_view as_text(std::span<const std::uint8_t> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::span<const std::uint8_t> as_bytes(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// A reader of borrowed bytes, which must outlive it. It is small and is copied freely.
class ByteReader {
public:
    // `origin` is the offset of the first byte in what errors speak of, such as the file that the
    // bytes are a part of.
    explicit ByteReader(std::span<const std::uint8_t> bytes, std::size_t origin = 0)
        : begin_(bytes.data()),
          at_(bytes.data()),
          end_(bytes.data() + bytes.size()),
          origin_(origin) {}

    // Returns true if nothing has failed yet. at_end() is true after a failure, too. A loop over an
    // unknown number of items therefore ends on at_end(), and the record is checked with ok() after
    // it.
    bool ok() const { return what_ == nullptr; }
    bool at_end() const { return at_ == end_; }
    std::size_t remaining() const { return static_cast<std::size_t>(end_ - at_); }
    std::size_t offset() const { return origin_ + static_cast<std::size_t>(at_ - begin_); }

    // Reads one byte. `what` names the field for the error and must outlive the reader: a
    // literal.
    std::uint8_t byte(const char* what) {
        if (at_ == end_) [[unlikely]] {
            fail(what);
            return 0;
        }
        return *at_++;
    }

    // Takes the next `count` bytes, in place. Inlined always: numbers of fixed width take a few bytes
    // at a time. A count that exceeds the rest is a failure and takes nothing, so a hostile length
    // costs nothing.
    [[gnu::always_inline]] std::span<const std::uint8_t> take(std::size_t count, const char* what) {
        if (count > remaining()) [[unlikely]] {
            fail(what);
            return {};
        }
        const std::span<const std::uint8_t> taken(at_, count);
        at_ += count;
        return taken;
    }
    // The bytes that are left, in place and not taken: for a loop that keeps its own place in them and
    // takes what it used at its end.
    std::span<const std::uint8_t> ahead() const { return {at_, remaining()}; }
    // Takes everything that is left.
    std::span<const std::uint8_t> rest() { return take(remaining(), ""); }

    // A reader over the next `count` bytes that reports the same offsets. Its failure does not
    // reach this reader by itself: adopt() it when the part is done.
    ByteReader part(std::size_t count, const char* what) {
        const std::size_t origin = offset();
        return ByteReader(take(count, what), origin);
    }

    // Fixed-width numbers; the suffix names the byte order. Each is 0 after a failure.
    std::uint16_t u16_be(const char* what) {
        return static_cast<std::uint16_t>(big_endian(take(2, what)));
    }
    std::uint32_t u32_le(const char* what) {
        return static_cast<std::uint32_t>(little_endian(take(4, what)));
    }
    std::uint64_t u64_le(const char* what) { return little_endian(take(8, what)); }
    std::uint64_t u64_be(const char* what) { return big_endian(take(8, what)); }

    // Records a failure, if it is the first, and ends the reading. A caller uses it for a value
    // that was read well and makes no sense. It is kept out of line: good bytes never come here.
    [[gnu::cold, gnu::noinline]] void fail(const char* what) {
        if (what_ == nullptr) {
            what_ = what;
            failed_at_ = offset();
        }
        at_ = end_;
    }

    // Takes over the failure of a reader over a part of these bytes, if it has one. The place stays
    // that of the part, which counts in the same offsets.
    void adopt(const ByteReader& part) {
        if (part.ok() || !ok()) return;
        what_ = part.what_;
        failed_at_ = part.failed_at_;
        at_ = end_;
    }

    // The failure as an Error: corrupt, {offset}. Requires !ok().
    Failure error() const {
        Map details;
        details.set("offset", failed_at_);
        return corrupt(cat("bad ", what_, " at byte ", failed_at_), std::move(details));
    }

private:
    static std::uint64_t little_endian(std::span<const std::uint8_t> bytes) {
        std::uint64_t number = 0;
        for (std::size_t i = bytes.size(); i-- > 0;) number = number << 8 | bytes[i];
        return number;
    }
    static std::uint64_t big_endian(std::span<const std::uint8_t> bytes) {
        std::uint64_t number = 0;
        for (const std::uint8_t byte : bytes) number = number << 8 | byte;
        return number;
    }

    // begin_ <= at_ <= end_. A failure sets at_ to end_, so that every later read finds nothing
    // left and returns zero without a check of its own.
    const std::uint8_t* begin_;
    const std::uint8_t* at_;
    const std::uint8_t* end_;
    std::size_t origin_;
    // The field of the first failure; null while all is well.
    const char* what_ = nullptr;
    std::size_t failed_at_ = 0;
};

// A growing buffer. Up to 64 bytes need no allocation, which is enough for most sections of most
// records.
//
//                 +---------------- 64 ----------------+
//     short_      | written |           free           |   data_ points here at first,
//                 +---------+--------------------------+-----+
//     long_       | written |              free              |   and here after grow().
//                 +---------+--------------------------------+
//
// data_ points into the object itself while the buffer is short, so the moves repair it and copies
// are forbidden. Growing doubles the capacity: appending n bytes costs O(n).
class ByteWriter {
public:
    ByteWriter() = default;
    ByteWriter(ByteWriter&& other) noexcept { *this = std::move(other); }
    ByteWriter& operator=(ByteWriter&& other) noexcept {
        if (other.is_short()) {
            std::copy(other.data_, other.data_ + other.size_, short_.begin());
            point_at(short_.data(), kShort, other.size_);
        } else {
            long_ = std::move(other.long_);
            point_at(long_.data(), other.capacity_, other.size_);
        }
        other.point_at(other.short_.data(), kShort, 0);
        return *this;
    }
    ByteWriter(const ByteWriter&) = delete;
    ByteWriter& operator=(const ByteWriter&) = delete;
    ~ByteWriter() = default;

    // Inlined always: numbers are written byte by byte, so a call for each would cost more than
    // the write.
    [[gnu::always_inline]] void byte(std::uint8_t value) {
        if (size_ == capacity_) [[unlikely]]
            grow(1);
        data_[size_++] = value;
    }
    // The bytes must not be the writer's own: growing would move them first.
    void append(std::span<const std::uint8_t> bytes) {
        if (bytes.size() > capacity_ - size_) [[unlikely]]
            grow(bytes.size());
        std::copy(bytes.begin(), bytes.end(), data_ + size_);
        size_ += bytes.size();
    }
    void append(std::string_view text) { append(as_bytes(text)); }
    void u16_be(std::uint16_t value) { big_endian<2>(value); }
    void u32_le(std::uint32_t value) { little_endian<4>(value); }
    void u64_le(std::uint64_t value) { little_endian<8>(value); }
    void u64_be(std::uint64_t value) { big_endian<8>(value); }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    // Starts anew. A writer that is used for many records of a like size then allocates once.
    void clear() { size_ = 0; }  // Keeps the memory.
    // Access to bytes already written, for fields that are known only after what follows them.
    std::uint8_t& operator[](std::size_t index) { return data_[index]; }
    // Valid until the next write.
    std::span<const std::uint8_t> bytes() const { return {data_, size_}; }
    // Moves the bytes out, or copies them if they are few. The writer is not used afterwards.
    Bytes take() && {
        if (is_short()) return {data_, data_ + size_};
        long_.resize(size_);
        point_at(short_.data(), kShort, 0);
        return std::move(long_);
    }

private:
    static constexpr std::size_t kShort = 64;

    // The bytes are in short_.
    bool is_short() const { return data_ == short_.data(); }
    void point_at(std::uint8_t* data, std::size_t capacity, std::size_t size) {
        data_ = data;
        capacity_ = capacity;
        size_ = size;
    }
    // Makes room for `more` bytes beyond size_. The size of long_ is the capacity; the bytes beyond
    // size_ mean nothing.
    [[gnu::noinline]] void grow(std::size_t more) {
        const std::size_t capacity = std::max(2 * capacity_, size_ + more);
        long_.resize(capacity);
        if (is_short()) std::copy(data_, data_ + size_, long_.begin());
        point_at(long_.data(), capacity, size_);
    }
    template <std::size_t kCount>
    void little_endian(std::uint64_t value) {
        std::array<std::uint8_t, kCount> bytes;
        for (std::size_t i = 0; i < kCount; ++i)
            bytes[i] = static_cast<std::uint8_t>(value >> (8 * i));
        append(bytes);
    }
    template <std::size_t kCount>
    void big_endian(std::uint64_t value) {
        std::array<std::uint8_t, kCount> bytes;
        for (std::size_t i = 0; i < kCount; ++i)
            bytes[kCount - 1 - i] = static_cast<std::uint8_t>(value >> (8 * i));
        append(bytes);
    }

    std::array<std::uint8_t, kShort> short_;  // Until it is full.
    Bytes long_;                              // From then on; as long as what it has room for.
    std::uint8_t* data_ = short_.data();      // One of the two; its first size_ bytes are written.
    std::size_t capacity_ = kShort;
    std::size_t size_ = 0;
};

}  // namespace quire
