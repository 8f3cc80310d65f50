// Clock and Rng: time and random numbers as parameters. cli/compose makes the real ones; tests
// use their own, so that every run can be repeated.
//
// A rule that asks "how long ago" takes steady_ms(); what a person reads, or another machine
// compares, is wall_ms(). Both come in milliseconds, in 64 bits.
#pragma once

#include <cstdint>
#include <random>

namespace quire {

// A source of time. Any thread.
class Clock {
public:
    virtual ~Clock() = default;
    // Milliseconds since 1970. Moves with the machine's clock: for showing, never for ordering.
    virtual std::int64_t wall_ms() const = 0;
    // Milliseconds from some fixed moment; never goes back. The moment changes when the machine
    // starts anew: these numbers mean nothing in a file.
    virtual std::int64_t steady_ms() const = 0;
};

// The machine's clocks.
class SystemClock final : public Clock {
public:
    std::int64_t wall_ms() const override;
    std::int64_t steady_ms() const override;
};

// A clock that moves when a test advances it. Both its times are the same. It is not synchronised,
// and begins at a fixed moment in November 2023.
class ManualClock final : public Clock {
public:
    std::int64_t wall_ms() const override { return now_; }
    std::int64_t steady_ms() const override { return now_; }
    void advance(std::int64_t ms) { now_ += ms; }

private:
    std::int64_t now_ = 1'700'000'000'000;
};

// A source of random 64-bit numbers. Peers and ids come from here, so two sources must not give the
// same sequence outside of tests.
class Rng {
public:
    virtual ~Rng() = default;
    // Every value of 64 bits may come.
    virtual std::uint64_t next() = 0;
};

// Numbers from the system's entropy; each costs a system call. Any thread. It blocks at most while
// the machine starts and has no entropy yet.
class SystemRng final : public Rng {
public:
    std::uint64_t next() override;
};

// A reproducible sequence, for tests. Equal seeds give equal sequences on every platform
// (std::mt19937_64 is fixed by the standard).
class SeededRng final : public Rng {
public:
    explicit SeededRng(std::uint64_t seed) : engine_(seed) {}
    std::uint64_t next() override { return engine_(); }

private:
    std::mt19937_64 engine_;
};

}  // namespace quire
