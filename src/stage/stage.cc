#include "stage/stage.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/fd.h"
#include "base/file_text.h"
#include "process/following.h"
#include "process/start.h"
#include "stage/interior.h"
#include "stage/lower_folder.h"
#include "stage/usage.h"

namespace quire::stage {
namespace {

namespace files = std::filesystem;

// The delay with which a stop or a limit is noticed.
constexpr int kSliceMs = 100;
// The steps of step_name() after those of Interior::enter().
constexpr std::int32_t kProgramStep = 14;

std::string variable(const char* name, const char* otherwise) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): never set here.
    return value == nullptr || *value == 0 ? otherwise : value;
}

// The directories in which programs below the home keep what they need to run, beside their own.
// Settings, credentials and state are not among them.
constexpr const char* kBesidePrograms[] = {"lib",      "libexec", "versions", "toolchains",
                                           "registry", "git",     "pkg"};

// The directories of PATH below the home, and what belongs to them.
std::vector<std::string> programs_below(const std::string& home) {
    std::vector<std::string> out;
    if (home.empty()) return out;
    const std::string path = variable("PATH", "");
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t end = std::min(path.find(':', at), path.size());
        const std::string each = path.substr(at, end - at);
        at = end + 1;
        if (!each.starts_with(home + "/")) continue;
        out.push_back(each);
        const files::path beside = files::path(each).parent_path();
        if (beside == home) continue;
        for (const char* const name : kBesidePrograms) out.push_back((beside / name).string());
    }
    if (!out.empty()) out.push_back(home + "/.rustup");
    return out;
}

// The last bytes of a stream, or nothing of one that somebody follows.
struct Tail {
    process::Descriptor ours = process::Descriptor(-1);
    std::string kept = {};
    bool cut = false;
    process::Following* following = nullptr;

    void read_some(std::size_t limit) {
        char buffer[65536];
        // Bounded: a program that writes without end may not keep us from looking at the clock.
        for (int turn = 0; turn < 64; ++turn) {
            const ssize_t count = ::read(ours.get(), buffer, sizeof buffer);
            if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
            if (count <= 0) return ours.close();
            const std::string_view read(buffer, static_cast<std::size_t>(count));
            if (following != nullptr) {
                following->wrote(read);
                continue;
            }
            kept += read;
            if (kept.size() > 2 * limit + sizeof buffer) trim(limit);
        }
    }
    void trim(std::size_t limit) {
        if (kept.size() <= limit) return;
        kept.erase(0, kept.size() - limit);
        cut = true;
    }
};

// The words with which this program was started, as the system shows them to others: they lie behind
// its name, one after another. 0 where they do not.
std::size_t size_of_arguments() {
    const std::string words = file_text("/proc/self/cmdline");
    // Compared as far as the first word goes, for another program may have moved the name.
    const std::string_view name = program_invocation_name;
    return words.size() > name.size() && words.starts_with(name) && words[name.size()] == 0
               ? words.size()
               : 0;
}

// All that the first process of a stage needs, made before it is cloned.
struct Beginning {
    Interior& interior;
    std::vector<char*> arguments;
    std::vector<char*> environment;
    int input;
    int output;
    int errors;
    std::size_t own_words;  // size_of_arguments()
    int report;             // Reports go there; closed by the program's start.
    // The file_time_ns() of the request. Files that were changed before it have this stamp or an older one.
    std::int64_t asked_ns;
};

// The first process reports that the command begins, or why it does not.
struct Report {
    Refusal refusal = {};
    std::int64_t began_ns = 0;
};

[[noreturn]] void refuse(const Beginning& begin, Refusal why) {
    const Report report{why, 0};
    static_cast<void>(!::write(begin.report, &report, sizeof report));
    ::_exit(127);
}

// The time with which a file that is made now is stamped. That clock stands still for some
// milliseconds at a time.
std::int64_t file_time_ns() {
    const int file = ::memfd_create("quire-now", MFD_CLOEXEC);
    struct stat made {};
    const bool done = file >= 0 && ::fstat(file, &made) == 0;
    ::close(file);
    return done ? std::int64_t{made.st_ctim.tv_sec} * 1'000'000'000 + made.st_ctim.tv_nsec : 0;
}

// After a signal has ended the command's first process, its other processes have this long to end.
constexpr unsigned kAfterSignalS = 2;

// The signal handlers set it, in the first process of a stage only.
volatile sig_atomic_t was_signalled = 0;

// The kernel delivers a signal to the first process of a namespace only if that process handles it. This
// handler passes the signal to all other processes.
void hand_on(int signal) {
    was_signalled = 1;
    ::kill(-1, signal);
}
void end_now(int /*signal*/) {
    ::kill(-1, SIGKILL);
}

constexpr int kTakenSignals[] = {SIGTERM, SIGINT, SIGALRM};

