// A staged command: its view, its changes, and each way out of its stage.
#include "stage/stage.h"

#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/concat.h"
#include "base/fd.h"
#include "base/test_directory.h"
#include "process/following.h"
#include "stage/changes.h"

namespace quire::stage {
namespace {

// A workspace, and commands that are run in it.
class Staging : public ::testing::Test {
protected:
    Staging() {
        directory.put("w/a.txt", "one\n");
        directory.put("w/sub/b.txt", "two\n");
        directory.put("w/.quire/secret", "kernel\n");
        directory.put("outside.txt", "outside\n");
        workspace = directory / "w";
    }
    void SetUp() override {
        const Result<StageOutcome> first = run("true");
        if (!first && first.error().reason() == "no_stage")
            GTEST_SKIP() << "this machine has no stage: " << first.error().message();
    }

    Result<StageOutcome> run(const std::string& command, StageLimits limits = {},
                             const std::string& input = "", bool network = false) {
        changed.clear();
        Result<Stage> stage = Stage::make(workspace, hidden);
        if (!stage) return Failure(stage.error());
        Result<StageOutcome> out =
            stage->run({command, workspace, input, network, limits}, clock, {});
        if (!out) return out;
        const auto changes = changes_in(workspace, stage->upper(), hidden, out->began_ns);
        if (!changes) return Failure(changes.error());
        for (const StagedChange& each : *changes) {
            static constexpr const char* kWords[] = {"created", "modified",  "deleted", "mode",
                                                     "link",    "directory", "special"};
            cat_to(changed, cat(kWords[static_cast<std::size_t>(each.kind)], " ", each.path,
                                each.target.empty() ? "" : " -> ", each.target,
                                each.raced ? " raced" : "", "\n"));
        }
        return out;
    }
    // Runs it and returns what it printed, on both streams.
    std::string printed(const std::string& command) {
        const Result<StageOutcome> out = run(cat("exec 2>&1; ", command));
        return out ? out->output : out.error().message();
    }
    // Returns true if the command fails, and the file outside stays as it is.
    bool fails(const std::string& command) {
        const Result<StageOutcome> out = run(command);
        return out && out->exit_code != 0 && directory.get("outside.txt") == "outside\n";
    }

    // Runs the command, and sends it a signal once it has printed "ready".
    Result<StageOutcome> signalled(const std::string& command, int signal) {
        std::string seen;
        bool sent = false;
        process::Following following;
        following.began = [] {};
        following.wrote = [&](std::string_view part) { seen += part; };
        following.turn = [&] {
            if (sent || seen.find("ready") == std::string::npos) return 0;
            sent = true;
            return signal;
        };
        Result<Stage> stage = Stage::make(workspace, hidden);
        if (!stage) return Failure(stage.error());
        StagedCommand what{command, workspace};
        what.one_stream = true;
        Result<StageOutcome> out = stage->run(what, clock, {}, &following);
        if (!out) return out;
        EXPECT_EQ(out->output, "");
        out->output = seen;
        return out;
    }

