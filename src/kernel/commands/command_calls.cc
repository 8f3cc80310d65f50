#include "kernel/commands/command_calls.h"

#include <utility>

#include "kernel/commands/command_values.h"
#include "kernel/core/kernel.h"

namespace quire::kernel {

CommandCalls::CommandCalls(CommandRunner::Parts parts, sched::Scheduler& workers,
                           CommandSettings settings)
    : runner_(parts, std::move(settings)),
      workers_(workers),
      undos_(workers),
      background_({runner_, parts.kernel, parts.clock}) {}

CommandCalls::~CommandCalls() {
    stop();
}

void CommandCalls::set(CommandSettings settings) {
    runner_.set(std::move(settings));
}

std::vector<std::string> CommandCalls::sweep() {
    return runner_.sweep();
}

// Background commands are judged and logged before the generations that they saw go away.
void CommandCalls::stop() {
    runner_.stop();
    background_.wait();
    runner_.end_generations();
}

// Runs the work on a worker and replies with its result. After stop() it is refused.
template <class T, class Place, class Work>
void CommandCalls::post(Place& place, Reply<T> reply, Work work) {
    place.post([this, reply = std::move(reply), work = std::move(work)]() mutable {
        if (runner_.is_stopped()) return reply(Failure(kernel_ending()));
        reply(work(runner_));
    });
}

void CommandCalls::check(Caller by, CommandOrder what, Reply<CommandForecast> reply) {
    post<CommandForecast>(workers_, std::move(reply),
                          [by = std::move(by), what = std::move(what)](CommandRunner& runner) {
                              return runner.check(by, what);
                          });
}

void CommandCalls::undo(Caller by, std::string past, bool dry_run, Reply<CommandUndone> reply) {
    post<CommandUndone>(undos_, std::move(reply),
                        [by = std::move(by), past = std::move(past), dry_run](
                            CommandRunner& runner) { return runner.undo(by, past, dry_run); });
}

void CommandCalls::execute(Caller by, CommandOrder what, Reply<CommandRun> reply) {
    post<CommandRun>(
        workers_, std::move(reply),
        [by = std::move(by), what = std::move(what)](CommandRunner& runner) -> Result<CommandRun> {
            CommandRun run = TRY(runner.run(by, what));
            if (run.is_refused) return refused_run(run);
            return run;
        });
}

}  // namespace quire::kernel
