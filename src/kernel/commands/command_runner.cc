// One command from its order to its result:
//
//  run()            predict, refuse what is blocked, commit what has waited, ask about the network
//  stage_and_run()  find the best tier that this system has and the settings allow
//  run_staged()     run on a generation, or on the live tree if there is none in time
//  settle()         pass the changes through the gate, log them, hold those that wait for a person
//
// A stage is owned by exactly one place at a time: this call, HeldStages while it waits, or its
// remover. The audit log gets its entry before the journal is removed, so a kill after a commit has
// begun leaves the command either logged or for sweep() to complete.
#include "kernel/commands/command_runner.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/concat.h"
#include "base/utf8.h"
#include "kernel/commands/call_approval.h"
#include "kernel/commands/command_completion.h"
#include "kernel/commands/command_gate.h"
#include "kernel/commands/command_journal.h"
#include "kernel/commands/command_past.h"
#include "kernel/commands/command_values.h"
#include "kernel/commands/held_stages.h"
#include "kernel/commands/hidden_files.h"
#include "kernel/commands/run_record.h"
#include "kernel/files/file_gate.h"
#include "kernel/oversight/overseer.h"
#include "process/spawn.h"
#include "stage/changes.h"

namespace quire::kernel {
namespace {

using shell::Decision;
using shell::Enforcement;

// How long a command waits for the files of the workspace to be taken into a generation. One in the
// background also waits for the first copy of all files; others begin on the live tree before.
constexpr std::int64_t kShortWaitMs = 1'000;
constexpr std::int64_t kLongWaitMs = 30'000;
// A hundred years, which is as good as no limit.
constexpr std::int64_t kNoTimeoutMs = std::int64_t{100} * 365 * 24 * 60 * 60 * 1000;

// Changes that the prediction has missed are told to the caller and to the audit log: they show
// where a model of a command is wrong. The gate decides them by the same rules as others.
std::vector<shell::Predicted> unexpected_in(const CommandForecast& forecast,
                                            const GateResult& gate) {
    std::vector<ChangedPath> changed;
    for (const CommandChange& each : gate.changes)
        changed.push_back({each.path, each.change_type == "deleted"});
    std::vector<shell::Predicted> out;
    for (const std::size_t i : unpredicted_changes(forecast.prediction, changed)) {
        const CommandChange& each = gate.changes[i];
        const bool creates = each.change_type == "created" || each.change_type == "link";
        out.push_back({each.path, changed[i].is_deleted ? shell::Effect::erase
                                  : creates             ? shell::Effect::create
                                                        : shell::Effect::write});
    }
    return out;
}

// Returns true if the command is predicted to only read, and is allowed without a warning.
bool changes_nothing(const CommandForecast& forecast) {
    return forecast.decision == Decision::allow && forecast.prediction.warnings.empty() &&
           std::ranges::all_of(forecast.prediction.effects, [](const shell::Predicted& each) {
               return each.effect == shell::Effect::read;
           });
}

}  // namespace

CommandRunner::CommandRunner(Parts parts, CommandSettings settings)
    : parts_(std::move(parts)),
      settings_(std::move(settings)),
      generations_(parts_.workspace, parts_.clock),
      held_(std::make_shared<HeldStages>(parts_.clock)) {
    // Approvals may outlive this runner, so they hold its stages weakly.
    Approvals& approvals = Overseer::of(parts_.kernel).approvals();
    approvals.on_answer([weak = std::weak_ptr(held_)](const policy::Approval& answered) {
        if (const auto held = weak.lock()) held->heed(answered);
    });
    approvals.before_yes([weak = std::weak_ptr(held_), parts = parts_](
                             const policy::Approval& asked, Reply<bool> reply) {
        const auto held = weak.lock();
        if (held == nullptr) return reply(true);
        held->check(
            asked, [parts](const HeldStage& stage) { return is_outdated(parts, stage); },
            std::move(reply));
    });
}

// The changes of a stage that are not committed.
Result<std::vector<stage::StagedChange>> CommandRunner::changes_left(const HeldStage& stage) {
    std::vector<stage::StagedChange> changes =
        TRY(stage.stage.changes(stage.hidden, stage.outcome));
    std::erase_if(changes, [&](const stage::StagedChange& each) {
        return stage.done.contains({each.path, each.kind});
    });
    return changes;
}

// Returns true if a waiting stage must not be committed as it was shown: the rules, the files or the
// effects of the command have changed.
bool CommandRunner::is_outdated(const Parts& parts, const HeldStage& stage) {
    // Other rules may refuse what the person has seen, or need no person any more.
    if (stage.rules != nullptr && !stage.rules->paths.same_as(parts.gate.rules()->paths))
        return true;
    Result<std::vector<stage::StagedChange>> changes = changes_left(stage);
    if (!changes) return true;
    const CommandGate gate({parts.kernel, parts.gate, parts.files, parts.workspace,
                            parts.gate.file_bytes(), "command", stage.hidden},
                           stage.stage, std::move(*changes), stage.actor);
    if (gate.is_outdated()) return true;
    const Result<std::string> effects = gate.effects();
    return !effects || *effects != stage.left;
}

// Keeps a stage whose changes wait for a person. What was committed is no part of it any more.
Result<void> CommandRunner::hold(const Caller& by, const CommandOrder& what, HeldStage& stage,
                                 std::string effects) {
    if (by.call != nullptr) stage.call = digest_of(*with_effects(*by.call, effects));
    stage.actor = by.actor;
    stage.rules = parts_.gate.rules();
    stage.effects = std::move(effects);
    // Under "warned" the changes that the rules allow are committed already. The stage is compared
    // by the rest.
    stage.left = stage.effects;
    if (!stage.done.empty()) {
        const CommandGate rest({parts_.kernel, parts_.gate, parts_.files, parts_.workspace,
                                parts_.gate.file_bytes(), "command", stage.hidden},
                               stage.stage, TRY(changes_left(stage)), stage.actor);
        stage.left = TRY(rest.effects());
    }
    held_->hold(key_of(by, what), std::move(stage));
    return {};
}

void CommandRunner::set(CommandSettings settings) {
    settings_.with([&](auto& now) { now = std::move(settings); });
}

// Completes first, for that needs the stages and records of the past that the rest removes.
std::vector<std::string> CommandRunner::sweep() {
    CompletedCommands done =
        complete_commands({parts_.kernel, parts_.gate, parts_.files, parts_.workspace});
    stage::Stage::sweep(parts_.workspace, done.kept);
    sweep_past(parts_.workspace);
    generations_.sweep();
    return std::move(done.said);
}

// The length of the command separates it from the input, so no two orders share a key.
std::string CommandRunner::key_of(const Caller& by, const CommandOrder& what) {
    return cat(by.actor.str(), "\n", what.in_background ? "spawn" : "execute", "\n", what.cwd, "\n",
               what.command.size(), "\n", what.command, "\n", what.input);
}

Result<CommandForecast> CommandRunner::check(const Caller& by, const CommandOrder& what) const {
    return forecast(by, what, settings_.with([](auto& all) { return all; }));
}

Result<std::string> CommandRunner::directory_of(const std::string& path) const {
    if (path.empty() || path == ".") return parts_.workspace;
    const fs::Place place = TRY(parts_.gate.files().resolve(path));
    if (place.kind == fs::Kind::missing) {
        return fail(Errc::not_found, "file_not_found", cat("there is no directory ", path),
                    {{"path", path}});
    }
    if (place.kind != fs::Kind::directory || policy::is_hidden(place.path))
        return invalid("not_a_directory", cat(path, " is no directory"), {{"path", path}});
    return place.path.empty() ? parts_.workspace : cat(parts_.workspace, "/", place.path);
}

Result<CommandForecast> CommandRunner::forecast(const Caller& by, const CommandOrder& what,
                                                const CommandSettings& now) const {
    const std::string cwd = TRY(directory_of(what.cwd));
    // Below these tiers a command can reach the directories of the system by their names.
    const Surroundings around = now.enforcement != Enforcement::strict ? Surroundings::system
                                : now.minimum_tier <= Tier::bubblewrap ? Surroundings::stage
                                                                       : Surroundings::copy;
    return forecast_command(what.command, parts_.workspace, cwd, parts_.gate.rules()->paths,
                            now.enforcement, by.actor, around);
}

std::int64_t CommandRunner::timeout_ms(const CommandOrder& what, const CommandSettings& now) {
    if (what.in_background) return kNoTimeoutMs;
    const std::int64_t most = now.limits.timeout_ms;
    return what.timeout_s ? std::min(most, *what.timeout_s * std::int64_t{1000}) : most;
}

Result<CommandRun> CommandRunner::run(const Caller& by, const CommandOrder& what,
                                      process::Following* following) {
    const CommandSettings now = settings_.with([](auto& all) { return all; });
    CommandRun out;
    out.forecast = TRY(forecast(by, what, now));
    if (now.enforcement == Enforcement::none) {
        Result<CommandRun> bare = run_bare(by, what, now, following, std::move(out));
        if (bare) audit().ran(by, record_of(what.command, *bare));
        return bare;
    }
    if (out.forecast.decision == Decision::block) return refused_forecast(out.forecast);
    // A command whose changes a person was asked about has run already, and its stage waits here.
    // An outdated stage is dropped by settle(), and the command runs anew as if it had never run.
    if (std::optional<HeldStage> waiting = held_->take(key_of(by, what))) {
        Result<CommandRun> settled = settle(by, what, std::move(*waiting), now, out);
        if (settled || settled.error().reason() != "outdated") return settled;
    }
    TRY(ask_about_network(by, what, out.forecast, now));
    HeldStage staged = TRY(stage_and_run(by, what, out.forecast, now, following));
    return settle(by, what, std::move(staged), now, std::move(out));
}

AuditLog& CommandRunner::audit() const {
    return Overseer::of(parts_.kernel).audit();
}

Result<void> CommandRunner::ask_about_network(const Caller& by, const CommandOrder& what,
                                              const CommandForecast& forecast,
                                              const CommandSettings& now) const {
    if (!now.network || now.enforcement != Enforcement::strict || !uses_network(forecast) ||
        by.actor.kind == policy::ActorKind::human)
        return {};
    policy::Target target;
    target.kind = "command";
    target.name = utf8::repaired(what.command);
    return require_approval(parts_.kernel, by, "network", target, policy::Operation::execute,
                            [&] { return refused_network(forecast); });
}

// Runs the command in the best tier that this system has and the settings allow.
Result<HeldStage> CommandRunner::stage_and_run(const Caller& by, const CommandOrder& what,
                                               const CommandForecast& forecast,
                                               const CommandSettings& now,
                                               process::Following* following) {
    Attempt attempt{by, what, now, following,
                    TRY(files_hidden_from(parts_.gate, by.actor, what.in_background))};
    // A command that is known to change nothing may run where something holds back what the prediction
    // knows nothing of, such as signals and paths out of its copy. The gate holds it to it.
    const bool is_strict = now.enforcement == Enforcement::strict;
    const bool is_harmless = changes_nothing(forecast);
    std::string why;
    for (const Tier tier : {Tier::staged, Tier::bubblewrap, Tier::landlock, Tier::observed}) {
        // Tiers are ordered from the best to the weakest. The loop goes on only where a tier does
        // not exist here.
        if (tier < now.best_tier) continue;
        const bool is_below = is_strict && tier > now.minimum_tier;
        if (is_below && (!is_harmless || tier == Tier::observed))
            return no_tier(why, tier, now.minimum_tier);
        // Weaker tiers keep a command apart less well, so a person is asked before it runs.
        if (is_strict && tier != Tier::staged && forecast.decision == Decision::require_escalation)
            TRY(ask_before(by, what, forecast));
        Result<HeldStage> ran =
            tier == Tier::staged ? run_unseeing(attempt) : run_copy(attempt, tier);
        if (ran) {
            ran->is_below_minimum = is_below;
            return ran;
        }
        if (ran.error().reason() != "no_stage") return ran;
        cat_to(why, cat(why.empty() ? "" : "; ", name_of(tier), ": ", ran.error().message()));
    }
    return no_tier(why, Tier::none, now.minimum_tier);
}

// A file that is made while the command runs can be read where the live tree shows through, also one that it
// may not see. Nothing takes back what it has read, so its output is dropped and it runs again, without that
// file. A command whose output somebody follows has shown it already.
Result<HeldStage> CommandRunner::run_unseeing(Attempt& attempt) {
    constexpr int kMostRuns = 3;
    for (int turn = 1;; ++turn) {
        Result<HeldStage> ran = run_staged(attempt);
        if (!ran) return ran;
        Result<std::vector<std::string>> hidden =
            files_hidden_from(parts_.gate, attempt.by.actor, attempt.what.in_background);
        if (!hidden) {
            held_->discard(std::move(*ran));
            return Failure(std::move(hidden).error());
        }
        if (std::ranges::includes(attempt.hidden, *hidden)) return ran;
        if (attempt.following != nullptr) {
            cat_to(ran->note, cat(ran->note.empty() ? "" : ". ",
                                  "A file that not every agent may read was made while the command "
                                  "ran, so it may have read it"));
            return ran;
        }
        held_->discard(std::move(*ran));
        // A command with the network could send something twice.
        if (turn == kMostRuns || attempt.now.network) {
            return fail(
                Errc::conflict, "path_changed",
                "a file that the command may not see was made while it ran, so its output and "
                "its changes were dropped. Repeat the call");
        }
        attempt.hidden = *std::move(hidden);
    }
}

// The error that says which tier is there and why no better one is. `from`: the best one that may be there.
Failure CommandRunner::no_tier(std::string why, Tier from, Tier needed) const {
    Tier here = from;
    for (const Tier tier : {Tier::bubblewrap, Tier::landlock, Tier::observed}) {
        if (tier < from || here != tier) continue;
        const std::string refusal = stage::Stage::refusal_of(parts_.workspace, tier);
        if (refusal.empty()) break;
        cat_to(why, cat(why.empty() ? "" : "; ", name_of(tier), ": ", refusal));
        here = tier == Tier::bubblewrap ? Tier::landlock : Tier::observed;
    }
    const std::string better = why.empty() ? std::string() : cat(" (", why, ")");
    return fail(
        Errc::unavailable, "no_stage",
        cat("the command was not run: it needs the tier ", name_of(needed),
            ", and this system has ", name_of(here), better,
            ". quire doctor says more; [shell] minimum_tier in quire.toml allows another tier"),
        {{"tier", name_of(here)}, {"needed", name_of(needed)}});
}

Result<void> CommandRunner::ask_before(const Caller& by, const CommandOrder& what,
                                       const CommandForecast& forecast) const {
    if (by.actor.kind == policy::ActorKind::human) return {};
    policy::Target target;
    target.kind = "command";
    target.name = utf8::repaired(what.command);
    return require_approval(parts_.kernel, by, "tier", target, policy::Operation::execute,
                            [&] { return refused_tier(forecast); });
}

Result<stage::StagedCommand> CommandRunner::staged_command(const Attempt& attempt) const {
    const auto& [by, what, now, following, hidden] = attempt;
    std::string directory = TRY(directory_of(what.cwd));
    stage::StagedCommand command{what.command, std::move(directory), what.input,
                                 now.network,  now.limits,           what.in_background};
    command.limits.timeout_ms = timeout_ms(what, now);
    // Generations and stages share one limit.
    command.limits.disk_bytes -= std::min(command.limits.disk_bytes, generations_.disk_bytes());
    return command;
}

Result<HeldStage> CommandRunner::run_in(const Attempt& attempt, Result<stage::Stage> made) {
    if (!made) return Failure(std::move(made).error());
    std::stop_source ending;
    // The command ends when its caller gives up or the kernel stops, whichever comes first.
    const std::stop_callback by_caller(attempt.by.cancelled, [&] { ending.request_stop(); });
    const std::stop_callback by_kernel(stopping_.get_token(), [&] { ending.request_stop(); });
    const stage::StagedCommand command = TRY(staged_command(attempt));
    stage::StageOutcome ran =
        TRY(made->run(command, parts_.clock, ending.get_token(), attempt.following));
    return HeldStage{std::move(*made), std::move(ran), attempt.hidden};
}

Result<HeldStage> CommandRunner::run_copy(const Attempt& attempt, Tier tier) {
    return run_in(attempt, stage::Stage::make_copy(parts_.workspace, attempt.hidden, tier,
                                                   attempt.now.limits.disk_bytes));
}

Result<HeldStage> CommandRunner::run_staged(const Attempt& attempt) {
    const bool in_background = attempt.what.in_background;
    generations_.set(parts_.gate.ignore_files(), attempt.now.limits.disk_bytes);
    GenerationKeeper::Answer seen =
        generations_.current(in_background ? kLongWaitMs : kShortWaitMs, in_background);
    if (seen.generation != nullptr) {
        Result<HeldStage> ran =
            run_in(attempt, stage::Stage::make(parts_.workspace, attempt.hidden, seen.generation));
        // The overlay on a generation may be refused where one on the live tree is not, so that is
        // tried next.
        if (ran || ran.error().reason() != "no_stage") return ran;
        seen.why = ran.error().message();
    }
    Result<HeldStage> ran = run_in(attempt, stage::Stage::make(parts_.workspace, attempt.hidden));
    if (!ran) return ran;
    // A workspace that lies on an overlay, as in a container, may not bear two more on top.
    if (seen.generation != nullptr) generations_.give_up(seen.why);
    if (in_background) {
        ran->note = cat("the command saw the files as they were on the disk while it ran, because ",
                        seen.why);
    }
    return ran;
}

// Judges and commits the changes of a stage. Errors also: conflict "outdated" if a stage waited and the
// workspace has changed since.
Result<CommandRun> CommandRunner::settle(const Caller& by, const CommandOrder& what,
                                         HeldStage stage, const CommandSettings& now,
                                         CommandRun out) {
    Result<CommandRun> settled = settle_held(by, what, stage, now, std::move(out));
    held_->discard(std::move(stage));
    return settled;
}

// Moves the stage away if its changes wait for a person.
Result<CommandRun> CommandRunner::settle_held(const Caller& by, const CommandOrder& what,
                                              HeldStage& stage, const CommandSettings& now,
                                              CommandRun out) {
    out.outcome = stage.outcome;
    out.on_generation = stage.stage.has_generation();
    out.tier = stage.stage.tier();
    const bool waited = !stage.effects.empty();
    if (waited && is_outdated(parts_, stage))
        return fail(Errc::conflict, "outdated", "the workspace has changed since the command ran");
    std::vector<stage::StagedChange> changes = TRY(changes_left(stage));
    std::vector<std::pair<std::string, stage::ChangeKind>> names;
    for (const stage::StagedChange& each : changes) names.emplace_back(each.path, each.kind);
    // It was run in this tier only because it was predicted to change nothing.
    if (stage.is_below_minimum && !changes.empty()) return no_tier("", out.tier, now.minimum_tier);
    CommandGate gate({parts_.kernel, parts_.gate, parts_.files, parts_.workspace, now.file_bytes,
                      "command", stage.hidden},
                     stage.stage, std::move(changes), by.actor);
    out.unexpected = unexpected_in(out.forecast, gate.judged());
    gate.set_ran(ran_of(what.command, out));
    if (!stage.note.empty()) gate.add_note(stage.note);
    // A command that was cut off may have left files half written, so none of its changes are kept.
    if (stage.outcome.end != stage::StageEnd::exited) {
        out.gate = gate.judged();
        audit().ran(by, record_of(what.command, out));
        return out;
    }
    const bool asks = !gate.judged().escalations.empty();
    std::string effects = waited ? stage.effects : asks ? TRY(gate.effects()) : std::string();
    out.gate = commit_approved(parts_.kernel, by, std::move(gate), effects, now.enforcement);
    const std::optional<Error>& failure = out.gate.failure;
    const bool waits = failure && failure->code() == Errc::escalation_required;
    const bool is_strict = now.enforcement == Enforcement::strict;
    out.is_refused =
        (is_strict && !out.gate.violations.empty()) || (failure && (is_strict || !waits));
    audit().ran(by, record_of(what.command, out));
    // From here on a kernel that is killed owes the command nothing.
    remove_journal(stage.stage.directory());
    if (waits) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (out.gate.changes[i].committed) stage.done.insert(std::move(names[i]));
        }
        TRY(hold(by, what, stage, std::move(effects)));
    }
    return out;
}

