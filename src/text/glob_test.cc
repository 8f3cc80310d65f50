#include "text/glob.h"

#include <cstdlib>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace quire::text {
namespace {

// $SEED repeats a run.
unsigned seed_of_run() {
    const char* given = std::getenv("SEED");
    return given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10))
                            : std::random_device{}();
}

bool matches(std::string_view pattern, std::string_view path) {
    const auto glob = Glob::compile(pattern);
    EXPECT_TRUE(glob.has_value()) << pattern << ": " << (glob ? "" : glob.error().message());
    return glob && glob->matches(path);
}

std::string message(std::string_view pattern) {
    const auto glob = Glob::compile(pattern);
    if (glob) return "accepted";
    EXPECT_EQ(glob.error().reason(), "invalid_glob");
    return glob.error().message();
}

TEST(Glob, WithoutASlashItMatchesTheNameAtAnyDepth) {
    EXPECT_TRUE(matches("*.md", "README.md"));
    EXPECT_TRUE(matches("*.md", "docs/deep/er/page.md"));
    EXPECT_FALSE(matches("*.md", "docs.md/page.txt"));
    EXPECT_TRUE(matches(".env", "a/.env"));
    EXPECT_FALSE(matches(".env", "a/.env/b"));
}

TEST(Glob, AStarStaysWithinAComponent) {
    EXPECT_TRUE(matches("src/*.rs", "src/a.rs"));
    EXPECT_TRUE(matches("src/*.rs", "src/.rs"));
    EXPECT_FALSE(matches("src/*.rs", "src/a/b.rs"));
    EXPECT_FALSE(matches("src/*", "src/a/b"));
    EXPECT_TRUE(matches("a/*/c", "a/b/c"));
    EXPECT_FALSE(matches("a/*/c", "a/c"));
}

TEST(Glob, TwoStarsCrossAnyNumberOfComponents) {
    for (const char* path : {"src/a.rs", "src/x/a.rs", "src/x/y/z/a.rs"})
        EXPECT_TRUE(matches("src/**/*.rs", path)) << path;
    EXPECT_FALSE(matches("src/**/*.rs", "srcs/a.rs"));
    EXPECT_FALSE(matches("src/**/*.rs", "a/src/b.rs"));
    EXPECT_TRUE(matches("**/test/*", "test/a"));
    EXPECT_TRUE(matches("**/test/*", "x/y/test/a"));
    EXPECT_FALSE(matches("**/test/*", "x/ytest/a"));
    EXPECT_TRUE(matches("**", "anything/at/all"));
    EXPECT_TRUE(matches("a/**/**/b", "a/b"));
    EXPECT_TRUE(matches("a/**/**/b", "a/x/y/z/b"));
    EXPECT_TRUE(matches("src/**.rs", "src/x/a.rs"));
}

TEST(Glob, AtTheEndTwoStarsMatchEverythingBelowADirectoryButNotItself) {
    EXPECT_TRUE(matches("src/**", "src/a"));
    EXPECT_TRUE(matches("src/**", "src/a/b/c"));
    EXPECT_FALSE(matches("src/**", "src"));
    EXPECT_FALSE(matches("src/**", "srcx/a"));
}

TEST(Glob, ALeadingSlashAnchorsAtTheRoot) {
    EXPECT_TRUE(matches("/README.md", "README.md"));
    EXPECT_FALSE(matches("/README.md", "docs/README.md"));
}

TEST(Glob, ClassesAndQuestionMarksAreOneCodePoint) {
    EXPECT_TRUE(matches("[a-c]?.txt", "bé.txt"));
    EXPECT_FALSE(matches("[a-c]?.txt", "d1.txt"));
    EXPECT_TRUE(matches("[!a-c].txt", "d.txt"));
    EXPECT_FALSE(matches("[^a-c].txt", "b.txt"));
    EXPECT_TRUE(matches("[]x]", "]"));
    EXPECT_TRUE(matches("[a\\]b]", "]"));
    EXPECT_TRUE(matches("[α-ω]", "λ"));
    EXPECT_FALSE(matches("a[!x]b", "a/b"));
    EXPECT_FALSE(matches("a?b/c", "a/b/c"));
}

TEST(Glob, BackslashTakesTheNextCharacterAsItIs) {
    EXPECT_TRUE(matches("\\*.md", "*.md"));
    EXPECT_FALSE(matches("\\*.md", "a.md"));
    EXPECT_TRUE(matches("a\\{b", "a{b"));
}

