// Columns: streams of numbers as Loro's serde_columnar writes them. A column holds no row count;
// its reader knows how many values to take, or takes them to the end.
//
//   Rle           segments: zigzag k > 0, then one value that repeats k times;
//                           zigzag -k,    then k values as they are
//   DeltaRle      Rle of differences, the first against 0
//   BoolRle       lengths of alternating runs, the first of false (0 when it starts with true)
//   DeltaOfDelta  option of the first value (i64 zigzag), a byte with the number of bits used in
//                 the last byte, then bits from the most significant on, a code for each value:
//                   0              same difference as before
//                   10    +  7     difference of differences, plus 63
//                   110   +  9     plus 255
//                   1110  + 12     plus 2047
//                   11110 + 21     plus 2^20 - 1
//                   11111 + 64     as it is
//
// Readers report through their ByteReader; after a failure they return 0. Their next() is inlined
// always, because most values repeat and take fewer instructions than a call.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/varint.h"

namespace quire::codec {

// The longest run that Loro's own reader accepts.
inline constexpr std::uint64_t kMaxRun = 1'000'000'000;

// A column that stands beside others: its size, then its bytes.
inline ByteReader read_column(ByteReader& in, const char* what) {
    return in.part(static_cast<std::size_t>(read_uleb(in, what)), what);
}

// How a value is spelled inside a column: read() and write(), and what it is called in errors.
struct ByteCell {
    using Type = std::uint8_t;
    static Type read(ByteReader& in, const char* what) { return in.byte(what); }
    static void write(ByteWriter& out, Type value) { out.byte(value); }
};
struct UnsignedCell {
    using Type = std::uint64_t;
    static Type read(ByteReader& in, const char* what) { return read_uleb(in, what); }
    static void write(ByteWriter& out, Type value) { write_uleb(out, value); }
};
struct SignedCell {
    using Type = std::int64_t;
    static Type read(ByteReader& in, const char* what) { return read_zigzag(in, what); }
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

// Takes `count` values, then ends at a byte's border: finish() leaves the reader after the column.
class DeltaOfDeltaReader {
public:
    DeltaOfDeltaReader(ByteReader& in, std::size_t count, const char* what);

    std::int64_t next() {
        // A step like the one before is most of them.
        if (bits_left_ == 0 || ((static_cast<unsigned>(current_) >> (bits_left_ - 1)) & 1) != 0)
            return next_step();
        --bits_left_;
        previous_ += delta_;
        return in_.ok() ? static_cast<std::int64_t>(previous_) : 0;
    }

private:
    std::int64_t next_step();
    std::uint64_t bits(unsigned count);

    ByteReader& in_;
    const char* what_;
    std::uint64_t previous_ = 0;  // Arithmetic wraps: timestamps may be any i64.
    std::uint64_t delta_ = 0;
    bool first_ = true;
    std::uint8_t current_ = 0;
    unsigned bits_left_ = 0;
};

// --- writing ---

// A section: everything written to `out` while this object lives, preceded by its size.
class Section {
public:
    explicit Section(ByteWriter& out) : out_(out), at_(out.size()) { out.byte(0); }
    ~Section();
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;

private:
    ByteWriter& out_;
    std::size_t at_;
};

// A writer may begin a column anew after finish().
//
// Segments are cut where Loro cuts them, so that blobs compare byte by byte: two equal values begin
// a run, and a value that differs from the ones around it joins a literal segment.
template <class Cell>
class RleWriter {
public:
    using Type = typename Cell::Type;

    explicit RleWriter(ByteWriter& out) : out_(out) {}

    void append(Type value) {
        if (run_ > 0 && value == last_) {
            if (run_ == 1 && !literal_.empty()) flush_literal();
            ++run_;
            return;
        }
        if (run_ == 1) literal_.push_back(last_);
        if (run_ > 1) flush_run();
        last_ = value;
        run_ = 1;
    }

    void finish() {
        if (run_ > 1) {
            flush_run();
        } else if (run_ == 1 && literal_.empty()) {
            // A column of one value, the usual one, takes no memory.
            write_zigzag(out_, -1);
            Cell::write(out_, last_);
        } else if (run_ == 1) {
            literal_.push_back(last_);
            flush_literal();
        }
        run_ = 0;
    }

private:
    void flush_run() {
        write_zigzag(out_, static_cast<std::int64_t>(run_));
        Cell::write(out_, last_);
        run_ = 0;
    }
    void flush_literal() {
        write_zigzag(out_, -static_cast<std::int64_t>(literal_.size()));
        for (const Type value : literal_) Cell::write(out_, value);
        literal_.clear();
    }

    ByteWriter& out_;
    Type last_{};
    std::size_t run_ = 0;        // How often `last_` was seen; it is in no segment yet.
    std::vector<Type> literal_;  // The values before it, none of them repeated.
};

class DeltaRleWriter {
public:
    explicit DeltaRleWriter(ByteWriter& out) : deltas_(out) {}

    void append(std::int64_t value) {
        deltas_.append(value - previous_);
        previous_ = value;
    }
    void finish() {
        deltas_.finish();
        previous_ = 0;
    }

private:
    RleWriter<SignedCell> deltas_;
    std::int64_t previous_ = 0;
};

class BoolRleWriter {
public:
    explicit BoolRleWriter(ByteWriter& out) : out_(out) {}

    void append(bool value) {
        if (value != value_) {
            write_uleb(out_, run_);
            run_ = 0;
            value_ = value;
        }
        ++run_;
    }
    void finish() {
        if (run_ > 0) write_uleb(out_, run_);
        run_ = 0;
    }

private:
    ByteWriter& out_;
    std::uint64_t run_ = 0;
    bool value_ = false;
};

class DeltaOfDeltaWriter {
public:
    explicit DeltaOfDeltaWriter(ByteWriter& out) : out_(out) {}

    void append(std::int64_t value);
    void finish();

private:
    void bits(std::uint64_t value, unsigned count);

    ByteWriter& out_;
    std::size_t used_bits_at_ = 0;
    std::uint64_t previous_ = 0;
    std::uint64_t delta_ = 0;
    bool empty_ = true;
    std::uint8_t current_ = 0;
    unsigned bits_used_ = 0;  // The bits of current_ that are used.
    bool any_bits_ = false;
};

}  // namespace quire::codec
