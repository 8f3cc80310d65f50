// approvals: what agents ask people for, and the answers. Only people may call it.
//
// An approval names what it is about as a path, a tool or a label, whichever fits; a command is its
// own label. Its status is stored, but "expired" is not: an answer that held for a time is over when
// the clock says so, so the list compares each with the kernel's time.
#include "base/concat.h"
#include "kernel/oversight/approval_calls.h"
#include "text/escape_hidden.h"
#include "text/utc_time.h"
#include "tools/operation_tool.h"
#include "tools/render.h"
#include "tools/tools.h"

namespace quire::tools {

namespace {

using policy::Approval;

// The stored status, or "expired" once an approval for a time is over.
std::string_view status_of(const Approval& approval, std::int64_t now_ms) {
    const bool over =
        approval.status == policy::ApprovalStatus::approved && !policy::stands(approval, now_ms);
    return over ? "expired" : name_of(approval.status);
}

// An approval in the answer.
struct ShownApproval {
    std::string approval_id;
    std::string status;
    std::string actor;
    std::string operation;
    std::optional<std::string> path, tool, tree, label;  // At most one is there.
    std::string block_id;
    policy::Permission permission = policy::Permission::human;
    std::string description;
    std::string diff;
    std::string timestamp;
    std::optional<std::string> decision, by;
    std::optional<std::string> resolved_at, until;
    std::string scope;
    std::optional<std::uint64_t> elicited_in;
    static Fields<ShownApproval> fields() {
        return Fields<ShownApproval>()
            .required("approval_id", &ShownApproval::approval_id)
            .kept()
            .required("status", &ShownApproval::status)
            .required("actor", &ShownApproval::actor)
            .required("operation", &ShownApproval::operation)
            .optional("path", &ShownApproval::path)
            .optional("tool", &ShownApproval::tool)
            .optional("tree", &ShownApproval::tree)
            .optional("label", &ShownApproval::label)
            .optional("block_id", &ShownApproval::block_id)
            .required("permission", &ShownApproval::permission)
            .required("description", &ShownApproval::description)
            .optional("diff", &ShownApproval::diff)
            .required("timestamp", &ShownApproval::timestamp)
            .optional("decision", &ShownApproval::decision)
            .kept()
            .optional("by", &ShownApproval::by)
            .optional("resolved_at", &ShownApproval::resolved_at)
            .optional("until", &ShownApproval::until)
            .optional("scope", &ShownApproval::scope)
            .kept()
            .optional("elicited_in", &ShownApproval::elicited_in);
    }
};
struct ShownApprovals {
    std::vector<ShownApproval> approvals;
    std::vector<std::string> damaged;
    static Fields<ShownApprovals> fields() {
        return Fields<ShownApprovals>()
            .required("approvals", &ShownApprovals::approvals)
            .kept()
            .optional("damaged", &ShownApprovals::damaged);
    }
};

ShownApproval shown_approval(const Approval& approval, std::string_view status) {
    const auto& [actor, operation, target, call] = approval.ask;
    ShownApproval out{.approval_id = approval.id,
                      .status = std::string(status),
                      .actor = actor.str(),
                      .operation = std::string(name_of(operation)),
                      .path = {},
                      .tool = {},
                      .tree = {},
                      .label = {},
                      .block_id = target.block_id,
                      .permission = approval.permission,
                      .description = approval.description,
                      .diff = approval.diff,
                      .timestamp = text::utc_time(approval.asked_ms),
                      .decision = {},
                      .by = {},
                      .resolved_at = {},
                      .until = {},
                      .scope = {},
                      .elicited_in = {}};
    // The name goes to the member that says what it is a name of; everything else, a memory block
    // or a command, has a label.
    const bool of_tool = target.kind == "tool" || target.kind == "mount";
    (target.kind == "file"   ? out.path
     : of_tool               ? out.tool
     : target.kind == "tree" ? out.tree
                             : out.label) = target.name;
    if (const auto& answer = approval.resolved) {
        out.decision = name_of(answer->answer);
        out.by = answer->by.str();
        out.resolved_at = text::utc_time(answer->at_ms);
        if (answer->answer == policy::Answer::approve_for) out.until = text::utc_time(answer->until_ms);
        out.scope = answer->scope;
        if (answer->elicited_in != 0) out.elicited_in = answer->elicited_in;
    }
    return out;
}

// id, status, who, what, why, and the answer if there is one; columns are separated by TABs. The
// diff follows only while somebody has to decide: later it is of no use to a reader and would bury
// the other lines.
std::string approval_line(const Approval& approval, std::string_view status) {
    const policy::Ask& ask = approval.ask;
    std::string out =
        cat(approval.id, "\t", status, "\t", ask.actor.str(), "\t", name_of(ask.operation), " ",
            text::escape_hidden(ask.target.name), "\t", approval.description);
    if (approval.resolved) {
        out += cat("\t", name_of(approval.resolved->answer), " by ", approval.resolved->by.str());
    }
    out += "\n";
    if (approval.status == policy::ApprovalStatus::pending) out += approval.diff;
    return out;
}

// All approvals are compared with one time, that of the list.
ToolResult render_approvals(const kernel::ApprovalList& list) {
    ShownApprovals out;
    std::string text = list.approvals.empty() ? "Nobody waits for an approval.\n" : "";
    for (const Approval& each : list.approvals) {
        const std::string_view status = status_of(each, list.now_ms);
        out.approvals.push_back(shown_approval(each, status));
        text += approval_line(each, status);
    }
    for (const std::string& id : list.damaged) {
        text += cat("What is stored of the approval ", text::escape_hidden(id),
                    " is damaged: it allows nothing, and its call asks anew.\n");
    }
    out.damaged = list.damaged;
    return result_of(out, std::move(text));
}

// An answer that was just given cannot have expired, so its status needs no clock.
ToolResult render_resolved(const Approval& approval) {
    const std::string_view status = name_of(approval.status);
    return result_of(shown_approval(approval, status), approval_line(approval, status));
}

void list_approvals(kernel::ApprovalCalls& approvals, OperationCall call, std::optional<bool> all) {
    approvals.list(call.by(), all.value_or(false),
                   answer_with(std::move(call.reply), render_approvals));
}

// Errors: those of kernel::ApprovalCalls::resolve(): an approval may be resolved or outdated.
void resolve_approval(kernel::ApprovalCalls& approvals, OperationCall call, std::string approval_id,
                      policy::Answer decision, std::optional<std::int64_t> duration_s,
                      std::optional<std::string> scope) {
    approvals.resolve(call.by(), std::move(approval_id), {decision, duration_s, std::move(scope)},
                      answer_with(std::move(call.reply), render_resolved));
}

std::vector<OperationRow<kernel::ApprovalCalls&>> approval_rows() {
    const Argument duration{"duration_s",
                            "For approve_for: how many seconds. Default 900.",
                            {{"minimum", 1}, {"maximum", policy::kLongestDurationS}}};
    const Argument scope{"scope",
                         "For approve_scope: a glob over labels or paths. Absent: only this block "
                         "or file."};
    return {
        {{.name = "list", .reads = true, .says = "pending approvals and those in force"},
         list_approvals,
         {{"all", "Include approvals that are over."}}},
        {{.name = "resolve", .says = "answers one"},
         resolve_approval,
         {{"approval_id", "As in list."},
          {"decision",
           "approve_once allows this call, approve_for its operation there for a time, "
           "approve_scope for good; deny refuses; revoke takes an answer back."},
          duration,
          scope}},
    };
}

}  // namespace

std::vector<std::string> approval_operations() {
    return operation_names(approval_rows());
}

MadeTool make_approvals(kernel::ApprovalCalls& approvals) {
    return make_operation_tool<kernel::ApprovalCalls&>(
        {.name = "approvals",
         .title = "Answer what agents ask for",
         .description = "Calls of agents that need a person's approval.",
         .annotations = {},
         .answer =
             one_of({json::Codec<ShownApprovals>::schema(), json::Codec<ShownApproval>::schema()}),
         .for_people = true},
        "operation", approvals, approval_rows());
}

}  // namespace quire::tools
