#include "process/spawn.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/file_text.h"
#include "base/test_directory.h"

namespace quire::process {
namespace {

Program script(const std::string& text) {
    return {{"/bin/sh", "-c", text}, "/tmp", {"PATH=/usr/bin:/bin", "WORD=here"}};
}

Result<Ended> run(const Program& program, const Bounds& bounds = {},
                  const std::stop_token& stop = {}) {
    SystemClock clock;
    return run_program(program, bounds, clock, stop);
}

TEST(Spawn, BothStreamsAndTheExitCodeComeBack) {
    const auto ended = run(script("echo one; echo two >&2; exit 3"));
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->output, "one\ntwo\n");
    EXPECT_EQ(ended->exit_code, 3);
    EXPECT_FALSE(ended->timed_out || ended->stopped || ended->truncated);
}

TEST(Spawn, InputLargerThanAPipeGoesThroughAndErrorsStayApart) {
    std::signal(SIGPIPE, SIG_IGN);
    Program program = script("echo complaint >&2; cat");
    program.input = std::string(1 << 20, 'x');
    const auto ended = run(program, {.output_bytes = 2 << 20, .errors_apart = true});
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->output, program.input);
    EXPECT_EQ(ended->errors, "complaint\n");
}

TEST(Spawn, AProgramNeedNotReadItsInput) {
    std::signal(SIGPIPE, SIG_IGN);
    Program program = script("exec <&-; echo done");
    program.input = std::string(1 << 20, 'x');
    EXPECT_EQ(run(program)->output, "done\n");
}

TEST(Spawn, TheEnvironmentAndTheDirectoryAreThoseGiven) {
    EXPECT_EQ(run(script("echo $WORD $HOME; pwd; cat"))->output, "here\n/tmp\n");
}

TEST(Spawn, AProgramIsNotSearchedInItsWorkingDirectory) {
    TestDirectory directory;
    const std::string file = cat(directory.path(), "/quire-planted");
    std::ofstream(file) << "#!/bin/sh\necho planted\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    const auto by_name = run({{"quire-planted"}, directory.path(), {}});
    ASSERT_FALSE(by_name);
    EXPECT_EQ(by_name.error().reason(), "program_not_found");
    EXPECT_EQ(run({{"./quire-planted"}, directory.path(), {}})->output, "planted\n");
}

