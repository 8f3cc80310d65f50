// Columns: streams of numbers as Loro's serde_columnar writes them. A column holds no row count;
// its reader knows how many values to take, or takes them to the end.
//
//   Rle           segments: zigzag k > 0, then one value that repeats k times;
//                           zigzag -k,    then k values as they are
//   DeltaRle      Rle of differences, the first against 0
//   BoolRle       lengths of alternating runs, the first of false (0 when it starts with true)
//   DeltaOfDelta  bits (delta_of_delta.h)
//
// Readers report through their ByteReader; after a failure they return 0. Columns with many values
// are read in bulk, by read(): that keeps its place in registers, and costs a fraction of as many
// calls of next(). next() is inlined always, because most values repeat and take fewer instructions
// than a call. The writers stand in column_writers.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "base/varint.h"

namespace quire::codec {

// The longest run that Loro's own reader accepts.
inline constexpr std::uint64_t kMaxRun = 1'000'000'000;

// A column that stands beside others: its size, then its bytes.
inline ByteReader read_column(ByteReader& in, const char* what) {
    return in.part(static_cast<std::size_t>(read_uleb(in, what)), what);
}

// Reads `count` numbers that stand in a row and calls store(i, number) for each. Those of one or two
// bytes, as most are, take no branch that tells them apart. After a failure the rest are 0.
template <class Store>
[[gnu::always_inline]] inline void read_ulebs(ByteReader& in, std::size_t count, const char* what,
                                              Store store) {
    for (std::size_t i = 0; i < count;) {
        const std::span<const std::uint8_t> ahead = in.ahead();
        const std::uint8_t* at = ahead.data();
        const std::uint8_t* const end = at + ahead.size();
        for (; i < count && end - at >= 3; ++i) {
            const std::uint64_t first = at[0];
            const std::uint64_t second = at[1];
            const std::uint64_t is_long = first >> 7;
            std::uint64_t number = (first & 0x7F) | ((second & 0x7F) << 7 & (0 - is_long));
            at += 1 + is_long;
            if ((is_long & (second >> 7)) != 0) {
                number |= std::uint64_t{*at} << 14;
                if (*at++ >= 0x80) {
                    at -= 3;
                    break;
                }
            }
            store(i, number);
        }
        in.take(static_cast<std::size_t>(at - ahead.data()), what);
        if (i < count) store(i++, read_uleb(in, what));
    }
}

// How a value is spelled inside a column. read_all() reads `count` of them and calls store(i, value)
// for each.
struct ByteCell {
    using Type = std::uint8_t;
    static Type read(ByteReader& in, const char* what) { return in.byte(what); }
    template <class Store>
    [[gnu::always_inline]] static void read_all(ByteReader& in, std::size_t count, const char* what,
                                                Store store) {
        const auto bytes = in.take(count, what);
        for (std::size_t i = 0; i < bytes.size(); ++i) store(i, bytes[i]);
    }
    static void write(ByteWriter& out, Type value) { out.byte(value); }
};
struct UnsignedCell {
    using Type = std::uint64_t;
    static Type read(ByteReader& in, const char* what) { return read_uleb(in, what); }
    template <class Store>
    [[gnu::always_inline]] static void read_all(ByteReader& in, std::size_t count, const char* what,
                                                Store store) {
        read_ulebs(in, count, what, store);
    }
    static void write(ByteWriter& out, Type value) { write_uleb(out, value); }
};
struct SignedCell {
    using Type = std::int64_t;
    static Type read(ByteReader& in, const char* what) { return read_zigzag(in, what); }
    template <class Store>
    [[gnu::always_inline]] static void read_all(ByteReader& in, std::size_t count, const char* what,
                                                Store store) {
        read_ulebs(in, count, what,
                   [&](std::size_t i, std::uint64_t value) { store(i, unzigzag(value)); });
    }
    static void write(ByteWriter& out, Type value) { write_zigzag(out, value); }
};

template <class Cell>
class RleReader {
public:
    using Type = typename Cell::Type;

    RleReader(ByteReader& in, const char* what) : in_(in), what_(what) {}

    bool at_end() const { return left_ == 0 && in_.at_end(); }
    // True between runs: where a column of known length may end.
    bool at_boundary() const { return left_ == 0; }

    [[gnu::always_inline]] Type next() {
        if (left_ == 0) begin_segment();
        if (left_ == 0) return Type{};
        --left_;
        return literal_ ? Cell::read(in_, what_) : repeated_;
    }

