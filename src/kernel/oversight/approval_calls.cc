// A yes is for what the person has seen. So the target is looked at once more before it counts: a
// memory block by its document, a command by the stage that waits (kernel/commands/held_stages.h).
// A no needs no look.
#include "kernel/oversight/approval_calls.h"

#include "kernel/core/core.h"
#include "kernel/core/kinds.h"
#include "kernel/oversight/overseer.h"

namespace quire::kernel {
namespace {

using policy::Approval;

bool approves(policy::Answer answer) {
    return answer != policy::Answer::deny && answer != policy::Answer::revoke;
}

// Replies with whether the block, or what a command changed, is what it was when it was asked for.
void look_at(const std::shared_ptr<Core>& core, const Approvals& approvals,
             const Approval& approval, Reply<bool> reply) {
    const policy::Target& target = approval.ask.target;
    if (target.kind != kMemoryKind) return approvals.check(approval, std::move(reply));
    const Result<conversation::BlockId> id = conversation::BlockId::parse(target.block_id);
    auto document = id ? core->catalog().find(id->document) : nullptr;
    if (document == nullptr) return reply(false);
    // The look needs the document's strand, and is the kernel's own: a person's rights do not
    // matter for it.
    const Caller kernel{{policy::ActorKind::system, "quire"}, 0, {}};
    core->run<bool>(kernel, ThisDocument{std::move(document)}, Access::look, std::move(reply),
                    [target](LiveDocument& live, const Caller&) -> Result<bool> {
                        return !live.record().deleted && target_of(live) == target;
                    });
}

}  // namespace

ApprovalCalls::ApprovalCalls(Kernel& kernel)
    : core_(kernel.core()), overseer_(Overseer::of(kernel)) {}

void ApprovalCalls::list(const Caller& by, bool all, Reply<ApprovalList> reply) {
    if (const auto person = policy::check_person(by.actor); !person)
        return reply(Failure(person.error()));
    reply(ApprovalList{overseer_.approvals().list(all), core_->parts().clock.wall_ms(),
                       overseer_.approvals().damaged()});
}

std::vector<Approval> ApprovalCalls::waiting(const Caller& by) const {
    std::vector<Approval> out = overseer_.approvals().list(false);
    const bool all = by.actor.kind == policy::ActorKind::human;
    std::erase_if(out, [&](const Approval& each) {
        return each.status != policy::ApprovalStatus::pending ||
               (!all && each.ask.actor != by.actor);
    });
    return out;
}

Result<Approval> ApprovalCalls::find(const Caller& by, const std::string& id) {
    TRY(policy::check_person(by.actor));
    return overseer_.approvals().find(id);
}

void ApprovalCalls::resolve(const Caller& by, std::string id, policy::Resolution with,
                            Reply<Approval> reply) {
    if (const auto person = policy::check_person(by.actor); !person)
        return reply(Failure(person.error()));
    if (core_->is_closing()) return reply(Failure(kernel_ending()));
    const Result<Approval> found = overseer_.approvals().find(id);
    if (!found) return reply(Failure(found.error()));
    const bool waits = found->status == policy::ApprovalStatus::pending;
    auto answer = [&approvals = overseer_.approvals(), actor = by.actor, id, with,
                   reply = std::move(reply)](Result<bool> same) mutable {
        if (!same) return reply(Failure(std::move(same).error()));
        if (*same) return approvals.resolve(id, with, actor, std::move(reply));
        approvals.outdate(id, [reply = std::move(reply)](Result<Approval> gone) mutable {
            if (!gone) return reply(std::move(gone));
            reply(policy::outdated(*gone));
        });
    };
    if (!waits || !approves(with.answer)) return answer(true);
    look_at(core_, overseer_.approvals(), *found, std::move(answer));
}

}  // namespace quire::kernel