TEST(Glob, BracesAreEither) {
    EXPECT_TRUE(matches("*.{h,cc}", "src/a.cc"));
    EXPECT_TRUE(matches("*.{h,cc}", "a.h"));
    EXPECT_FALSE(matches("*.{h,cc}", "a.c"));
    EXPECT_TRUE(matches("{src,te{st,xt}}/**", "text/a"));
    EXPECT_FALSE(matches("{src,te{st,xt}}/**", "docs/a"));
}

TEST(Glob, NamesThatAreNotUtf8MatchByteByByte) {
    EXPECT_TRUE(matches("a?b",
                        "a\xFF"
                        "b"));
    EXPECT_FALSE(matches("a?b",
                         "a\xFF\xFE"
                         "b"));
    EXPECT_TRUE(matches("*", "\xC3"));
    EXPECT_FALSE(matches("ÿ", "\xFF"));
}

TEST(Glob, AMalformedPatternNamesItsFault) {
    EXPECT_NE(message("").find("empty"), std::string::npos);
    EXPECT_NE(message("/").find("empty"), std::string::npos);
    EXPECT_NE(message("src/").find("'/**'"), std::string::npos);
    EXPECT_NE(message("a//b").find("two '/'"), std::string::npos);
    EXPECT_NE(message("a/../b").find("'..'"), std::string::npos);
    EXPECT_NE(message("./a").find("'.'"), std::string::npos);
    EXPECT_NE(message("a[b").find("no ']'"), std::string::npos);
    EXPECT_NE(message("[]").find("no ']'"), std::string::npos);
    EXPECT_NE(message("[z-a]").find("backwards"), std::string::npos);
    EXPECT_NE(message("[/]").find("'/' inside"), std::string::npos);
    EXPECT_NE(message("a\\").find("lone"), std::string::npos);
    EXPECT_NE(message("***").find("more than two"), std::string::npos);
    EXPECT_NE(message("{a,b").find("no '}'"), std::string::npos);
    EXPECT_NE(message("a}").find("without '{'"), std::string::npos);
    EXPECT_NE(message("\xFF").find("not UTF-8"), std::string::npos);
    EXPECT_NE(message("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}").find("more than 64"),
              std::string::npos);
}

TEST(Glob, NoPatternIsSlow) {
    const auto glob = Glob::compile("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b");
    ASSERT_TRUE(glob);
    EXPECT_FALSE(glob->matches(std::string(4000, 'a')));
}

// The plainest reading of the same rules, exponential and obviously right, on patterns of literals,
// '?', '*' and '**'.
bool naive(std::string_view pattern, std::string_view path) {
    if (pattern.empty()) return path.empty();
    if (pattern == "/**") return path.size() > 1 && path[0] == '/';
    if (pattern.substr(0, 3) == "**/") {
        if (naive(pattern.substr(3), path)) return true;
        const std::size_t slash = path.find('/');
        return slash != std::string_view::npos && slash > 0 &&
               naive(pattern, path.substr(slash + 1));
    }
    if (pattern[0] == '*') {
        if (naive(pattern.substr(1), path)) return true;
        return !path.empty() && path[0] != '/' && naive(pattern, path.substr(1));
    }
    if (path.empty()) return false;
    if (pattern[0] == '?' ? path[0] != '/' : pattern[0] == path[0])
        return naive(pattern.substr(1), path.substr(1));
    return false;
}

TEST(Glob, RandomPatternsMatchAsTheNaiveReadingSays) {
    const unsigned seed = seed_of_run();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 rng(seed);
    const auto pick = [&](const auto& choices) { return choices[rng() % std::size(choices)]; };
    const std::string_view parts[] = {"a", "b", "*", "?", "a*", "*b", "**", "ab", "?a"};
    const std::string_view names[] = {"a", "b", "ab", "ba", "aab", "c"};
    int hits = 0;
    for (int round = 0; round < 20'000; ++round) {
        std::string pattern(pick(parts)), path(pick(names));
        for (auto n = 1 + rng() % 3; n > 0; --n) pattern += "/" + std::string(pick(parts));
        for (auto n = rng() % 4; n > 0; --n) path += "/" + std::string(pick(names));
        const bool expected = naive(pattern, path);
        hits += expected ? 1 : 0;
        ASSERT_EQ(matches(pattern, path), expected) << pattern << " on " << path;
    }
    EXPECT_GT(hits, 500);
}

}  // namespace
}  // namespace quire::text
