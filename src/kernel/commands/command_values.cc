// Names of files and words of scripts are bytes that an agent chose. So all of them are repaired to
// UTF-8 here, and those in a message, which a person may read in a terminal, have hidden characters
// escaped.
#include "kernel/commands/command_values.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/concat.h"
#include "base/utf8.h"
#include "text/escape_hidden.h"
#include "text/utc_time.h"

namespace quire::kernel {
namespace {

// The words of the tool: an append is a write there.
std::string_view word_of(shell::Effect effect) {
    return name_of(effect == shell::Effect::append ? shell::Effect::write : effect);
}
std::string_view word_of(policy::Operation operation) {
    using policy::Operation;
    return operation == Operation::append || operation == Operation::overwrite ? "write"
                                                                               : name_of(operation);
}

bool is_of_network(const shell::Warning& warning) {
    return warning.kind == "network";
}
// These go into the member `unpredictable`: what they mean is that the predicted effects may not be
// all.
bool is_unpredictable(const shell::Warning& warning) {
    return !is_of_network(warning) && warning.kind != "privilege";
}

List effects_value(const std::vector<shell::Predicted>& effects) {
    List out;
    for (const shell::Predicted& each : effects)
        out.push_back(
            Map{{"path", utf8::repaired(each.path)}, {"operation", word_of(each.effect)}});
    return out;
}

List warnings_value(const std::vector<shell::Warning>& warnings, bool unpredictable) {
    List out;
    for (const shell::Warning& each : warnings) {
        if (is_unpredictable(each) == unpredictable)
            out.push_back(Map{{"kind", each.kind}, {"word", each.word}, {"why", each.why}});
    }
    return out;
}

// A violation has the rule that decides; what a person may allow has no need of it.
List objections_value(const std::vector<shell::Objection>& all, bool are_violations) {
    List out;
    for (const shell::Objection& each : all) {
        Map value{{"path", utf8::repaired(each.path)}, {"operation", word_of(each.effect)}};
        if (are_violations) value.append("permission", each.permission);
        if (are_violations) value.append("rule", utf8::repaired(each.reason));
        value.append("reason", utf8::repaired(each.reason));
        out.push_back(std::move(value));
    }
    return out;
}
List objections_value(const std::vector<GateObjection>& all, bool are_violations) {
    List out;
    for (const GateObjection& each : all) {
        Map value{{"path", utf8::repaired(each.path)}, {"operation", word_of(each.operation)}};
        if (are_violations) value.append("permission", each.permission);
        if (are_violations) value.append("rule", utf8::repaired(each.reason));
        value.append("reason", utf8::repaired(each.reason));
        if (!each.approval_id.empty()) value.append("approval_id", each.approval_id);
        out.push_back(std::move(value));
    }
    return out;
}

// A change without a history has no block_id.
List changes_value(const std::vector<CommandChange>& changes) {
    List out;
    for (const CommandChange& each : changes) {
        Map value{{"path", utf8::repaired(each.path)}, {"change_type", each.change_type}};
        if (!each.block_id.empty()) value.append("block_id", each.block_id);
        value.append("committed", each.committed);
        out.push_back(std::move(value));
    }
    return out;
}

std::string why_ended(stage::StageEnd end) {
    switch (end) {
        case stage::StageEnd::timed_out:
            return "the time limit";
        case stage::StageEnd::stopped:
            return "a request to end it";
        case stage::StageEnd::processes:
            return "the limit on processes";
        case stage::StageEnd::memory:
            return "the limit on memory";
        case stage::StageEnd::disk:
            return "the limit on disk";
        case stage::StageEnd::exited:
            break;
    }
    return "";
}

void warn(List& warnings, std::string_view kind, std::string_view word, std::string why) {
    warnings.push_back(Map{{"kind", kind}, {"word", word}, {"why", std::move(why)}});
}

// A refused run still tells what it printed and did, so that the caller can find out why.
Map printed_value(const CommandRun& run) {
    return {{"stdout", utf8::repaired(run.outcome.output)},
            {"stderr", utf8::repaired(run.outcome.errors)},
            {"exit_code", run.outcome.exit_code},
            {"file_changes", changes_value(run.gate.changes)}};
}

// The message names one objection; the details have all of them.
std::string first_of(const std::vector<shell::Objection>& all) {
    return all.empty() ? ""
                       : text::escape_hidden(
                             utf8::repaired(cat(word_of(all.front().effect), " ", all.front().path,
                                                ": ", all.front().reason)));
}
std::string first_of(const std::vector<GateObjection>& all) {
    return all.empty() ? ""
                       : text::escape_hidden(
                             utf8::repaired(cat(word_of(all.front().operation), " ",
                                                all.front().path, ": ", all.front().reason)));
}

}  // namespace

Map forecast_value(const CommandForecast& forecast) {
    return {{"decision", name_of(forecast.decision)},
            {"predicted", effects_value(forecast.prediction.effects)},
            {"violations", objections_value(forecast.judgement.violations, true)},
            {"escalations", objections_value(forecast.judgement.escalations, false)},
            {"warnings", warnings_value(forecast.prediction.warnings, false)},
            {"unpredictable", warnings_value(forecast.prediction.warnings, true)}};
}

namespace {

List all_warnings(const CommandRun& run) {
    List warnings = warnings_value(run.forecast.prediction.warnings, false);
    for (Value& each : warnings_value(run.forecast.prediction.warnings, true))
        warnings.push_back(std::move(each));
    if (run.outcome.end != stage::StageEnd::exited) {
        warn(warnings, "ended", why_ended(run.outcome.end),
             cat("the command was ended by ", why_ended(run.outcome.end),
                 ", and what it changed was discarded"));
    }
    if (run.outcome.output_cut) warn(warnings, "output_cut", "stdout", "only its end was kept");
    if (run.outcome.errors_cut) warn(warnings, "output_cut", "stderr", "only its end was kept");
    for (const std::string& note : run.gate.notes)
        warn(warnings, "not_committed", "", utf8::repaired(note));
    return warnings;
}

}  // namespace

Map run_value(const CommandRun& run) {
    Map out;
    out.append("stdout", utf8::repaired(run.outcome.output));
    out.append("stderr", utf8::repaired(run.outcome.errors));
    out.append("exit_code", run.outcome.exit_code);
    out.append("timed_out", run.outcome.end == stage::StageEnd::timed_out);
    out.append("decision", name_of(run.forecast.decision));
    out.append("predicted", effects_value(run.forecast.prediction.effects));
    out.append("file_changes", changes_value(run.gate.changes));
    out.append("violations", objections_value(run.gate.violations, true));
    out.append("escalations", objections_value(run.gate.escalations, false));
    out.append("unexpected", effects_value(run.unexpected));
    out.append("warnings", all_warnings(run));
    out.append("tier", name_of(run.tier));
    return out;
}

Map background_value(const BackgroundState& state) {
    Map out{{"process_id", state.process_id}, {"block_id", state.process_id}};
    if (state.started_ms != 0) {
        out.append("command", state.command);
        out.append("started", text::utc_time(state.started_ms));
    }
    out.append("running", state.running);
    if (state.exit_code) out.append("exit_code", *state.exit_code);
    if (state.ended == nullptr) return out;
    if (!*state.ended) {
        const Error& why = state.ended->error();
        out.append("error", Map{{"reason", why.reason()}, {"message", why.message()}});
        return out;
    }
    const CommandRun& run = **state.ended;
    out.append("decision", name_of(run.forecast.decision));
    out.append("file_changes", changes_value(run.gate.changes));
    out.append("violations", objections_value(run.gate.violations, true));
    out.append("escalations", objections_value(run.gate.escalations, false));
    out.append("warnings", all_warnings(run));
    if (run.gate.failure) {
        const Error& why = *run.gate.failure;
        out.append("error", Map{{"reason", why.reason()}, {"message", why.message()}});
    }
    out.append("tier", name_of(run.tier));
    return out;
}

// Without a violation a warning has blocked the command, and the first one is the message.
Failure refused_forecast(const CommandForecast& forecast) {
    const std::string first = first_of(forecast.judgement.violations);
    Map details{{"violations", objections_value(forecast.judgement.violations, true)}};
    if (first.empty()) {
        const auto& warnings = forecast.prediction.warnings;
        const std::string why = warnings.empty() ? "it cannot be told what it does"
                                                 : text::escape_hidden(warnings.front().why);
        List all = warnings_value(warnings, true);
        for (Value& each : warnings_value(warnings, false)) all.push_back(std::move(each));
        details.append("warnings", std::move(all));
        return fail(Errc::denied, "permission_denied", cat("the command was not run: ", why),
                    std::move(details));
    }
    return fail(Errc::denied, "permission_denied",
                cat("the command was not run, for it would ", first), std::move(details));
}

bool uses_network(const CommandForecast& forecast) {
    return std::ranges::any_of(forecast.prediction.warnings, is_of_network);
}

Error refused_network(const CommandForecast& forecast) {
    List uses;
    for (const shell::Warning& each : forecast.prediction.warnings) {
        if (is_of_network(each))
            uses.push_back(Map{{"path", ""},
                               {"operation", name_of(policy::Operation::execute)},
                               {"reason", cat(each.word, ": ", each.why)}});
    }
    return Error(Errc::escalation_required, "escalation_required",
                 "the command was not run: it uses the network, and what it sends there cannot be "
                 "taken back. Ask a person to approve it, then make the same call again",
                 {{"operation", name_of(policy::Operation::execute)},
                  {"permission", name_of(policy::Permission::human)},
                  {"escalations", std::move(uses)}});
}

Error refused_tier(const CommandForecast& forecast) {
    return Error(
        Errc::escalation_required, "escalation_required",
        "the command was not run: it needs a person's approval, and this system cannot run it "
        "apart so that they see its effects before. Ask a person to approve it, then make the "
        "same call again",
        {{"operation", name_of(policy::Operation::execute)},
         {"permission", name_of(policy::Permission::human)},
         {"escalations", objections_value(forecast.judgement.escalations, true)}});
}

// The details of the gate's own failure win over those of the run where both have a member.
Failure refused_run(const CommandRun& run) {
    Map details = printed_value(run);
    const GateResult& gate = run.gate;
    details.append("violations", objections_value(gate.violations, true));
    if (!gate.violations.empty()) {
        return fail(Errc::denied, "permission_denied",
                    cat("the command ran, and nothing that it changed was kept, for it did ",
                        first_of(gate.violations)),
                    std::move(details));
    }
    Error why = *gate.failure;
    for (const Map::Entry& each : details) {
        if (why.details().find(each.key) == nullptr) why.details().set(each.key, each.value);
    }
    if (why.code() == Errc::escalation_required)
        why.details().set("escalations", objections_value(gate.escalations, false));
    return Failure(std::move(why));
}

}  // namespace quire::kernel
