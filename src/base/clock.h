// Time and chance as parameters: cli/compose makes the real ones, tests their own.
#pragma once

#include <cstdint>
#include <random>

namespace quire {

class Clock {
public:
    virtual ~Clock() = default;
    // Milliseconds since 1970. Moves with the machine's clock: for showing, never for ordering.
    virtual std::int64_t wall_ms() const = 0;
    // Milliseconds from some fixed moment; never goes back.
    virtual std::int64_t steady_ms() const = 0;
};

class SystemClock final : public Clock {
public:
    std::int64_t wall_ms() const override;
    std::int64_t steady_ms() const override;
};

class ManualClock final : public Clock {
public:
    std::int64_t wall_ms() const override { return now_; }
    std::int64_t steady_ms() const override { return now_; }
    void advance(std::int64_t ms) { now_ += ms; }

private:
    std::int64_t now_ = 1'700'000'000'000;
};

class Rng {
public:
    virtual ~Rng() = default;
    virtual std::uint64_t next() = 0;
};

// From the system's entropy; each number costs a call into the kernel.
class SystemRng final : public Rng {
public:
    std::uint64_t next() override;
};

class SeededRng final : public Rng {
public:
    explicit SeededRng(std::uint64_t seed) : engine_(seed) {}
    std::uint64_t next() override { return engine_(); }

private:
    std::mt19937_64 engine_;
};

}  // namespace quire
