// CommandCalls: the use cases of the shell: what a command would do, and running one.
//
// A command runs in a stage (stage/stage.h), on the workspace as it is on the disk. When it has ended,
// its changes pass the rules for files one by one (command_gate.h). What a person must approve waits
// in its stage: the approval is for these effects, and when the same call is made again they are
// committed without running the command anew.
//
// Any thread. Replies come exactly once, from a worker; a command occupies one until it has ended.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/function.h"
#include "base/result.h"
#include "kernel/commands/command_result.h"
#include "kernel/commands/command_settings.h"
#include "kernel/commands/forecast.h"
#include "kernel/core/caller.h"

namespace quire {
class Clock;
}
namespace quire::sched {
class Scheduler;
}

namespace quire::kernel {

class FileCalls;
class FileGate;
class Kernel;

struct CommandOrder {
    std::string command;
    std::string cwd = {};  // From the workspace's root; "" for the root.
    std::optional<std::int64_t> timeout_s = {};
    std::string input = {};
};

class CommandCalls {
public:
    struct Parts {
        Kernel& kernel;
        FileGate& gate;
        FileCalls& files;
        // They wait for commands.
        sched::Scheduler& workers;
        Clock& clock;
        std::string workspace;  // Absolute, without links.
    };
    // The parts outlive it and every call.
    CommandCalls(Parts parts, CommandSettings settings);
    ~CommandCalls();

    // From the next call on.
    void set(CommandSettings settings);
    // Completes the commits that a kernel which was killed has begun, and removes its stages. Before
    // the first call. Returns sentences for the operator.
    std::vector<std::string> sweep();
    // Ends the commands that run, and runs no more. Returns at once.
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

private:
    struct Body;
    std::shared_ptr<Body> body_;
};

}  // namespace quire::kernel
