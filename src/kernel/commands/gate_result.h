// GateResult: what became of a set of changes that passed through CommandGate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "policy/permission.h"

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
// Objections have the order of the changes.
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
    // Sentences for the caller: what was left out without a rule, and what could not be undone.
    std::vector<std::string> notes;
    // The unified diff of the committed texts.
    std::string diff;
    // The record of what was there beside texts (command_past.h); "" for none.
    std::string past;
    // Set if nothing was committed for a reason that is not the rules'.
    std::optional<Error> failure;
};

}  // namespace quire::kernel
