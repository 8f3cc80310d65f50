// quire serve and quire kernel: the process that owns the workspace, in the foreground for a
// person, or in the background for the command that starts it.
//
// serve prints and logs for a person and stays until it is told to end. kernel is what other
// commands start: it reports on a pipe that it is ready, or why it is not, and ends some seconds
// after its last client.
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/fd.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/stopping.h"
#include "cli/commands/terminal.h"
#include "cli/compose/compose.h"
#include "server/launch.h"
#include "server/local_socket.h"

namespace quire::cli {
namespace {

struct ServeOptions {
    std::string listen;     // "" for the Unix socket alone.
    bool takeover = false;  // A kernel that runs is ended first.
};

struct KernelOptions {
    int ready_fd = -1;
};

// Standard error, and kernel.log, where people look whichever way the kernel was started.
class ServeLog final : public LogSink {
public:
    explicit ServeLog(const std::string& workspace) : path_(cat(workspace, "/.quire/kernel.log")) {}

    void write(LogLevel level, std::string_view line) override {
        stderr_.write(level, line);
        // There is no directory for it before the kernel has made one.
        const Fd file(
            ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
        const std::string out = log_line(level, line);
        if (file) static_cast<void>(::write(file.get(), out.data(), out.size()) == 0);
    }

private:
    StderrLog stderr_;
    const std::string path_;
};

// To serve a workspace that is served already is no failure: what was wanted is the case.
Result<int> report_running(const Globals& globals, const CommandClient& client) {
    std::error_code missing;
    const auto socket =
        std::filesystem::canonical(globals.workspace, missing) / ".quire" / "kernel.sock";
    return output(cat("A kernel serves this workspace already: process ", client.kernel_pid(),
                      ", socket ", socket.string(),
                      ". It goes on. quire stop ends it; quire serve --takeover puts this one in "
                      "its place.\n"));
}

Result<int> run_serve(const Globals& globals, const ServeOptions& options) {
    if (!options.listen.empty()) {
        return fail(Errc::unsupported, "not_built",
                    cat("--listen ", options.listen,
                        ": this version does not speak HTTP. Without --listen it serves the Unix "
                        "socket, which quire mcp and the other commands use. Nothing was started"));
    }
    // Two kernels never overlap: the old one is gone before this one opens the store.
    if (options.takeover) {
        if (const int pid = TRY(stop_running_kernel(globals)); pid != 0)
            print(cat("The kernel, process ", pid, ", has ended.\n"));
    } else if (const auto running = running_kernel(globals)) {
        if (!*running) return Failure(running->error());
        return report_running(globals, **running);
    }
    // Before the first thread, since threads inherit the mask of signals.
    server::LocalServer::block_end_signals();
    ServeLog log(globals.workspace);
    const auto process = TRY(KernelProcess::open(
        {.workspace = globals.workspace, .version = globals.version, .linger_ms = -1}, log));
    print(cat("Serving ", process->socket(), " until Ctrl-C.\n"));
    process->run();
    // A supervisor should see that the kernel did not end by its own will.
    return process->was_removed() ? kRefused : kDone;
}

Result<int> run_kernel(const Globals& globals, const KernelOptions& options) {
    server::LocalServer::block_end_signals();
    StderrLog log;
    KernelProcessOptions process_options{.workspace = globals.workspace,
                                         .version = globals.version};
    // How long the kernel stays after its last client: for tests, and for scripts that make many
    // short calls.
    if (const char* const linger = std::getenv("QUIRE_LINGER_MS"))
        process_options.linger_ms = std::atoi(linger);
    auto process = KernelProcess::open(process_options, log);
    if (!process) {
        // The starter waits on the pipe, and prints this error as its own.
        server::report_failure(options.ready_fd, process.error());
        log.write(LogLevel::error, process.error().message());
        return kRefused;
    }
    server::report_ready(options.ready_fd);
    (*process)->run();
    return (*process)->was_removed() ? kRefused : kDone;
}

void add_serve_options(CLI::App& app, ServeOptions& options) {
    app.add_option("--listen", options.listen,
                   "An address for HTTP; this version does not support it and refuses to start")
        ->type_name("HOST:PORT");
    app.add_flag("--takeover", options.takeover,
                 "End the kernel that runs here, and serve in its place");
}

void add_kernel_options(CLI::App& app, KernelOptions& options) {
    app.add_option("--ready-fd", options.ready_fd, "The pipe on which to report readiness");
}

}  // namespace

Command serve_command() {
    return {.name = "serve",
            .about =
                "Run the workspace's kernel in the foreground, on the Unix socket in "
                ".quire/, until Ctrl-C",
            .example = "quire serve --workspace ~/project",
            .action = action_with(add_serve_options, run_serve)};
}

// The other commands start it.
Command kernel_command() {
    return {.name = "kernel",
            .about = "The background process that owns a workspace",
            .example = {},
            .action = action_with(add_kernel_options, run_kernel),
            .hidden = true,
            .is_for_programs = true};
}

}  // namespace quire::cli
