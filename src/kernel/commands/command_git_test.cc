// Commands that work on the repository of git in the workspace.
#include <chrono>
#include <future>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "kernel/commands/commands_test.h"
#include "process/shell_for_test.h"

namespace quire::kernel {
namespace {

using policy::Permission;
using shell::Enforcement;

// Commands in a repository with one commit, whose files agents may write.
class GitCommands : public Commands {
protected:
    void SetUp() override {
        Commands::SetUp();
        FileRules rules;
        rules.paths = policy::PathRules({rule("**", Permission::read_write)});
        gate->set_rules(std::move(rules));
        git("init -q -b main && git config user.name ada && git config user.email ada@x && "
            "git add src && git commit -q -m first");
    }
    std::string git(const std::string& words) {
        return process::typed(directory.path(), cat("git ", words));
    }
    std::string log() { return git("log --format=%s"); }
};

TEST_F(GitCommands, ACommitIsKept) {
    const auto made =
        run("echo 'int c;' > src/c.c; git add src/c.c; git commit -q -m second; "
            "git branch topic");
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->outcome.exit_code, 0) << made->outcome.output;
    EXPECT_TRUE(made->gate.notes.empty()) << made->gate.notes.front();
    EXPECT_EQ(log(), "second\nfirst\n");
    EXPECT_EQ(git("show topic:src/c.c"), "int c;\n");
    EXPECT_EQ(git("status --porcelain src"), "");
    git("fsck --strict");
    EXPECT_EQ(newest_actor("src/c.c"), "agent:ada");
}

// A command that sees copies of the files commits no more than the files that it changed, and leaves an index
// by which git still knows the others.
TEST_F(GitCommands, TheIndexKnowsTheFilesThatWereNotTouched) {
    for (int i = 0; i < 6000; ++i) {
        const auto made = run("true");
        if (made && made->on_generation) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    const auto made = run("echo 'int c;' > src/c.c; git add src/c.c; git commit -q -m second");
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_TRUE(made->on_generation);
    EXPECT_EQ(made->outcome.exit_code, 0) << made->outcome.errors;
    EXPECT_EQ(git("ls-files --debug src/a.c | grep -o 'ino: [0-9]*'"),
              process::typed(directory.path(), "stat -c 'ino: %i' src/a.c"));
    EXPECT_EQ(git("status --porcelain src"), "");
}

TEST_F(GitCommands, SettingsAndHooksAreProtected) {
    for (const char* const command : {
             "git config core.pager 'echo x'",
             "git commit -q --allow-empty -m x; printf x > .git/hooks/pre-commit",
             "git commit -q --allow-empty -m x; ln -s /bin/true .git/refs/heads/l",
             "git commit -q --allow-empty -m x; printf /tmp > .git/objects/info/alternates",
             "mv .git/HEAD .git/head; ln -s head .git/HEAD",
         }) {
        const std::string settings_before = directory.get(".git/config");
        const auto made = run(command);
        ASSERT_FALSE(made) << command;
        EXPECT_EQ(made.error().reason(), "permission_denied") << command;
        EXPECT_EQ(log(), "first\n") << command;
        EXPECT_EQ(directory.get(".git/config"), settings_before) << command;
        for (const char* const path :
             {".git/hooks/pre-commit", ".git/refs/heads/l", ".git/objects/info/alternates"})
            EXPECT_FALSE(directory.has(path)) << command;
    }
}

TEST_F(GitCommands, UnderWarnedTheRepositoryIsKeptWholeOrNotAtAll) {
    at(Enforcement::warned);
    const auto made =
        run("echo x > src/new; git commit -q --allow-empty -m x; git config a.b c; true");
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(log(), "first\n");
    EXPECT_EQ(directory.get("src/new"), "x\n");
    ASSERT_EQ(made->gate.notes.size(), 1U);
    EXPECT_NE(made->gate.notes[0].find("whole or not at all"), std::string::npos)
        << made->gate.notes[0];
    git("fsck --strict");
}

TEST_F(GitCommands, WhoMayNotWriteTheRepositoryCannotCommit) {
    FileRules rules;
    rules.paths = policy::PathRules({rule("src/**", Permission::read_write)});
    gate->set_rules(std::move(rules));
    EXPECT_EQ(kept("git commit -q --allow-empty -m x"), "permission_denied");
    EXPECT_EQ(log(), "first\n");
}

TEST_F(GitCommands, ACommitOfSomebodyElseMeanwhileIsNotLost) {
    auto other = std::async(std::launch::async, [this] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        git("commit -q --allow-empty -m other");
    });
    const auto made = run("git commit -q --allow-empty -m x; sleep 1");
    other.get();
    const std::string subjects = log();
    EXPECT_TRUE(subjects == "other\nfirst\n" || subjects == "x\nother\nfirst\n" ||
                subjects == "other\nx\nfirst\n")
        << subjects;
    git("fsck --strict");
    EXPECT_EQ(git("status --porcelain src"), "");
}

}  // namespace
}  // namespace quire::kernel
