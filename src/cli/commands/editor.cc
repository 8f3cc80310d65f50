// Runs an editor through the shell, as git does, with the terminal's signals going to the editor.
#include "cli/commands/editor.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/concat.h"

namespace quire::cli {
namespace {

// Ignores a signal while it lives.
class IgnoredSignal {
public:
    explicit IgnoredSignal(int signal) : signal_(signal), before_(std::signal(signal, SIG_IGN)) {}
    IgnoredSignal(const IgnoredSignal&) = delete;
    IgnoredSignal& operator=(const IgnoredSignal&) = delete;
    ~IgnoredSignal() { std::signal(signal_, before_); }

private:
    int signal_;
    void (*before_)(int);
};

Failure editor_failed(const std::string& command, std::string_view what) {
    return fail(Errc::unavailable, "editor_failed", cat("the editor (", command, ") ", what));
}

// The status of a file. Writing the file changes it, even if the content stays the same.
struct stat file_status(const std::string& path) {
    struct stat status = {};
    ::stat(path.c_str(), &status);
    return status;
}
bool is_as_it_was(const struct stat& before, const struct stat& after) {
    const auto same = [](const struct timespec& a, const struct timespec& b) {
        return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
    };
    return before.st_dev == after.st_dev && before.st_ino == after.st_ino &&
           before.st_size == after.st_size && same(before.st_mtim, after.st_mtim);
}

// Returns true if the command is one that scripts name when nothing is to be edited.
bool opens_nothing(std::string_view command) {
    const auto begin = command.find_first_not_of(' ');
    if (begin == std::string_view::npos) return false;
    command = command.substr(begin, command.find_last_not_of(' ') + 1 - begin);
    return command == "true" || command == ":" || command == "/bin/true" ||
           command == "/usr/bin/true";
}

// The command is the shell's to read, since EDITOR may hold options; the path is passed as an
// argument and is never read by the shell.
Result<void> run_in_shell(const std::string& command, const std::string& path) {
    std::array<std::string, 5> words = {"sh", "-c", cat(command, " \"$@\""), command, path};
    std::array<char*, words.size() + 1> arguments = {};
    for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();

    // The editor receives the signals that this process ignores. A Ctrl-C in the editor must not
    // end this program, which has the text to write back.
    ::posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t usual;
    ::sigemptyset(&usual);
    for (const int signal : {SIGINT, SIGQUIT, SIGPIPE}) ::sigaddset(&usual, signal);
    ::posix_spawnattr_setsigdefault(&attributes, &usual);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    const IgnoredSignal interrupt(SIGINT);
    const IgnoredSignal quit(SIGQUIT);
    pid_t pid = -1;
    const int error =
        ::posix_spawn(&pid, "/bin/sh", nullptr, &attributes, arguments.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    if (error != 0) return editor_failed(command, cat("cannot be started: ", std::strerror(error)));

    int status = 0;
    while (::waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) return editor_failed(command, "was lost");
    }
    if (WIFSIGNALED(status))
        return editor_failed(command, cat("was ended by signal ", WTERMSIG(status)));
    if (WEXITSTATUS(status) == 127)
        return editor_failed(command,
                             "was not found; set VISUAL or EDITOR to one that is installed");
    if (WEXITSTATUS(status) != 0)
        return editor_failed(command, cat("ended with status ", WEXITSTATUS(status)));
    return {};
}

}  // namespace

Editor chosen_editor() {
    for (const char* const name : {"VISUAL", "EDITOR"}) {
        const char* const command = std::getenv(name);
        if (command != nullptr && *command != '\0') return {name, command};
    }
    return {"EDITOR", "vi"};
}

Result<Returned> run_editor(const std::string& command, const std::string& path) {
    // A program that only passes the file to an open window may still take long to start.
    constexpr std::int64_t kAtOnceMs = 2000;
    const SystemClock clock;
    const struct stat before = file_status(path);
    const std::int64_t began = clock.steady_ms();
    TRY(run_in_shell(command, path));
    const bool at_once = clock.steady_ms() - began < kAtOnceMs && !opens_nothing(command) &&
                         is_as_it_was(before, file_status(path));
    return at_once ? Returned::at_once : Returned::waited;
}

}  // namespace quire::cli
