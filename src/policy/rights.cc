// From an actor and a block to what they may do with it. The matrix itself is verdict() in
// permission.cc; here it is decided which row holds: the owner's, a share's, or that of the kind of
// actor.
#include "policy/rights.h"

#include <algorithm>

#include "base/concat.h"

namespace quire::policy {
namespace {

// The lowest permission that allows the operation, for the refusal.
Permission required_for(Operation operation, Deleting deleting) {
    switch (operation) {
        case Operation::read:
            return Permission::read_only;
        case Operation::create:
        case Operation::append:
            return Permission::append;
        case Operation::overwrite:
        case Operation::execute:
            return Permission::read_write;
        case Operation::erase:
            return deleting == Deleting::owner ? Permission::read_write : Permission::admin;
    }
    return Permission::admin;
}

// The reason for a refusal, as a sentence for the actor.
std::string_view why(Operation operation, Deleting deleting) {
    switch (operation) {
        case Operation::read:
            return "Reading is always allowed";
        case Operation::create:
        case Operation::append:
            return "Block is read-only; appending is not allowed";
        case Operation::overwrite:
            return "Insufficient permission (append-only or read-only) for overwrite";
        case Operation::execute:
            return "Insufficient permission to execute";
        case Operation::erase:
            return deleting == Deleting::owner ? "Deleting memory requires read_write permission"
                                               : "Deleting memory requires admin permission";
    }
    return "";
}

Failure not_allowed(const Actor& by, std::string_view what) {
    return fail(Errc::denied, "permission_denied",
                cat("Permission denied: ", by.str(), " may not ", what));
}

}  // namespace

// Shares give their own level, but never more than the owner has below read_write.
std::optional<Rights> rights_of(const Actor& by, const Holding& block) {
    switch (by.kind) {
        case ActorKind::source:
        case ActorKind::system:
            return Rights{Permission::admin, Deleting::owner};
        // People are bound by the block's permission, but need no approval: they are who would give
        // it.
        case ActorKind::human:
            return Rights{block.permission, Deleting::owner, Operations::all()};
        case ActorKind::agent:
            break;
    }
    if (by == block.owner) return Rights{block.permission, Deleting::owner};
    for (const Share& each : block.shares) {
        if (each.with != by) continue;
        return Rights{block.permission >= Permission::read_write
                          ? each.permission
                          : std::min(each.permission, block.permission)};
    }
    // Blocks fed by a source are visible to every agent.
    if (block.owner.kind == ActorKind::source) return Rights{block.permission};
    return std::nullopt;
}

// Turns a verdict into a result: allowed, an escalation, or a refusal with all its facts.
Result<void> permit(const Rights& rights, Operation operation) {
    const std::string_view name = name_of(operation);
    const std::string_view has = name_of(rights.permission);
    switch (verdict(rights.permission, operation, rights.deleting)) {
        case Verdict::allow:
            return {};
        case Verdict::escalate:
            if (rights.approved.has(operation)) return {};
            return fail(Errc::escalation_required, "escalation_required",
                        cat("Requires ", has, " approval to ", name),
                        {{"operation", name}, {"permission", has}, {"approver", has}});
        case Verdict::deny:
            break;
    }
    const std::string_view required = name_of(required_for(operation, rights.deleting));
    return fail(Errc::denied, "permission_denied",
                cat("Permission denied: ", name, " requires ", required,
                    " permission, but block has ", has),
                {{"operation", name},
                 {"required", required},
                 {"permission", has},
                 {"why", why(operation, rights.deleting)}});
}

Result<void> permit_sharing(const Actor& by, const Actor& owner, const std::string& label) {
    if (by.kind != ActorKind::agent || by == owner) return {};
    return fail(Errc::denied, "permission_denied",
                cat("Permission denied: only ", owner.str(), " shares '", label, "'"),
                {{"label", label}, {"owner", owner.str()}});
}

Result<void> permit_export(const Actor& by, const Actor& owner) {
    if (by.kind != ActorKind::agent || by == owner) return {};
    return not_allowed(by, "export what is another's");
}

Result<void> permit_import(const Actor& by) {
    if (by.kind == ActorKind::human || by.kind == ActorKind::system) return {};
    return not_allowed(by, "import memory; a person does, as human:NAME");
}

}  // namespace quire::policy
