// Rights: the operations that one actor may carry out on one memory block, and the wording of a
// refusal.
//
// An agent has rights over blocks that it owns, that were shared with it, or that a source owns,
// and no others. Sources and the system feed blocks, so no permission binds them. A person is bound
// like an owner but needs no approval: the person is the one who approves. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "policy/actor.h"
#include "policy/permission.h"

namespace quire::policy {

// The level at which one actor may work on one block.
struct Rights {
    Permission permission = Permission::read_only;
    Deleting deleting = Deleting::admin_only;
    Operations approved = {};  // Operations that would escalate but that a person approved.
    friend bool operator==(const Rights&, const Rights&) = default;
};

// A permission that the owner gave to another actor.
struct Share {
    Actor with;
    Permission permission = Permission::append;
};

// The owner of a block, the block's permission, and its shares.
struct Holding {
    Actor owner;
    Permission permission = Permission::read_write;  // The block's own permission.
    std::span<const Share> shares = {};
};

// Nothing if the actor may not see the block. A share never gives more than the owner has: below
// read_write the stricter of the two levels applies.
std::optional<Rights> rights_of(const Actor& by, const Holding& block);

// Errors: denied "permission_denied" {operation, required, permission, why}: "Permission denied:
// overwrite requires read_write permission, but block has append"; escalation_required
// "escalation_required" {operation, permission, approver}: "Requires human approval to overwrite".
Result<void> permit(const Rights& rights, Operation operation);

// A block is shared by its owner, or by a person. Error: denied "permission_denied" {label, owner}.
Result<void> permit_sharing(const Actor& by, const Actor& owner, const std::string& label);
// An agent takes along what it owns; everybody else, any block. Error: denied "permission_denied".
Result<void> permit_export(const Actor& by, const Actor& owner);
// Imported blocks name their writers themselves and pass no gate, so a person answers for them.
// Error: denied "permission_denied".
Result<void> permit_import(const Actor& by);

}  // namespace quire::policy
