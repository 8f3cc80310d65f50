#include "base/key_index.h"

#include <string>

#include <gtest/gtest.h>

namespace quire {
namespace {

struct Named {
    std::string name;
};

TEST(KeyIndex, FindsEachElementByItsKeyWhileTheDequeGrows) {
    std::deque<Named> all;
    KeyIndex<Named, std::string, &Named::name> index(all);
    EXPECT_EQ(index.find("0"), std::nullopt);
    for (std::uint32_t i = 0; i < 10'000; ++i) {
        all.push_back({std::to_string(i)});
        EXPECT_FALSE(index.contains(all.back().name));
        index.add(i);
    }
    for (std::uint32_t i = 0; i < 10'000; ++i) EXPECT_EQ(index.find(std::to_string(i)), i);
    EXPECT_FALSE(index.contains("10000"));
}

}  // namespace
}  // namespace quire
