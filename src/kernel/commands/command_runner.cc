#include "kernel/commands/command_runner.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/concat.h"
#include "base/utf8.h"
#include "kernel/commands/call_approval.h"
#include "kernel/commands/command_gate.h"
#include "kernel/commands/command_journal.h"
#include "kernel/commands/command_values.h"
#include "kernel/commands/held_stages.h"
#include "kernel/files/file_gate.h"
#include "kernel/oversight/command_record.h"
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
// The most files that are searched for those that a command may not see.
constexpr std::size_t kMostFiles = 1'000'000;
// A hundred years, which is as good as no limit.
constexpr std::int64_t kNoTimeoutMs = std::int64_t{100} * 365 * 24 * 60 * 60 * 1000;

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

}  // namespace

CommandRunner::CommandRunner(Parts parts, CommandSettings settings)
    : parts_(std::move(parts)),
      settings_(std::move(settings)),
      generations_(parts_.workspace, parts_.clock),
      held_(std::make_shared<HeldStages>(parts_.clock)) {
    Overseer::of(parts_.kernel)
        .approvals()
        .on_answer([weak = std::weak_ptr(held_)](const policy::Approval& answered) {
            if (const auto held = weak.lock()) held->heed(answered);
        });
}

void CommandRunner::set(CommandSettings settings) {
    settings_.with([&](auto& now) { now = std::move(settings); });
}

std::vector<std::string> CommandRunner::sweep() {
    std::vector<std::string> said = complete_commands(parts_.workspace, parts_.gate.files());
    stage::Stage::sweep(parts_.workspace);
    generations_.sweep();
    return said;
}

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
    return forecast_command(what.command, parts_.workspace, cwd, parts_.gate.rules()->paths,
                            now.enforcement, by.actor);
}

// Lists the files that the actor may read only with an approval. Almost free if no rule says so.
std::vector<std::string> CommandRunner::hidden_from(const policy::Actor& by,
                                                    bool and_from_agents) const {
    const policy::Actor agent{policy::ActorKind::agent, by.name};
    std::vector<std::string> out;
    const std::shared_ptr<const FileRules> rules = parts_.gate.rules();
    const auto& all = rules->paths.rules();
    const bool any = std::any_of(all.begin(), all.end(), [](const policy::PathRule& rule) {
        return rule.escalated.has(policy::Operation::read);
    });
    if (!any) return out;
    const Result<fs::Listing> listed = parts_.gate.files().list(kMostFiles, {});
    if (!listed) return out;
    for (const fs::Entry& each : listed->entries) {
        const bool is_seen = parts_.gate.may_see(each.path, by) &&
                             (!and_from_agents || parts_.gate.may_see(each.path, agent));
        if (!is_seen) out.push_back(each.path);
    }
    return out;
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
        if (bare) log(by, what, *bare);
        return bare;
    }
    if (out.forecast.decision == Decision::block) return refused_forecast(out.forecast);
    // A command that a person was asked about has run before, and waits.
    if (std::optional<HeldStage> waiting = held_->take(key_of(by, what))) {
        Result<CommandRun> settled = settle(by, what, std::move(*waiting), now, out);
        if (settled) log(by, what, *settled);
        if (settled || settled.error().reason() != "outdated") return settled;
    }
    TRY(ask_about_network(by, what, out.forecast, now));
    HeldStage staged = TRY(stage_and_run(by, what, now, following));
    Result<CommandRun> settled = settle(by, what, std::move(staged), now, std::move(out));
    if (settled) log(by, what, *settled);
    return settled;
}