    // Fills an array or vector with the next values of a column behind which its reader ends, and
    // returns how many there were: fewer than there is room for only at the column's end. After a
    // failure, values may be anything.
    template <class Values>
    std::size_t read(Values& out) {
        using T = typename Values::value_type;
        return read_segments(
            out.size(),
            [&](std::size_t at, std::size_t count, Type value) {
                std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(at), count,
                            static_cast<T>(value));
            },
            [&](std::size_t at, Type value) { out[at] = static_cast<T>(value); });
    }
    // Reads up to `most` values. Calls repeat(at, count, value) for a part of a run and store(at,
    // value) for a value that stands alone. Returns how many there were, as read() does.
    template <class Repeat, class Store>
    [[gnu::always_inline]] std::size_t read_segments(std::size_t most, Repeat repeat, Store store) {
        std::size_t done = 0;
        while (done < most && !at_end()) {
            if (left_ == 0) begin_segment();
            const std::size_t count = std::min<std::uint64_t>(left_, most - done);
            if (literal_) {
                Cell::read_all(in_, count, what_,
                               [&](std::size_t i, Type value) { store(done + i, value); });
            } else {
                repeat(done, count, repeated_);
            }
            left_ -= count;
            done += count;
        }
        return done;
    }

private:
    [[gnu::noinline]] void begin_segment() {
        const std::int64_t length = read_zigzag(in_, what_);
        literal_ = length < 0;
        left_ = literal_ ? std::uint64_t{0} - static_cast<std::uint64_t>(length)
                         : static_cast<std::uint64_t>(length);
        if (left_ == 0 || left_ > kMaxRun) in_.fail(what_);
        if (!literal_) repeated_ = Cell::read(in_, what_);
        if (!in_.ok()) left_ = 0;
    }

    ByteReader& in_;
    const char* what_;
    std::uint64_t left_ = 0;
    bool literal_ = false;
    Type repeated_{};
};

// Values stay within [min, max]; a step outside is a failure.
class DeltaRleReader {
public:
    DeltaRleReader(ByteReader& in, std::int64_t min, std::int64_t max, const char* what)
        : in_(in), deltas_(in, what), min_(min), max_(max), what_(what) {}

    bool at_end() const { return deltas_.at_end(); }

    [[gnu::always_inline]] std::int64_t next() {
        if (__builtin_add_overflow(value_, deltas_.next(), &value_) || value_ < min_ ||
            value_ > max_) {
            in_.fail(what_);
        }
        return in_.ok() ? value_ : 0;
    }

    // See RleReader. The type of `out` holds every value of the bounds.
    template <class Values>
    std::size_t read(Values& out) {
        using T = typename Values::value_type;
        const auto width = static_cast<std::uint64_t>(max_ - min_);
        auto value = static_cast<std::uint64_t>(value_ - min_);
        bool inside = true;
        // A value within the bounds and a step that overflows make one outside of them.
        const auto step = [&](std::size_t at, std::int64_t delta) {
            value += static_cast<std::uint64_t>(delta);
            inside &= value <= width;
            out[at] = static_cast<T>(min_ + static_cast<std::int64_t>(value));
        };
        const std::size_t count = deltas_.read_segments(
            out.size(),
            [&](std::size_t at, std::size_t repeats, std::int64_t delta) {
                if (delta != 0) {
                    for (std::size_t i = 0; i < repeats; ++i) step(at + i, delta);
                    return;
                }
                // Most columns of containers and peers are nothing else.
                inside &= value <= width;
                std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(at), repeats,
                            static_cast<T>(min_ + static_cast<std::int64_t>(value)));
            },
            step);
        value_ = min_ + static_cast<std::int64_t>(value);
        if (!inside) in_.fail(what_);
        return count;
    }

private:
    ByteReader& in_;
    RleReader<SignedCell> deltas_;
    std::int64_t min_;
    std::int64_t max_;
    const char* what_;
    std::int64_t value_ = 0;
};

class BoolRleReader {
public:
    BoolRleReader(ByteReader& in, const char* what) : in_(in), what_(what) {}

    bool at_boundary() const { return left_ == 0; }

    bool next() {
        for (int turn = 0; left_ == 0 && turn < 2; ++turn) {
            value_ = !value_;
            left_ = read_uleb(in_, kMaxRun, what_);
        }
        if (left_ == 0) {
            in_.fail(what_);
            return false;
        }
        --left_;
        return value_;
    }

private:
    ByteReader& in_;
    const char* what_;
    std::uint64_t left_ = 0;
    bool value_ = true;  // The first run is of false.
};

}  // namespace quire::codec
