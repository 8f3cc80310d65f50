// fork and exec with a way to report failures. Between the two the child makes system calls only:
// another thread of the parent may hold the allocator's lock. Signals are blocked around the fork,
// so that no handler of ours runs in the child.
#include "process/start.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/concat.h"
#include "process/spawn.h"

namespace quire::process {
namespace {

// The program's path, or "" if there is none. Never a file in the directory where it runs, which
// others may write.
std::string path_of(const Program& program) {
    const std::string at = found_in_path(program.arguments.front(), program.directory);
    return at.find('/') == std::string::npos ? "" : at;
}

}  // namespace

std::optional<Pipe> make_pipe(bool we_read) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
    Pipe out{Descriptor(ends[we_read ? 0 : 1]), Descriptor(ends[we_read ? 1 : 0])};
    if (::fcntl(out.ours.get(), F_SETFL, O_NONBLOCK) != 0) return std::nullopt;
    return out;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
    std::vector<char*> out;
    out.reserve(words.size() + 1);
    for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
    out.push_back(nullptr);
    return out;
}

void write_some(Descriptor& input, std::string_view& rest) {
    while (!rest.empty()) {
        const ssize_t count = ::write(input.get(), rest.data(), rest.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) return;
        if (count < 0) break;
        rest.remove_prefix(static_cast<std::size_t>(count));
    }
    input.close();
}

Start::Start(const Program& program, Streams streams, const Cage* cage)
    : path_(path_of(program)),
      directory_(program.directory),
      arguments_(pointers(program.arguments)),
      environment_(pointers(program.environment)),
      streams_(streams),
      cage_(cage) {}

// A pipe that closes on exec reports a failure between fork and exec as an errno.
int Start::spawn(pid_t& child) const {
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
    // The child's end of the pipe closes when the program begins. No byte means that exec has
    // succeeded, an errno that a step before it failed.
    int error = 0;
    ssize_t count = 0;
    while ((count = ::read(reading.get(), &error, sizeof error)) < 0 && errno == EINTR) {
    }
    if (count <= 0) return 0;
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    return error;
}

// Runs in the child. Returns an errno, if it returns at all. The order matters: the request to die
// with the parent comes first, and then the check that it is still there; confinement comes last,
// because it may forbid the steps before it.
int Start::begin(pid_t parent) const {
    if (::setpgid(0, 0) != 0 || ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return errno;
    // It died between fork and prctl(), so no signal will come.
    if (::getppid() != parent) return ESRCH;
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &standard, nullptr);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    const int input = streams_.input < 0 ? ::open("/dev/null", O_RDONLY) : streams_.input;
    if (input < 0 || ::dup2(input, STDIN_FILENO) < 0) return errno;
    if (input > STDERR_FILENO) ::close(input);
    if (::dup2(streams_.output, STDOUT_FILENO) < 0) return errno;
    if (::dup2(streams_.errors, STDERR_FILENO) < 0) return errno;
    if (::chdir(directory_.c_str()) != 0) return errno;
    if (cage_ != nullptr) {
        if (const int error = cage_->enter(); error != 0) return error;
    }
    ::execve(path_.c_str(), arguments_.data(), environment_.data());
    return errno;
}

// WNOWAIT leaves the child as it is: its number stays taken until kill_group().
bool has_ended(pid_t child) {
    siginfo_t info{};
    const int result =
        ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
    return result == 0 ? info.si_pid == child : errno != EINTR;
}

// Kills the group, then waits for its leader.
int kill_group(pid_t child) {
    // The group is killed before its leader is waited for: until then no other group can get its
    // number.
    ::kill(-child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

Failure cannot_run(const Program& program, int error) {
    const std::string& name = program.arguments.front();
    const bool missing = error == ENOENT;
    return fail(missing ? Errc::not_found : Errc::unavailable,
                missing ? "program_not_found" : "cannot_run",
                cat("cannot run ", name, " in ", program.directory, ": ", std::strerror(error)),
                {{"program", name}});
}

}  // namespace quire::process
