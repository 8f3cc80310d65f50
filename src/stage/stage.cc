// One run of a command:
//
//   kernel's thread                      first process               the command
//   setting_of(): all that allocates
//   start() ─────────────── clone ────>  confines itself
//   await_program() <────── report ────  begins the command ──────>  bash
//   look() … streams, limits, stop       waits, passes signals on    writes to upper/
//   exit code <──────────── finish ────  ends all others
//
// The report says that the program runs or which step was refused: the pipe closes when bash is
// started. Every wait for the command is cut into slices of kSliceMs, so that a stop and the limits
// are noticed.
#include "stage/stage.h"

#include <algorithm>
#include <array>
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
#include "stage/bubblewrap.h"
#include "stage/first_process.h"
#include "stage/interior.h"
#include "stage/land_interior.h"
#include "stage/lower_folder.h"
#include "stage/twins.h"
#include "stage/usage.h"

namespace quire::stage {
// The pipes between this process and a command.
struct CommandPipes {
    process::Pipe input, output, errors;
    process::Pipe report;  // From the first process: how the start goes.
    process::Pipe finish;  // From the first process: the exit code.

    // Returns none if the system cannot make another pipe.
    static std::optional<CommandPipes> make() {
        CommandPipes out;
        for (process::Pipe* const pipe : out.all()) {
            std::optional<process::Pipe> made = process::make_pipe(pipe != &out.input);
            if (!made) return std::nullopt;
            *pipe = std::move(*made);
        }
        // The report is waited for.
        ::fcntl(out.report.ours.get(), F_SETFL, 0);
        return out;
    }
    void close_theirs() {
        for (process::Pipe* const pipe : all()) pipe->theirs.close();
    }

private:
    std::array<process::Pipe*, 5> all() { return {&input, &output, &errors, &report, &finish}; }
};

namespace {

namespace files = std::filesystem;

// The delay with which a stop or a limit is noticed.
constexpr int kSliceMs = 100;
constexpr std::size_t kStackBytes = std::size_t{128} << 10;
// How long the first process has to end all others.
constexpr int kEndingMs = 5000;

// An empty variable counts as one that is not set.
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
    process::Descriptor& ours;
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
            // A trim moves what stays, so it comes at twice the limit: O(1) for each byte.
            if (kept.size() > 2 * limit + sizeof buffer) trim(limit);
        }
    }
    void trim(std::size_t limit) {
        if (kept.size() <= limit) return;
        kept.erase(0, kept.size() - limit);
        cut = true;
    }
};

// Serves the streams of a command that runs.
class Attendance {
public:
    // The pipes and the input outlive it.
    Attendance(CommandPipes& pipes, std::string_view input, std::size_t output_bytes,
               process::Following* following)
        : pipes_(pipes),
          rest_(input),
          limit_(output_bytes),
          streams_{{{pipes.output.ours, {}, false, following},
                    {pipes.errors.ours, {}, false, following}}} {
        if (rest_.empty()) pipes_.input.ours.close();
    }

    // Moves what there is to move, and waits for some at most kSliceMs. Returns the exit code once the
    // command has told it.
    std::optional<int> look() {
        // A closed descriptor is -1, which poll() passes over.
        pollfd ready[] = {{streams_[0].ours.get(), POLLIN, 0},
                          {streams_[1].ours.get(), POLLIN, 0},
                          {pipes_.input.ours.get(), POLLOUT, 0},
                          {pipes_.finish.ours.get(), POLLIN, 0}};
        if (::poll(ready, 4, kSliceMs) > 0) {
            read_some();
            if (ready[2].revents != 0) process::write_some(pipes_.input.ours, rest_);
            has_ended_ = ready[3].revents != 0;
        }
        int code = 0;
        if (has_ended_ && ::read(pipes_.finish.ours.get(), &code, sizeof code) == sizeof code)
            return code;
        return std::nullopt;
    }
    // Returns true if the first process is gone, whether it told an exit code or not.
    bool has_ended() const { return has_ended_; }

    // Takes what is still to be read.
    void finish(StageOutcome& out) {
        read_some();
        for (Tail& each : streams_) each.trim(limit_);
        out.output = std::move(streams_[0].kept);
        out.errors = std::move(streams_[1].kept);
        out.output_cut = streams_[0].cut;
        out.errors_cut = streams_[1].cut;
    }

private:
    void read_some() {
        for (Tail& each : streams_) {
            if (each.ours.get() >= 0) each.read_some(limit_);
        }
    }

    CommandPipes& pipes_;
    std::string_view rest_;
    const std::size_t limit_;
    std::array<Tail, 2> streams_;
    bool has_ended_ = false;
};

// Hides a path by a whiteout. The directories on the way get the properties that they have.
// A whiteout is a device 0:0. Since Linux 5.8 nobody needs a privilege to make that one.
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
      ending_(std::exchange(other.ending_, -1)),
      generation_(std::move(other.generation_)),
      tier_(other.tier_),
      copy_(std::move(other.copy_)) {}

