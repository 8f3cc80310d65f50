// This process is a copy of a kernel with many threads, made by clone() without exec. Another
// thread may have held the allocator's lock, so nothing here allocates. In namespaces of its own it
// is their init: it gets the orphans, its end takes all others with it, and a signal reaches it
// only if it has a handler. Without namespaces it gets the orphans as a subreaper.
#include "stage/first_process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file_text.h"

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

namespace quire::stage {
namespace {

[[noreturn]] void refuse(const Beginning& begin, Refusal why) {
    const Report report{why, 0};
    static_cast<void>(!::write(begin.report, &report, sizeof report));
    ::_exit(127);
}

// After a signal has ended the command's first process, its other processes have this long to end.
constexpr unsigned kAfterSignalS = 2;

// The signal handlers set it, in the first process of a stage only.
volatile sig_atomic_t was_signalled = 0;

// All other processes: of the namespace (-1), or of the command's group.
volatile pid_t others = 0;

// The kernel delivers a signal to the first process of a namespace only if that process handles it. This
// handler passes the signal to all other processes.
void hand_on(int signal) {
    was_signalled = 1;
    if (others != 0) ::kill(others, signal);
}
void end_now(int /*signal*/) {
    if (others != 0) ::kill(others, SIGKILL);
}

constexpr int kTakenSignals[] = {SIGTERM, SIGINT, SIGALRM};

void take_signals() {
    for (const int signal : kTakenSignals) {
        struct sigaction taken {};
        taken.sa_handler = signal == SIGALRM ? end_now : hand_on;
        ::sigaction(signal, &taken, nullptr);
    }
}

// Kills the children of this process. Those whose parents have ended become its children.
void kill_children() {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/task/%d/children", static_cast<int>(::getpid()));
    const int list = ::open(path, O_RDONLY | O_CLOEXEC);
    if (list < 0) return;
    char text[4096];
    const ssize_t size = ::read(list, text, sizeof text - 1);
    ::close(list);
    text[std::max<ssize_t>(size, 0)] = 0;
    char* at = text;
    // The last number may be cut off; the next turn sees it whole.
    for (char* end = nullptr;; at = end) {
        const long child = std::strtol(at, &end, 10);
        if (end == at || *end == 0) return;
        if (child > 1) ::kill(static_cast<pid_t>(child), SIGKILL);
    }
}

// Ends all other processes, and returns when they are gone.
void end_others() {
    constexpr int kMostTurns = 100'000;
    if (others != 0) ::kill(others, SIGKILL);
    for (int turn = 0; turn < kMostTurns; ++turn) {
        if (others != -1) kill_children();
        if (::waitpid(-1, nullptr, 0) < 0 && errno != EINTR) return;
    }
}

// Waits for the command and for orphans. After a signal the other processes get some time to end, because
// a shell that is killed does not wait for the programs it runs.
int wait_for(pid_t command) {
    std::optional<int> end;
    for (;;) {
        int status = 0;
        const pid_t ended = ::waitpid(-1, &status, 0);
        if (ended < 0 && errno == EINTR) continue;
        if (ended < 0) return end.value_or(127);
        if (ended != command) continue;
        end = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (was_signalled == 0) return *end;
        ::alarm(kAfterSignalS);
    }
}

// The time at which the command begins. It is later than the stamp of every file that was changed before
// the request, so that such a file does not seem changed meanwhile. Waits some milliseconds at most.
std::int64_t beginning(std::int64_t asked_ns) {
    std::int64_t now = file_time_ns();
    const timespec shortly{0, 200'000};
    for (int turn = 0; now <= asked_ns && turn < 100; ++turn) {
        ::nanosleep(&shortly, nullptr);
        now = file_time_ns();
    }
    return now;
}

// The child that becomes the command.
int be_command(void* beginning_of_it) {
    const Beginning& begin = *static_cast<const Beginning*>(beginning_of_it);
    const bool is_apart = begin.confinement.namespaces() != 0;
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    for (const int signal : kTakenSignals) ::sigaction(signal, &standard, nullptr);
    if (!is_apart) {
        ::setpgid(0, 0);
        ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    }
    if (begin.directory != nullptr && ::chdir(begin.directory) != 0)
        refuse(begin, {kProgramStep - 2, errno});
    if (!is_apart) {
        if (const Refusal why = begin.confinement.enter(); why.error != 0) refuse(begin, why);
    }
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execve(begin.arguments[0], begin.arguments.data(), begin.environment.data());
    refuse(begin, {kProgramStep, errno});
}

// The first process of the namespaces. When it ends, the system kills all other processes in them.
[[noreturn]] void be_first(const Beginning& begin) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    ::setsid();
    // It is no second kernel, and the command need not know how the kernel was started.
    ::prctl(PR_SET_NAME, "quire-stage", 0, 0, 0);
    std::memset(program_invocation_name, 0, begin.own_words);
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &standard, nullptr);
    if (::dup2(begin.input, 0) < 0 || ::dup2(begin.output, 1) < 0 || ::dup2(begin.errors, 2) < 0)
        refuse(begin, {kProgramStep, errno});
    const bool is_apart = begin.confinement.namespaces() != 0;
    if (is_apart) {
        others = -1;
        if (const Refusal why = begin.confinement.enter(); why.error != 0) refuse(begin, why);
    } else {
        ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    }
    // All that the kernel has open goes, except the two ways to report and what the program inherits. A
    // command that is confined later needs more until then.
    const unsigned flags = is_apart ? 0 : CLOSE_RANGE_CLOEXEC;
    const auto low = static_cast<unsigned>(std::min(begin.report, begin.finish));
    const auto high = static_cast<unsigned>(std::max(begin.report, begin.finish));
    if ((low > 3 && ::close_range(3, low - 1, flags) != 0) ||
        (high > low + 1 && ::close_range(low + 1, high - 1, flags) != 0) ||
        ::close_range(high + 1, ~0U, flags) != 0)
        refuse(begin, {kProgramStep, errno});
    if (const int kept = begin.confinement.inherited(); kept >= 0) ::fcntl(kept, F_SETFD, 0);
    const Report begins{{}, beginning(begin.asked_ns)};
    static_cast<void>(!::write(begin.report, &begins, sizeof begins));
    // The signals stay blocked until the command exists.
    take_signals();
    // The child borrows the memory, which is a copy of the kernel's, until it runs the program. It has a stack
    // of its own, of which the upper end is the beginning.
    char* const top = begin.stack + begin.stack_size;
    const pid_t child =
        ::clone(be_command, top, CLONE_VM | CLONE_VFORK | SIGCHLD, const_cast<Beginning*>(&begin));
    if (child < 0) refuse(begin, {kProgramStep, errno});
    if (!is_apart) others = -child;
    const auto finish = static_cast<unsigned>(begin.finish);
    ::close_range(0, finish - 1, 0);
    ::close_range(finish + 1, ~0U, 0);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    const int code = wait_for(child);
    // The end of this process takes the namespaces and mounts down, for which nobody need wait.
    end_others();
    static_cast<void>(!::write(begin.finish, &code, sizeof code));
    ::_exit(code);
}

}  // namespace

std::size_t size_of_arguments() {
    const std::string words = file_text("/proc/self/cmdline");
    // Compared as far as the first word goes, for another program may have moved the name.
    const std::string_view name = program_invocation_name;
    return words.size() > name.size() && words.starts_with(name) && words[name.size()] == 0
               ? words.size()
               : 0;
}

std::int64_t file_time_ns() {
    const int file = ::memfd_create("quire-now", MFD_CLOEXEC);
    struct stat made {};
    const bool done = file >= 0 && ::fstat(file, &made) == 0;
    ::close(file);
    return done ? std::int64_t{made.st_ctim.tv_sec} * 1'000'000'000 + made.st_ctim.tv_nsec : 0;
}

pid_t clone_first(const Beginning& begin) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t child = static_cast<pid_t>(
        ::syscall(SYS_clone, begin.confinement.namespaces() | SIGCHLD, 0, 0, 0, 0));
    if (child == 0) be_first(begin);
    const int error = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
    return child;
}

}  // namespace quire::stage
