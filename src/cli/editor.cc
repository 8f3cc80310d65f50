#include "cli/editor.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cat.h"

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

}  // namespace

std::string editor_command() {
    for (const char* const name : {"VISUAL", "EDITOR"}) {
        const char* const command = std::getenv(name);
        if (command != nullptr && *command != '\0') return command;
    }
    return "vi";
}

Result<void> run_editor(const std::string& command, const std::string& path) {
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

}  // namespace quire::cli
