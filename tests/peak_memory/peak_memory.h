// Counts what a test or fuzz program has allocated: a program that links this gets its operator
// new.
#pragma once

#include <cstddef>

namespace quire::tests {

// The most that was allocated at once since it was made, beyond what was allocated then. One at a
// time.
class PeakMemory {
public:
    PeakMemory();
    std::size_t bytes() const;

private:
    std::size_t before_;
};

}  // namespace quire::tests
