#include "process/piped.h"

#include <csignal>
#include <string>

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "base/file_text.h"
#include "base/test_directory.h"

namespace quire::process {
namespace {

class PipedProgramTest : public testing::Test {
protected:
    Program program(std::string script) {
        return {{"/bin/sh", "-c", std::move(script)}, directory.path(), {"PATH=/usr/bin:/bin"}, {}};
    }
    // All that comes until the end, which is bounded.
    static std::string all_of(int fd) {
        std::string out;
        char buffer[256];
        for (int look = 0; look < 1000; ++look) {
            pollfd ready{fd, POLLIN, 0};
            if (::poll(&ready, 1, 10) <= 0) continue;
            const ssize_t count = ::read(fd, buffer, sizeof buffer);
            if (count <= 0) break;
            out.append(buffer, static_cast<std::size_t>(count));
        }
        return out;
    }

    TestDirectory directory;
    SystemClock clock;
};

TEST_F(PipedProgramTest, AProgramAnswersOverItsPipes) {
    auto run =
        PipedProgram::start(program("read -r line; echo \"got $line\"; echo bad >&2; exit 4"));
    ASSERT_TRUE(run) << run.error().message();
    ASSERT_EQ(::write(run->input(), "one\n", 4), 4);
    EXPECT_EQ(all_of(run->output()), "got one\n");
    EXPECT_EQ(all_of(run->errors()), "bad\n");
    EXPECT_EQ(run->end(5000, clock), "exit code 4");
    EXPECT_TRUE(run->has_ended());
}

TEST_F(PipedProgramTest, ClosingItsInputEndsIt) {
    auto run = PipedProgram::start(program("while read -r line; do :; done; exit 5"));
    EXPECT_FALSE(run->has_ended());
    EXPECT_EQ(run->end(5000, clock), "exit code 5");
}

TEST_F(PipedProgramTest, AProgramThatDoesNotEndIsSignalledAndThenKilled) {
    auto asked = PipedProgram::start(
        program("trap 'exit 6' TERM; echo ready; while :; do sleep 0.01; done"));
    char buffer[8];
    pollfd ready{asked->output(), POLLIN, 0};
    ASSERT_EQ(::poll(&ready, 1, 10'000), 1);
    ASSERT_GT(::read(asked->output(), buffer, sizeof buffer), 0);
    EXPECT_EQ(asked->end(4000, clock), "exit code 6");
    auto deaf =
        PipedProgram::start(program("trap '' TERM; echo ready; while :; do sleep 0.01; done"));
    ready.fd = deaf->output();
    ASSERT_EQ(::poll(&ready, 1, 10'000), 1);
    EXPECT_EQ(deaf->end(100, clock), "signal 9");
}

TEST_F(PipedProgramTest, ItsChildrenEndWithIt) {
    auto run = PipedProgram::start(program("sleep 600 & echo $!; wait"));
    char buffer[32] = {};
    pollfd ready{run->output(), POLLIN, 0};
    ASSERT_EQ(::poll(&ready, 1, 10'000), 1);
    ASSERT_GT(::read(run->output(), buffer, sizeof buffer - 1), 0);
    const std::string at = cat("/proc/", std::stoi(buffer), "/status");
    run->end(0, clock);
    // The process that inherits it waits for it in time.
    const auto is_over = [&] {
        const std::string text = file_text(at);
        return text.empty() || text.find("State:\tZ") != std::string::npos;
    };
    for (int look = 0; look < 500 && !is_over(); ++look) ::poll(nullptr, 0, 10);
    EXPECT_TRUE(is_over());
}

TEST_F(PipedProgramTest, AProgramThatIsNotThereIsNamed) {
    EXPECT_EQ(PipedProgram::start({{"/no/such"}, directory.path(), {}, {}}).error().reason(),
              "program_not_found");
}

}  // namespace
}  // namespace quire::process
