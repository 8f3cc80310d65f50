#include "kernel/files/git_flush.h"

#include <fstream>

#include <gtest/gtest.h>

#include "base/test_directory.h"
#include "git/repository.h"
#include "kernel/files/file_office_for_test.h"
#include "process/shell_for_test.h"

namespace quire::kernel {
namespace {

constexpr const char* kRef = "refs/quire/main";

// Files in memory, flushed to a real repository.
class Flush : public ::testing::Test {
protected:
    Flush() {
        git("git init -q -b main . && git config user.name mel && git config user.email m@x");
        std::ofstream(root / "theirs.txt") << "theirs\n";
        git("git add theirs.txt && git commit -qm first");
        open();
    }
    ~Flush() override { flush.reset(); }
    Flush(const Flush&) = delete;
    Flush& operator=(const Flush&) = delete;

    void open() {
        flush = std::make_unique<GitFlush>(GitFlush::Parts{
            *office.kernel, *office.gate, office.scheduler, root.path(), {}});
        flush->set(GitFlushSettings{kRef, 3'600'000});
    }
    std::string git(const std::string& command) { return process::typed(root.path(), command); }
    GitFlushed flushed() {
        auto made = office.ask<GitFlushed>([&](auto reply) { flush->flush(std::move(reply)); });
        EXPECT_TRUE(made) << (made ? "" : made.error().message());
        return made ? *made : GitFlushed{};
    }
    std::string at_ref(const std::string& path) { return git(cat("git show ", kRef, ":", path)); }
    std::string message() { return git(cat("git log -1 --format=%an%n%B ", kRef)); }

    TestDirectory root;
    FileOffice office;
    std::unique_ptr<GitFlush> flush;
};

using Paths = std::vector<std::string>;

TEST_F(Flush, EditsThatAreNotSavedAreCommittedWithTheirActor) {
    office.files.put("a.txt", "one\n");
    ASSERT_EQ(office.edit("a.txt", "one", "two"), "ok");
    const GitFlushed made = flushed();
    EXPECT_EQ(made.files, Paths{"a.txt"});
    EXPECT_EQ(at_ref("a.txt"), "two\n");
    EXPECT_EQ(at_ref("theirs.txt"), "theirs\n");
    const std::string said = message();
    EXPECT_TRUE(said.starts_with("agent:ada\na.txt\n")) << said;
    EXPECT_NE(said.find("Quire-Actor: agent:ada\n"), std::string::npos) << said;
    EXPECT_NE(said.find("Quire-Operation: agent:ada replace v2 a.txt\n"), std::string::npos) << said;
    EXPECT_EQ(git("git log --format=%s -1 HEAD && git status --porcelain && git fsck 2>&1"),
              "first\n");
    EXPECT_EQ(office.disk("a.txt"), "one\n");
}

TEST_F(Flush, WithoutAChangeThereIsNoCommit) {
    office.files.put("a.txt", "one\n");
    ASSERT_EQ(office.edit("a.txt", "one", "two"), "ok");
    const std::string tip = flushed().commit;
    const GitFlushed again = flushed();
    EXPECT_EQ(again.commit, tip);
    EXPECT_EQ(again.files, Paths{});
    open();  // A new kernel does not know what was flushed, and finds it in the ref.
    EXPECT_EQ(flushed().commit, tip);
}

TEST_F(Flush, ACommitNamesOnlyWhatCameSinceTheLast) {
    office.files.put("a.txt", "one\n");
    ASSERT_EQ(office.edit("a.txt", "one", "two"), "ok");
    flushed();
    office.clock.advance(100'000);
    open();
    ASSERT_EQ(office.edit("a.txt", "two", "three", "bob"), "ok");
    flushed();
    EXPECT_EQ(message().find("agent:ada"), std::string::npos) << message();
    EXPECT_NE(message().find("agent:bob replace v3 a.txt"), std::string::npos) << message();
}

TEST_F(Flush, ADeletedFileLeavesTheTree) {
    ASSERT_TRUE(office.create("free/a.txt", "one\n"));
    flushed();
    EXPECT_EQ(at_ref("free/a.txt"), "one\n");
    ASSERT_TRUE(office.erase("free/a.txt"));
    EXPECT_EQ(flushed().files, Paths{"free/a.txt"});
    EXPECT_EQ(git(cat("git ls-tree -r --name-only ", kRef)), "theirs.txt\n");
}

TEST_F(Flush, AFileThatGitIgnoresIsLeftOut) {
    std::ofstream(root / ".gitignore") << "*.log\n";
    office.files.put("a.log", "one\n");
    ASSERT_EQ(office.edit("a.log", "one", "two"), "ok");
    const GitFlushed made = flushed();
    EXPECT_EQ(made.files, Paths{});
    EXPECT_EQ(made.ignored, Paths{"a.log"});
}

TEST_F(Flush, WhatHeadHasGotSinceComesInAsASecondParent) {
    office.files.put("a.txt", "one\n");
    ASSERT_EQ(office.edit("a.txt", "one", "two"), "ok");
    flushed();
    std::ofstream(root / "theirs.txt") << "newer\n";
    std::ofstream(root / "a.txt") << "committed by a person\n";
    git("git add . && git commit -qm second");
    ASSERT_EQ(office.edit("a.txt", "two", "three"), "ok");
    flushed();
    EXPECT_EQ(at_ref("theirs.txt"), "newer\n");
    EXPECT_EQ(at_ref("a.txt"), "three\n");
    EXPECT_EQ(git(cat("git rev-parse ", kRef, "^2")), git("git rev-parse HEAD"));
}

TEST_F(Flush, AMergeInProgressIsLeftAlone) {
    git("git checkout -qb other && echo x > theirs.txt && git commit -qam x && git checkout -q main "
        "&& echo y > theirs.txt && git commit -qam y && ! git merge -q other");
    const std::string before = git("git status --porcelain=v2 && cat .git/MERGE_HEAD && cat theirs.txt");
    office.files.put("a.txt", "one\n");
    ASSERT_EQ(office.edit("a.txt", "one", "two"), "ok");
    EXPECT_EQ(flushed().files, Paths{"a.txt"});
    EXPECT_EQ(git("git status --porcelain=v2 && cat .git/MERGE_HEAD && cat theirs.txt"), before);
}

TEST_F(Flush, ARepositoryWithoutACommitGetsAFirstOne) {
    git("rm -rf .git && git init -q -b main .");
    office.files.put("a.txt", "one\n");
    ASSERT_EQ(office.edit("a.txt", "one", "two"), "ok");
    flushed();
    EXPECT_EQ(git(cat("git rev-list --count ", kRef, " && git ls-tree --name-only ", kRef)),
              "1\na.txt\n");
}

TEST_F(Flush, WithoutARefOrARepositoryItSaysSo) {
    flush->set(std::nullopt);
    const auto ask = [&] {
        return FileOffice::reason(
            office.ask<GitFlushed>([&](auto reply) { flush->flush(std::move(reply)); }));
    };
    EXPECT_EQ(ask(), "no_git_ref");
    git("rm -rf .git");
    flush->set(GitFlushSettings{kRef, 1000});
    EXPECT_EQ(ask(), "no_repository");
}

TEST_F(Flush, TheEndFlushesWhatIsLeft) {
    office.files.put("a.txt", "one\n");
    ASSERT_EQ(office.edit("a.txt", "one", "two"), "ok");
    EXPECT_TRUE(office.ask<void>([&](auto reply) { flush->stop(std::move(reply)); }));
    EXPECT_EQ(at_ref("a.txt"), "two\n");
}

}  // namespace
}  // namespace quire::kernel
