// The kernel must outlive its starter and its terminal, so it is the child of a child: the first
// child makes a session, starts the kernel and ends at once. Starting costs a fork, a vfork and an
// exec; the starter then waits for one line on a pipe.
#include "server/launch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/concat.h"
#include "json/json.h"
#include "rpc/jsonrpc.h"
#include "rpc/line_channel.h"

namespace quire::server {

namespace {

constexpr int kReadyFd = 3;
// The log begins anew above this size; one old log is kept beside it.
constexpr off_t kLogBytes = 1 << 20;
constexpr std::size_t kReportBytes = std::size_t{1} << 20;
Failure kernel_failed(const StateDirectory& directory, const std::string& what) {
    return fail(Errc::unavailable, "kernel_failed",
                cat("the workspace's kernel could not be started: ", what, ". See ",
                    directory.file("kernel.log")));
}

// No descriptor where the log cannot be opened, for instance on a full disk: the kernel's output
// then goes to /dev/null.
Fd open_log(const StateDirectory& directory) {
    const std::string path = directory.file("kernel.log");
    struct stat status = {};
    if (::stat(path.c_str(), &status) == 0 && status.st_size > kLogBytes)
        ::rename(path.c_str(), (path + ".1").c_str());
    return Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
}

// Runs in the child. The process had threads, so only async-signal-safe functions may be called.
[[noreturn]] void become_kernel(char* const* arguments, int ready, int log) {
    ::setsid();
    // This process leads the session. The kernel does not, so that it can never get a terminal.
    // vfork() spares the kernel's process a copy of our memory, which costs milliseconds on some
    // virtual machines while a client waits. (The outer fork is none: sanitizers support only one
    // return from a vfork.)
    const pid_t grandchild = ::vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork)
    if (grandchild != 0) ::_exit(grandchild < 0 ? 1 : 0);
    const int null = ::open("/dev/null", O_RDONLY);
    // Copied to high numbers first, so that no dup2() below overwrites another descriptor.
    const int ready_copy = ::fcntl(ready, F_DUPFD, 10);
    const int log_copy = ::fcntl(log >= 0 ? log : null, F_DUPFD, 10);
    ::dup2(null, STDIN_FILENO);
    ::dup2(log_copy, STDOUT_FILENO);
    ::dup2(log_copy, STDERR_FILENO);
    ::dup2(ready_copy, kReadyFd);
    ::syscall(SYS_close_range, kReadyFd + 1, ~0U, 0U);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGHUP, SIGCHLD}) ::signal(signal, SIG_DFL);
    ::execv(arguments[0], arguments);
    ::_exit(127);
}

void report(int fd, const Value& value) {
    if (fd < 0) return;
    const std::string line = json::write(value) + "\n";
    // The starter may have given up: then nobody reads the pipe. A line of this size is written
    // whole.
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    static_cast<void>(::write(fd, line.data(), line.size()) == 0);
    std::signal(SIGPIPE, before);
    ::close(fd);
}

}  // namespace

Result<void> launch_kernel(const StateDirectory& directory, const Launch& launch) {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) return kernel_failed(directory, std::strerror(errno));
    const Fd from_kernel(ends[0]);
    Fd to_starter(ends[1]);
    const Fd log = open_log(directory);

    std::array<std::string, 6> words = {launch.program,        "kernel",     "--workspace",
                                        directory.workspace(), "--ready-fd", cat(kReadyFd)};
    std::array<char*, words.size() + 1> arguments = {};
    std::transform(words.begin(), words.end(), arguments.begin(),
                   [](std::string& word) { return word.data(); });

    const pid_t child = ::fork();
    if (child < 0) return kernel_failed(directory, std::strerror(errno));
    if (child == 0) become_kernel(arguments.data(), to_starter.get(), log.get());
    to_starter.reset();
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }

    rpc::LineChannel channel(from_kernel.get(), -1, kReportBytes);
    const Result<std::optional<std::string>> report = channel.read(launch.timeout_ms);
    if (!report) return kernel_failed(directory, "it ended before it was ready");
    if (!*report)
        return kernel_failed(directory, cat("it was not ready after ", launch.timeout_ms, " ms"));
    const Value answer = TRY(json::parse(**report));
    if (const Value* error = answer.get("error"); error != nullptr)
        return Failure(rpc::error_from(*error));
    return {};
}

void report_ready(int fd) {
    report(fd, Map{{"ok", true}});
}

void report_failure(int fd, const Error& error) {
    report(fd, Map{{"error", rpc::error_value(error)}});
}

}  // namespace quire::server
