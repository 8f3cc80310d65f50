#include "shell/spawn.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cat.h"

namespace quire::shell {
namespace {

// How long a wait for output is at most: how late a stop or the end of the program is seen.
constexpr int kSliceMs = 50;
// The same once it has closed its output, which it does when it ends.
constexpr int kAfterEndMs = 2;

class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { close(); }
    int get() const { return fd_; }
    void close() {
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }

private:
    int fd_;
};

std::vector<char*> pointers(const std::vector<std::string>& words) {
    std::vector<char*> out;
    out.reserve(words.size() + 1);
    for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
    out.push_back(nullptr);
    return out;
}

// What a child begins with: its directory, its streams, no signal blocked or ignored, its group.
class Start {
public:
    Start(const std::string& directory, int output) {
        posix_spawn_file_actions_init(&actions_);
        posix_spawn_file_actions_addchdir_np(&actions_, directory.c_str());
        posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions_, output, STDERR_FILENO);
        posix_spawnattr_init(&attributes_);
        sigset_t signals;
        sigemptyset(&signals);
        posix_spawnattr_setsigmask(&attributes_, &signals);
        sigfillset(&signals);
        posix_spawnattr_setsigdefault(&attributes_, &signals);
        posix_spawnattr_setpgroup(&attributes_, 0);
        posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    Start(const Start&) = delete;
    Start& operator=(const Start&) = delete;
    ~Start() {
        posix_spawn_file_actions_destroy(&actions_);
        posix_spawnattr_destroy(&attributes_);
    }

    int spawn(pid_t& child, const Program& program) const {
        const std::vector<char*> arguments = pointers(program.arguments);
        const std::vector<char*> environment = pointers(program.environment);
        return ::posix_spawnp(&child, arguments[0], &actions_, &attributes_, arguments.data(),
                              environment.data());
    }

private:
    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
};

// Reads what is there. False once there will be no more.
bool read_some(int fd, std::size_t limit, Ended& ended) {
    char buffer[16384];
    for (;;) {
        const ssize_t count = ::read(fd, buffer, sizeof buffer);
        if (count < 0) return errno == EINTR || errno == EAGAIN;
        if (count == 0) return false;
        const auto size = static_cast<std::size_t>(count);
        const std::size_t kept = std::min(size, limit - std::min(limit, ended.output.size()));
        ended.output.append(buffer, kept);
        ended.truncated |= kept < size;
    }
}

bool has_ended(pid_t child) {
    siginfo_t info{};
    const int result =
        ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
    return result == 0 ? info.si_pid == child : errno != EINTR;
}

Failure cannot_run(const Program& program, int error) {
    const std::string& name = program.arguments.front();
    const bool missing = error == ENOENT;
    return fail(missing ? Errc::not_found : Errc::unavailable,
                missing ? "program_not_found" : "cannot_run",
                cat("cannot run ", name, " in ", program.directory, ": ", std::strerror(error)),
                {{"program", name}});
}

}  // namespace

Result<Ended> run_program(const Program& program, const Bounds& bounds, Clock& clock,
                          const std::stop_token& stop) {
    int ends[2];
    if (program.arguments.empty() || ::pipe2(ends, O_CLOEXEC) != 0)
        return fail(Errc::unavailable, "cannot_run", "there is nothing to run, or no pipe for it");
    Descriptor reading(ends[0]);
    Descriptor writing(ends[1]);
    static_cast<void>(::fcntl(reading.get(), F_SETFL, O_NONBLOCK));
    pid_t child = -1;
    if (const int error = Start(program.directory, writing.get()).spawn(child, program); error != 0)
        return cannot_run(program, error);
    writing.close();

    Ended ended;
    bool more = true;
    const std::int64_t deadline = clock.steady_ms() + bounds.timeout_ms;
    while (!has_ended(child)) {
        pollfd ready{reading.get(), POLLIN, 0};
        if (::poll(&ready, more ? 1 : 0, more ? kSliceMs : kAfterEndMs) > 0)
            more = read_some(reading.get(), bounds.output_bytes, ended);
        ended.stopped = stop.stop_requested();
        ended.timed_out = !ended.stopped && clock.steady_ms() >= deadline;
        if (ended.stopped || ended.timed_out) break;
    }
    // The group before its leader is waited for: until then no other group can have its number.
    ::kill(-child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (more) read_some(reading.get(), bounds.output_bytes, ended);
    ended.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ended;
}

}  // namespace quire::shell