    TestDirectory directory;
    std::string workspace;
    std::vector<std::string> hidden;
    std::string changed;
    SystemClock clock;
};

TEST_F(Staging, ACommandChangesOnlyItsOwnCopy) {
    const auto out = run("echo new > a.txt; rm sub/b.txt; echo x > c; cat a.txt");
    ASSERT_TRUE(out) << out.error().message();
    EXPECT_EQ(out->output, "new\n");
    EXPECT_EQ(out->exit_code, 0);
    EXPECT_EQ(changed, "modified a.txt\ncreated c\ndeleted sub/b.txt\n");
    EXPECT_EQ(directory.get("w/a.txt"), "one\n");
    EXPECT_EQ(directory.get("w/sub/b.txt"), "two\n");
    EXPECT_FALSE(directory.has("w/c"));
}

TEST_F(Staging, OutputAndErrorsAreApart) {
    const auto out = run("cat; echo bad >&2; exit 7", {}, "from input\n");
    ASSERT_TRUE(out);
    EXPECT_EQ(out->output, "from input\n");
    EXPECT_EQ(out->errors, "bad\n");
    EXPECT_EQ(out->exit_code, 7);
}

TEST_F(Staging, TheEndOfALongOutputIsKept) {
    StageLimits limits;
    limits.output_bytes = 1000;
    const auto out = run("seq 1 100000", limits);
    ASSERT_TRUE(out);
    EXPECT_TRUE(out->output_cut);
    EXPECT_EQ(out->output.size(), 1000U);
    EXPECT_TRUE(out->output.ends_with("99999\n100000\n"));
}

TEST_F(Staging, FilesOutsideAreReadOnly) {
    // It lies in /tmp, which is the command's own.
    ASSERT_TRUE(run(cat("echo x > ", directory / "outside.txt")));
    EXPECT_EQ(directory.get("outside.txt"), "outside\n");
    EXPECT_TRUE(fails("echo x > /etc/quire-was-here"));
    EXPECT_TRUE(fails("echo x >> /etc/passwd"));
    EXPECT_TRUE(fails("touch /usr/quire-was-here"));
    EXPECT_TRUE(fails("mount -o remount,rw /"));
    EXPECT_TRUE(fails("mknod dev b 8 0"));
    EXPECT_TRUE(fails("mknod white c 0 0"));
    EXPECT_TRUE(fails("chmod 777 /etc"));
}

TEST_F(Staging, WhatOthersHaveIsOutOfSight) {
    // Temporary files of others, their homes, and the sockets of servers.
    EXPECT_EQ(printed(cat("ls ", directory / "outside.txt", " || echo gone")).find("gone") ==
                  std::string::npos,
              false);
    EXPECT_EQ(printed("ls /run /home | grep -v : | tr -d '\\n'"), "");
    EXPECT_EQ(printed("ls -A .quire"), "");
    EXPECT_TRUE(fails("cat .quire/secret"));
    EXPECT_TRUE(fails("rm -rf .quire"));
    EXPECT_TRUE(fails("mv .quire q"));
}

TEST_F(Staging, AHomeInAMaskedPlaceIsEmptyToo) {
    const std::string before = std::getenv("HOME");
    directory.put("people/ada/notes", "mine\n");
    ::setenv("HOME", (directory / "people/ada").c_str(), 1);
    EXPECT_EQ(printed("ls ~; echo x > ~/f; cat ~/f; cat a.txt"), "x\none\n");
    ::setenv("HOME", before.c_str(), 1);
}

TEST_F(Staging, ProgramsBelowTheHomeCanBeRunAndSecretsBesideThemNotBeRead) {
    const std::string home = std::getenv("HOME");
    const std::string path = std::getenv("PATH");
    directory.put("ada/.tools/bin/greet", "#!/bin/sh\ncat ~/.tools/lib/words\n");
    std::filesystem::permissions(directory / "ada/.tools/bin/greet",
                                 std::filesystem::perms::owner_all);
    directory.put("ada/.tools/lib/words", "hello\n");
    directory.put("ada/.tools/credentials", "secret\n");
    directory.put("ada/.ssh/id", "secret\n");
    ::setenv("HOME", (directory / "ada").c_str(), 1);
    ::setenv("PATH", cat(directory / "ada/.tools/bin", ":", path).c_str(), 1);
    const auto out =
        run("greet; ls -A ~ ~/.tools; cat ~/.tools/credentials ~/.ssh/id; "
            "echo x > ~/.tools/bin/greet");
    ASSERT_TRUE(out);
    EXPECT_EQ(out->output, cat("hello\n", directory / "ada:\n.tools\n\n",
                               directory / "ada/.tools:\nbin\nlib\n"));
    EXPECT_EQ(directory.get("ada/.tools/bin/greet"), "#!/bin/sh\ncat ~/.tools/lib/words\n");
    ::setenv("HOME", home.c_str(), 1);
    ::setenv("PATH", path.c_str(), 1);
}

TEST_F(Staging, ItsOwnPlacesAreEmptyAndWritable) {
    // A user without a home has /tmp for it.
    EXPECT_EQ(printed("echo x > /tmp/f && cat /tmp/f; echo y > ~/f && cat ~/f; echo z > /dev/null"),
              "x\ny\n");
    EXPECT_EQ(changed, "");
    EXPECT_EQ(printed("ls /tmp/f ~/f 2>/dev/null"), "");
}

TEST_F(Staging, ProcessesOutsideCannotBeSeenOrReached) {
    EXPECT_EQ(printed(cat("kill -0 ", ::getpid(), " && echo reached || echo no")).find("no\n") !=
                  std::string::npos,
              true);
    EXPECT_TRUE(fails(cat("cat /proc/", ::getpid(), "/environ")));
    // The first process is a copy of the kernel.
    EXPECT_TRUE(fails("cat /proc/1/environ"));
    EXPECT_TRUE(fails("cat /proc/1/maps"));
    EXPECT_EQ(printed("kill -9 1; echo alive"), "alive\n");
}

// The user root may write these without any capability.
TEST_F(Staging, TheSystemsSettingsCannotBeChanged) {
    for (const char* const path :
         {"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger",
          "/proc/sys/vm/drop_caches", "/sys/kernel/uevent_helper", "/sys/power/state"}) {
        EXPECT_EQ(printed(cat("test -w ", path, " && echo writable")), "") << path;
    }
    EXPECT_EQ(printed("echo seen > /dev/stdout"), "seen\n");
}

TEST_F(Staging, NoRightsCanBeGained) {
    EXPECT_TRUE(fails("unshare -U true"));
    EXPECT_TRUE(fails("unshare -m true"));
    EXPECT_EQ(printed("grep -h CapEff /proc/self/status"), "CapEff:\t0000000000000000\n");
    EXPECT_EQ(printed("grep -h NoNewPrivs /proc/self/status"), "NoNewPrivs:\t1\n");
    EXPECT_EQ(printed("grep -h Seccomp: /proc/self/status"), "Seccomp:\t2\n");
}

TEST_F(Staging, OurDescriptorsAndEnvironmentAreNotInherited) {
    ::setenv("QUIRE_TEST_TOKEN", "secret", 1);
    ::setenv("BASH_ENV", "/etc/passwd", 1);
    const std::string seen = printed("env");
    ::unsetenv("QUIRE_TEST_TOKEN");
    ::unsetenv("BASH_ENV");
    EXPECT_EQ(seen.find("secret"), std::string::npos) << seen;
    EXPECT_EQ(seen.find("BASH_ENV"), std::string::npos) << seen;
    EXPECT_EQ(printed("exec ls /proc/self/fd"), "0\n1\n2\n3\n");
}

TEST_F(Staging, ThereIsNoNetworkButItsOwn) {
    // The tests' packages have it.
    ASSERT_EQ(std::system("command -v python3 >/dev/null"), 0);
    const std::string dials =
        "python3 -c 'import socket; socket.create_connection((\"10.255.255.1\", 9), 2)'";
    EXPECT_NE(printed(dials).find("unreachable"), std::string::npos);
    EXPECT_EQ(printed("python3 -c 'import socket\n"
                      "s = socket.create_server((\"127.0.0.1\", 0))\n"
                      "c = socket.create_connection(s.getsockname())\nprint(\"met\")'"),
              "met\n");
    // A socket of the file system would reach a server outside through a read-only mount too.
    for (const char* const family : {"AF_UNIX", "AF_PACKET", "AF_VSOCK", "AF_ALG"}) {
        EXPECT_TRUE(fails(cat("python3 -c 'import socket; socket.socket(socket.", family, ")'")))
            << family;
    }
}

TEST_F(Staging, TheTimeLimitEndsEverything) {
    StageLimits limits;
    limits.timeout_ms = 2000;
    const auto out = run("echo begun; setsid sleep 100 & sleep 100", limits);
    ASSERT_TRUE(out);
    EXPECT_EQ(out->end, StageEnd::timed_out);
    EXPECT_EQ(out->output, "begun\n");
}

TEST_F(Staging, OrphansEndWithTheirCommand) {
    const std::int64_t began = clock.steady_ms();
    const auto out = run("(setsid sleep 100 &) ; echo done");
    ASSERT_TRUE(out);
    EXPECT_EQ(out->output, "done\n");
    EXPECT_EQ(out->end, StageEnd::exited);
    EXPECT_LT(clock.steady_ms() - began, 20'000);
}

TEST_F(Staging, AForkBombEndsWithinItsLimit) {
    StageLimits limits;
    limits.processes = 50;
    limits.timeout_ms = 20'000;
    const auto out = run(":(){ :|:& }; :; sleep 15", limits);
    ASSERT_TRUE(out);
    EXPECT_EQ(out->end, StageEnd::processes);
}

TEST_F(Staging, ADiskFillerEndsWithinItsLimit) {
    StageLimits limits;
    limits.disk_bytes = 4 << 20;
    limits.timeout_ms = 20'000;
    const auto out = run(
        "i=0; while :; do head -c 1000000 /dev/zero > f$i || exit 3; i=$((i+1)); sleep 0.02; done",
        limits);
    ASSERT_TRUE(out);
    EXPECT_EQ(out->end, StageEnd::disk);
}

TEST_F(Staging, StagesShareTheDiskTheyMayUse) {
    StageLimits limits;
    limits.disk_bytes = 8 << 20;
    limits.timeout_ms = 20'000;
    // Its changes wait, as those of a command about which a person is asked.
    Result<Stage> waiting = Stage::make(workspace, {});
    ASSERT_TRUE(waiting);
    ASSERT_TRUE(waiting->run({"head -c 6000000 /dev/zero > held", workspace, "", false, limits},
                             clock, {}));
    const std::string fills =
        "for i in 1 2 3 4; do head -c 1000000 /dev/zero > f$i; done; sleep 10";
    EXPECT_EQ(run(fills, limits)->end, StageEnd::disk);
    EXPECT_EQ(run("echo little > f; sleep 1", limits)->end, StageEnd::exited);
    { const Stage over = std::move(*waiting); }
    EXPECT_EQ(
        run("for i in 1 2 3 4; do head -c 1000000 /dev/zero > f$i; done; sleep 1", limits)->end,
        StageEnd::exited);
}

TEST_F(Staging, MemoryEndsWithinItsLimit) {
    StageLimits limits;
    limits.memory_bytes = 64 << 20;
    limits.timeout_ms = 20'000;
    // One process alone is refused more, and several together are ended.
    const auto out = run("f() { local s=$(head -c 200000000 /dev/zero | tr '\\0' x); }; f", limits);
    ASSERT_TRUE(out);
    EXPECT_NE(out->exit_code, 0);
}

TEST_F(Staging, AStopEndsTheCommand) {
    Result<Stage> stage = Stage::make(workspace, {});
    ASSERT_TRUE(stage);
    std::stop_source stopping;
    stopping.request_stop();
    const auto out = stage->run({"sleep 100", workspace}, clock, stopping.get_token());
    ASSERT_TRUE(out);
    EXPECT_EQ(out->end, StageEnd::stopped);
}

TEST_F(Staging, HiddenFilesAreNotThere) {
    hidden = {"a.txt", "sub/b.txt"};
    EXPECT_EQ(printed("find . -name '*.txt'; ls -A sub"), "");
    EXPECT_EQ(changed, "");
    EXPECT_EQ(printed("echo mine > a.txt; cat a.txt"), "mine\n");
    EXPECT_EQ(changed, "modified a.txt\n");
}

TEST_F(Staging, HiddenFilesStayWhereTheirDirectoryIsDeletedOrMoved) {
    directory.put("w/in/secret", "s\n");
    directory.put("w/in/deep/plain", "p\n");
    directory.put("w/in/plain", "p\n");
    hidden = {"in/secret"};
    ASSERT_TRUE(run("rm -r in"));
    EXPECT_EQ(changed, "deleted in/deep\ndeleted in/deep/plain\ndeleted in/plain\n");
    ASSERT_TRUE(run("mv in to"));
    EXPECT_EQ(changed,
              "deleted in/deep\ndeleted in/deep/plain\ndeleted in/plain\ndirectory to\n"
              "directory to/deep\ncreated to/deep/plain\ncreated to/plain\n");
    ASSERT_TRUE(run("rm -r in; mkdir in; echo n > in/new"));
    EXPECT_EQ(changed,
              "deleted in/deep\ndeleted in/deep/plain\ncreated in/new\ndeleted in/plain\n");
}

TEST_F(Staging, EveryKindOfChangeIsFound) {
    directory.put("w/run.sh", "true\n");
    directory.put("w/gone/x", "x\n");
    directory.put("w/gone/deep/y", "y\n");
    directory.put("w/anew/old", "x\n");
    directory.link("w/l", "a.txt");
    ASSERT_TRUE(
        run("chmod +x run.sh; rm -r gone; rm -r anew; mkdir anew; echo n > anew/new; "
            "mkdir -p empty/in; ln -s a.txt made; ln -sf sub l; mkfifo pipe; touch a.txt; "
            "cp a.txt copy; mv sub/b.txt sub/c.txt"));
    EXPECT_EQ(changed,
              "created anew/new\ndeleted anew/old\ncreated copy\ndirectory empty\n"
              "directory empty/in\ndeleted gone\ndeleted gone/deep\ndeleted gone/deep/y\n"
              "deleted gone/x\nlink l -> sub\nlink made -> a.txt\nspecial pipe\nmode run.sh\n"
              "deleted sub/b.txt\ncreated sub/c.txt\n");
}

TEST_F(Staging, AThingOfAnotherKindIsDeletedAndCreated) {
    directory.link("w/l", "a.txt");
    directory.put("w/d/x", "x\n");
    ASSERT_TRUE(run("rm l; echo x > l; rm a.txt; ln -s sub a.txt; rm -r d; echo d > d"));
    EXPECT_EQ(changed,
              "deleted a.txt\nlink a.txt -> sub\ndeleted d\ncreated d\ndeleted d/x\n"
              "deleted l\ncreated l\n");
}

TEST_F(Staging, AFileThatChangedMeanwhileIsTold) {
    Result<Stage> stage = Stage::make(workspace, {});
    ASSERT_TRUE(stage);
    const auto out = stage->run({"echo mine > a.txt; echo mine > sub/b.txt", workspace}, clock, {});
    ASSERT_TRUE(out);
    directory.put("w/a.txt", "theirs\n");
    const auto changes = changes_in(workspace, stage->upper(), {}, out->began_ns);
    ASSERT_TRUE(changes);
    ASSERT_EQ(changes->size(), 2U);
    EXPECT_TRUE((*changes)[0].raced);
    EXPECT_FALSE((*changes)[1].raced);
}

TEST_F(Staging, NothingIsLeftBehind) {
    ASSERT_TRUE(run("mkdir d; echo y > d/f; chmod 000 d/f d; echo x > c"));
    EXPECT_EQ(changed, "created c\ndirectory d\ncreated d/f\n");
    EXPECT_TRUE(std::filesystem::is_empty(directory / "w/.quire/stages"));
}

TEST_F(Staging, LinksInTheChangesAreNotFollowed) {
    Result<Stage> stage = Stage::make(workspace, {});
    ASSERT_TRUE(stage);
    const auto out =
        stage->run({cat("rm -r sub; ln -s ", directory.path(), " sub"), workspace}, clock, {});
    ASSERT_TRUE(out);
    EXPECT_FALSE(staged_bytes(stage->upper(), "sub/outside.txt", 1000));
}

}  // namespace
TEST_F(Staging, ASignalReachesAllOfTheCommand) {
    const auto ended = signalled("echo ready; sleep 30; echo never", SIGTERM);
    ASSERT_TRUE(ended) << ended.error().message();
    EXPECT_EQ(ended->end, StageEnd::exited);
    EXPECT_EQ(ended->exit_code, 128 + SIGTERM);
    EXPECT_EQ(ended->output, "ready\n");
    const auto interrupted = signalled("sleep 30 & echo ready; wait; echo never", SIGINT);
    ASSERT_TRUE(interrupted);
    EXPECT_EQ(interrupted->exit_code, 128 + SIGINT);
}

TEST_F(Staging, ACommandMayTidyUpAfterASignal) {
    const auto trapped = signalled(
        "trap 'echo tidied; exit 7' TERM; echo ready >&2; while :; do sleep 0.1; done", SIGTERM);
    ASSERT_TRUE(trapped) << trapped.error().message();
    EXPECT_EQ(trapped->exit_code, 7);
    EXPECT_EQ(trapped->output.substr(trapped->output.size() - 7), "tidied\n");
    // The outer shell ends at once, without waiting for the inner one.
    const auto slower = signalled(
        "bash -c 'trap \"sleep 0.5; echo slow; exit\" TERM; echo ready; while :; do sleep 0.1; "
        "done'; true",
        SIGTERM);
    ASSERT_TRUE(slower);
    EXPECT_NE(slower->output.find("slow\n"), std::string::npos) << slower->output;
}

}  // namespace quire::stage
