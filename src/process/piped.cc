// The program is begun by Start (start.h), and this object keeps our ends of the three pipes. It
// reads and writes nothing itself: its user polls them beside other descriptors.
#include "process/piped.h"

#include <cerrno>
#include <csignal>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>

#include "base/concat.h"
#include "process/start.h"

namespace quire::process {
namespace {

// The delay with which the end of a program is noticed.
constexpr int kLookMs = 2;

}  // namespace

struct PipedProgram::Body {
    Body(Pipe to, Pipe from, Pipe complaints)
        : input(std::move(to.ours)),
          output(std::move(from.ours)),
          errors(std::move(complaints.ours)) {}
    Body(const Body&) = delete;
    Body& operator=(const Body&) = delete;
    ~Body() {
        if (child > 0) kill_group(child);
    }

    pid_t child = -1;  // -1 once it was waited for.
    Descriptor input;
    Descriptor output;
    Descriptor errors;
};

PipedProgram::PipedProgram(std::unique_ptr<Body> body) : body_(std::move(body)) {}
PipedProgram::PipedProgram(PipedProgram&&) noexcept = default;
PipedProgram& PipedProgram::operator=(PipedProgram&&) noexcept = default;
PipedProgram::~PipedProgram() = default;

// The pipes are made first and closed on every error by their owners.
Result<PipedProgram> PipedProgram::start(const Program& program) {
    auto to = make_pipe(false);
    auto from = make_pipe(true);
    auto complaints = make_pipe(true);
    if (program.arguments.empty() || !to || !from || !complaints) {
        return fail(Errc::unavailable, "cannot_run",
                    "there is nothing to run, or there are no pipes for it");
    }
    std::optional<Cage> cage;
    if (program.confinement) cage = TRY(Cage::make(*program.confinement));
    const Start start(program, {to->theirs.get(), from->theirs.get(), complaints->theirs.get()},
                      cage ? &*cage : nullptr);
    pid_t child = -1;
    if (const int error = start.spawn(child); error != 0) return cannot_run(program, error);
    auto body = std::make_unique<Body>(std::move(*to), std::move(*from), std::move(*complaints));
    body->child = child;
    return PipedProgram(std::move(body));
}

int PipedProgram::input() const {
    return body_->input.get();
}
int PipedProgram::output() const {
    return body_->output.get();
}
int PipedProgram::errors() const {
    return body_->errors.get();
}
void PipedProgram::close_output() {
    body_->output.close();
}
void PipedProgram::close_errors() {
    body_->errors.close();
}

bool PipedProgram::has_ended() const {
    return body_->child < 0 || process::has_ended(body_->child);
}

// Asks in three steps: end of input, SIGTERM, SIGKILL.
std::string PipedProgram::end(std::int64_t patience_ms, const Clock& clock) {
    if (body_->child < 0) return "ended already";
    body_->input.close();
    const std::int64_t begun = clock.steady_ms();
    const auto waited = [&] { return clock.steady_ms() - begun; };
    while (waited() < patience_ms / 2 && !has_ended()) ::poll(nullptr, 0, kLookMs);
    if (patience_ms > 0 && !has_ended()) ::kill(-body_->child, SIGTERM);
    while (waited() < patience_ms && !has_ended()) ::poll(nullptr, 0, kLookMs);
    // The group is killed even when the program has ended by itself, because what it started may
    // still run.
    const int status = kill_group(std::exchange(body_->child, -1));
    return WIFEXITED(status) ? cat("exit code ", WEXITSTATUS(status))
                             : cat("signal ", WTERMSIG(status));
}

}  // namespace quire::process