TEST(Spawn, AProgramBeyondItsTimeIsKilledWithItsChildren) {
    SystemClock clock;
    const std::int64_t began = clock.steady_ms();
    const auto ended = run(script("sleep 60 & sleep 60"), {.timeout_ms = 100});
    ASSERT_TRUE(ended);
    EXPECT_TRUE(ended->timed_out);
    EXPECT_EQ(ended->exit_code, -1);
    EXPECT_LT(clock.steady_ms() - began, 20'000);
}

TEST(Spawn, RemainingChildrenDoNotKeepItOpen) {
    SystemClock clock;
    const std::int64_t began = clock.steady_ms();
    const auto ended = run(script("sleep 60 & echo done"));
    EXPECT_EQ(ended->output, "done\n");
    EXPECT_EQ(ended->exit_code, 0);
    EXPECT_LT(clock.steady_ms() - began, 20'000);
}

TEST(Spawn, AProgramThatClosesItsOutputIsStillBounded) {
    EXPECT_TRUE(run(script("exec >&- 2>&-; sleep 60"), {.timeout_ms = 100})->timed_out);
}

TEST(Spawn, AStopEndsIt) {
    std::stop_source stop;
    stop.request_stop();
    const auto ended = run(script("sleep 60"), {}, stop.get_token());
    EXPECT_TRUE(ended->stopped);
    EXPECT_FALSE(ended->timed_out);
}

TEST(Spawn, OutputBeyondTheBoundIsDropped) {
    const auto ended =
        run(script("i=0; while [ $i -lt 5000 ]; do echo 0123456789; i=$((i+1)); done; exit 7"),
            {.output_bytes = 1000});
    EXPECT_EQ(ended->output.size(), 1000U);
    EXPECT_TRUE(ended->truncated);
    EXPECT_EQ(ended->exit_code, 7);
}

TEST(Spawn, AProgramThatIsNotThereIsNamed) {
    const auto ended = run({{"/no/such/program"}, "/tmp", {}});
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().reason(), "program_not_found");
    EXPECT_NE(ended.error().message().find("/no/such/program"), std::string::npos);
}

TEST(Spawn, AProgramEndsWithTheProcessThatRunsIt) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t runner = ::fork();
    if (runner == 0) {
        Program program =
            script(cat("echo $$ >/proc/", ::getppid(), "/fd/", ends[1], "; exec sleep 60"));
        static_cast<void>(run(program));
        ::_exit(0);
    }
    char number[32] = {};
    ASSERT_GT(::read(ends[0], number, sizeof number - 1), 0);
    const auto left = static_cast<pid_t>(std::atol(number));
    ::kill(runner, SIGKILL);
    ::waitpid(runner, nullptr, 0);
    // The process that inherits it waits for it some time later; until then it is dead but still
    // listed.
    const std::string stat = cat("/proc/", left, "/stat");
    const auto is_dead = [&] {
        const std::string line = file_text(stat);
        return line.empty() || line.find(") Z") != std::string::npos;
    };
    for (int i = 0; i < 60'000 && !is_dead(); ++i) ::usleep(1000);
    EXPECT_TRUE(is_dead());
    ::close(ends[0]);
    ::close(ends[1]);
}

// --- confined ---

// These fail where the system has no Landlock: there nothing could be confined.
class Confined : public testing::Test {
protected:
    Confined() {
        inside.put(".quire/secret", "hidden\n");
        inside.put("seen", "seen\n");
        inside.put("out", "");
    }
    Result<Ended> in_cage(const std::string& text) const {
        Program program = script(text);
        program.directory = inside.path();
        program.confinement = Confinement{{inside / "out"}, inside / ".quire"};
        return run(program);
    }
    const TestDirectory inside;
};

TEST_F(Confined, AConfinedProgramReadsAllButTheHiddenFolder) {
    EXPECT_EQ(in_cage("cat seen; cat /etc/passwd >/dev/null && echo read")->output, "seen\nread\n");
    const auto hidden = in_cage("cat .quire/secret; ls .quire; ln -s .quire/secret x; cat x");
    EXPECT_EQ(hidden->output.find("hidden"), std::string::npos) << hidden->output;
    EXPECT_NE(hidden->exit_code, 0);
}

TEST_F(Confined, ALinkDoesNotOpenTheHiddenFolder) {
    inside.link("link", inside / ".quire");
    inside.link("up", std::filesystem::path(inside.path()).parent_path());
    const std::string name = std::filesystem::path(inside.path()).filename();
    EXPECT_EQ(in_cage(cat("cat link/secret up/", name, "/.quire/secret 2>/dev/null"))->output, "");
    EXPECT_EQ(in_cage(cat("cat up/", name, "/seen"))->output, "seen\n");
}

TEST_F(Confined, AConfinedProgramWritesOnlyTheNamedFiles) {
    const auto ended = in_cage(
        "echo kept >out; echo no >seen; echo no >new; mkdir d; rm seen; mv seen moved; ln seen "
        "hard; "
        "touch .quire/x; : >../quire-cage-test; truncate -s 0 seen; chmod 777 seen");
    ASSERT_TRUE(ended);
    EXPECT_EQ(inside.get("out"), "kept\n");
    EXPECT_EQ(inside.get("seen"), "seen\n");
    EXPECT_EQ(std::filesystem::status(inside / "seen").permissions() &
                  std::filesystem::perms::others_write,
              std::filesystem::perms::none);
    std::size_t entries = 0;
    for (const auto& each : std::filesystem::directory_iterator(inside.path()))
        entries += each.exists() ? 1 : 0;
    EXPECT_EQ(entries, 3U) << ended->output;
    EXPECT_FALSE(inside.has("../quire-cage-test"));
}

TEST_F(Confined, AConfinedProgramChangesTheTimesOfAFileAndNoOtherMetadata) {
    const auto ended = in_cage(
        "exec 2>/dev/null; chmod 600 out && echo mode; chown 1 out && echo owner; "
        "setfattr -n user.a -v b out && echo extended; chattr +d out && echo attribute; "
        "touch out && echo times");
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->output, "times\n");
}

TEST_F(Confined, AConfinedProgramReachesNoOtherProcess) {
    const auto ended = in_cage(
        "kill -0 $PPID && echo signalled; setsid true && echo left; "
        "bash -c ': </dev/tcp/127.0.0.1/1' 2>&1");
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->output.find("signalled"), std::string::npos) << ended->output;
    EXPECT_EQ(ended->output.find("left"), std::string::npos) << ended->output;
    EXPECT_NE(ended->output.find("Operation not permitted"), std::string::npos) << ended->output;
}

TEST_F(Confined, ACompilerStillChecks) {
    inside.put("a.cc", "#include <vector>\nint f() { return std::vector<int>{}; }\n");
    const auto ended = in_cage(
        "g++ -fsyntax-only -MMD -MF out a.cc; g++ -fsyntax-only -x c++ /dev/null && echo fine");
    ASSERT_TRUE(ended);
    EXPECT_NE(ended->output.find("a.cc:2:"), std::string::npos) << ended->output;
    EXPECT_NE(ended->output.find("fine"), std::string::npos) << ended->output;
}

TEST_F(Confined, WritablePathsMustExist) {
    const auto none = Cage::make({{inside / "none"}, ""});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().reason(), "no_confinement");
}

}  // namespace
}  // namespace quire::process
