// Commands as a person would type them, for tests.
#pragma once

#include <csignal>
#include <string>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "process/spawn.h"

namespace quire::process {

// Runs a command in `directory` and returns its output. The test fails where the command does.
inline std::string typed(const std::string& directory, const std::string& command) {
    std::signal(SIGPIPE, SIG_IGN);
    SystemClock clock;
    const auto ended = run_program(
        {{"/bin/sh", "-c", command}, directory, {"PATH=/usr/bin:/bin", "HOME=/nonexistent"}}, {},
        clock, {});
    EXPECT_TRUE(ended);
    EXPECT_EQ(ended ? ended->exit_code : -1, 0) << command << "\n" << ended->output;
    return ended ? ended->output : std::string();
}

}  // namespace quire::process
