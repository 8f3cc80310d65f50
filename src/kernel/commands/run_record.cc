// Paths and commands are bytes, and the audit log has text, so both are repaired to UTF-8 here.
#include "kernel/commands/run_record.h"

#include <optional>

#include "base/utf8.h"

namespace quire::kernel {

CommandRan ran_of(const std::string& command, const CommandRun& run) {
    CommandRan out{utf8::repaired(command), std::string(name_of(run.forecast.decision)),
                   std::string(name_of(run.tier)), run.outcome.exit_code};
    for (const shell::Predicted& each : run.forecast.prediction.effects) {
        if (each.effect != shell::Effect::read) out.predicted.push_back(utf8::repaired(each.path));
    }
    for (const shell::Predicted& each : run.unexpected)
        out.missed.push_back(utf8::repaired(each.path));
    return out;
}

CommandRecord record_of(const std::string& command, const CommandRun& run) {
    CommandRecord record;
    record.ran = ran_of(command, run);
    const std::optional<Error>& failure = run.gate.failure;
    const bool waits = failure && failure->code() == Errc::escalation_required;
    const bool ended = run.outcome.end == stage::StageEnd::exited;
    // "waits" comes before "discarded": such changes are kept in a stage until a person answers.
    record.outcome = run.tier == Tier::none     ? "unstaged"
                     : waits                    ? "waits"
                     : run.is_refused || !ended ? "discarded"
                                                : "committed";
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
    record.past = run.gate.past;
    return record;
}

}  // namespace quire::kernel