// Runs the command without a stage. Its changes then count as changes by any other program.
Result<CommandRun> CommandRunner::run_bare(const Caller& by, const CommandOrder& what,
                                           const CommandSettings& now,
                                           process::Following* following, CommandRun out) const {
    process::Program program;
    program.arguments = {"/bin/bash", "--norc", "--noprofile", "-c", what.command};
    program.directory = TRY(directory_of(what.cwd));
    program.environment = stage::environment();
    program.input = what.input;
    process::Bounds bounds;
    bounds.timeout_ms = timeout_ms(what, now);
    bounds.output_bytes = now.limits.output_bytes;
    bounds.errors_apart = !what.in_background;
    std::stop_source ending;
    const std::stop_callback by_caller(by.cancelled, [&] { ending.request_stop(); });
    const std::stop_callback by_kernel(stopping_.get_token(), [&] { ending.request_stop(); });
    process::Ended ended =
        TRY(process::run_program(program, bounds, parts_.clock, ending.get_token(), following));
    out.tier = Tier::none;
    out.outcome.output = std::move(ended.output);
    out.outcome.errors = std::move(ended.errors);
    out.outcome.exit_code = ended.exit_code;
    out.outcome.output_cut = ended.truncated;
    if (ended.timed_out) out.outcome.end = stage::StageEnd::timed_out;
    if (ended.stopped) out.outcome.end = stage::StageEnd::stopped;
    return out;
}

}  // namespace quire::kernel
