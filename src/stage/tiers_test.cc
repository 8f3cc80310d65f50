// The tiers below `staged`: what each of them promises, and a way out that it closes. Each test shows first
// that the way is open without it.
#include "stage/tiers.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/concat.h"
#include "base/test_directory.h"
#include "process/following.h"
#include "process/spawn.h"
#include "stage/stage.h"

namespace quire::stage {
namespace {

class InTier : public ::testing::TestWithParam<Tier> {
protected:
    InTier() {
        directory.put("w/a.txt", "one\n");
        directory.put("w/sub/b.txt", "two\n");
        directory.put("w/secret", "hidden\n");
        directory.put("w/.gitignore", "build/\n");
        directory.put("w/build/out", "built\n");
        directory.put("w/.quire/state", "kernel\n");
        directory.put("outside.txt", "outside\n");
        workspace = directory / "w";
    }
    void SetUp() override {
        for (const TierFinding& each : find_tiers(workspace, workspace, clock)) {
            if (each.tier == GetParam() && !each.works())
                GTEST_SKIP() << "this machine has no tier " << name_of(each.tier) << ": "
                             << each.why_not;
        }
    }
    Result<StageOutcome> run(const std::string& command, StageLimits limits = {}) {
        Stage stage = TRY(Stage::make_copy(workspace, hidden, GetParam(), 64U << 20));
        StageOutcome out = TRY(stage.run({command, workspace, "", false, limits}, clock, {}));
        changed.clear();
        for (const StagedChange& each : TRY(stage.changes(hidden, out)))
            cat_to(changed,
                   cat(name_of(each.kind), " ", each.path, each.raced ? " raced" : "", "\n"));
        return out;
    }
    std::string printed(const std::string& command) {
        const Result<StageOutcome> out = run(cat("exec 2>&1; ", command));
        return out ? out->output : out.error().message();
    }
    // Returns true if a command does something outside of every tier.
    bool works_bare(const std::string& command) {
        const auto done = process::run_program(
            {{"/bin/bash", "-c", command}, directory.path(), {"PATH=/usr/bin:/bin"}}, {}, clock,
            {});
        return done && done->exit_code == 0;
    }
    bool fails(const std::string& command) {
        const Result<StageOutcome> out = run(command);
        return out && out->exit_code != 0;
    }

