#include "kernel/commands/command_calls.h"

#include <algorithm>
#include <future>
#include <map>
#include <stop_token>
#include <utility>

#include "base/clock.h"
#include "base/concat.h"
#include "kernel/commands/command_gate.h"
#include "kernel/commands/command_journal.h"
#include "kernel/commands/command_values.h"
#include "kernel/files/file_calls.h"
#include "kernel/files/file_gate.h"
#include "kernel/oversight/overseer.h"
#include "policy/call_digest.h"
#include "process/spawn.h"
#include "sched/guarded.h"
#include "sched/scheduler.h"

namespace quire::kernel {
namespace {

using shell::Decision;
using shell::Enforcement;

// How long a stage waits for a person, and how many of them wait at once.
constexpr std::int64_t kHeldMs = std::int64_t{24} * 60 * 60 * 1000;
constexpr std::size_t kMostHeld = 32;
// The files that are looked through for those that a command may not see.
constexpr std::size_t kMostFiles = 1'000'000;

// A stage that waits for a person's approval of what its command did.
struct Held {
    stage::Stage stage;
    stage::StageOutcome outcome;
    std::vector<std::string> hidden;
    std::string effects;
    std::int64_t since_ms = 0;
};

std::string key_of(const Caller& by, const CommandOrder& what) {
    return cat(by.actor.str(), "\n", what.cwd, "\n", what.command.size(), "\n", what.command, "\n",
               what.input);
}

std::vector<shell::Predicted> unexpected_in(const CommandForecast& forecast,
                                            const GateResult& gate) {
    std::vector<shell::Predicted> out;
    for (const CommandChange& each : gate.changes) {
        const bool erases = each.change_type == "deleted";
        const policy::Operation operation =
            erases ? policy::Operation::erase : policy::Operation::overwrite;
        if (is_predicted(forecast.prediction, each.path, operation)) continue;
        const bool creates = each.change_type == "created" || each.change_type == "link";
        out.push_back({each.path, erases    ? shell::Effect::erase
                                  : creates ? shell::Effect::create
                                            : shell::Effect::write});
    }
    return out;
}

}  // namespace

struct CommandCalls::Body {
    Body(Parts taken, CommandSettings set) : parts(std::move(taken)), settings(std::move(set)) {}

    const Parts parts;
    sched::Guarded<CommandSettings> settings;
    std::stop_source stopping;
    sched::Guarded<std::map<std::string, Held>> held;

    Result<std::string> directory_of(const std::string& path) const;
    std::vector<std::string> hidden_from(const policy::Actor& by) const;
    CommandForecast forecast(const Caller& by, const CommandOrder& what, const std::string& cwd,
                             Enforcement level) const;
    Result<CommandRun> run(const Caller& by, const CommandOrder& what);
    Result<CommandRun> run_bare(const Caller& by, const CommandOrder& what, const std::string& cwd,
                                const CommandSettings& now, CommandRun out);
    Result<Held> stage_and_run(const Caller& by, const CommandOrder& what, const std::string& cwd,
                               const CommandSettings& now);
    std::optional<Held> take_held(const std::string& key);
    Result<CommandRun> settle(const Caller& by, const CommandOrder& what, Held stage,
                              const CommandSettings& now, CommandRun out);
    GateResult commit(const Caller& by, CommandGate gate, const std::string& effects,
                      Enforcement level);

