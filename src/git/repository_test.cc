#include "git/repository.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/test_directory.h"
#include "process/shell_for_test.h"

namespace quire::git {
namespace {

// A repository with one commit of `a.txt`, and git as a person would run it.
class GitRepository : public ::testing::Test {
protected:
    GitRepository() {
        git("git init -q -b main . && git config user.name mel && git config user.email m@x");
        put("a.txt", "one\n");
        git("git add a.txt && git commit -qm first");
    }

    std::string git(const std::string& command) { return process::typed(root.path(), command); }
    void put(const std::string& path, std::string_view text) {
        std::filesystem::create_directories(std::filesystem::path(root / path).parent_path());
        std::ofstream(root / path) << text;
    }
    Repository repository(const std::string& below = "") {
        return Repository::find(root / below, clock).value();
    }
    static CommitHead head(std::string message, std::string parent = "") {
        return {{"agent:ada", "ada@x"}, 1'700'000'000, std::move(message), std::move(parent)};
    }

    TestDirectory root;
    SystemClock clock;
};

constexpr const char* kRef = "refs/quire/main";

TEST_F(GitRepository, ACommitIsWhatItsStreamSays) {
    const Repository all = repository();
    const std::string first = *all.commit_of("HEAD").value();
    CommitStream stream(kRef);
    stream.begin(head("add b\n\nQuire-Actor: agent:ada\n", first));
    stream.write("dir/b \"x\"\n.txt", "100755", std::string("two\0\n", 5));
    stream.remove("a.txt");
    stream.begin(head("again"));
    stream.link("c", "100644", all.id_of("one\n"));
    const auto ids = all.import(std::move(stream));
    ASSERT_TRUE(ids) << ids.error().message();
    ASSERT_EQ(ids->size(), 2U);
    EXPECT_EQ(all.commit_of(kRef).value(), ids->at(1));
    EXPECT_EQ(git(cat("git rev-parse ", kRef, "~2")), first + "\n");
    EXPECT_EQ(all.message_of(ids->at(0)).value(), "add b\n\nQuire-Actor: agent:ada\n\n");
    const auto files = all.files(ids->at(1)).value();
    ASSERT_EQ(files.size(), 2U);
    EXPECT_EQ(files.at("c").id, all.id_of("one\n"));
    EXPECT_EQ(files.at("dir/b \"x\"\n.txt"),
              (TreeEntry{"100755", all.id_of(std::string_view("two\0\n", 5))}));
    EXPECT_EQ(git("git fsck --strict 2>&1 && git status --porcelain && git branch"), "* main\n");
}

TEST_F(GitRepository, AnIdIsGitsOwn) {
    EXPECT_EQ(repository().id_of("one\n") + "\n", git("git hash-object a.txt"));
}

TEST_F(GitRepository, ChangesBetweenCommitsAreListed) {
    put("b/c", "3\n");
    git("git rm -q a.txt && git add b && git commit -qm second");
    const Repository all = repository();
    const auto changes =
        all.changes(*all.commit_of("HEAD~1").value(), *all.commit_of("HEAD").value()).value();
    ASSERT_EQ(changes.size(), 2U);
    EXPECT_EQ(changes[0].path, "a.txt");
    EXPECT_FALSE(changes[0].entry);
    EXPECT_EQ(changes[1].path, "b/c");
    EXPECT_EQ(changes[1].entry, (TreeEntry{"100644", all.id_of("3\n")}));
}

TEST_F(GitRepository, ARefThatSomeoneMovedStaysWhereItIs) {
    const Repository all = repository();
    const std::string first = *all.commit_of("HEAD").value();
    put("a.txt", "two\n");
    git(cat("git commit -qam second && git update-ref ", kRef, " HEAD"));
    CommitStream stream(kRef);
    stream.begin(head("late", first));
    stream.write("x", "100644", "x");
    const auto ids = all.import(std::move(stream));
    ASSERT_FALSE(ids);
    EXPECT_EQ(ids.error().reason(), "ref_moved");
    EXPECT_EQ(all.commit_of(kRef).value(), all.commit_of("HEAD").value());
}

TEST_F(GitRepository, ADirectoryBelowTheTopHasAPrefix) {
    std::filesystem::create_directories(root / "in/side");
    const Repository all = repository("in/side");
    EXPECT_EQ(all.prefix(), "in/side/");
    put(".gitignore", "*.log\n");
    put("in/side/kept.log", "");
    git("git add -f in/side/kept.log");
    const std::string paths[] = {"in/side/a.log", "in/side/b.txt", "in/side/kept.log"};
    EXPECT_EQ(all.ignored(paths).value(), std::vector<std::string>{"in/side/a.log"});
}

TEST_F(GitRepository, APathThatGitRefusesCountsAsIgnored) {
    std::filesystem::create_directory_symlink("/tmp", root / "out");
    const std::string paths[] = {"a.txt", "b.txt", "out/x", "c.txt"};
    EXPECT_EQ(repository().ignored(paths).value(), std::vector<std::string>{"out/x"});
}

TEST_F(GitRepository, HooksOfTheRepositoryDoNotRun) {
    put(".git/hooks/reference-transaction", cat("#!/bin/sh\ntouch '", root / "ran", "'\n"));
    std::filesystem::permissions(root / ".git/hooks/reference-transaction",
                                 std::filesystem::perms::owner_all);
    const Repository all = repository();
    CommitStream stream(kRef);
    stream.begin(head("first"));
    stream.write("x", "100644", "x");
    ASSERT_TRUE(all.import(std::move(stream)));
    EXPECT_FALSE(std::filesystem::exists(root / "ran"));
}

TEST_F(GitRepository, AFolderWithoutARepositoryIsNone) {
    TestDirectory bare;
    const auto found = Repository::find(bare.path(), clock);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().reason(), "no_repository");
}

TEST(GitRef, OnlyARefOfOurOwnMayBeWritten) {
    for (const char* const good : {"refs/quire/main", "refs/x/y/z", "refs/quire/\xc3\xa9"})
        EXPECT_TRUE(is_own_ref(good)) << good;
    for (const char* const bad :
         {"HEAD", "main", "refs/heads/main", "refs/tags/v1", "refs/remotes/origin/main", "refs/quire",
          "refs/quire/", "refs/quire/a..b", "refs/quire/.a", "refs/quire/a.lock", "refs/quire/a b",
          "refs/quire//a", "refs/quire/a~1", "refs/stash", "refs/quire/a\n", "refs/quire/a."})
        EXPECT_FALSE(is_own_ref(bad)) << bad;
}

}  // namespace
}  // namespace quire::git