// The namespaces and mounts may still be on their way down; the directory can go only after them.
Stage::~Stage() {
    if (ending_ > 0) static_cast<void>(process::kill_group(ending_));
    if (directory_.empty()) return;
    // The overlay's own directory has no permissions.
    ::chmod(cat(directory_, "/scratch/work").c_str(), 0700);
    remove_directory(directory_);
}

Result<std::vector<StagedChange>> Stage::changes(const std::vector<std::string>& hidden,
                                                 const StageOutcome& outcome) const {
    if (copy_) return copy_->changes(hidden);
    return changes_in(workspace_, upper(), hidden, outcome.began_ns,
                      generation_ == nullptr ? std::vector<std::string>() : generation_->paths());
}

Result<std::string> Stage::base_bytes(const std::string& path, std::size_t limit) const {
    return lower_bytes(generation_ == nullptr ? std::vector<std::string>() : generation_->paths(),
                       path, limit);
}

std::string Stage::refusal_of(const std::string& workspace, Tier tier) {
    if (tier == Tier::bubblewrap) {
        const std::string program = find_bubblewrap(workspace);
        return program.empty() ? "there is no program bwrap on PATH" : bubblewrap_refusal(program);
    }
    const bool is_missing = tier == Tier::landlock && process::LandRules::version() < 1;
    return is_missing ? "this system has no Landlock (Linux 5.13)" : "";
}