    // Work on a worker, and its answer. Work that comes after the stop is refused.
    template <class T, class Work>
    static void post(const std::shared_ptr<Body>& body, Reply<T> reply, Work work) {
        body->parts.workers.post(
            [body, reply = std::move(reply), work = std::move(work)]() mutable {
                if (body->stopping.stop_requested())
                    return reply(fail(Errc::unavailable, "kernel_ending", "the kernel is ending"));
                reply(work(*body));
            });
    }
};

CommandCalls::CommandCalls(Parts parts, CommandSettings settings)
    : body_(std::make_shared<Body>(std::move(parts), std::move(settings))) {}

std::vector<std::string> CommandCalls::sweep() {
    std::vector<std::string> said =
        complete_commands(body_->parts.workspace, body_->parts.gate.files());
    stage::Stage::sweep(body_->parts.workspace);
    return said;
}

CommandCalls::~CommandCalls() {
    stop();
    body_->held.with([](auto& held) { held.clear(); });
}

void CommandCalls::set(CommandSettings settings) {
    body_->settings.with([&](auto& now) { now = std::move(settings); });
}

void CommandCalls::stop() {
    body_->stopping.request_stop();
}

void CommandCalls::check(Caller by, CommandOrder what, Reply<CommandForecast> reply) {
    Body::post<CommandForecast>(
        body_, std::move(reply),
        [by = std::move(by), what = std::move(what)](Body& body) -> Result<CommandForecast> {
            const std::string cwd = TRY(body.directory_of(what.cwd));
            const Enforcement level = body.settings.with([](auto& now) { return now.enforcement; });
            return body.forecast(by, what, cwd, level);
        });
}

void CommandCalls::execute(Caller by, CommandOrder what, Reply<CommandRun> reply) {
    Body::post<CommandRun>(
        body_, std::move(reply),
        [by = std::move(by), what = std::move(what)](Body& body) { return body.run(by, what); });
}

Result<std::string> CommandCalls::Body::directory_of(const std::string& path) const {
    if (path.empty() || path == ".") return parts.workspace;
    const fs::Place place = TRY(parts.gate.files().resolve(path));
    if (place.kind == fs::Kind::missing) {
        return fail(Errc::not_found, "file_not_found", cat("there is no directory ", path),
                    {{"path", path}});
    }
    if (place.kind != fs::Kind::directory || policy::is_hidden(place.path))
        return invalid("not_a_directory", cat(path, " is no directory"), {{"path", path}});
    return place.path.empty() ? parts.workspace : cat(parts.workspace, "/", place.path);
}

CommandForecast CommandCalls::Body::forecast(const Caller& by, const CommandOrder& what,
                                             const std::string& cwd, Enforcement level) const {
    return forecast_command(what.command, parts.workspace, cwd, parts.gate.rules()->paths, level,
                            by.actor);
}

// Files that may not be read without an approval. Almost free where no rule has such.
std::vector<std::string> CommandCalls::Body::hidden_from(const policy::Actor& by) const {
    std::vector<std::string> out;
    const std::shared_ptr<const FileRules> rules = parts.gate.rules();
    const auto& all = rules->paths.rules();
    const bool any = std::any_of(all.begin(), all.end(), [](const policy::PathRule& rule) {
        return rule.escalated.has(policy::Operation::read);
    });
    if (!any) return out;
    const Result<fs::Listing> listed = parts.gate.files().list(kMostFiles, {});
    if (!listed) return out;
    for (const fs::Entry& each : listed->entries) {
        if (!parts.gate.may_see(each.path, by)) out.push_back(each.path);
    }
    return out;
}

std::optional<Held> CommandCalls::Body::take_held(const std::string& key) {
    const std::int64_t now_ms = parts.clock.steady_ms();
    return held.with([&](auto& all) -> std::optional<Held> {
        std::erase_if(all,
                      [&](const auto& each) { return now_ms - each.second.since_ms > kHeldMs; });
        const auto found = all.find(key);
        if (found == all.end()) return std::nullopt;
        std::optional<Held> out(std::move(found->second));
        all.erase(found);
        return out;
    });
}

Result<CommandRun> CommandCalls::Body::run(const Caller& by, const CommandOrder& what) {
    const CommandSettings now = settings.with([](auto& all) { return all; });
    const std::string cwd = TRY(directory_of(what.cwd));
    CommandRun out;
    out.forecast = forecast(by, what, cwd, now.enforcement);
    if (now.enforcement == Enforcement::none) return run_bare(by, what, cwd, now, std::move(out));
    if (out.forecast.decision == Decision::block) return refused_forecast(out.forecast);
    // A command that a person was asked about has run before, and waits.
    if (std::optional<Held> waiting = take_held(key_of(by, what))) {
        Result<CommandRun> settled = settle(by, what, std::move(*waiting), now, out);
        if (settled || settled.error().reason() != "outdated") return settled;
    }
    Held staged = TRY(stage_and_run(by, what, cwd, now));
    return settle(by, what, std::move(staged), now, std::move(out));
}

Result<Held> CommandCalls::Body::stage_and_run(const Caller& by, const CommandOrder& what,
                                               const std::string& cwd, const CommandSettings& now) {
    std::vector<std::string> hidden = hidden_from(by.actor);
    Result<stage::Stage> made = stage::Stage::make(parts.workspace, hidden);
    std::stop_source ending;
    const std::stop_callback by_caller(by.cancelled, [&] { ending.request_stop(); });
    const std::stop_callback by_kernel(stopping.get_token(), [&] { ending.request_stop(); });
    stage::StagedCommand command{what.command, cwd, what.input, now.network, now.limits};
    if (what.timeout_s) {
        command.limits.timeout_ms =
            std::min(command.limits.timeout_ms, *what.timeout_s * std::int64_t{1000});
    }
    Result<stage::StageOutcome> ran = made ? made->run(command, parts.clock, ending.get_token())
                                           : Result<stage::StageOutcome>(Failure(made.error()));
    if (!ran) {
        Error why = std::move(ran).error();
        why.details().set("tier", name_of(Tier::none));
        why.details().set("needed", now.minimum_tier);
        return Failure(std::move(why));
    }
    return Held{std::move(*made), std::move(*ran), std::move(hidden), "", parts.clock.steady_ms()};
}

// The changes of a stage, judged and committed. Errors also: conflict "outdated" where a stage that
// waited does not stand on the workspace as it is now.
Result<CommandRun> CommandCalls::Body::settle(const Caller& by, const CommandOrder& what,
                                              Held stage, const CommandSettings& now,
                                              CommandRun out) {
    out.outcome = stage.outcome;
    std::vector<stage::StagedChange> changes = TRY(stage::changes_in(
        parts.workspace, stage.stage.upper(), stage.hidden, stage.outcome.began_ns));
    const bool waited = !stage.effects.empty();
    const bool raced = std::any_of(changes.begin(), changes.end(),
                                   [](const stage::StagedChange& each) { return each.raced; });
    if (waited && raced)
        return fail(Errc::conflict, "outdated", "the workspace has changed since the command ran");
    CommandGate gate({parts.gate, parts.files, parts.workspace, now.file_bytes}, stage.stage,
                     std::move(changes), by.actor);
    if (stage.outcome.end != stage::StageEnd::exited) {
        out.gate = gate.judged();
        out.unexpected = unexpected_in(out.forecast, out.gate);
        return out;
    }
    const bool asks = !gate.judged().escalations.empty();
    std::string effects = asks ? TRY(gate.effects()) : std::string();
    if (waited && effects != stage.effects)
        return fail(Errc::conflict, "outdated", "the workspace has changed since the command ran");
    out.gate = commit(by, std::move(gate), effects, now.enforcement);
    out.unexpected = unexpected_in(out.forecast, out.gate);
    const std::optional<Error>& failure = out.gate.failure;
    const bool waits = failure && failure->code() == Errc::escalation_required;
    if (waits) {
        stage.effects = std::move(effects);
        stage.since_ms = parts.clock.steady_ms();
        held.with([&](auto& all) {
            if (all.size() >= kMostHeld) {
                const auto oldest =
                    std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
                        return a.second.since_ms < b.second.since_ms;
                    });
                all.erase(oldest);
            }
            all.erase(key_of(by, what));
            all.emplace(key_of(by, what), std::move(stage));
        });
    }
    const bool is_strict = now.enforcement == Enforcement::strict;
    if (is_strict && (!out.gate.violations.empty() || failure)) return refused_run(out);
    if (failure && !waits) return refused_run(out);
    return out;
}