// Writes the command and its changes to the audit log.
void CommandRunner::log(const Caller& by, const CommandOrder& what, const CommandRun& run) const {
    CommandRecord record;
    record.command = utf8::repaired(what.command);
    record.decision = name_of(run.forecast.decision);
    record.tier = name_of(run.tier);
    record.exit_code = run.outcome.exit_code;
    const std::optional<Error>& failure = run.gate.failure;
    const bool waits = failure && failure->code() == Errc::escalation_required;
    const bool ended = run.outcome.end == stage::StageEnd::exited;
    record.outcome = run.tier == Tier::none     ? "unstaged"
                     : waits                    ? "waits"
                     : run.is_refused || !ended ? "discarded"
                                                : "committed";
    for (const shell::Predicted& each : run.forecast.prediction.effects) {
        if (each.effect != shell::Effect::read)
            record.predicted.push_back(utf8::repaired(each.path));
    }
    for (const CommandChange& each : run.gate.changes) {
        const std::string path = utf8::repaired(each.path);
        if (!each.committed) {
            record.left_out.push_back(path);
        } else if (each.block_id.empty()) {
            record.without_history.push_back(path);
        } else {
            record.blocks.push_back({each.block_id, each.version, path});
        }
    }
    for (const shell::Predicted& each : run.unexpected)
        record.missed.push_back(utf8::repaired(each.path));
    Overseer::of(parts_.kernel).audit().ran(by, record);
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

Result<HeldStage> CommandRunner::stage_and_run(const Caller& by, const CommandOrder& what,
                                               const CommandSettings& now,
                                               process::Following* following) {
    std::vector<std::string> hidden = hidden_from(by.actor, what.in_background);
    generations_.set(parts_.gate.ignore_files(), now.limits.disk_bytes);
    const GenerationKeeper::Answer seen =
        generations_.current(what.in_background ? kLongWaitMs : kShortWaitMs, what.in_background);
    std::string note;
    if (what.in_background && seen.generation == nullptr) {
        note = cat("the command saw the files as they were on the disk while it ran, because ",
                   seen.why);
    }
    std::stop_source ending;
    const std::stop_callback by_caller(by.cancelled, [&] { ending.request_stop(); });
    const std::stop_callback by_kernel(stopping_.get_token(), [&] { ending.request_stop(); });
    stage::StagedCommand command{what.command, TRY(directory_of(what.cwd)), what.input, now.network,
                                 now.limits,   what.in_background};
    command.limits.timeout_ms = timeout_ms(what, now);
    command.limits.disk_bytes -= std::min(command.limits.disk_bytes, generations_.disk_bytes());
    Result<stage::Stage> made = stage::Stage::make(parts_.workspace, hidden, seen.generation);
    Result<stage::StageOutcome> ran =
        made ? made->run(command, parts_.clock, ending.get_token(), following)
             : Result<stage::StageOutcome>(Failure(made.error()));
    // The system stacks no two more overlays where the workspace lies on one, as in a container.
    if (made && !ran && seen.generation != nullptr && ran.error().reason() == "no_stage") {
        Result<stage::Stage> plain = stage::Stage::make(parts_.workspace, hidden);
        Result<stage::StageOutcome> again =
            plain ? plain->run(command, parts_.clock, ending.get_token(), following)
                  : Result<stage::StageOutcome>(Failure(plain.error()));
        if (again) {
            generations_.give_up(ran.error().message());
            return HeldStage{
                std::move(*plain),
                std::move(*again),
                std::move(hidden),
                "",
                "",
                0,
                what.in_background
                    ? cat("the command saw the files as they were on the disk while it "
                          "ran, because ",
                          ran.error().message())
                    : std::string()};
        }
    }
    if (!ran) {
        Error why = std::move(ran).error();
        why.details().set("tier", name_of(Tier::none));
        why.details().set("needed", now.minimum_tier);
        return Failure(std::move(why));
    }
    return HeldStage{std::move(*made), std::move(*ran), std::move(hidden), "", "", 0,
                     std::move(note)};
}

// Judges and commits the changes of a stage. Errors also: conflict "outdated" if a stage waited and the
// workspace has changed since.
Result<CommandRun> CommandRunner::settle(const Caller& by, const CommandOrder& what,
                                         HeldStage stage, const CommandSettings& now,
                                         CommandRun out) {
    out.outcome = stage.outcome;
    out.on_generation = stage.stage.has_generation();
    std::vector<stage::StagedChange> changes =
        TRY(stage.stage.changes(stage.hidden, stage.outcome));
    const bool waited = !stage.effects.empty();
    CommandGate gate({parts_.kernel, parts_.gate, parts_.files, parts_.workspace, now.file_bytes},
                     stage.stage, std::move(changes), by.actor);
    if (waited && gate.is_outdated())
        return fail(Errc::conflict, "outdated", "the workspace has changed since the command ran");
    if (!stage.note.empty()) gate.add_note(stage.note);
    if (stage.outcome.end != stage::StageEnd::exited) {
        out.gate = gate.judged();
        out.unexpected = unexpected_in(out.forecast, out.gate);
        return out;
    }
    const bool asks = !gate.judged().escalations.empty();
    std::string effects = asks ? TRY(gate.effects()) : std::string();
    if (waited && effects != stage.effects)
        return fail(Errc::conflict, "outdated", "the workspace has changed since the command ran");
    out.gate = commit_approved(parts_.kernel, by, std::move(gate), effects, now.enforcement);
    out.unexpected = unexpected_in(out.forecast, out.gate);
    const std::optional<Error>& failure = out.gate.failure;
    const bool waits = failure && failure->code() == Errc::escalation_required;
    if (waits) {
        if (by.call != nullptr) stage.call = digest_of(*with_effects(*by.call, effects));
        stage.effects = std::move(effects);
        held_->hold(key_of(by, what), std::move(stage));
    }
    const bool is_strict = now.enforcement == Enforcement::strict;
    out.is_refused =
        (is_strict && !out.gate.violations.empty()) || (failure && (is_strict || !waits));
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
