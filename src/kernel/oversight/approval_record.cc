// The field list flattens an approval: members of its `ask` and `target` stand beside the others.
// The format number lets a later program refuse what it does not know. The id is the record's key.
#include "kernel/oversight/approval_record.h"

#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/concat.h"
#include "json/fields.h"

namespace quire::kernel {
namespace {

using json::Fault;
using policy::Approval;
using policy::ApprovalStatus;

constexpr std::int64_t kApprovalFormat = 1;

// An approval counts for nothing without the answer that says for what it was given.
std::optional<Fault> unanswered(const Approval& approval) {
    const bool is_answered =
        approval.status != ApprovalStatus::pending && approval.status != ApprovalStatus::outdated;
    if (!is_answered || approval.resolved) return std::nullopt;
    return Fault{.kind = Fault::Kind::missing, .problem = "is missing", .path = "resolved"};
}

}  // namespace
}  // namespace quire::kernel

namespace quire::json {

template <>
struct FieldsOf<policy::Approval::Resolved> {
    static Fields<policy::Approval::Resolved> fields() {
        using Resolved = policy::Approval::Resolved;
        return Fields<Resolved>()
            .required("by", &Resolved::by)
            .required("at_ms", &Resolved::at_ms)
            .required("answer", &Resolved::answer)
            .required("until_ms", &Resolved::until_ms)
            .required("scope", &Resolved::scope)
            .optional("elicited_in", &Resolved::elicited_in);
    }
};

template <>
struct FieldsOf<policy::Approval> {
    static Fields<policy::Approval> fields() {
        using policy::Approval;
        const auto ask = [](auto member) {
            return [member](auto& it) -> auto& {
                return it.ask.*member;
            };
        };
        const auto target = [](auto member) {
            return [member](auto& it) -> auto& {
                return it.ask.target.*member;
            };
        };
        return Fields<Approval>()
            .constant("format", kernel::kApprovalFormat)
            .required("actor", ask(&policy::Ask::actor))
            .required("operation", ask(&policy::Ask::operation))
            .required("kind", target(&policy::Target::kind))
            .required("name", target(&policy::Target::name))
            .required("block_id", target(&policy::Target::block_id))
            .required("schema", target(&policy::Target::schema))
            .required("call", ask(&policy::Ask::call))
            .required("permission", &Approval::permission)
            .required("description", &Approval::description)
            .optional("diff", &Approval::diff)
            .required("asked_ms", &Approval::asked_ms)
            .required("status", &Approval::status)
            .optional("resolved", &Approval::resolved)
            .check(kernel::unanswered);
    }
};

}  // namespace quire::json

namespace quire::kernel {

store::RecordKey record_key(const std::string& approval_id) {
    return {.table = store::Table::approvals, .key = approval_id};
}

std::string encode(const Approval& approval) {
    return json::write(json::Codec<Approval>::encode(approval));
}

Result<Approval> decode_approval(const store::KeyedRecord& record) {
    const auto damaged = [&](std::string_view what) {
        return corrupt(cat("approval ", record.key.key, " in the store is damaged: ", what));
    };
    const Result<Value> form = json::parse(as_text(record.body));
    if (!form) return damaged("it is not JSON");
    json::Read<Approval> approval = json::read<Approval>(*form);
    if (!approval) return damaged(approval.error().message());
    approval->id = record.key.key;
    return std::move(*approval);
}

}  // namespace quire::kernel
