#include "base/key_order.h"

#include <numeric>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace quire {
namespace {

std::vector<std::string> sorted(const std::vector<std::string>& keys, std::size_t begin) {
    std::vector<std::string> out;
    for (const std::uint32_t i : order_by_key(
             begin, keys.size(), [&](std::size_t k) { return std::string_view(keys[k]); })) {
        EXPECT_GE(i, begin);
        out.push_back(keys[i]);
    }
    return out;
}

TEST(KeyOrder, IsTheOrderOfBytes) {
    const std::vector<std::string> keys = {"b", "", "a", std::string("a\0", 2), "\xFF", "ab", "a"};
    const std::vector<std::string> expected = {"",   "a", "a",   std::string("a\0", 2),
                                               "ab", "b", "\xFF"};
    EXPECT_EQ(sorted(keys, 0), expected);
    EXPECT_EQ(sorted(keys, 7), std::vector<std::string>());
    EXPECT_EQ(sorted(keys, 5), (std::vector<std::string>{"a", "ab"}));
}

TEST(KeyOrder, RandomKeysAreOrderedAsBySorting) {
    std::mt19937_64 random(1);
    for (int turn = 0; turn < 200; ++turn) {
        std::vector<std::string> keys;
        const std::string prefix(random() % 4, 'p');
        // Many keys are sorted byte by byte, and few by comparing them.
        const std::size_t most = turn % 10 == 0 ? 2'000 : 50;
        for (std::size_t i = random() % most; i > 0; --i) {
            std::string key = prefix;
            for (std::size_t k = random() % 14; k > 0; --k)
                key += static_cast<char>("\0ab\x80"[random() % 4]);
            keys.push_back(std::move(key));
        }
        if (turn % 3 == 0) std::sort(keys.begin(), keys.end());
        std::vector<std::string> expected = keys;
        std::sort(expected.begin(), expected.end());
        ASSERT_EQ(sorted(keys, 0), expected);
    }
}

}  // namespace
}  // namespace quire