void take_signals() {
    for (const int signal : kTakenSignals) {
        struct sigaction taken {};
        taken.sa_handler = signal == SIGALRM ? end_now : hand_on;
        ::sigaction(signal, &taken, nullptr);
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
    if (const Refusal why = begin.interior.enter(); why.error != 0) refuse(begin, why);
    // All that the kernel has open, except the report.
    const auto report = static_cast<unsigned>(begin.report);
    if ((report > 3 && ::close_range(3, report - 1, 0) != 0) ||
        ::close_range(report + 1, ~0U, 0) != 0)
        refuse(begin, {kProgramStep, errno});
    const Report begins{{}, beginning(begin.asked_ns)};
    static_cast<void>(!::write(begin.report, &begins, sizeof begins));
    // The signals stay blocked until the command exists.
    take_signals();
    sigset_t none;
    sigemptyset(&none);
    const pid_t child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    if (child < 0) refuse(begin, {kProgramStep, errno});
    if (child == 0) {
        for (const int signal : kTakenSignals) ::sigaction(signal, &standard, nullptr);
        ::sigprocmask(SIG_SETMASK, &none, nullptr);
        ::execve(begin.arguments[0], begin.arguments.data(), begin.environment.data());
        refuse(begin, {kProgramStep, errno});
    }
    ::close_range(0, ~0U, 0);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::_exit(wait_for(child));
}

pid_t clone_first(const Beginning& begin, bool network) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t child = static_cast<pid_t>(
        ::syscall(SYS_clone, Interior::namespaces(network) | SIGCHLD, 0, 0, 0, 0));
    if (child == 0) be_first(begin);
    const int error = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
    return child;
}

// Hides a path by a whiteout. The directories on the way get the properties that they have.
Result<void> hide(const std::string& workspace, const std::string& upper, const std::string& path) {
    for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
        const std::string folder = cat(upper, "/", path.substr(0, at));
        struct stat found {};
        if (::lstat(cat(workspace, "/", path.substr(0, at)).c_str(), &found) != 0) return {};
        if (::mkdir(folder.c_str(), 0700) == 0) ::chmod(folder.c_str(), found.st_mode & 07777);
    }
    if (::mknod(cat(upper, "/", path).c_str(), S_IFCHR, 0) == 0 || errno == EEXIST) return {};
    return no_stage(cat(path, " cannot be hidden: ", std::strerror(errno)));
}

// The directory that has all stages of a workspace.
std::string stages_of(const std::string& workspace) {
    return workspace + "/.quire/stages";
}

}  // namespace

// A command knows little of our environment. Secrets are often in it, and names such as LD_PRELOAD,
// BASH_ENV and GIT_DIR change what programs do.
std::vector<std::string> environment() {
    std::string home = variable("HOME", "/tmp");
    if (std::error_code failed; !files::is_directory(home, failed)) home = "/tmp";
    std::vector<std::string> out = {cat("HOME=", home),
                                    cat("PATH=", variable("PATH", "/usr/local/bin:/usr/bin:/bin")),
                                    "LANG=C.UTF-8", "SHELL=/bin/bash", "TERM=dumb", "TMPDIR=/tmp",
                                    // A look at git's state writes nothing.
                                    "GIT_OPTIONAL_LOCKS=0"};
    for (const char* const name : {"USER", "LOGNAME", "TZ"}) {
        const std::string value = variable(name, "");
        if (!value.empty()) out.push_back(cat(name, "=", value));
    }
    return out;
}

Stage::Stage(std::string workspace, std::string directory,
             std::shared_ptr<const Generation> generation)
    : workspace_(std::move(workspace)),
      directory_(std::move(directory)),
      generation_(std::move(generation)) {}

Stage::Stage(Stage&& other) noexcept
    : workspace_(std::move(other.workspace_)),
      directory_(std::exchange(other.directory_, "")),
      generation_(std::move(other.generation_)) {}

Stage::~Stage() {
    if (directory_.empty()) return;
    // The overlay's own directory has no permissions.
    ::chmod(cat(directory_, "/scratch/work").c_str(), 0700);
    remove_directory(directory_);
}

Result<std::vector<StagedChange>> Stage::changes(const std::vector<std::string>& hidden,
                                                 const StageOutcome& outcome) const {
    return changes_in(workspace_, upper(), hidden, outcome.began_ns,
                      generation_ == nullptr ? std::vector<std::string>() : generation_->paths());
}

Result<std::string> Stage::base_bytes(const std::string& path, std::size_t limit) const {
    return lower_bytes(generation_ == nullptr ? std::vector<std::string>() : generation_->paths(),
                       path, limit);
}

Result<Stage> Stage::make(const std::string& workspace, const std::vector<std::string>& hidden,
                          std::shared_ptr<const Generation> generation) {
    const std::string all = stages_of(workspace);
    std::string directory = all + "/XXXXXX";
    if ((::mkdir(all.c_str(), 0700) != 0 && errno != EEXIST) ||
        ::mkdtemp(directory.data()) == nullptr)
        return no_stage(cat(directory, ": ", std::strerror(errno)));
    Stage made(workspace, directory, std::move(generation));
    struct stat root {};
    if (::stat(workspace.c_str(), &root) != 0 || ::mkdir(made.upper().c_str(), 0700) != 0 ||
        ::chmod(made.upper().c_str(), root.st_mode & 07777) != 0 ||
        ::mkdir((directory + "/scratch").c_str(), 0700) != 0)
        return no_stage(cat(directory, ": ", std::strerror(errno)));
    for (const std::string& path : hidden) TRY(hide(workspace, made.upper(), path));
    return made;
}

