// quire approvals: lists the calls that wait for a person and sends that person's answers. Every
// list and answer is one call of the tool `approvals`, so the kernel decides who may answer. Text
// that agents chose is escaped before it is printed.
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "base/concat.h"
#include "cli/commands/acting_person.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/moment.h"
#include "cli/commands/terminal.h"
#include "json/members.h"
#include "text/diff.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

struct ApprovalListOptions {
    bool all = false;  // Those that no longer hold, too.
};

struct ApprovalAnswerOptions {
    std::string id;
    std::string decision;  // A value of the tool `approvals`.
    std::optional<std::int64_t> duration_s = {};
    bool scoped = false;
    std::string scope = {};  // "" for the block or file alone.
};

// "approved until 2026-11-22 10:00:00 by human:tom".
std::string approval_state(const Value& approval) {
    std::string out = json::text_in(approval, "status");
    if (const std::int64_t until = moment_in(approval, "until"); until > 0)
        out += cat(" until ", local_time(until));
    if (const std::string scope = json::text_in(approval, "scope"); !scope.empty())
        out += cat(" for ", text::escape_hidden(scope));
    const std::string decision = json::text_in(approval, "decision");
    if (decision == "approve_once") out += " once";
    if (decision == "approve_scope" && approval.get("scope") == nullptr) out += " for good";
    const std::string by = json::text_in(approval, "by");
    if (by.empty()) return out;
    const bool elicited = json::number_in(approval, "elicited_in") > 0;
    return cat(out, " by ", by, elicited ? ", asked in the agent's program" : "");
}

// The target of a call: a file by its path, a tool, an adopted tree, a command or a block.
std::string approval_target(const Value& approval) {
    const std::string path = json::text_in(approval, "path");
    if (!path.empty()) return text::escape_hidden(path);
    const std::string tool = json::text_in(approval, "tool");  // Or the scope of a consent.
    if (!tool.empty()) return cat("the tool ", text::escape_hidden(tool));
    const std::string tree = json::text_in(approval, "tree");
    if (!tree.empty()) return cat("others' work with the tree ", text::escape_hidden(tree));
    const bool is_command = json::text_in(approval, "operation") == "execute";
    return cat(is_command ? "the command " : "the block ",
               text::escape_hidden(json::text_in(approval, "label")));
}

// The change that the call would make, for the lines below its description. Only while it waits: an
// answer that was given is not reconsidered by its diff.
std::string indented_diff(const Value& approval) {
    std::string out;
    const std::string drawn = drawn_diff(json::text_in(approval, "diff"));
    for (const std::string_view line : text::split_lines(drawn)) cat_to(out, cat("    ", line));
    return out;
}

// The description and the diff are escaped in the kernel: an agent chose their words.
std::string approval_text(const Value& approval) {
    return cat(coloured(json::text_in(approval, "approval_id"), Colour::yellow), "  ",
               coloured(local_time(moment_in(approval)), Colour::grey), "  ",
               coloured(json::text_in(approval, "actor"), Colour::cyan), " asks to ",
               json::text_in(approval, "operation"), " ", approval_target(approval), "\n    ",
               json::text_in(approval, "description"), "\n    ", approval_state(approval), "\n",
               json::text_in(approval, "status") == "pending" ? indented_diff(approval) : "");
}

// The tool's answer. A refusal says how to be a person, if the actor is none. The actor
// `agent:NAME` of a script is the usual reason for a refusal here.
Result<Value> call_approvals(const Globals& globals, Map arguments) {
    Result<Value> result = call_once(globals, "approvals", std::move(arguments));
    if (!result) return Failure(with_person_hint(globals, std::move(result).error()));
    return result;
}

Result<int> list_approvals(const Globals& globals, const ApprovalListOptions& options) {
    Map arguments{{"operation", "list"}};
    if (options.all) arguments.set("all", true);
    const Value result = TRY(call_approvals(globals, std::move(arguments)));
    if (globals.json) return output_json(result);
    const List approvals = json::list_in(result, "approvals");
    if (approvals.empty()) complain("no call waits for approval, and no approval holds");
    std::string text;
    for (const Value& each : approvals) text += approval_text(each);
    return output(text);
}

// One function for approve, deny and revoke: the option functions set the decision, and --for and
// --scope make another one of it.
Result<int> answer_approval(const Globals& globals, const ApprovalAnswerOptions& options) {
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
    const Value result = TRY(call_approvals(globals, std::move(arguments)));
    return globals.json ? output_json(result) : output(approval_text(result));
}

void add_approval_id(CLI::App& app, ApprovalAnswerOptions& options) {
    app.add_option("approval_id", options.id, "The approval's id, as list prints it")
        ->required()
        ->type_name("APPROVAL_ID");
}

void add_approve_options(CLI::App& app, ApprovalAnswerOptions& options) {
    options.decision = "approve_once";
    add_approval_id(app, options);
    CLI::Option* duration =
        app.add_option("--for", options.duration_s,
                       "Allow this operation on this target for this time, whatever the content: "
                       "90s, 10m, 2h, 1d")
            ->transform(CLI::AsNumberWithUnit(
                std::map<std::string, std::int64_t>{
                    {"s", 1}, {"m", 60}, {"h", 60 * 60}, {"d", 24 * 60 * 60}},
                CLI::AsNumberWithUnit::CASE_SENSITIVE))
            ->type_name("TIME");
    // A glob that is given means a scope; --here means a scope without a glob, which is this target
    // alone.
    CLI::Option* scope = app.add_option_function<std::string>(
        "--scope",
        [&options](const std::string& glob) {
            options.scoped = true;
            options.scope = glob;
        },
        "Allow this operation on all labels or paths that the glob matches, until it is revoked");
    scope->type_name("GLOB")->excludes(duration);
    app.add_flag_function(
           "--here", [&options](std::int64_t) { options.scoped = true; },
           "Allow this operation on this block or file, until it is revoked")
        ->excludes(duration)
        ->excludes(scope);
}

void add_deny_options(CLI::App& app, ApprovalAnswerOptions& options) {
    options.decision = "deny";
    add_approval_id(app, options);
}

void add_revoke_options(CLI::App& app, ApprovalAnswerOptions& options) {
    options.decision = "revoke";
    add_approval_id(app, options);
}

void add_approval_list_options(CLI::App& app, ApprovalListOptions& options) {
    app.add_flag("--all", options.all, "Also those that were denied, used or have expired");
}

}  // namespace

Command approvals_command() {
    return {.name = "approvals",
            .about = "List the calls that wait for a person's approval, and answer them",
            .example = "quire approvals list",
            .subcommands = {
                {.name = "list",
                 .about = "Print the calls that wait for an answer, and the approvals that hold",
                 .example = "quire approvals list --all",
                 .action = action_with(add_approval_list_options, list_approvals),
                 .touches = Touches::looks},
                {.name = "approve",
                 .about = "Let the agent make the call it asked for, once",
                 .example = "quire approvals approve ap_1f2e3d4c5b6a",
                 .action = action_with(add_approve_options, answer_approval)},
                {.name = "deny",
                 .about = "Refuse the call; the agent is told who refused it",
                 .example = "quire approvals deny ap_1f2e3d4c5b6a",
                 .action = action_with(add_deny_options, answer_approval)},
                {.name = "revoke",
                 .about = "Withdraw an answer that still holds",
                 .example = "quire approvals revoke ap_1f2e3d4c5b6a",
                 .action = action_with(add_revoke_options, answer_approval)}}};
}

}  // namespace quire::cli
