// Joins the approvals and the log to the interface that the core knows (kernel/core/oversight.h).
// The core asks "is this approved?" for each document that a call touches; for an actor without
// approvals the answer costs one look-up, before any target is made.
#include "kernel/oversight/overseer.h"

#include <utility>

#include "base/check.h"
#include "json/json.h"
#include "kernel/core/core.h"
#include "kernel/core/kinds.h"
#include "kernel/memory/memory_address.h"
#include "kernel/memory/memory_header.h"
#include "kernel/memory/owners.h"
#include "kernel/memory/plain_memory.h"
#include "memory/schema_form.h"
#include "policy/call_digest.h"

namespace quire::kernel {
namespace {

// An approval is for a block with this schema, since another one gives the same words another
// meaning.
std::string schema_of(const store::DocumentRecord& record) {
    const Result<MemoryHeader> header = decode_memory_header(record.name, record.header);
    if (!header) return {};
    return policy::sha256_hex(json::write(memory::to_value(header->block.schema)));
}

// The enumerator that an escalation names.
template <class Enum>
// Our own escalations always have the member, so a missing word is a broken promise.
Enum named_in(const Error& error, std::string_view member) {
    const Value* word = error.details().find(member);
    CHECK(word != nullptr);
    const std::optional<Enum> named = enum_named<Enum>(word->as_string());
    CHECK(named.has_value());
    return *named;
}

}  // namespace

Result<std::unique_ptr<Kernel>> open_kernel(const Parts& parts) {
    std::vector<store::DocumentRecord> known = TRY(parts.store.documents());
    adopt_owners(known, parts.store);
    return Kernel::open(parts, std::move(known),
                        std::make_shared<Overseer>(parts, TRY(Approvals::open(parts))));
}

// Files are known by their path, so an approval for one lasts while its document is made anew.
policy::Target target_of(LiveDocument& document) {
    if (is_file_text(document.kind())) return target_of_file(document.name());
    return {document.kind(), document.name(), document.id_of(document.whole()).str(),
            schema_of(document.record())};
}

Overseer::Overseer(const Parts& parts, std::shared_ptr<Approvals> approvals)
    : clock_(parts.clock), approvals_(std::move(approvals)), audit_(parts.store, parts.clock) {
    audit_.started(parts.version);
}

Overseer& Overseer::of(Kernel& kernel) {
    auto* const overseer = dynamic_cast<Overseer*>(&kernel.core()->oversight());
    CHECK(overseer != nullptr);  // open_kernel() gives every kernel one.
    return *overseer;
}

policy::Operations Overseer::approved(const Caller& by, const policy::Target& target) {
    if (!approvals_->any_for(by)) return {};
    return approvals_->of(by, target);
}

policy::Operations Overseer::approved(const Caller& by, LiveDocument& document) {
    if (!approvals_->any_for(by)) return {};
    return approvals_->of(by, target_of(document));
}

bool Overseer::may_see(const policy::Actor& by, const store::DocumentRecord& memory) {
    return may_see_memory(by, memory);
}

Result<std::string> Overseer::plain_text(const Caller& by, LiveDocument& memory) {
    return plain_text_of_memory(memory, by.actor);
}

Result<ShownMemory> Overseer::shown_memory(LiveDocument& memory, const BlockAt* at) {
    return kernel::shown_memory(memory, at);
}

void Overseer::ask(const Caller& by, policy::Target target, Error refusal,
                   Function<void(Error)> tell) {
    Approvals::Wanted wanted{named_in<policy::Operation>(refusal, "operation"),
                             named_in<policy::Permission>(refusal, "permission"),
                             std::move(target)};
    wanted.diff = Caller::take_diff(refusal);
    ask(by, std::move(wanted), std::move(refusal), std::move(tell));
}

void Overseer::ask(const Caller& by, LiveDocument& document, Error refusal,
                   Function<void(Error)> tell) {
    ask(by, target_of(document), std::move(refusal), std::move(tell));
}

void Overseer::ask(const Caller& by, Approvals::Wanted what, Error refusal,
                   Function<void(Error)> tell) {
    // Without a call there is nothing that could be approved and made again.
    if (by.call == nullptr) return tell(std::move(refusal));
    if (closing_.with([](bool closing) { return closing; })) return tell(kernel_ending());
    approvals_->ask(by, std::move(what),
                    [refusal = std::move(refusal),
                     tell = std::move(tell)](Result<policy::Approval> asked) mutable {
                        if (!asked) return tell(std::move(asked).error());
                        refusal.details().set("approval_id", asked->id);
                        tell(std::move(refusal));
                    });
}

void Overseer::close() {
    closing_.with([](bool& closing) { closing = true; });
}

store::Batch Overseer::last_batch() {
    store::Batch last;
    last.audit.push_back(stopped_entry(clock_));
    return last;
}

}  // namespace quire::kernel
