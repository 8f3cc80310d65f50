// approvals: what agents ask people for, and the answers. For people alone.
#include "base/cat.h"
#include "kernel/approval_calls.h"
#include "policy/shown.h"
#include "tools/memories.h"
#include "tools/render.h"
#include "tools/typed_tool.h"

namespace quire::tools {

namespace {

enum class ApprovalOperation : std::uint8_t { list, resolve };

}  // namespace

template <>
struct Words<ApprovalOperation> {
    static constexpr std::size_t count = 2;
    static std::string_view word(ApprovalOperation operation) {
        return operation == ApprovalOperation::list ? "list" : "resolve";
    }
};
template <>
struct Words<policy::Answer> {
    static constexpr std::size_t count = std::size(policy::kAnswers);
    static std::string_view word(policy::Answer answer) { return policy::name_of(answer); }
};

namespace {

using policy::Approval;

struct Args {
    ApprovalOperation operation = ApprovalOperation::list;
    std::optional<std::string> approval_id;
    std::optional<policy::Answer> decision;
    std::optional<std::int64_t> duration_s;
    std::optional<std::string> scope;
    std::optional<bool> all;
};

Operations operations() {
    return {"operation",
            {{.name = "list", .more = {"all"}, .reads = true, .says = "those that wait or hold."},
             {.name = "resolve",
              .needed = {"approval_id", "decision"},
              .more = {"duration_s", "scope"},
              .says = "approve_once is this very call, approve_for that operation there for a "
                      "time, approve_scope for good; deny; revoke takes an answer back."}}};
}

std::string_view status_of(const Approval& approval, std::int64_t now_ms) {
    const bool over =
        approval.status == policy::ApprovalStatus::approved && !policy::stands(approval, now_ms);
    return over ? "expired" : policy::name_of(approval.status);
}

Map value_of(const Approval& approval, std::string_view status) {
    const policy::Ask& ask = approval.ask;
    Map out{{"approval_id", approval.id},
            {"status", status},
            {"actor", ask.actor.str()},
            {"operation", policy::name_of(ask.operation)},
            {ask.target.kind == "file"                                 ? "path"
             : ask.target.kind == "tool" || ask.target.kind == "mount" ? "tool"
                                                                       : "label",
             ask.target.name}};
    if (!ask.target.block_id.empty()) out.append("block_id", ask.target.block_id);
    out.append("permission", policy::name_of(approval.permission));
    out.append("description", approval.description);
    out.append("timestamp", approval.asked_ms);
    if (const auto& answer = approval.resolved) {
        out.append("decision", policy::name_of(answer->answer));
        out.append("by", answer->by.str());
        out.append("resolved_at", answer->at_ms);
        if (answer->answer == policy::Answer::approve_for) out.append("until", answer->until_ms);
        if (!answer->scope.empty()) out.append("scope", answer->scope);
        if (answer->elicited_in != 0) out.append("elicited_in", answer->elicited_in);
    }
    return out;
}

std::string line_of(const Approval& approval, std::string_view status) {
    const policy::Ask& ask = approval.ask;
    std::string out =
        cat(approval.id, "\t", status, "\t", ask.actor.str(), "\t", policy::name_of(ask.operation),
            " ", policy::shown(ask.target.name), "\t", approval.description);
    if (approval.resolved) {
        out += cat("\t", policy::name_of(approval.resolved->answer), " by ",
                   approval.resolved->by.str());
    }
    return out + "\n";
}

ToolResult render(const kernel::ApprovalList& list) {
    List approvals;
    std::string text = list.approvals.empty() ? "Nobody waits for an approval.\n" : "";
    for (const Approval& each : list.approvals) {
        const std::string_view status = status_of(each, list.now_ms);
        approvals.push_back(value_of(each, status));
        text += line_of(each, status);
    }
    return {Map{{"approvals", std::move(approvals)}}, std::move(text)};
}

ToolResult render_resolved(const Approval& approval) {
    const std::string_view status = policy::name_of(approval.status);
    return {value_of(approval, status), line_of(approval, status)};
}

void run(kernel::ApprovalCalls& approvals, const Session& session, Args args,
         Reply<ToolResult> reply) {
    if (args.operation == ApprovalOperation::list) {
        return approvals.list(session.caller, args.all.value_or(false),
                              answer_with<kernel::ApprovalList>(std::move(reply), render));
    }
    approvals.resolve(session.caller, std::move(*args.approval_id),
                      {*args.decision, args.duration_s, std::move(args.scope)},
                      answer_with<Approval>(std::move(reply), render_resolved));
}

}  // namespace

std::unique_ptr<const Tool> make_approvals(kernel::ApprovalCalls& approvals) {
    return make_tool<Args>(
        {.name = "approvals",
         .title = "Answer what agents ask for",
         .description = "Calls of agents that need a person's approval.",
         .annotations = {},
         .output_schema = object_schema({{"approvals", "array?"},
                                         {"approval_id", "string?"},
                                         {"status", "string?"},
                                         {"decision", "string?"},
                                         {"by", "string?"}}),
         .operations = operations(),
         .for_people = true},
        Fields<Args>()
            .required("operation", &Args::operation)
            .optional("approval_id", &Args::approval_id)
            .optional("decision", &Args::decision)
            .optional("duration_s", &Args::duration_s, "Of approve_for, in seconds. Default 900.",
                      {{"minimum", 1}, {"maximum", policy::kLongestDurationS}})
            .optional("scope", &Args::scope,
                      "Of approve_scope: a glob over labels or paths. Absent: the block or file "
                      "alone.")
            .optional("all", &Args::all, "Of list: what is over, too."),
        [&approvals](const Session& session, Args args, Reply<ToolResult> reply) {
            run(approvals, session, std::move(args), std::move(reply));
        });
}

}  // namespace quire::tools
