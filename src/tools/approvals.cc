// approvals: what agents ask people for, and the answers. For people alone.
#include "base/concat.h"
#include "kernel/approval_calls.h"
#include "text/shown.h"
#include "tools/memories.h"
#include "tools/permission_words.h"
#include "tools/render.h"
#include "tools/typed_tool.h"

namespace quire::tools {
namespace {

enum class ApprovalOperation : std::uint8_t { list, resolve };

}  // namespace
}  // namespace quire::tools

namespace quire::json {

template <>
struct Words<tools::ApprovalOperation> {
    static constexpr std::size_t count = 2;
    static std::string_view word(tools::ApprovalOperation operation) {
        return operation == tools::ApprovalOperation::list ? "list" : "resolve";
    }
};
template <>
struct Words<policy::Answer> {
    static constexpr std::size_t count = std::size(policy::kAnswers);
    static std::string_view word(policy::Answer answer) { return policy::name_of(answer); }
};

}  // namespace quire::json

namespace quire::tools {

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

// An approval as it is answered.
struct Shown {
    std::string approval_id;
    std::string status;
    std::string actor;
    std::string operation;
    std::optional<std::string> path, tool, label;  // The one that it is about.
    std::string block_id;
    policy::Permission permission = policy::Permission::human;
    std::string description;
    std::int64_t timestamp = 0;
    std::optional<std::string> decision, by;
    std::optional<std::int64_t> resolved_at, until;
    std::string scope;
    std::optional<std::uint64_t> elicited_in;
    static Fields<Shown> fields() {
        return Fields<Shown>()
            .required("approval_id", &Shown::approval_id)
            .required("status", &Shown::status)
            .required("actor", &Shown::actor)
            .required("operation", &Shown::operation)
            .optional("path", &Shown::path)
            .optional("tool", &Shown::tool)
            .optional("label", &Shown::label)
            .optional("block_id", &Shown::block_id)
            .required("permission", &Shown::permission)
            .required("description", &Shown::description)
            .required("timestamp", &Shown::timestamp)
            .optional("decision", &Shown::decision)
            .optional("by", &Shown::by)
            .optional("resolved_at", &Shown::resolved_at)
            .optional("until", &Shown::until)
            .optional("scope", &Shown::scope)
            .optional("elicited_in", &Shown::elicited_in);
    }
};
struct ShownList {
    std::vector<Shown> approvals;
    static Fields<ShownList> fields() {
        return Fields<ShownList>().required("approvals", &ShownList::approvals);
    }
};

Shown shown(const Approval& approval, std::string_view status) {
    const auto& [actor, operation, target, call] = approval.ask;
    Shown out{.approval_id = approval.id,
              .status = std::string(status),
              .actor = actor.str(),
              .operation = std::string(policy::name_of(operation)),
              .path = {},
              .tool = {},
              .label = {},
              .block_id = target.block_id,
              .permission = approval.permission,
              .description = approval.description,
              .timestamp = approval.asked_ms,
              .decision = {},
              .by = {},
              .resolved_at = {},
              .until = {},
              .scope = {},
              .elicited_in = {}};
    const bool of_tool = target.kind == "tool" || target.kind == "mount";
    (target.kind == "file" ? out.path : of_tool ? out.tool : out.label) = target.name;
    if (const auto& answer = approval.resolved) {
        out.decision = policy::name_of(answer->answer);
        out.by = answer->by.str();
        out.resolved_at = answer->at_ms;
        if (answer->answer == policy::Answer::approve_for) out.until = answer->until_ms;
        out.scope = answer->scope;
        if (answer->elicited_in != 0) out.elicited_in = answer->elicited_in;
    }
    return out;
}

std::string line_of(const Approval& approval, std::string_view status) {
    const policy::Ask& ask = approval.ask;
    std::string out =
        cat(approval.id, "\t", status, "\t", ask.actor.str(), "\t", policy::name_of(ask.operation),
            " ", text::shown(ask.target.name), "\t", approval.description);
    if (approval.resolved) {
        out += cat("\t", policy::name_of(approval.resolved->answer), " by ",
                   approval.resolved->by.str());
    }
    return out + "\n";
}

ToolResult render(const kernel::ApprovalList& list) {
    ShownList out;
    std::string text = list.approvals.empty() ? "Nobody waits for an approval.\n" : "";
    for (const Approval& each : list.approvals) {
        const std::string_view status = status_of(each, list.now_ms);
        out.approvals.push_back(shown(each, status));
        text += line_of(each, status);
    }
    return result_of(out, std::move(text));
}

ToolResult render_resolved(const Approval& approval) {
    const std::string_view status = policy::name_of(approval.status);
    return result_of(shown(approval, status), line_of(approval, status));
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
         .answer = one_of({json::Codec<ShownList>::schema(), json::Codec<Shown>::schema()}),
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
