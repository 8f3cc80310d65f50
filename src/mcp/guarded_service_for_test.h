// A service whose calls need a person, without a kernel: a ledger of approvals, and tools that look
// there.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "json/json.h"
#include "mcp/service.h"
#include "policy/approval.h"

namespace quire::mcp {

// The approvals; shared with the test, because the session owns the service.
struct ApprovalLedger {
    std::map<std::string, policy::Approval> all;

    // The approval that this call waits for, as kernel::Approvals would have it.
    policy::Approval& of(const policy::Actor& by, const std::string& call,
                         policy::Operation operation) {
        for (auto& [id, each] : all) {
            const bool is_over = each.status == policy::ApprovalStatus::used ||
                                 each.status == policy::ApprovalStatus::revoked;
            if (each.ask.call == call && each.ask.operation == operation && !is_over) return each;
        }
        policy::Approval asked;
        asked.id = cat("ap_", all.size() + 1);
        asked.ask = {by, operation, {.kind = "file", .name = "a.txt"}, call};
        asked.description = cat("guarded ", call);
        return all[asked.id] = asked;
    }
    policy::ApprovalStatus status(const std::string& id) { return all.at(id).status; }
    void answer(const std::string& id, policy::Answer answer, const std::string& by = "human:ann") {
        all.at(id) = *policy::resolve(all.at(id), {.answer = answer}, *policy::Actor::parse(by), 0);
    }
};

class LedgerApprover final : public Approver {
public:
    LedgerApprover(std::shared_ptr<ApprovalLedger> ledger, const std::string& asker)
        : ledger_(std::move(ledger)), asker_(*policy::Actor::parse(asker)) {}
    const policy::Actor& asker() const override { return asker_; }
    Result<policy::Approval> find(const std::string& id) override { return ledger_->all.at(id); }
    void resolve(const std::string& id, policy::Resolution with,
                 Reply<policy::Approval> reply) override {
        auto resolved =
            policy::resolve(ledger_->all.at(id), with, *policy::Actor::parse("human:tom"), 0);
        if (resolved) ledger_->all.at(id) = *resolved;
        reply(std::move(resolved));
    }

private:
    const std::shared_ptr<ApprovalLedger> ledger_;
    const policy::Actor asker_;
};

// Calls that have no answer yet; shared likewise.
struct HeldCalls {
    std::vector<Function<void()>> all;
    void release() {
        for (auto& each : std::exchange(all, {})) each();
    }
};

// "guarded" overwrites with an approval; "twice" needs one to read, too; "never" is refused
// whatever is approved; "slow" is "guarded" once it is released, and "wait" waits for that alone.
class GuardedService final : public Service {
public:
    GuardedService(std::shared_ptr<ApprovalLedger> ledger, std::shared_ptr<HeldCalls> held,
                   const std::string& actor, bool asks_people = true)
        : ledger_(std::move(ledger)),
          held_(std::move(held)),
          approver_(ledger_, actor),
          asks_people_(asks_people) {}

    Approver* approver() override { return asks_people_ ? &approver_ : nullptr; }
    tools::ToolList tools() const override {
        return std::make_shared<const std::vector<tools::ToolInfo>>(tools_);
    }

    void call(std::string name, Value arguments, std::stop_token,
              Reply<tools::ToolResult> reply) override {
        const std::string call = cat(name, " ", json::write(arguments));
        if (name == "slow" || name == "wait") {
            held_->all.emplace_back([this, name, call, reply = std::move(reply)]() mutable {
                reply(name == "slow" ? overwritten(call) : done(call));
            });
            return;
        }
        if (name == "twice") {
            auto& to_read = ledger_->of(approver_.asker(), call, policy::Operation::read);
            if (to_read.status != policy::ApprovalStatus::approved)
                return reply(escalated(to_read));
        }
        if (name == "never") {
            auto& asked = ledger_->of(approver_.asker(), call, policy::Operation::overwrite);
            if (asked.status == policy::ApprovalStatus::approved)
                asked.status = policy::ApprovalStatus::used;
            return reply(
                escalated(ledger_->of(approver_.asker(), call, policy::Operation::overwrite)));
        }
        // Its refusal names another actor's approval.
        if (name == "others") return reply(escalated(ledger_->all.at("ap_1")));
        reply(overwritten(call));
    }

    std::vector<ResourceTemplate> resource_templates() const override { return {}; }
    void list_resources(std::string, std::stop_token, Reply<ResourcePage> reply) override {
        reply(ResourcePage{});
    }
    void read_resource(std::string, std::stop_token, Reply<ResourceText> reply) override {
        reply(fail(Errc::not_found, "invalid_reference", "there is none"));
    }

private:
    static tools::ToolResult done(const std::string& call) {
        return {tools::ToolAnswer{Map{{"done", call}}, call}};
    }
    static tools::ToolResult escalated(const policy::Approval& approval) {
        return tools::refused(Error(Errc::escalation_required, "escalation_required",
                                    "a person has to approve", {{"approval_id", approval.id}}));
    }
    tools::ToolResult overwritten(const std::string& call) {
        auto& approval = ledger_->of(approver_.asker(), call, policy::Operation::overwrite);
        if (approval.status == policy::ApprovalStatus::denied)
            return tools::refused(policy::denial(approval));
        if (approval.status != policy::ApprovalStatus::approved) return escalated(approval);
        approval.status = policy::ApprovalStatus::used;
        return done(call);
    }

    const std::shared_ptr<ApprovalLedger> ledger_;
    const std::shared_ptr<HeldCalls> held_;
    LedgerApprover approver_;
    const bool asks_people_;
    const std::vector<tools::ToolInfo> tools_;
};

}  // namespace quire::mcp