void Stage::sweep(const std::string& workspace) {
    remove_directory(stages_of(workspace));
}

Result<StageOutcome> Stage::run(const StagedCommand& what, Clock& clock,
                                const std::stop_token& stop, process::Following* following) {
    const std::int64_t asked_ns = file_time_ns();
    InteriorPlan plan;
    plan.workspace = workspace_;
    plan.upper = upper();
    plan.work = directory_ + "/scratch";
    if (generation_ != nullptr) {
        plan.layers_in = generation_->parent;
        for (const auto& layer : generation_->layers) plan.layers.push_back(layer->name());
    }
    plan.cwd = what.cwd;
    plan.home = variable("HOME", "");
    plan.shown = programs_below(plan.home);
    plan.network = what.network;
    plan.limits = {what.limits.processes, what.limits.memory_bytes, what.limits.disk_bytes};
    const std::vector<std::string> arguments = {"/bin/bash", "--norc", "--noprofile", "-c",
                                                what.command};
    const std::vector<std::string> variables = stage::environment();
    Interior interior = TRY(Interior::make(std::move(plan)));

    std::optional<process::Pipe> input = process::make_pipe(false);
    std::optional<process::Pipe> output = process::make_pipe(true);
    std::optional<process::Pipe> errors = process::make_pipe(true);
    std::optional<process::Pipe> report = process::make_pipe(true);
    if (!input || !output || !errors || !report) return no_stage(std::strerror(errno));
    // The report is waited for.
    ::fcntl(report->ours.get(), F_SETFL, 0);

    StageOutcome out;
    const Beginning begin{interior,
                          process::pointers(arguments),
                          process::pointers(variables),
                          input->theirs.get(),
                          output->theirs.get(),
                          (what.one_stream ? output : errors)->theirs.get(),
                          size_of_arguments(),
                          report->theirs.get(),
                          asked_ns};
    const pid_t first = clone_first(begin, what.network);
    if (first < 0)
        return no_stage(cat("this system refuses namespaces: ", std::strerror(errno)),
                        {{"step", "namespaces"}, {"errno", errno}});
    for (auto* const pipe : {&input, &output, &errors, &report}) (*pipe)->theirs.close();
    // Ends with the start of the program, which closes the report.
    for (;;) {
        Report told;
        const ssize_t count = ::read(report->ours.get(), &told, sizeof told);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        if (told.refusal.error == 0) {
            out.began_ns = told.began_ns;
            continue;
        }
        static_cast<void>(process::kill_group(first));
        const char* const step = step_name(told.refusal.step);
        return no_stage(cat(step, ": ", std::strerror(told.refusal.error)),
                        {{"step", step}, {"errno", told.refusal.error}});
    }

    const Fd ended(static_cast<int>(::syscall(SYS_pidfd_open, first, 0)));
    Tail streams[] = {{std::move(output->ours), {}, false, following},
                      {std::move(errors->ours), {}, false, following}};
    if (following != nullptr) following->began();
    std::string_view rest = what.input;
    if (rest.empty()) input->ours.close();
    const std::int64_t deadline = clock.steady_ms() + what.limits.timeout_ms;
    UsageWatch usage(clock, first, stages_of(workspace_), upper(), what.limits.processes,
                     what.limits.memory_bytes, what.limits.disk_bytes);
    while (!process::has_ended(first)) {
        // A closed descriptor is -1, which poll() passes over.
        pollfd ready_now[] = {{streams[0].ours.get(), POLLIN, 0},
                              {streams[1].ours.get(), POLLIN, 0},
                              {input->ours.get(), POLLOUT, 0},
                              {ended.get(), POLLIN, 0}};
        if (::poll(ready_now, 4, kSliceMs) > 0) {
            for (Tail& each : streams) {
                if (each.ours.get() >= 0) each.read_some(what.limits.output_bytes);
            }
            if (ready_now[2].revents != 0) process::write_some(input->ours, rest);
        }
        if (stop.stop_requested()) out.end = StageEnd::stopped;
        if (clock.steady_ms() >= deadline) out.end = StageEnd::timed_out;
        if (const std::optional<StageEnd> over = usage.look()) out.end = *over;
        if (out.end != StageEnd::exited) break;
        const int signal = following == nullptr ? 0 : following->turn();
        if (signal != 0) ::kill(first, signal);
    }
    const int status = process::kill_group(first);
    for (Tail& each : streams) {
        if (each.ours.get() >= 0) each.read_some(what.limits.output_bytes);
        each.trim(what.limits.output_bytes);
    }
    out.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    out.output = std::move(streams[0].kept);
    out.errors = std::move(streams[1].kept);
    out.output_cut = streams[0].cut;
    out.errors_cut = streams[1].cut;
    return out;
}

}  // namespace quire::stage
