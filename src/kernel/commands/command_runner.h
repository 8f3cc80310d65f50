// CommandRunner: runs one command in a stage (stage/stage.h), on the workspace as it is on the disk or as the
// newest generation has it (generation_keeper.h), and brings what it changed through the rules for files (command_gate.h).
//
// Changes that a person must approve wait in the command's stage. The approval is for exactly these
// changes: when the same command is run again, the waiting changes are committed, and the command does
// not run a second time (held_stages.h). No stage can take back what a command sends to other machines,
// so where commands have the network, a person is asked before an agent's command runs that uses it.
//
// A command that the system cannot stage runs in a lower tier (stage/tier.h), on a copy of the workspace, if the
// settings allow that; its changes pass the same gate. A person is then asked before the command runs, where
// its prediction says that they must allow something.
//
// Any thread may call. A call occupies its thread until the command has ended.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/commands/command_result.h"
#include "kernel/commands/command_settings.h"
#include "kernel/commands/command_undo.h"
#include "kernel/commands/forecast.h"
#include "kernel/commands/generation_keeper.h"
#include "kernel/core/caller.h"
#include "sched/guarded.h"

namespace quire {
class Clock;
}
namespace quire::process {
struct Following;
}
namespace quire::stage {
class Stage;
struct StagedChange;
struct StagedCommand;
}  // namespace quire::stage

namespace quire::kernel {

class AuditLog;
class CommandGate;
class FileCalls;
class FileGate;
class HeldStages;
class Kernel;
struct HeldStage;

// A command as a caller asks for it. `timeout_s` can only shorten the limit of the settings.
struct CommandOrder {
    std::string command;
    std::string cwd = {};  // From the workspace's root; "" for the root.
    std::optional<std::int64_t> timeout_s = {};
    std::string input = {};
    // The command has no time limit, and its standard error goes to its standard output. Everybody may
    // read that, so the command sees only files that every agent may read.
    bool in_background = false;
};

class CommandRunner {
public:
    struct Parts {
        Kernel& kernel;
        FileGate& gate;
        FileCalls& files;
        Clock& clock;
        std::string workspace;  // Absolute, without links.
    };
    // The parts outlive it.
    CommandRunner(Parts parts, CommandSettings settings);

    // The settings hold from the next command on.
    void set(CommandSettings settings);
    // Completes the commits that a killed kernel had begun, and removes its stages. Call it before the
    // first command. Returns sentences for the operator.
    std::vector<std::string> sweep();
    // Ends the commands that run.
    void stop() { stopping_.request_stop(); }
    // Ends also the copying of files. Call it when no command runs any more.
    void end_generations() { generations_.stop(); }
    bool is_stopped() const { return stopping_.stop_requested(); }

    // Predicts the command. Errors: those of a path that is no directory in the workspace.
    Result<CommandForecast> check(const Caller& by, const CommandOrder& what) const;
    // Runs the command and passes its changes through the gate. The result says which were committed, and
    // CommandRun::is_refused whether the gate refused them. `following` may be null; nothing is followed
    // if the changes of an earlier run are committed instead.
    // Errors: those of check(); denied "permission_denied" for a command that must not run;
    // escalation_required for one that a person has to allow before; unavailable "no_stage" {tier,
    // needed}; conflict "path_changed" where a file that it may not see was made each time that it ran.
    Result<CommandRun> run(const Caller& by, const CommandOrder& what,
                           process::Following* following = nullptr);

    // Takes back what a command changed beside texts; one call at a time. Errors: those of undo_command().
    Result<CommandUndone> undo(const Caller& by, const std::string& past, bool dry_run) const {
        return undo_command(parts_.workspace, parts_.gate, past, by.actor, dry_run);
    }

    // The key under which the changes of a command wait for a person.
    static std::string key_of(const Caller& by, const CommandOrder& what);

private:
    // The absolute directory of a path in the workspace. Errors: not_found "file_not_found";
    // invalid_argument "not_a_directory", also for what lies in .quire.
    Result<std::string> directory_of(const std::string& path) const;
    Result<CommandForecast> forecast(const Caller& by, const CommandOrder& what,
                                     const CommandSettings& now) const;
    // For the level "none".
    Result<CommandRun> run_bare(const Caller& by, const CommandOrder& what,
                                const CommandSettings& now, process::Following* following,
                                CommandRun out) const;
    Result<void> ask_about_network(const Caller& by, const CommandOrder& what,
                                   const CommandForecast& forecast,
                                   const CommandSettings& now) const;
    // A run of a command in some tier.
    struct Attempt {
        const Caller& by;
        const CommandOrder& what;
        const CommandSettings& now;
        process::Following* following;
        std::vector<std::string> hidden;
    };
    Result<HeldStage> stage_and_run(const Caller& by, const CommandOrder& what,
                                    const CommandForecast& forecast, const CommandSettings& now,
                                    process::Following* following);
    // These return a stage whose command has ended, with its changes unjudged. A tier that this
    // system does not have is unavailable "no_stage".
    Result<HeldStage> run_unseeing(Attempt& attempt);
    Result<HeldStage> run_staged(const Attempt& attempt);
    Result<HeldStage> run_copy(const Attempt& attempt, Tier tier);
    Result<HeldStage> run_in(const Attempt& attempt, Result<stage::Stage> made);
    Result<stage::StagedCommand> staged_command(const Attempt& attempt) const;
    Result<void> ask_before(const Caller& by, const CommandOrder& what,
                            const CommandForecast& forecast) const;
    // Asks the system for each tier; bwrap is run for that, once in the life of the process.
    Failure no_tier(std::string why, Tier from, Tier needed) const;
    // Returns true if a stage that waits is not any more what the person was asked about: its files or the
    // rules have changed.
    static bool is_outdated(const Parts& parts, const HeldStage& stage);
    static Result<std::vector<stage::StagedChange>> changes_left(const HeldStage& stage);
    // `effects` is the digest that the person is asked about.
    Result<void> hold(const Caller& by, const CommandOrder& what, HeldStage& stage,
                      std::string effects);
    Result<CommandRun> settle(const Caller& by, const CommandOrder& what, HeldStage stage,
                              const CommandSettings& now, CommandRun out);
    Result<CommandRun> settle_held(const Caller& by, const CommandOrder& what, HeldStage& stage,
                                   const CommandSettings& now, CommandRun out);
    AuditLog& audit() const;
    static std::int64_t timeout_ms(const CommandOrder& what, const CommandSettings& now);

    const Parts parts_;
    sched::Guarded<CommandSettings> settings_;
    std::stop_source stopping_;
    GenerationKeeper generations_;
    // Shared with the approvals, which tell it people's answers.
    const std::shared_ptr<HeldStages> held_;
};

}  // namespace quire::kernel
