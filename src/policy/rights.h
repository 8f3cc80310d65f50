// Rights: what one actor may do with one memory block, and how a refusal is worded.
//
// An agent has rights over a block that it owns, that was shared with it, or that a source owns,
// and no others. Sources and the system feed blocks, so no permission binds them. A person is bound
// as an owner is, but needs nobody's approval: being asked is the approval. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "policy/actor.h"
#include "policy/permission.h"

namespace quire::policy {

struct Rights {
    Permission permission = Permission::read_only;
    Deleting deleting = Deleting::admin_only;
    Operations approved = {};  // Those that would escalate and that a person has approved.
    friend bool operator==(const Rights&, const Rights&) = default;
};

// A level that the owner gave to another actor.
struct Share {
    Actor with;
    Permission permission = Permission::append;
};

struct Holding {
    Actor owner;
    Permission permission = Permission::read_write;  // The block's own.
    std::span<const Share> shares = {};
};

// None: the block is not this actor's to see. What is shared is never more than the owner has:
// below read_write the stricter of the two levels holds.
std::optional<Rights> rights_of(const Actor& by, const Holding& block);

// Errors: denied "permission_denied" {operation, required, permission, why}: "Permission denied:
// overwrite requires read_write permission, but block has append"; escalation_required
// "escalation_required" {operation, permission, approver}: "Requires human approval to overwrite".
Result<void> permit(const Rights& rights, Operation operation);

}  // namespace quire::policy
