#include "shell/spawn.h"

#include <gtest/gtest.h>

#include "base/cat.h"

namespace quire::shell {
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

TEST(Spawn, TheEnvironmentAndTheDirectoryAreThoseGiven) {
    EXPECT_EQ(run(script("echo $WORD $HOME; pwd; cat"))->output, "here\n/tmp\n");
}

TEST(Spawn, WhatTakesTooLongIsKilledWithAllItStarted) {
    SystemClock clock;
    const std::int64_t began = clock.steady_ms();
    const auto ended = run(script("sleep 60 & sleep 60"), {.timeout_ms = 100});
    ASSERT_TRUE(ended);
    EXPECT_TRUE(ended->timed_out);
    EXPECT_EQ(ended->exit_code, -1);
    EXPECT_LT(clock.steady_ms() - began, 20'000);
}

TEST(Spawn, WhatItLeftRunningDoesNotKeepItOpen) {
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

}  // namespace
}  // namespace quire::shell
