#include "text/nearest.h"

#include <gtest/gtest.h>

namespace quire::text {
namespace {

std::string nearest(std::string_view word, std::initializer_list<std::string_view> candidates) {
    Nearest nearest(word);
    for (const std::string_view each : candidates) nearest.offer(each);
    return std::string(nearest.best());
}

TEST(Nearest, IsTheCandidateWithTheFewestChangedLetters) {
    EXPECT_EQ(nearest("raed", {"list", "read", "reap"}), "read");
    EXPECT_EQ(nearest("append_list", {"append", "append_to_list"}), "append_to_list");
}

TEST(Nearest, AWordThatIsNotLikeAnyHasNone) {
    EXPECT_EQ(nearest("destroy", {"read", "list"}), "");
    EXPECT_EQ(nearest(std::string(100, 'a'), {"a"}), "");
}

TEST(Nearest, SuggestsInWords) {
    Nearest nearest("delte");
    nearest.offer("delete");

    EXPECT_EQ(nearest.suggestion(), " (did you mean 'delete'?)");
    EXPECT_EQ(Nearest("x").suggestion(), "");
}

}  // namespace
}  // namespace quire::text
