#include "tests/peak_memory/peak_memory.h"

#include <vector>

#include <gtest/gtest.h>

namespace quire::tests {
namespace {

TEST(PeakMemory, CountsTheMostMemoryInUseAtOnce) {
    const PeakMemory memory;
    for (int i = 0; i < 3; ++i) std::vector<char>(1 << 20).back() = 1;
    EXPECT_GE(memory.bytes(), std::size_t{1} << 20);
    EXPECT_LT(memory.bytes(), std::size_t{2} << 20);
}

}  // namespace
}  // namespace quire::tests
