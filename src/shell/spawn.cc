#include "shell/spawn.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
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

// A child up to its program: its directory, its streams, no signal blocked or ignored, its group,
// its confinement. All is made ready before the fork: between that and the program only system
// calls are made.
class Start {
public:
    Start(const Program& program, int output, const Cage* cage)
        : path_(found_in_path(program.arguments.front(), program.directory)),
          directory_(program.directory),
          arguments_(pointers(program.arguments)),
          environment_(pointers(program.environment)),
          output_(output),
          cage_(cage) {}

    // 0, or the errno of what failed on the way to the program.
    int spawn(pid_t& child) const {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return errno;
        Descriptor reading(ends[0]);
        Descriptor writing(ends[1]);
        const pid_t parent = ::getpid();
        sigset_t all;
        sigset_t before;
        sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before);
        child = ::fork();
        if (child == 0) {
            const int error = begin(parent);
            static_cast<void>(!::write(writing.get(), &error, sizeof error));
            ::_exit(127);
        }
        const int failed = errno;
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        if (child < 0) return failed;
        writing.close();
        // Its end of the pipe closes when the program begins.
        int error = 0;
        ssize_t count = 0;
        while ((count = ::read(reading.get(), &error, sizeof error)) < 0 && errno == EINTR) {
        }
        if (count <= 0) return 0;
        while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
        }
        return error;
    }

private:
    // Returns an errno, if it returns.
    int begin(pid_t parent) const {
        if (::setpgid(0, 0) != 0 || ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return errno;
        if (::getppid() != parent) return ESRCH;
        struct sigaction standard {};
        standard.sa_handler = SIG_DFL;
        for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &standard, nullptr);
        sigset_t none;
        sigemptyset(&none);
        ::sigprocmask(SIG_SETMASK, &none, nullptr);
        const int input = ::open("/dev/null", O_RDONLY);
        if (input < 0 || ::dup2(input, STDIN_FILENO) < 0) return errno;
        if (input > STDERR_FILENO) ::close(input);
        if (::dup2(output_, STDOUT_FILENO) < 0 || ::dup2(output_, STDERR_FILENO) < 0) return errno;
        if (::chdir(directory_.c_str()) != 0) return errno;
        if (cage_ != nullptr) {
            if (const int error = cage_->enter(); error != 0) return error;
        }
        ::execve(path_.c_str(), arguments_.data(), environment_.data());
        return errno;
    }

    const std::string path_;
    const std::string directory_;
    const std::vector<char*> arguments_;
    const std::vector<char*> environment_;
    const int output_;
    const Cage* const cage_;
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

std::string found_in_path(const std::string& name, const std::string& directory) {
    if (name.find('/') != std::string::npos) return name;
    const char* const path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): never set here.
    std::string_view rest = path == nullptr ? "/usr/bin:/bin" : path;
    for (bool more = true; more;) {
        const std::size_t end = rest.find(':');
        more = end != std::string_view::npos;
        std::string at = std::filesystem::path(directory) / rest.substr(0, end) / name;
        if (::access(at.c_str(), X_OK) == 0) return at;
        if (more) rest.remove_prefix(end + 1);
    }
    return name;
}

Result<Ended> run_program(const Program& program, const Bounds& bounds, Clock& clock,
                          const std::stop_token& stop) {
    int ends[2];
    if (program.arguments.empty() || ::pipe2(ends, O_CLOEXEC) != 0)
        return fail(Errc::unavailable, "cannot_run", "there is nothing to run, or no pipe for it");
    Descriptor reading(ends[0]);
    Descriptor writing(ends[1]);
    static_cast<void>(::fcntl(reading.get(), F_SETFL, O_NONBLOCK));
    std::optional<Cage> cage;
    if (program.confinement) cage = TRY(Cage::make(*program.confinement));
    pid_t child = -1;
    const Start start(program, writing.get(), cage ? &*cage : nullptr);
    if (const int error = start.spawn(child); error != 0) return cannot_run(program, error);
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
