#include "shell/pattern.h"

#include <cstdlib>
#include <fstream>
#include <random>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/test_directory.h"

namespace quire::shell {
namespace {

TEST(Pattern, ReadsSetsAsBashDoes) {
    struct Row {
        const char* pattern;
        const char* name;
        bool fits;
    };
    const Row rows[] = {{"[[:alpha:]]", "a", true},
                        {"[[:alpha:]]*", "ab", true},
                        {"[[:alpha:]]", "1", false},
                        {"[![:digit:]_]x", "ax", true},
                        {"[![:digit:]_]x", "_x", false},
                        {"[[:alpha:][:digit:]]", "7", true},
                        {"[[=a=]]", "a", true},
                        {"[[.a.]]", "a", true},
                        {"[]a]", "]", true},
                        {"[]a]", "b", false},
                        {"[!]a]", "b", true},
                        {"[!]a]", "]", false},
                        {"[\\]a]", "]", true},
                        {"[\\]a]", "\\", false},
                        {"[a-\\c]", "b", true},
                        {"[a-]", "-", true},
                        {"[[]x", "[x", true},
                        {"[[:]x", ":x", true},
                        {"[[:]x", "[x", true},
                        {"[ab", "[ab", true},
                        {"[ab", "a", false},
                        {"?", "\xc3\xa9", true},
                        {"[!a-z]", "\xc3\xa9", true}};
    for (const Row& row : rows)
        EXPECT_EQ(fits(row.pattern, row.name), row.fits) << row.pattern << " " << row.name;
    EXPECT_TRUE(has_plain_sets("[[:alpha:]-]*[!]a]"));
    EXPECT_FALSE(has_plain_sets("[[=a=]]"));
    EXPECT_FALSE(has_plain_sets("[[:nothing:]]"));
}

// A name that bash takes is one that fits. The other way round a name may fit that bash does not take, but
// not where all sets are plain.
TEST(Pattern, TakesWhateverBashTakes) {
    if (std::system("command -v bash >/dev/null") != 0) GTEST_SKIP() << "bash is not installed";
    std::mt19937_64 random(3);
    const auto below = [&](std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
    };
    constexpr const char* kPieces[] = {"[",         "]",     "[!",    "[^", "a",  "b",
                                       "-",         "\\",    "*",     "?",  ":",  "[:alpha:]",
                                       "[:digit:]", "[=a=]", "[.b.]", "1",  "[[", "]]"};
    constexpr const char* kNames[] = {"a",   "b",   "-",        "]",  "[",   "\\",
                                      "1",   ":",   "ab",       "a]", "[a]", "b-",
                                      "aa]", "[:a", "\xc3\xa9", "a1", "]]",  "[[a"};
    std::vector<std::pair<std::string, std::string>> rows;
    const TestDirectory directory;
    std::ofstream script(directory / "script");
    while (rows.size() < 20'000) {
        std::string pattern;
        for (std::size_t i = 0; i <= below(5); ++i) pattern += kPieces[below(std::size(kPieces))];
        if (pattern.ends_with('\\')) continue;
        const std::string name = kNames[below(std::size(kNames))];
        rows.emplace_back(pattern, name);
        script << "p='" << pattern << "'; case '" << name << "' in $p) echo 1;; *) echo 0;; esac\n";
    }
    script.close();
    const std::string command =
        cat("cd ", directory.path(), " && LC_ALL=C.UTF-8 bash script > out");
    ASSERT_EQ(std::system(command.c_str()), 0);
    std::ifstream answers(directory / "out");
    std::size_t taken = 0;
    for (const auto& [pattern, name] : rows) {
        int answer = 0;
        ASSERT_TRUE(answers >> answer);
        taken += static_cast<std::size_t>(answer);
        EXPECT_TRUE(answer == 0 || fits(pattern, name)) << pattern << " takes " << name;
        const bool is_exact = has_plain_sets(pattern) && name != "\xc3\xa9";
        EXPECT_TRUE(!is_exact || fits(pattern, name) == (answer == 1))
            << pattern << " and " << name;
    }
    EXPECT_GT(taken, rows.size() / 50);
}

}  // namespace
}  // namespace quire::shell
