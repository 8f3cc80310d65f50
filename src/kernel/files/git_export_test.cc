#include "kernel/files/git_export.h"

#include <fstream>

#include <gtest/gtest.h>

#include "base/test_directory.h"
#include "kernel/files/file_office_for_test.h"
#include "process/shell_for_test.h"

namespace quire::kernel {
namespace {

constexpr const char* kHistory = "refs/quire/history";

// Files in memory, exported to a real repository.
class Exporting : public ::testing::Test {
protected:
    Exporting() { git("git init -q -b main ."); }
    std::string git(const std::string& command) { return process::typed(root.path(), command); }
    Result<GitExported> exported(const std::string& by = "human:mel",
                                 const std::string& ref = kHistory) {
        return office.ask<GitExported>([&](auto reply) {
            export_to_git({*office.kernel, *office.gate, office.scheduler, root.path()},
                          {policy::Actor::parse(by).value(), 0, {}}, ref, std::move(reply));
        });
    }

    TestDirectory root;
    FileOffice office;
};

TEST_F(Exporting, EachVersionIsACommitOfItsActorInTheOrderOfTime) {
    office.files.put("a.txt", "one\n");
    office.clock.advance(1000);
    ASSERT_EQ(office.edit("a.txt", "one", "two"), "ok");
    office.clock.advance(1000);
    ASSERT_TRUE(office.create("free/b.txt", "b\n"));
    office.clock.advance(1000);
    ASSERT_EQ(office.edit("a.txt", "two", "three", "bob"), "ok");

    const auto made = exported();

    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->commits, 4U);
    EXPECT_EQ(made->files, (std::vector<std::string>{"a.txt", "free/b.txt"}));
    EXPECT_EQ(git(cat("git log --reverse --format='%an|%s' ", kHistory)),
              "source:disk|a.txt: disk\n"
              "agent:ada|a.txt: replace\n"
              "agent:ada|free/b.txt: create\n"
              "agent:bob|a.txt: replace\n");
    EXPECT_EQ(git(cat("git show ", kHistory, "~2:a.txt && git show ", kHistory, ":a.txt")),
              "two\nthree\n");
    EXPECT_EQ(git(cat("git ls-tree -r --name-only ", kHistory)), "a.txt\nfree/b.txt\n");
    EXPECT_EQ(git("git status --porcelain && git branch"), "");
    EXPECT_NE(git(cat("git log -1 --format=%B ", kHistory))
                  .find("Quire-Operation: agent:bob replace v3 a.txt\n"),
              std::string::npos);
}

TEST_F(Exporting, ADeletedFileHasItsVersionsAndThenACommitThatRemovesIt) {
    ASSERT_TRUE(office.create("free/gone.txt", "one\n"));
    office.clock.advance(1000);
    ASSERT_TRUE(office.create("free/back.txt", "back\n"));
    office.clock.advance(1000);
    ASSERT_TRUE(office.erase("free/gone.txt"));
    ASSERT_TRUE(office.erase("free/back.txt"));
    office.clock.advance(1000);
    ASSERT_TRUE(office.ask<Undone>([&](auto reply) {
        office.calls->undo(FileOffice::as("ada"), "free/back.txt", {}, std::move(reply));
    }));
    office.clock.advance(1000);
    ASSERT_TRUE(office.create("free/gone.txt", "another\n"));
    ASSERT_TRUE(office.erase("free/gone.txt"));

    const auto made = exported();

    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->files, (std::vector<std::string>{"free/back.txt", "free/gone.txt"}));
    EXPECT_EQ(git(cat("git log --reverse --format='%s' ", kHistory)),
              "free/gone.txt: create\n"
              "free/back.txt: create\n"
              "free/gone.txt: delete\n"
              "free/back.txt: delete\n"
              "free/back.txt: undo of delete\n"
              "free/gone.txt: create\n"
              "free/gone.txt: delete\n");
    EXPECT_EQ(git(cat("git ls-tree -r --name-only ", kHistory, "~6")), "free/gone.txt\n");
    EXPECT_EQ(git(cat("git ls-tree -r --name-only ", kHistory)), "free/back.txt\n");
    EXPECT_EQ(git(cat("git show ", kHistory, ":free/back.txt")), "back\n");
    EXPECT_EQ(git(cat("git show ", kHistory, "~1:free/gone.txt")), "another\n");
}

TEST_F(Exporting, ARefThatIsThereOrIsNotOursIsRefused) {
    office.files.put("a.txt", "one\n");
    ASSERT_EQ(office.edit("a.txt", "one", "two"), "ok");
    ASSERT_TRUE(exported());
    EXPECT_EQ(office.reason(exported()), "ref_exists");
    EXPECT_EQ(office.reason(exported("human:mel", "refs/heads/main")), "invalid_argument");
    EXPECT_EQ(office.reason(exported("agent:ada", "refs/quire/other")), "permission_denied");
}

TEST_F(Exporting, FilesThatGitIgnoresAreLeftOut) {
    std::ofstream(root / ".gitignore") << "*.log\n";
    EXPECT_EQ(office.reason(exported()), "no_history");
    office.files.put("a.log", "one\n");
    ASSERT_EQ(office.edit("a.log", "one", "two"), "ok");
    EXPECT_EQ(office.reason(exported()), "no_history");
    office.files.put("a.txt", "one\n");
    ASSERT_EQ(office.edit("a.txt", "one", "two"), "ok");
    const auto made = exported();
    ASSERT_TRUE(made);
    EXPECT_EQ(made->ignored, std::vector<std::string>{"a.log"});
    EXPECT_EQ(made->files, std::vector<std::string>{"a.txt"});
}

}  // namespace
}  // namespace quire::kernel
