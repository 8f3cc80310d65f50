// quire approvals: what agents wait for, and a person's answers.
#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/commands.h"
#include "cli/commands/terminal.h"
#include "cli/exchange/members.h"
#include "json/json.h"
#include "policy/actor.h"
#include "text/shown.h"

namespace quire::cli {
namespace {

// "approved until 2026-11-22 10:00:00 by human:tom".
std::string state_of(const Value& approval) {
    std::string out = text_of(approval, "status");
    if (const std::int64_t until = number_of(approval, "until"); until > 0)
        out += cat(" until ", local_time(until));
    if (const std::string scope = text_of(approval, "scope"); !scope.empty())
        out += cat(" for ", text::shown(scope));
    const std::string decision = text_of(approval, "decision");
    if (decision == "approve_once") out += " once";
    if (decision == "approve_scope" && approval.get("scope") == nullptr) out += " for good";
    const std::string by = text_of(approval, "by");
    if (by.empty()) return out;
    const bool elicited = number_of(approval, "elicited_in") > 0;
    return cat(out, " by ", by, elicited ? ", asked in the agent's program" : "");
}

std::string target_of(const Value& approval) {
    const std::string path = text_of(approval, "path");
    if (!path.empty()) return text::shown(path);
    const std::string tool = text_of(approval, "tool");  // Or the scope of a consent.
    if (!tool.empty()) return cat("the tool ", text::shown(tool));
    return cat("the block ", text::shown(text_of(approval, "label")));
}

// What is asked for is shown as it is: an agent chose its words.
std::string shown(const Value& approval) {
    return cat(coloured(text_of(approval, "approval_id"), Colour::yellow), "  ",
               coloured(local_time(number_of(approval, "timestamp")), Colour::grey), "  ",
               coloured(text_of(approval, "actor"), Colour::cyan), " asks to ",
               text_of(approval, "operation"), " ", target_of(approval), "\n    ",
               text_of(approval, "description"), "\n    ", state_of(approval), "\n");
}

int refuse_or_hint(const Globals& globals, const Error& error) {
    const int code = refuse(error);
    const auto actor = policy::Actor::parse(globals.actor);
    if (actor && actor->kind != policy::ActorKind::human)
        complain("say who you are with --actor human:NAME, or in QUIRE_ACTOR");
    return code;
}

Result<Value> called(const Globals& globals, Map arguments) {
    CommandClient client = TRY(CommandClient::attach(globals));
    return client.call("approvals", std::move(arguments));
}

int print_json(const Value& value) {
    return print(json::write(value) + "\n") ? kDone : kRefused;
}

}  // namespace

int list_approvals(const Globals& globals, const ApprovalOptions& options) {
    Map arguments{{"operation", "list"}};
    if (options.all) arguments.set("all", true);
    const auto result = called(globals, std::move(arguments));
    if (!result) return refuse_or_hint(globals, result.error());
    if (globals.json) return print_json(*result);
    const Value* approvals = result->get("approvals");
    if (approvals == nullptr || !approvals->is_list()) return kRefused;
    if (approvals->as_list().empty()) {
        complain("nobody waits for an approval, and none holds");
        return kDone;
    }
    std::string text;
    for (const Value& each : approvals->as_list()) text += shown(each);
    return print(text) ? kDone : kRefused;
}

int answer_approval(const Globals& globals, const ApprovalOptions& options) {
    Map arguments{
        {"operation", "resolve"}, {"approval_id", options.id}, {"decision", options.decision}};
    if (options.duration_s) {
        arguments.set("decision", "approve_for");
        arguments.set("duration_s", *options.duration_s);
    }
    if (options.scoped) {
        arguments.set("decision", "approve_scope");
        if (!options.scope.empty()) arguments.set("scope", options.scope);
    }
    const auto result = called(globals, std::move(arguments));
    if (!result) return refuse_or_hint(globals, result.error());
    if (globals.json) return print_json(*result);
    return print(shown(*result)) ? kDone : kRefused;
}

}  // namespace quire::cli
