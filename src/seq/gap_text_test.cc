#include "seq/gap_text.h"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace quire::seq {
namespace {

TEST(GapText, BeginsWithTheTextOfARope) {
    GapText draft(Rope("one two"));

    draft.insert({3}, ",", {1});
    draft.erase({0}, {1});
    draft.insert({0}, "\xC3\xA9", {1});

    EXPECT_EQ(draft.code_points().n, 8U);
    EXPECT_EQ(draft.rope().str(), "\xC3\xA9ne, two");
}

TEST(GapText, GoesOnAfterItWasRead) {
    GapText draft{Rope()};
    draft.insert({0}, "ac", {2});
    EXPECT_EQ(draft.rope().str(), "ac");

    draft.insert({1}, "b", {1});

    EXPECT_EQ(draft.rope().str(), "abc");
}

TEST(GapText, HasNoRoomForEditsFarApart) {
    GapText near(Rope(std::string(100'000, 'x')));
    GapText apart(Rope(std::string(100'000, 'x')));

    for (std::size_t i = 0; i < 1000 && apart.has_room(1); ++i) {
        near.insert({50'000 + i}, "y", {1});
        apart.insert({i % 2 * 90'000}, "y", {1});
    }

    EXPECT_TRUE(near.has_room(1));
    EXPECT_FALSE(apart.has_room(1));
}

TEST(GapText, HasNoRoomForALongText) {
    EXPECT_FALSE(GapText{Rope()}.has_room(std::size_t{64} << 20));
}

// Without the first two bytes the text has as many bytes as it had characters, and is not ASCII.
TEST(GapText, ErasesAroundItsGapWhatIsNotAscii) {
    GapText draft(
        Rope("b\xC3\xA9"
             "c"));
    draft.insert({1}, "\xC3\xA9", {1});

    draft.erase({1}, {2});

    EXPECT_EQ(draft.rope().str(), "bc");
}

// Against a flat string.
TEST(GapText, MatchesTheEditedText) {
    const char* given = std::getenv("SEED");
    const unsigned first = given != nullptr ? static_cast<unsigned>(std::atoi(given)) : 1;
    const std::string_view alphabet[] = {"a", "b", "\n", "\xC3\xA9", "\xF0\x9F\x98\x80"};
    for (unsigned seed = first; seed < first + 50; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
        // Half of them never leave ASCII.
        const std::size_t letters = seed % 2 == 0 ? 3 : 5;
        std::string flat = "begin";
        GapText draft{Rope(flat)};
        std::size_t size = flat.size();
        const auto byte_of = [&](std::size_t at) { return utf8::offset_of_code_point(flat, at); };
        for (int step = 0; step < 400; ++step) {
            const std::size_t at = below(size + 1);
            if (below(5) < 3) {
                std::string piece;
                const std::size_t length = 1 + below(step % 50 == 0 ? 9000 : 4);
                for (std::size_t i = 0; i < length; ++i) piece += alphabet[below(letters)];
                draft.insert({at}, piece, {length});
                flat.insert(byte_of(at), piece);
                size += length;
            } else {
                const std::size_t count = std::min(size - at, below(step % 20 == 0 ? 5000 : 5));
                const std::size_t from = byte_of(at);
                draft.erase({at}, {count});
                flat.erase(from, byte_of(at + count) - from);
                size -= count;
            }
            ASSERT_EQ(draft.code_points().n, size);
        }
        const Rope rope = draft.rope();
        rope.check_invariants();
        EXPECT_EQ(rope.str(), flat);
    }
}

}  // namespace
}  // namespace quire::seq
