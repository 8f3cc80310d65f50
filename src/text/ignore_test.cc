// The tests of single rules name what git does; the differential test asks git itself.
#include "text/ignore.h"

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/test_directory.h"

namespace quire::text {
namespace {

IgnoreVerdict judge(std::string_view patterns, std::string_view path, bool is_folder = false) {
    return IgnoreFile::parse(patterns).judge(path, is_folder);
}

bool ignores(std::string_view patterns, std::string_view path, bool is_folder = false) {
    return judge(patterns, path, is_folder) == IgnoreVerdict::ignored;
}

TEST(IgnoreFile, APatternWithoutASlashMatchesTheNameAtAnyDepth) {
    EXPECT_TRUE(ignores("*.o\n", "a.o"));
    EXPECT_TRUE(ignores("*.o\n", "deep/er/a.o"));
    EXPECT_FALSE(ignores("*.o\n", "a.o.c"));
}

TEST(IgnoreFile, APatternWithASlashIsAnchoredAtItsFolder) {
    EXPECT_TRUE(ignores("/build\n", "build"));
    EXPECT_FALSE(ignores("/build\n", "a/build"));
    EXPECT_TRUE(ignores("doc/*.txt\n", "doc/a.txt"));
    EXPECT_FALSE(ignores("doc/*.txt\n", "doc/b/a.txt"));
    EXPECT_FALSE(ignores("doc/*.txt\n", "x/doc/a.txt"));
}

TEST(IgnoreFile, ATrailingSlashMatchesFoldersOnly) {
    EXPECT_TRUE(ignores("out/\n", "a/out", true));
    EXPECT_FALSE(ignores("out/\n", "a/out", false));
}

TEST(IgnoreFile, TheLastMatchingPatternDecides) {
    EXPECT_EQ(judge("*.log\n!keep.log\n", "keep.log"), IgnoreVerdict::included);
    EXPECT_EQ(judge("!keep.log\n*.log\n", "keep.log"), IgnoreVerdict::ignored);
    EXPECT_EQ(judge("*.log\n", "a.txt"), IgnoreVerdict::unmatched);
}

TEST(IgnoreFile, TwoStarsCrossFolders) {
    EXPECT_TRUE(ignores("**/logs\n", "logs"));
    EXPECT_TRUE(ignores("**/logs\n", "a/b/logs"));
    EXPECT_TRUE(ignores("a/**/b\n", "a/b"));
    EXPECT_TRUE(ignores("a/**/b\n", "a/x/y/b"));
    EXPECT_TRUE(ignores("a/**\n", "a/x/y"));
    EXPECT_FALSE(ignores("a/**\n", "a", true));
    EXPECT_FALSE(ignores("a/x**y\n", "a/x/y"));
}

TEST(IgnoreFile, CommentsBlankLinesAndTrailingSpacesAreSkipped) {
    EXPECT_FALSE(ignores("#a\n", "#a"));
    EXPECT_TRUE(ignores("\\#a\n", "#a"));
    EXPECT_TRUE(ignores("\\!a\n", "!a"));
    EXPECT_TRUE(ignores("a   \n", "a"));
    EXPECT_TRUE(ignores("a\\ \n", "a "));
    EXPECT_FALSE(ignores("a\\ \n", "a"));
    EXPECT_TRUE(
        ignores("\xEF\xBB\xBF"
                "a\r\nb",
                "a"));
    EXPECT_TRUE(ignores("a\r\nb", "b"));
    EXPECT_FALSE(ignores("\n  \n", "  "));
}

TEST(IgnoreFile, BracketExpressionsAreThoseOfGit) {
    EXPECT_TRUE(ignores("[a-c]x\n", "bx"));
    EXPECT_FALSE(ignores("[!a-c]x\n", "bx"));
    EXPECT_TRUE(ignores("[^a-c]x\n", "dx"));
    EXPECT_TRUE(ignores("[]-]x\n", "]x"));
    EXPECT_TRUE(ignores("[[:digit:]_]x\n", "7x"));
    EXPECT_FALSE(ignores("[[:nonsense:]]x\n", "nx"));
    EXPECT_FALSE(ignores("a[b\n", "a[b"));
}

TEST(IgnoreFile, APatternMadeToBacktrackEndsSoon) {
    const std::string pattern = std::string("a/") + "**/*a*/**/*a*/**/*a*/**/*a*/**/*a*/b\n";
    std::string path = "a";
    for (int i = 0; i < 60; ++i) path += "/aaaaaaaa";

    EXPECT_FALSE(ignores(pattern, path + "/c"));
}

std::string repeated(std::string_view piece, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i) out += piece;
    return out;
}

TEST(IgnoreFile, RepeatedTwoStarsNeedNoStack) {
    const std::string folders = repeated("**/", 300'000);

    EXPECT_TRUE(ignores(folders + "x\n", "x"));
    EXPECT_TRUE(ignores(folders + "x\n", "a/b/x"));
    EXPECT_FALSE(ignores(folders + "x\n", "a/b/y"));
    EXPECT_TRUE(ignores("a/" + folders + "*\n", "a/b/c"));
    EXPECT_FALSE(ignores(repeated("**\\/", 200'000) + "x\n", "a/b/x"));
}

TEST(IgnoreFile, ALongPatternEndsSoonOnALongPath) {
    const std::string path = repeated("a/", 2000) + "c";

    for (const std::string& pattern :
         {"**/a" + repeated("*", 500'000) + "b", "**/[" + repeated("x", 500'000) + "]",
          repeated("**/a/", 150'000) + "b", repeated("*a", 300'000) + "/b",
          repeated("**/*a", 150'000) + "b"})
        EXPECT_FALSE(ignores(pattern + "\n", path)) << pattern.substr(0, 20);
}

// The meaning of `*`, `**` and `?` in a few lines, which may take as long as they like.
bool matches_plainly(std::string_view pattern, std::string_view path, bool opens = true) {
    if (pattern.empty()) return path.empty();
    while (pattern.starts_with("***")) pattern.remove_prefix(1);
    if (opens && pattern == "**") return true;
    if (opens && pattern.starts_with("**/")) {
        if (matches_plainly(pattern.substr(3), path)) return true;
        const std::size_t slash = path.find('/');
        return slash != std::string_view::npos && matches_plainly(pattern, path.substr(slash + 1));
    }
    if (pattern[0] == '*') {
        return matches_plainly(pattern.substr(1), path, false) ||
               (!path.empty() && path[0] != '/' && matches_plainly(pattern, path.substr(1), false));
    }
    if (path.empty() || (pattern[0] == '?' ? path[0] == '/' : path[0] != pattern[0])) return false;
    return matches_plainly(pattern.substr(1), path.substr(1), pattern[0] == '/');
}

TEST(IgnoreFile, StarsMeanWhatAPlainMatcherSays) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(cat("seed ", seed));
    std::mt19937 random(seed);
    const auto some = [&](const std::vector<std::string>& pieces, std::size_t most) {
        std::string out;
        for (std::size_t count = random() % most; count > 0; --count)
            out += pieces[random() % pieces.size()];
        return out;
    };
    for (int i = 0; i < 20'000; ++i) {
        // A star in front and a slash inside: all of it is matched, and from the root.
        const std::string pattern =
            cat("*", some({"a", "b", "*", "?", "/", "**/", "/**/", "*a"}, 8), "/",
                some({"*", "**/", "a", "?"}, 3), "a");
        const std::string path = cat("a", some({"a", "b", "a", "/a", "/b", "b/a"}, 9));
        ASSERT_EQ(ignores(pattern, path), matches_plainly(pattern, path)) << pattern << " " << path;
    }
}

TEST(IgnoreChain, ADeeperFolderDecidesBeforeThoseAround) {
    const IgnoreChain root = IgnoreChain::below({}, "", {IgnoreFile::parse("*.log\n")});
    const IgnoreChain deeper = IgnoreChain::below(root, "a/b", {IgnoreFile::parse("!x.log\n/y\n")});

    EXPECT_FALSE(deeper.ignores("a/b/x.log", false));
    EXPECT_TRUE(deeper.ignores("a/b/z.log", false));
    EXPECT_TRUE(deeper.ignores("a/b/y", false));
    EXPECT_TRUE(root.ignores("a/x.log", false));
}

TEST(IgnoreChain, ALaterFileOfAFolderDecidesBeforeAnEarlierOne) {
    const IgnoreChain chain = IgnoreChain::below(
        {}, "", {IgnoreFile::parse("*.log\n"), IgnoreFile::parse("!keep.log\n")});

    EXPECT_FALSE(chain.ignores("keep.log", false));
    EXPECT_TRUE(chain.ignores("other.log", false));
}

// --- against git ---

// A tree of names that are alike, so that patterns made of the same pieces match often.
class GitTree {
public:
    explicit GitTree(unsigned seed) : random_(seed) {
        run("git init -q .");
        grow("", 0);
        for (const std::string& folder : folders_) {
            if (pick(folder.empty() ? 1 : 3) != 0) continue;
            std::string patterns;
            for (unsigned lines = 1 + pick(4); lines > 0; --lines) patterns += pattern();
            const std::string file = cat(folder, folder.empty() ? "" : "/", ".gitignore");
            directory_.put(file, patterns);
            ignore_files_[folder] = patterns;
        }
    }

    std::set<std::string> ignored_by_git() {
        std::string all;
        for (const auto& [path, is_folder] : entries_) all += cat(path, std::string(1, '\0'));
        directory_.put("../paths-" + name(), all);
        run(cat("git check-ignore --no-index -z --stdin < ../paths-", name(), " > ../ignored-",
                name()));
        const std::string out = directory_.get("../ignored-" + name());
        directory_.erase("../paths-" + name());
        directory_.erase("../ignored-" + name());
        std::set<std::string> ignored;
        for (std::size_t at = 0; at < out.size();) {
            const std::size_t end = out.find('\0', at);
            ignored.insert(out.substr(at, end - at));
            at = end + 1;
        }
        return ignored;
    }

    std::set<std::string> ignored_by_us() const {
        std::set<std::string> ignored;
        std::map<std::string, IgnoreChain> chains;
        chains[""] = chain_of("", {});
        for (const auto& [path, is_folder] : entries_) {  // Folders come before what they hold.
            const std::size_t slash = path.rfind('/');
            const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash);
            const bool below_ignored = ignored.count(folder) != 0;
            if (below_ignored || chains.at(folder).ignores(path, is_folder)) {
                ignored.insert(path);
                if (is_folder) chains[path] = {};
            } else if (is_folder) {
                chains[path] = chain_of(path, chains.at(folder));
            }
        }
        return ignored;
    }

    std::string shown() const {
        std::string out;
        for (const auto& [folder, patterns] : ignore_files_)
            out += cat("--- ", folder, "/.gitignore\n", patterns);
        return out;
    }

private:
    unsigned pick(unsigned n) { return static_cast<unsigned>(random_() % n); }
    std::string name() const { return directory_.path().substr(directory_.path().rfind('/') + 1); }

    void run(const std::string& command) {
        // check-ignore ends with 1 where nothing is ignored.
        const int status = std::system(cat("cd '", directory_.path(), "' && GIT_CONFIG_NOSYSTEM=1 ",
                                           "GIT_CONFIG_GLOBAL=/dev/null ", command)
                                           .c_str());
        ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) <= 1) << command;
    }

    void grow(const std::string& folder, int depth) {
        static const std::vector<std::string> kNames = {"a",  "b",  "ab", "a.o", "b.log", "a b",
                                                        "]x", "-a", "#a", "!b",  "aa",    "x7"};
        folders_.push_back(folder);
        for (unsigned count = 2 + pick(4); count > 0; --count) {
            const std::string path = cat(folder, folder.empty() ? "" : "/",
                                         kNames[pick(static_cast<unsigned>(kNames.size()))]);
            if (entries_.count(path) != 0) continue;
            const bool is_folder = depth < 3 && pick(2) == 0;
            entries_[path] = is_folder;
            if (is_folder) {
                std::filesystem::create_directories(directory_ / path);
                grow(path, depth + 1);
            } else {
                directory_.put(path, "");
            }
        }
    }

    std::string pattern() {
        static const std::vector<std::string> kPieces = {
            "a",           "b",   "x",   "7",  "*",    "**",    "?",      "/",
            "/",           "/**", "**/", "/",  "[ab]", "[!a]",  "[a-]",   "[]]",
            "[[:alpha:]]", "\\a", " ",   ".o", "-",    "*.log", "[^/ab]", "[[:digit:]7]",
            "[a-b-x]",     "\\",  "#",   "ab", "["};
        std::string line = pick(4) == 0 ? "!" : "";
        for (unsigned count = 1 + pick(5); count > 0; --count)
            line += kPieces[pick(static_cast<unsigned>(kPieces.size()))];
        if (pick(6) == 0) line += "/";
        if (pick(12) == 0) line += "  ";
        return line + (pick(8) == 0 ? "\r\n" : "\n");
    }

    IgnoreChain chain_of(const std::string& folder, const IgnoreChain& parent) const {
        const auto found = ignore_files_.find(folder);
        if (found == ignore_files_.end()) return parent;
        return IgnoreChain::below(parent, folder, {IgnoreFile::parse(found->second)});
    }

    std::mt19937 random_;
    TestDirectory directory_;
    std::map<std::string, bool> entries_;  // Keyed by path; true for a folder.
    std::vector<std::string> folders_;
    std::map<std::string, std::string> ignore_files_;  // Keyed by folder.
};

TEST(IgnoreAgainstGit, GeneratedTreesAreJudgedAsGitCheckIgnoreJudgesThem) {
    const char* const given = std::getenv("SEED");
    const unsigned seed = given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10))
                                           : std::random_device{}();
    const unsigned trees = std::getenv("QUIRE_LONG") != nullptr ? 10'000 : 60;
    for (unsigned i = 0; i < trees; ++i) {
        GitTree tree(seed + i);
        ASSERT_EQ(tree.ignored_by_us(), tree.ignored_by_git()) << "SEED=" << seed + i << "\n"
                                                               << tree.shown();
    }
}

}  // namespace
}  // namespace quire::text