// An approval is for what the command did, and so for a call that says what that is.
GateResult CommandCalls::Body::commit(const Caller& by, CommandGate gate,
                                      const std::string& effects, Enforcement level) {
    if (by.call == nullptr || effects.empty()) return gate.commit(by, level);
    Caller approved = by;
    Call call = *by.call;
    call.arguments.as_map().set("effects", effects);
    approved.call = std::make_shared<const Call>(std::move(call));
    Approvals& approvals = Overseer::of(parts.kernel).approvals();
    std::promise<Result<void>> begun;
    approvals.begin(approved, [&](Result<void> done) { begun.set_value(std::move(done)); });
    if (Result<void> done = begun.get_future().get(); !done) {
        GateResult out = gate.judged();
        out.failure = std::move(done).error();
        return out;
    }
    GateResult out = gate.commit(approved, level);
    approvals.end(approved, out.failure.has_value());
    return out;
}

// Without a stage what the command changes is a change of the disk like any other program's.
Result<CommandRun> CommandCalls::Body::run_bare(const Caller& by, const CommandOrder& what,
                                                const std::string& cwd, const CommandSettings& now,
                                                CommandRun out) {
    process::Program program;
    program.arguments = {"/bin/bash", "--norc", "--noprofile", "-c", what.command};
    program.directory = cwd;
    program.environment = stage::environment();
    program.input = what.input;
    process::Bounds bounds;
    bounds.timeout_ms = now.limits.timeout_ms;
    if (what.timeout_s)
        bounds.timeout_ms = std::min(bounds.timeout_ms, *what.timeout_s * std::int64_t{1000});
    bounds.output_bytes = now.limits.output_bytes;
    bounds.errors_apart = true;
    process::Ended ended = TRY(process::run_program(program, bounds, parts.clock, by.cancelled));
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
