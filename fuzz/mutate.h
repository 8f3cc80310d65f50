// Mutations that keep the shape of what they change: a fuzzer that flips bytes alone spends its
// time in checksums and columns, and never meets a merge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/value.h"
#include "crdt/ids/change.h"

namespace quire::fuzz {

// Numbers from a seed (splitmix64).
class Chance {
public:
    explicit Chance(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next();
    // Requires below > 0.
    std::size_t below(std::size_t below) { return next() % below; }
    bool one_in(std::size_t n) { return below(n) == 0; }

private:
    std::uint64_t state_;
};

// One to four steps: a change or an op comes, goes, moves or says something else. What comes out
// can be written, but need not make sense.
void mutate(std::vector<crdt::Change>& changes, Chance& chance);
// Some member somewhere comes, goes, or is something else.
void mutate(Value& json, Chance& chance);

}  // namespace quire::fuzz
