#include "server/launch.h"

#include <chrono>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/concat.h"
#include "server/test_workspace.h"

namespace quire::server {
namespace {

// A stand-in for the program: a script that is started as a kernel would be.
std::string script(const TestWorkspace& workspace, const std::string& body) {
    std::string path = workspace.path() + "/program.sh";
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    ::chmod(path.c_str(), 0700);
    return path;
}

Result<void> launch(const TestWorkspace& workspace, const std::string& body,
                    int timeout_ms = 20'000) {
    return launch_kernel(StateDirectory::open(workspace.path()).value(),
                         {.program = script(workspace, body), .timeout_ms = timeout_ms});
}

TEST(Launch, AKernelSaysWhenItIsReady) {
    const TestWorkspace workspace;
    EXPECT_TRUE(launch(workspace, "echo '{\"ok\":true}' >&3"));
}

TEST(Launch, AKernelSaysWhyItWillNotStart) {
    const TestWorkspace workspace;
    const Result<void> launched = launch(workspace,
                                         "echo "
                                         "'{\"error\":{\"code\":\"corrupt\",\"reason\":\"corrupt\","
                                         "\"message\":\"bad\",\"details\":{\"n\":1}}}' >&3");
    ASSERT_FALSE(launched);
    EXPECT_EQ(launched.error().code(), Errc::corrupt);
    EXPECT_EQ(launched.error().message(), "bad");
    EXPECT_EQ(launched.error().details().find("n")->as_int(), 1);
}

TEST(Launch, AKernelThatDiesIsNoticedAtOnceAndItsWordsAreKept) {
    const TestWorkspace workspace;
    const Result<void> launched = launch(workspace, "echo last words >&2; exit 3");
    ASSERT_FALSE(launched);
    EXPECT_EQ(launched.error().reason(), "kernel_failed");
    std::ifstream log(workspace.path() + "/.quire/kernel.log");
    std::string line;
    std::getline(log, line);
    EXPECT_EQ(line, "last words");
}

TEST(Launch, AKernelThatTakesTooLongIsNotWaitedFor) {
    const TestWorkspace workspace;
    const Result<void> launched = launch(workspace, "exec sleep 2", 50);
    ASSERT_FALSE(launched);
    EXPECT_EQ(launched.error().reason(), "kernel_failed");
}

TEST(Launch, AKernelIsToldItsWorkspaceAndInheritsNothing) {
    const TestWorkspace workspace;
    const std::string secret = workspace.path() + "/secret";
    const Fd leaked(::open(secret.c_str(), O_RDWR | O_CREAT, 0600));  // Without O_CLOEXEC.
    const Result<void> launched = launch(
        workspace, "echo \"$@\"; ls -l /proc/self/fd | grep secret; echo '{\"ok\":true}' >&3");
    EXPECT_TRUE(launched);
    std::ifstream log(workspace.path() + "/.quire/kernel.log");
    std::string line;
    std::getline(log, line);
    EXPECT_EQ(line, cat("kernel --workspace ", StateDirectory::open(workspace.path())->workspace(),
                        " --ready-fd 3"));
    EXPECT_FALSE(std::getline(log, line)) << line;
}

// Files that agents make are for the same readers as their person's own files.
TEST(Launch, AKernelMakesFilesWithTheModeThatItsStarterWould) {
    const TestWorkspace workspace;
    const mode_t before = ::umask(0027);
    const Result<void> launched = launch(workspace, "umask; echo '{\"ok\":true}' >&3");
    ::umask(before);
    EXPECT_TRUE(launched);
    std::ifstream log(workspace.path() + "/.quire/kernel.log");
    std::string mask;
    std::getline(log, mask);
    EXPECT_EQ(mask, "0027");
}

}  // namespace
}  // namespace quire::server