    TestDirectory directory;
    std::string workspace;
    std::vector<std::string> hidden = {"secret"};
    std::string changed;
    SystemClock clock;
};

INSTANTIATE_TEST_SUITE_P(Tiers, InTier,
                         ::testing::Values(Tier::bubblewrap, Tier::landlock, Tier::observed),
                         [](const auto& each) { return std::string(name_of(each.param)); });

TEST_P(InTier, ACommandChangesOnlyItsCopyAndEachChangeIsFound) {
    directory.put("w/run.sh", "true\n");
    directory.put("w/gone/deep/x", "x\n");
    directory.link("w/l", "a.txt");
    const auto out = run(
        "cat a.txt build/out; echo new > a.txt; rm -r gone; mkdir -p made/in; echo x > made/in/c; "
        "ln -sf sub l; ln -s a.txt other; mv sub/b.txt sub/c.txt; echo y > build/out; exit 3");
    ASSERT_TRUE(out) << out.error().message();
    EXPECT_EQ(out->output, "one\nbuilt\n");
    EXPECT_EQ(out->exit_code, 3);
    EXPECT_EQ(changed,
              "modified a.txt\nmodified build/out\ndeleted gone\ndeleted gone/deep\n"
              "deleted gone/deep/x\nlink l\ndirectory made\ndirectory made/in\ncreated made/in/c\n"
              "link other\ndeleted sub/b.txt\ncreated sub/c.txt\n");
    EXPECT_EQ(directory.get("w/a.txt"), "one\n");
    EXPECT_EQ(directory.get("w/build/out"), "built\n");
    EXPECT_TRUE(directory.has("w/gone/deep/x"));
    EXPECT_TRUE(std::filesystem::is_empty(directory / "w/.quire/stages"));
}

TEST_P(InTier, WhatIsWrittenAgainWithTheSameBytesIsNoChange) {
    ASSERT_TRUE(run("cp a.txt /dev/null; cat a.txt > x; cat x > a.txt; rm x"));
    EXPECT_EQ(changed, "");
}

TEST_P(InTier, HiddenFilesAndTheKernelsDirectoryAreNotThere) {
    EXPECT_EQ(printed("cat secret 2>/dev/null; ls -A"), ".gitignore\na.txt\nbuild\nsub\n");
    EXPECT_EQ(printed("echo mine > secret; cat secret"), "mine\n");
    EXPECT_EQ(changed, "modified secret\n");
    EXPECT_EQ(directory.get("w/secret"), "hidden\n");
}

TEST_P(InTier, AFileThatOthersChangeMeanwhileIsTold) {
    Result<Stage> stage = Stage::make_copy(workspace, {}, GetParam(), 64U << 20);
    ASSERT_TRUE(stage) << stage.error().message();
    const auto out =
        stage->run({"echo mine > a.txt; rm sub/b.txt; echo x > n", workspace}, clock, {});
    ASSERT_TRUE(out) << out.error().message();
    directory.put("w/a.txt", "theirs\n");
    directory.put("w/n", "theirs\n");
    const auto changes = stage->changes({}, *out);
    ASSERT_TRUE(changes);
    ASSERT_EQ(changes->size(), 3U);
    EXPECT_TRUE((*changes)[0].raced);
    EXPECT_TRUE((*changes)[1].raced);
    EXPECT_FALSE((*changes)[2].raced);
}

TEST_P(InTier, EverythingThatItStartedEndsWithIt) {
    const std::int64_t began = clock.steady_ms();
    // A duration by which these are told from all others.
    const std::string sleeps = cat("sleep 30.", ::getpid());
    ASSERT_TRUE(run(cat("(", sleeps, " &) ; setsid ", sleeps, " & echo done")));
    EXPECT_FALSE(works_bare(cat("pgrep -fx '", sleeps, "'")));
    StageLimits limits;
    limits.timeout_ms = 1000;
    const auto out = run(cat("echo begun; (", sleeps, " &); ", sleeps), limits);
    ASSERT_TRUE(out) << out.error().message();
    EXPECT_EQ(out->end, StageEnd::timed_out);
    EXPECT_EQ(out->output, "begun\n");
    EXPECT_LT(clock.steady_ms() - began, 20'000);
    EXPECT_FALSE(works_bare(cat("pgrep -fx '", sleeps, "'")));
}

TEST_P(InTier, ACopyThatIsTooLargeIsRefused) {
    directory.put("w/large", std::string(std::size_t{4} << 20, 'x'));
    const auto made = Stage::make_copy(workspace, {}, GetParam(), 1U << 20);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().reason(), "too_large");
    EXPECT_TRUE(std::filesystem::is_empty(directory / "w/.quire/stages"));
}

// `observed` promises neither of these.
class InClosedTier : public InTier {};
INSTANTIATE_TEST_SUITE_P(Tiers, InClosedTier, ::testing::Values(Tier::bubblewrap, Tier::landlock),
                         [](const auto& each) { return std::string(name_of(each.param)); });

TEST_P(InClosedTier, NothingOutsideCanBeChanged) {
    const std::string outside = directory / "outside.txt";
    for (const std::string& command :
         {cat("echo x >> ", outside), cat("rm ", directory / "w2/f"), cat("chmod 777 ", outside),
          cat("touch -d 2001-01-01 ", outside), cat("mv ", outside, " ", outside, ".moved"),
          cat("ln ", outside, " ", directory / "hard"), cat("truncate -s 0 ", outside),
          cat("echo x > ", directory / "w/a.txt"), cat("mkdir ", directory / "made")}) {
        directory.put("w2/f", "f\n");
        ASSERT_TRUE(works_bare(command)) << command;
        directory.erase("made");
        directory.erase("hard");
        directory.erase("outside.txt.moved");
        directory.put("outside.txt", "outside\n");
        directory.put("w/a.txt", "one\n");
        directory.put("w2/f", "f\n");
        ::chmod(outside.c_str(), 0644);
        struct stat before {};
        ASSERT_EQ(::stat(outside.c_str(), &before), 0);
        // A command with a /tmp of its own may do there what it likes.
        ASSERT_TRUE(run(command)) << command;
        struct stat after {};
        ASSERT_EQ(::stat(outside.c_str(), &after), 0) << command;
        EXPECT_EQ(after.st_mode, before.st_mode) << command;
        EXPECT_EQ(after.st_mtim.tv_sec, before.st_mtim.tv_sec) << command;
        EXPECT_EQ(after.st_nlink, before.st_nlink) << command;
        EXPECT_EQ(directory.get("outside.txt"), "outside\n") << command;
        EXPECT_EQ(directory.get("w/a.txt"), "one\n") << command;
        EXPECT_TRUE(directory.has("w2/f")) << command;
        EXPECT_FALSE(directory.has("made")) << command;
    }
}

TEST_P(InClosedTier, TheWorkspaceItselfCannotBeRead) {
    ASSERT_TRUE(works_bare(cat("cat ", directory / "w/secret")));
    EXPECT_TRUE(fails(cat("cat ", directory / "w/secret")));
    EXPECT_TRUE(fails(cat("cat ", directory / "w/.quire/state")));
    EXPECT_TRUE(fails(cat("ls ", directory / "w/.quire/stages")));
}

TEST_P(InClosedTier, ProcessesOutsideCannotBeReached) {
    EXPECT_TRUE(fails(cat("kill -0 ", ::getpid())));
    EXPECT_TRUE(fails(cat("cat /proc/", ::getpid(), "/environ")));
    EXPECT_TRUE(fails("unshare -U true"));
    EXPECT_EQ(printed("grep -h NoNewPrivs /proc/self/status; grep -h CapEff /proc/self/status"),
              "NoNewPrivs:\t1\nCapEff:\t0000000000000000\n");
}

// Ways to a signal that are no kill(): to a thread, and to the owner of a socket's events.
TEST_P(InClosedTier, NoSignalReachesAProcessOutside) {
    // The tests' packages have it.
    ASSERT_EQ(std::system("command -v python3 >/dev/null"), 0);
    directory.put("w/signal.py",
                  "import ctypes, fcntl, os, socket, sys\n"
                  "pid = int(sys.argv[2])\n"
                  "if sys.argv[1] == 'thread':\n"
                  "    sys.exit(0 if ctypes.CDLL(None).tgkill(pid, pid, 15) == 0 else 1)\n"
                  "a, b = socket.socketpair()\n"
                  "fcntl.fcntl(a, fcntl.F_SETOWN, pid)\n"
                  "fcntl.fcntl(a, 10, 15)\n"
                  "fcntl.fcntl(a, fcntl.F_SETFL, os.O_ASYNC)\n"
                  "b.send(b'x')\n");
    for (const std::string way : {"thread", "socket"}) {
        // Returns true if a process outlives the command for `looks` times 20 ms: a signal takes its
        // time, most of all where a sanitizer's memory has to be given back.
        const auto outlives = [&](const std::string& in, int looks, auto run_it) {
            const pid_t child = ::fork();
            if (child == 0) {
                ::pause();
                ::_exit(0);
            }
            run_it(cat("python3 ", in, "signal.py ", way, " ", child));
            bool is_alive = true;
            for (int i = 0; i < looks && is_alive; ++i) {
                ::usleep(20'000);
                is_alive = ::waitpid(child, nullptr, WNOHANG) == 0;
            }
            if (is_alive) {
                ::kill(child, SIGKILL);
                ::waitpid(child, nullptr, 0);
            }
            return is_alive;
        };
        EXPECT_FALSE(outlives(directory / "w/", 500, [&](const auto& c) { works_bare(c); })) << way;
        EXPECT_TRUE(outlives("", 10, [&](const auto& c) { static_cast<void>(run(c)); })) << way;
    }
}

TEST_P(InClosedTier, ThereIsNoNetwork) {
    // The tests' packages have it.
    ASSERT_EQ(std::system("command -v python3 >/dev/null"), 0);
    EXPECT_TRUE(fails("python3 -c 'import socket; socket.socket(socket.AF_UNIX)'"));
    EXPECT_TRUE(
        fails("python3 -c 'import socket; "
              "socket.create_connection((\"10.255.255.1\", 9), 2)'"));
}

TEST_P(InClosedTier, OurDescriptorsAndEnvironmentAreNotInherited) {
    ::setenv("QUIRE_TEST_TOKEN", "secret", 1);
    EXPECT_EQ(printed("env").find("secret"), std::string::npos);
    ::unsetenv("QUIRE_TEST_TOKEN");
    EXPECT_EQ(printed("exec ls /proc/self/fd"), "0\n1\n2\n3\n");
}

class Bubblewrapped : public InTier {};
INSTANTIATE_TEST_SUITE_P(Tiers, Bubblewrapped, ::testing::Values(Tier::bubblewrap),
                         [](const auto& each) { return std::string(name_of(each.param)); });

TEST_P(Bubblewrapped, TheCopyIsAtTheWorkspacesOwnPath) {
    EXPECT_EQ(printed(cat("pwd; cat ", workspace, "/a.txt; echo new > ", workspace, "/a.txt")),
              cat(workspace, "\none\n"));
    EXPECT_EQ(changed, "modified a.txt\n");
    EXPECT_EQ(printed("ls -A /run /home | grep -v : | tr -d '\\n'"), "");
}

}  // namespace
}  // namespace quire::stage
