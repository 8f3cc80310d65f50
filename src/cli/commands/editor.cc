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

// A signal that is not for us as long as this lives.
class Ignored {
public:
    explicit Ignored(int signal) : signal_(signal), before_(std::signal(signal, SIG_IGN)) {}
    Ignored(const Ignored&) = delete;
    Ignored& operator=(const Ignored&) = delete;
    ~Ignored() { std::signal(signal_, before_); }

private:
    int signal_;
    void (*before_)(int);
};

Failure editor_failed(const std::string& command, std::string_view what) {
    return fail(Errc::unavailable, "editor_failed", cat("the editor (", command, ") ", what));
}

// What a file is at one time: who writes it anew, the same or not, makes another one of it.
struct stat looked_at(const std::string& path) {
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

// What scripts name where nothing is to be edited.
bool opens_nothing(std::string_view command) {
    const auto begin = command.find_first_not_of(' ');
    if (begin == std::string_view::npos) return false;
    command = command.substr(begin, command.find_last_not_of(' ') + 1 - begin);
    return command == "true" || command == ":" || command == "/bin/true" ||
           command == "/usr/bin/true";
}

Result<void> run(const std::string& command, const std::string& path) {
    std::array<std::string, 5> words = {"sh", "-c", cat(command, " \"$@\""), command, path};
    std::array<char*, words.size() + 1> arguments = {};
    for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();

    // The editor hears what we do not.
    ::posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t usual;
    ::sigemptyset(&usual);
    for (const int signal : {SIGINT, SIGQUIT, SIGPIPE}) ::sigaddset(&usual, signal);
    ::posix_spawnattr_setsigdefault(&attributes, &usual);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    const Ignored interrupt(SIGINT);
    const Ignored quit(SIGQUIT);
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
        return editor_failed(command, "was not found; set VISUAL or EDITOR to one that is there");
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
    // Handing a file to a window takes a program that has to start longer than one would think.
    constexpr std::int64_t kAtOnceMs = 2000;
    const SystemClock clock;
    const struct stat before = looked_at(path);
    const std::int64_t began = clock.steady_ms();
    TRY(run(command, path));
    const bool at_once = clock.steady_ms() - began < kAtOnceMs && !opens_nothing(command) &&
                         is_as_it_was(before, looked_at(path));
    return at_once ? Returned::at_once : Returned::waited;
}

}  // namespace quire::cli
