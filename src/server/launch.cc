#include "server/launch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <iterator>
#include <optional>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/concat.h"
#include "json/json.h"

namespace quire::server {

namespace {

constexpr int kReadyFd = 3;
constexpr off_t kLogBytes = 1 << 20;
constexpr Errc kCodes[] = {Errc::invalid_argument, Errc::not_found,           Errc::conflict,
                           Errc::denied,           Errc::escalation_required, Errc::out_of_range,
                           Errc::corrupt,          Errc::unsupported,         Errc::unavailable};

Failure kernel_failed(const StateDirectory& directory, const std::string& what) {
    return fail(Errc::unavailable, "kernel_failed",
                cat("the workspace's kernel could not be started: ", what, ". See ",
                    directory.file("kernel.log")));
}

Fd open_log(const StateDirectory& directory) {
    const std::string path = directory.file("kernel.log");
    struct stat status = {};
    if (::stat(path.c_str(), &status) == 0 && status.st_size > kLogBytes)
        ::rename(path.c_str(), (path + ".1").c_str());
    return Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
}

// In the child, with nothing but what may be called after a fork in a process with threads.
[[noreturn]] void become_kernel(char* const* arguments, int ready, int log) {
    ::setsid();
    // The one in between leads the session; who is none of its leaders never gets a terminal.
    // It needs no memory of its own until it is another program: on some virtual machines a copy
    // costs milliseconds, and a client waits for them. (Not within another vfork: a sanitizer's
    // knows of one return alone.)
    const pid_t grandchild = ::vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork)
    if (grandchild != 0) ::_exit(grandchild < 0 ? 1 : 0);
    const int null = ::open("/dev/null", O_RDONLY);
    // Away from the numbers that they are to have, so that none overwrites another.
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

// The pipe's first line; empty at its end, nothing when the time is over.
std::optional<std::string> read_line(const Fd& pipe, int timeout_ms) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point until = Clock::now() + std::chrono::milliseconds(timeout_ms);
    std::string line;
    while (line.find('\n') == std::string::npos) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
        if (left <= 0) return std::nullopt;
        pollfd wanted = {.fd = pipe.get(), .events = POLLIN, .revents = 0};
        if (::poll(&wanted, 1, static_cast<int>(left)) <= 0) continue;
        std::array<char, 4096> part = {};
        const ssize_t length = ::read(pipe.get(), part.data(), part.size());
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0) return std::string();
        line.append(part.data(), static_cast<std::size_t>(length));
    }
    return line;
}

void report(int fd, const Value& value) {
    if (fd < 0) return;
    const std::string line = json::write(value) + "\n";
    // Who started it may have given up; then there is nobody to tell. A pipe takes a line of this
    // size whole.
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    static_cast<void>(::write(fd, line.data(), line.size()) == 0);
    std::signal(SIGPIPE, before);
    ::close(fd);
}

}  // namespace

Value error_value(const Error& error) {
    return Map{{"code", errc_name(error.code())},
               {"reason", error.reason()},
               {"message", error.message()},
               {"details", error.details()}};
}

Error error_from(const Value& value) {
    const Value* const code = value.get("code");
    const Value* const reason = value.get("reason");
    const Value* const message = value.get("message");
    const Value* const details = value.get("details");
    if (code == nullptr || !code->is_string() || reason == nullptr || !reason->is_string() ||
        message == nullptr || !message->is_string()) {
        return Error(Errc::unavailable, "kernel_failed",
                     "the kernel answered with what is no message: " + json::write(value));
    }
    const auto known = std::find_if(std::begin(kCodes), std::end(kCodes), [&](Errc candidate) {
        return errc_name(candidate) == code->as_string();
    });
    return Error(known == std::end(kCodes) ? Errc::unavailable : *known, reason->as_string(),
                 message->as_string(),
                 details != nullptr && details->is_map() ? details->as_map() : Map());
}

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

    const std::optional<std::string> said = read_line(from_kernel, launch.timeout_ms);
    if (!said)
        return kernel_failed(directory, cat("it was not ready after ", launch.timeout_ms, " ms"));
    if (said->empty()) return kernel_failed(directory, "it ended before it was ready");
    const Value answer = TRY(json::parse(*said));
    if (const Value* error = answer.get("error"); error != nullptr)
        return Failure(error_from(*error));
    return {};
}

void report_ready(int fd) {
    report(fd, Map{{"ok", true}});
}

void report_failure(int fd, const Error& error) {
    report(fd, Map{{"error", error_value(error)}});
}

}  // namespace quire::server
