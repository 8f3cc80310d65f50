#include "kernel/approval_record.h"

#include <algorithm>
#include <iterator>

#include "base/concat.h"
#include "json/json.h"

namespace quire::kernel {
namespace {

constexpr std::int64_t kFormat = 1;

// Reads members of an object; one that is missing or of another kind is remembered.
class Members {
public:
    explicit Members(const Value& of) : of_(of) {}

    std::string text(std::string_view name) {
        const Value* value = of_.get(name);
        if (value != nullptr && value->is_string()) return value->as_string();
        whole_ = false;
        return {};
    }
    std::int64_t number(std::string_view name) {
        const Value* value = of_.get(name);
        if (value != nullptr && value->is_int()) return value->as_int();
        whole_ = false;
        return 0;
    }
    // 0 where there is no such member.
    std::uint64_t number_or_none(std::string_view name) {
        return of_.get(name) == nullptr ? 0 : static_cast<std::uint64_t>(number(name));
    }
    policy::Actor actor(std::string_view name) {
        Result<policy::Actor> parsed = policy::Actor::parse(text(name));
        if (parsed) return std::move(*parsed);
        whole_ = false;
        return {};
    }
    // The one of `words` that goes by the member's name.
    template <class Words>
    auto word(std::string_view name, const Words& words) {
        const std::string wanted = text(name);
        const auto* const at = std::find_if(std::begin(words), std::end(words),
                                            [&](auto each) { return name_of(each) == wanted; });
        if (at != std::end(words)) return *at;
        whole_ = false;
        return *std::begin(words);
    }
    bool whole() const { return whole_; }

private:
    const Value& of_;
    bool whole_ = true;
};

}  // namespace

store::ApprovalRecord to_record(const policy::Approval& approval) {
    const policy::Ask& ask = approval.ask;
    Map form{{"format", kFormat},
             {"actor", ask.actor.str()},
             {"operation", name_of(ask.operation)},
             {"kind", ask.target.kind},
             {"name", ask.target.name},
             {"block_id", ask.target.block_id},
             {"schema", ask.target.schema},
             {"call", ask.call},
             {"permission", name_of(approval.permission)},
             {"description", approval.description},
             {"asked_ms", approval.asked_ms},
             {"status", name_of(approval.status)}};
    if (const auto& answer = approval.resolved) {
        Map resolved{{"by", answer->by.str()},
                     {"at_ms", answer->at_ms},
                     {"answer", name_of(answer->answer)},
                     {"until_ms", answer->until_ms},
                     {"scope", answer->scope}};
        if (answer->elicited_in != 0) resolved.append("elicited_in", answer->elicited_in);
        form.append("resolved", std::move(resolved));
    }
    const std::string text = json::write(form);
    return {.id = approval.id, .gone = false, .body = {text.begin(), text.end()}};
}

Result<policy::Approval> from_record(const store::ApprovalRecord& record) {
    const auto damaged = [&] {
        return corrupt(cat("approval ", record.id, " in the store is damaged"));
    };
    const Result<Value> form =
        json::parse({reinterpret_cast<const char*>(record.body.data()), record.body.size()});
    if (!form) return damaged();
    Members members(*form);
    policy::Approval approval;
    approval.id = record.id;
    approval.ask.actor = members.actor("actor");
    approval.ask.operation = members.word("operation", kEvery<policy::Operation>);
    approval.ask.target = {members.text("kind"), members.text("name"), members.text("block_id"),
                           members.text("schema")};
    approval.ask.call = members.text("call");
    approval.permission = members.word("permission", kEvery<policy::Permission>);
    approval.description = members.text("description");
    approval.asked_ms = members.number("asked_ms");
    approval.status = members.word("status", kEvery<policy::ApprovalStatus>);
    bool whole = members.number("format") == kFormat && members.whole();
    if (const Value* resolved = form->get("resolved")) {
        Members answer(*resolved);
        approval.resolved = {answer.actor("by"),
                             answer.number("at_ms"),
                             answer.word("answer", kEvery<policy::Answer>),
                             answer.number("until_ms"),
                             answer.text("scope"),
                             answer.number_or_none("elicited_in")};
        whole = whole && answer.whole();
    }
    // Nothing holds without the answer that says for what.
    const bool answered = approval.status != policy::ApprovalStatus::pending &&
                          approval.status != policy::ApprovalStatus::outdated;
    if (!whole || (answered && !approval.resolved)) return damaged();
    return approval;
}

}  // namespace quire::kernel
