// The writers of the columns that columnar.h reads, and of sections with their size in front.
//
// Segments are cut where Loro cuts them, so that blobs compare byte by byte: two equal values begin
// a run, and a value that differs from the ones around it joins a literal segment.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/varint.h"
#include "codec/columnar.h"

namespace quire::codec {

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
