// CommandCalls: the use cases of the shell: predicting a command, running one, and running commands in the
// background.
//
// Any thread may call. Each reply is called exactly once, from a worker. A command occupies its worker
// until it has ended.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/function.h"
#include "kernel/commands/background_commands.h"
#include "kernel/commands/command_result.h"
#include "kernel/commands/command_runner.h"
#include "kernel/commands/command_settings.h"
#include "kernel/commands/command_undo.h"
#include "kernel/commands/forecast.h"
#include "kernel/core/caller.h"
#include "sched/scheduler.h"

namespace quire::kernel {

class CommandCalls {
public:
    // The parts and the workers, which wait for commands, outlive it and every call.
    CommandCalls(CommandRunner::Parts parts, sched::Scheduler& workers, CommandSettings settings);
    ~CommandCalls();

    // The settings hold from the next call on.
    void set(CommandSettings settings);
    // Calls CommandRunner::sweep(). Call it before the first command.
    std::vector<std::string> sweep();
    // Ends the running commands and refuses new ones. Waits for the background commands to end.
    void stop();

    // Predicts the command. Errors: those of a path that is no directory in the workspace.
    void check(Caller by, CommandOrder what, Reply<CommandForecast> reply);
    // Runs the command. One that a limit ended is discarded.
    //
    // Errors: denied "permission_denied" {violations}, with what it wrote if it ran; and
    // escalation_required "escalation_required" {escalations, approval_id}, likewise; unavailable
    // "no_stage" {tier, needed} where this system has no stage, under every level but "none"; conflict
    // "disk_changed" where others changed the same words meanwhile; those of check() and of saving.
    void execute(Caller by, CommandOrder what, Reply<CommandRun> reply);

    // Takes back what a command changed beside texts; `past` is the record's name in the audit log.
    // Errors: those of undo_command().
    void undo(Caller by, std::string past, bool dry_run, Reply<CommandUndone> reply);

    BackgroundCommands& background() { return background_; }

private:
    template <class T, class Place, class Work>
    void post(Place& place, Reply<T> reply, Work work);

    CommandRunner runner_;
    sched::Scheduler& workers_;
    sched::Strand undos_;  // Two undos of one record do not meet.
    BackgroundCommands background_;
};

}  // namespace quire::kernel
