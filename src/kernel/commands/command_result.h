// CommandRun: a command that ran, and what became of its changes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/enum_words.h"
#include "base/result.h"
#include "kernel/commands/forecast.h"
#include "policy/permission.h"
#include "shell/prediction.h"
#include "stage/stage.h"

namespace quire::kernel {

// The change of one path, done or not.
struct CommandChange {
    std::string path;         // A directory's ends in '/'.
    std::string change_type;  // "created", "modified", "deleted", "mode" or "link".
    std::string block_id;     // "" where there is no document.
    bool committed = false;
    std::uint64_t version = 0;  // The document's, once it is committed.
};

// A change that the rules forbid, or that a person must approve, by its path.
struct GateObjection {
    std::string path;
    policy::Operation operation = policy::Operation::overwrite;
    std::string permission;
    std::string reason;
    std::string approval_id;  // Set for an escalation that a person was asked about.
};

// A command's changes, and what became of them.
struct GateResult {
    std::vector<CommandChange> changes;
    std::vector<GateObjection> violations;
    std::vector<GateObjection> escalations;
    std::vector<std::string> notes;
    std::string diff;
    // Set if nothing was committed for a reason that is not the rules'.
    std::optional<Error> failure;
};

// The tiers of confinement that are built.
enum class Tier { staged, none };
constexpr auto words_of(Tier) {
    return word_table("staged", "none");
}

struct CommandRun {
    CommandForecast forecast;
    stage::StageOutcome outcome;
    GateResult gate;
    std::vector<shell::Predicted> unexpected;  // Changes that were not predicted.
    Tier tier = Tier::staged;
    // The gate refused the run: none of its changes were kept.
    bool is_refused = false;
};

}  // namespace quire::kernel