Result<Stage> Stage::make_copy(const std::string& workspace, const std::vector<std::string>& hidden,
                               Tier tier, std::uint64_t most_bytes) {
    if (const std::string why = refusal_of(workspace, tier); !why.empty()) return no_stage(why);
    Stage made = TRY(make(workspace, {}, nullptr));
    made.tier_ = tier;
    for (const char* const name : {"/home", "/tmp"}) {
        if (::mkdir((made.directory_ + name).c_str(), 0700) != 0)
            return no_stage(cat(made.directory_, name, ": ", std::strerror(errno)));
    }
    made.copy_ = TRY(CopiedTree::make(workspace, made.upper(), hidden, most_bytes));
    return made;
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

void Stage::set_aside() {
    const std::string aside =
        cat(workspace_, "/.quire/", kGone, files::path(directory_).filename().string());
    if (!directory_.empty() && ::rename(directory_.c_str(), aside.c_str()) == 0) directory_ = aside;
}

void Stage::sweep(const std::string& workspace, const std::set<std::string>& kept) {
    const std::string all = stages_of(workspace);
    if (kept.empty()) return remove_directory(all);
    std::error_code gone;
    for (const auto& stage : files::directory_iterator(all, gone)) {
        if (!kept.contains(stage.path().string())) remove_directory(stage.path().string());
    }
}

struct Stage::Setting {
    std::unique_ptr<Confinement> confinement;
    std::vector<std::string> arguments;
    std::vector<std::string> environment;
    std::string directory = {};  // "" where the confinement goes there.
    std::int64_t asked_ns = 0;   // The file_time_ns() of the request.
};

Result<Stage::Setting> Stage::setting_of(const StagedCommand& what) const {
    Setting out;
    out.arguments = {"/bin/bash", "--norc", "--noprofile", "-c", what.command};
    out.environment = stage::environment();
    // A copied file has another inode and change time than git noted, by which git would read all files
    // again. Their sizes and times of modification are the same.
    if (generation_ != nullptr || copy_) {
        for (const char* const each :
             {"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=core.checkStat", "GIT_CONFIG_VALUE_0=minimal",
              "GIT_CONFIG_KEY_1=core.trustctime", "GIT_CONFIG_VALUE_1=false"})
            out.environment.emplace_back(each);
    }
    const std::string home = variable("HOME", "");
    const StageLimits& limits = what.limits;
    if (tier_ == Tier::staged) {
        InteriorPlan plan;
        plan.workspace = workspace_;
        plan.upper = upper();
        plan.work = directory_ + "/scratch";
        if (generation_ != nullptr) {
            plan.layers_in = generation_->parent;
            for (const auto& layer : generation_->layers) plan.layers.push_back(layer->name());
        }
        plan.cwd = what.cwd;
        plan.home = home;
        plan.shown = programs_below(home);
        plan.network = what.network;
        plan.limits = {limits.processes, limits.memory_bytes, limits.disk_bytes};
        out.confinement = std::make_unique<Interior>(TRY(Interior::make(std::move(plan))));
        return out;
    }
    if (tier_ == Tier::bubblewrap) {
        Bubblewrap made = TRY(Bubblewrap::make({find_bubblewrap(workspace_), workspace_, upper(),
                                                what.cwd, home, programs_below(home), what.network,
                                                limits.memory_bytes, limits.disk_bytes}));
        out.arguments.insert(out.arguments.begin(), made.words().begin(), made.words().end());
        out.confinement = std::make_unique<Bubblewrap>(std::move(made));
        return out;
    }
    // The command is in its copy, and its temporary files and its home beside that.
    out.directory = upper() + what.cwd.substr(workspace_.size());
    for (std::string& each : out.environment) {
        if (each.starts_with("HOME=")) each = cat("HOME=", directory_, "/home");
        if (each.starts_with("TMPDIR=")) each = cat("TMPDIR=", directory_, "/tmp");
    }
    const LandInterior::Plan plan{workspace_,
                                  {upper(), directory_ + "/home", directory_ + "/tmp"},
                                  what.network,
                                  limits.memory_bytes,
                                  limits.disk_bytes};
    out.confinement = std::make_unique<LandInterior>(
        tier_ == Tier::landlock ? TRY(LandInterior::landlock(plan)) : LandInterior::observed(plan));
    return out;
}

// Clones the first process, which begins the command. Errors: unavailable "no_stage".
Result<int> Stage::start(const StagedCommand& what, Setting& setting, CommandPipes& pipes) {
    const auto stack = std::make_unique<char[]>(kStackBytes);  // NOLINT(*-avoid-c-arrays)
    const Beginning begin{*setting.confinement,
                          process::pointers(setting.arguments),
                          process::pointers(setting.environment),
                          setting.directory.empty() ? nullptr : setting.directory.c_str(),
                          pipes.input.theirs.get(),
                          pipes.output.theirs.get(),
                          (what.one_stream ? pipes.output : pipes.errors).theirs.get(),
                          size_of_arguments(),
                          pipes.report.theirs.get(),
                          pipes.finish.theirs.get(),
                          setting.asked_ns,
                          stack.get(),
                          kStackBytes};
    const pid_t first = clone_first(begin);
    if (first < 0) {
        return no_stage(cat("this system refuses namespaces: ", std::strerror(errno)),
                        {{"step", "namespaces"}, {"errno", errno}});
    }
    pipes.close_theirs();
    return first;
}

// Waits for the start of the program, which closes the report. Returns the time at which it began. Errors:
// unavailable "no_stage" {step, errno}; then the first process is gone.
Result<std::int64_t> Stage::await_program(pid_t first, const process::Pipe& report) const {
    std::int64_t began_ns = 0;
    for (;;) {
        Report told;
        const ssize_t count = ::read(report.ours.get(), &told, sizeof told);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return began_ns;
        if (told.refusal.error == 0) {
            began_ns = told.began_ns;
            continue;
        }
        static_cast<void>(process::kill_group(first));
        const char* const step = step_name(told.refusal.step);
        const std::string below =
            told.refusal.error == EINVAL ? mount_below(workspace_) : std::string();
        return no_stage(cat(step, ": ", std::strerror(told.refusal.error),
                            below.empty() ? "" : "; there is a mount below it, at ", below),
                        {{"step", step}, {"errno", told.refusal.error}});
    }
}

Result<StageOutcome> Stage::run(const StagedCommand& what, Clock& clock,
                                const std::stop_token& stop, process::Following* following) {
    const std::int64_t asked_ns = file_time_ns();
    Setting setting = TRY(setting_of(what));
    setting.asked_ns = asked_ns;
    std::optional<CommandPipes> pipes = CommandPipes::make();
    if (!pipes) return no_stage(std::strerror(errno));
    const pid_t first = TRY(start(what, setting, *pipes));
    StageOutcome out;
    out.began_ns = TRY(await_program(first, pipes->report));
    if (following != nullptr) following->began();

    UsageWatch usage(clock, first, stages_of(workspace_), upper(), what.limits.processes,
                     what.limits.memory_bytes, what.limits.disk_bytes);
    const std::int64_t deadline = clock.steady_ms() + what.limits.timeout_ms;
    Attendance attendance(*pipes, what.input, what.limits.output_bytes, following);
    std::optional<int> code;
    while (!code && out.end == StageEnd::exited && !attendance.has_ended()) {
        code = attendance.look();
        if (code) break;
        if (stop.stop_requested()) out.end = StageEnd::stopped;
        if (clock.steady_ms() >= deadline) out.end = StageEnd::timed_out;
        if (const std::optional<StageEnd> over = usage.look()) out.end = *over;
        const int signal =
            following == nullptr || out.end != StageEnd::exited ? 0 : following->turn();
        if (signal != 0) ::kill(first, signal);
    }
    if (code && out.end == StageEnd::exited) {
        ending_ = first;
        out.exit_code = *code;
        if (usage.has_filled_disk(tier_ == Tier::staged)) out.end = StageEnd::disk;
    } else {
        // Only the first process knows all that a command without a namespace has started.
        if (!code && setting.confinement->namespaces() == 0) {
            ::kill(first, SIGALRM);
            pollfd ending{pipes->finish.ours.get(), POLLIN, 0};
            ::poll(&ending, 1, kEndingMs);
        }
        const int status = process::kill_group(first);
        out.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    attendance.finish(out);
    return out;
}

}  // namespace quire::stage
