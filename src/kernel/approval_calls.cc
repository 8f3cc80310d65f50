#include "kernel/approval_calls.h"

#include "base/check.h"
#include "json/json.h"
#include "kernel/body.h"
#include "kernel/memory_header.h"
#include "memory/schema_form.h"
#include "policy/call_digest.h"

namespace quire::kernel {
namespace {

using policy::Approval;

std::string schema_of(const store::DocumentRecord& record) {
    const Result<MemoryHeader> header = decode_memory_header(record.name, record.header);
    if (!header) return {};
    return policy::sha256_hex(json::write(memory::to_value(header->block.schema)));
}

// The enumerator that an escalation names.
template <class Enum>
Enum named_in(const Error& error, std::string_view member) {
    const Value* word = error.details().find(member);
    CHECK(word != nullptr);
    const std::optional<Enum> named = enum_named<Enum>(word->as_string());
    CHECK(named.has_value());
    return *named;
}

bool approves(policy::Answer answer) {
    return answer != policy::Answer::deny && answer != policy::Answer::revoke;
}

// Replies with whether the block is what it was when it was asked for.
void look_at(const std::shared_ptr<Kernel::Body>& body, const Approval& approval,
             Reply<bool> reply) {
    const policy::Target& target = approval.ask.target;
    if (target.kind != kMemoryKind) return reply(true);
    const Result<conversation::BlockId> id = conversation::BlockId::parse(target.block_id);
    auto document = id ? body->catalog().find(id->document) : nullptr;
    if (document == nullptr) return reply(false);
    const Caller house{{policy::ActorKind::system, "quire"}, 0, {}};
    body->on_document<bool>(house, std::move(document), Access::look, std::move(reply),
                            [body, target](LiveDocument& live, Reply<bool> answer) {
                                const bool same =
                                    !live.record().deleted && target_of(live) == target;
                                body->answer(live, same, std::move(answer));
                            });
}

}  // namespace

policy::Target target_of_file(const std::string& path) {
    return {.kind = kFileKind, .name = path};
}

policy::Target target_of(LiveDocument& document) {
    if (document.kind() == kFileKind) return target_of_file(document.name());
    return {document.kind(), document.name(), document.id_of(document.whole()).str(),
            schema_of(document.record())};
}

std::string Kernel::Body::conversation_of(std::string_view block_id) {
    const Result<conversation::BlockId> id = conversation::BlockId::parse(block_id);
    const auto document = id ? catalog_.find(id->document) : nullptr;
    return document != nullptr && document->kind() == kConversationKind ? document->name() : "";
}

policy::Operations Kernel::Body::approved(const Caller& by, const policy::Target& target) {
    if (!approvals_->any_for(by)) return {};
    return approvals_->of(by, target);
}

policy::Operations Kernel::Body::approved(const Caller& by, LiveDocument& document) {
    if (!approvals_->any_for(by)) return {};
    return approvals_->of(by, target_of(document));
}

bool Kernel::Body::is_unasked(const Error& error) {
    return error.code() == Errc::escalation_required && !error.details().contains("approval_id");
}

void Kernel::Body::ask(const Caller& by, policy::Target target, Error refusal,
                       Function<void(Error)> tell) {
    Approvals::Wanted wanted{named_in<policy::Operation>(refusal, "operation"),
                             named_in<policy::Permission>(refusal, "permission"),
                             std::move(target)};
    ask(by, std::move(wanted), std::move(refusal), std::move(tell));
}

void Kernel::Body::ask(const Caller& by, Approvals::Wanted what, Error refusal,
                       Function<void(Error)> tell) {
    if (by.call == nullptr) return tell(std::move(refusal));
    if (is_closing()) return tell(shutting_down().value());
    approvals_->ask(
        by, std::move(what),
        [refusal = std::move(refusal), tell = std::move(tell)](Result<Approval> asked) mutable {
            if (!asked) return tell(std::move(asked).error());
            refusal.details().set("approval_id", asked->id);
            tell(std::move(refusal));
        });
}

ApprovalCalls::ApprovalCalls(Kernel& kernel) : body_(kernel.body_) {}

void ApprovalCalls::list(const Caller& by, bool all, Reply<ApprovalList> reply) {
    if (const auto person = policy::check_person(by.actor); !person)
        return reply(Failure(person.error()));
    reply(ApprovalList{body_->approvals().list(all), body_->parts().clock.wall_ms()});
}

Result<Approval> ApprovalCalls::find(const Caller& by, const std::string& id) {
    TRY(policy::check_person(by.actor));
    return body_->approvals().find(id);
}

void ApprovalCalls::resolve(const Caller& by, std::string id, policy::Resolution with,
                            Reply<Approval> reply) {
    if (const auto person = policy::check_person(by.actor); !person)
        return reply(Failure(person.error()));
    if (body_->is_closing()) return reply(shutting_down());
    const Result<Approval> found = body_->approvals().find(id);
    if (!found) return reply(Failure(found.error()));
    const bool waits = found->status == policy::ApprovalStatus::pending;
    auto answer = [body = body_, actor = by.actor, id, with,
                   reply = std::move(reply)](Result<bool> same) mutable {
        if (!same) return reply(Failure(std::move(same).error()));
        if (*same) return body->approvals().resolve(id, with, actor, std::move(reply));
        body->approvals().outdate(id, [reply = std::move(reply)](Result<Approval> gone) mutable {
            if (!gone) return reply(std::move(gone));
            reply(policy::outdated(*gone));
        });
    };
    if (!waits || !approves(with.answer)) return answer(true);
    look_at(body_, *found, std::move(answer));
}

}  // namespace quire::kernel
