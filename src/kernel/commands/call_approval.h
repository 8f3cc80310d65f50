// Approvals of one call with exactly these effects: a person who allows it allows nothing else.
#pragma once

#include <memory>
#include <string>

#include "base/function.h"
#include "base/result.h"
#include "kernel/commands/command_gate.h"
#include "kernel/core/caller.h"
#include "policy/approval.h"
#include "policy/permission.h"

namespace quire::kernel {

class Kernel;

// The call that a person approves: with the digest of its effects, or a word for them.
// A new call each time: approvals hold a call by its address while it runs.
std::shared_ptr<const Call> with_effects(const Call& call, const std::string& effects);
// The digest of that call, by which approvals know it.
std::string digest_of(const Call& call);

// Asks a person for the call with these effects, unless one has allowed it; then the approval is spent.
// Blocks. Errors: what `refusal` becomes when a person is asked; those of the store.
Result<void> require_approval(Kernel& kernel, const Caller& by, const std::string& effects,
                              const policy::Target& target, policy::Operation operation,
                              Function<Error()> refusal);
// Commits the gate's changes. An approval must be for `effects`, their digest; with none no approval
// counts. Blocks.
GateResult commit_approved(Kernel& kernel, const Caller& by, CommandGate gate,
                           const std::string& effects, shell::Enforcement level);

}  // namespace quire::kernel
