// quire rules: the rules for tools in words, whether they can be met, and what they decide about a
// call.
//
// No kernel is needed: the rules are compiled from quire.toml alone, so a mounted server's tools
// are those that the rules name. The rules for files are explained for a path, whether the file
// exists or not.
//
// explain answers the same questions as the kernel does at a call, with the same code (policy/),
// but for a session that has made no call yet: counts and orders of calls begin at nothing.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/clock.h"
#include "base/concat.h"
#include "cli/commands/command_list.h"
#include "cli/commands/command_report.h"
#include "cli/commands/terminal.h"
#include "cli/commands/workspace_path.h"
#include "cli/settings/config.h"
#include "cli/settings/tool_rules.h"
#include "policy/path_rules.h"
#include "policy/rule_automaton.h"
#include "policy/rule_book.h"
#include "text/escape_hidden.h"
#include "tools/tool.h"

namespace quire::cli {
namespace {

using policy::BookFinding;
using policy::RuleLook;
using policy::RuleSet;
using policy::Verdict;

struct RuleAgentOptions {
    std::string agent;
};

struct RuleCallOptions {
    std::string path;  // A file's path; "" for a call of a tool.
    std::string agent;
    std::string tool;
    std::string operation;  // "" for a tool without operations.
    std::string command;    // A shell command; "" for none.
};

// Rules that cannot be met are findings here, not an error: the commands below report them.
Result<policy::RuleBook> workspace_rules(const Globals& globals) {
    const Settings settings = TRY(load_config(globals.workspace));
    return compile_rules(settings, tools_known_from(settings));
}

// The rule as the file has it, and whether it is the common one or the agent's own.
Map placed_rule(const RuleSet& rules, std::size_t index) {
    Map out = as_value(rules.rule(index));
    out.append("level", rules.rules()[index].level == policy::Level::common ? "common" : "own");
    return out;
}

Value finding_value(const BookFinding& found) {
    Map out = {{"kind", name_of(found.finding.kind)}};
    if (!found.agent.empty()) out.append("agent", found.agent);
    if (!found.finding.tool.empty()) out.append("tool", found.finding.tool);
    List lines;
    for (const std::size_t line : found.lines) lines.emplace_back(line);
    out.append("lines", std::move(lines));
    out.append("message", found.text);
    return out;
}

std::string decision_line(const policy::CallDecision& decision) {
    switch (decision.verdict) {
        case Verdict::allow:
            return coloured("allowed", Colour::green);
        case Verdict::escalate:
            return cat(coloured("needs a person's approval", Colour::yellow), ": ",
                       decision.error->message());
        case Verdict::deny:
            return cat(coloured("refused", Colour::red), " (", decision.error->reason(),
                       "): ", decision.error->message());
    }
    return {};
}

Value decision_value(const RuleSet& rules, const policy::CallDecision& decision) {
    Map out = {{"decision", name_of(decision.verdict)}};
    if (decision.error) {
        out.append("error", Map{{"code", name_of(decision.error->code())},
                                {"reason", decision.error->reason()},
                                {"message", decision.error->message()},
                                {"details", decision.error->details()}});
    }
    List trace;
    for (const RuleLook& look : decision.trace) {
        trace.emplace_back(Map{{"rule", placed_rule(rules, look.rule)},
                               {"outcome", name_of(look.outcome)},
                               {"why", look.why}});
    }
    out.append("trace", std::move(trace));
    return out;
}

// The call with its published names: "file.read" is the operation `read` of `file`, and
// "block.edit" the tool `block_edit`. A name that means nothing in either way is left for
// check_call() to refuse.
RuleCallOptions as_published(RuleCallOptions options, const policy::ToolCatalog& catalog) {
    if (catalog.find(options.tool) != nullptr) return options;
    const std::string whole = tools::published_name(options.tool);
    const std::size_t dot = options.tool.find('.');
    if (catalog.find(whole) != nullptr) {
        options.tool = whole;
    } else if (dot != std::string::npos && options.operation.empty()) {
        options.operation = options.tool.substr(dot + 1);
        options.tool.resize(dot);
    }
    return options;
}

// Errors: not_found "unknown_tool" and invalid_argument "invalid_argument" for a call that cannot
// exist, with those that can; denied "permission_denied" and not_found "not_built" for a call that
// no agent can make, whatever the rules. An explanation of rules would mislead about a call that
// cannot be made, so that is said first.
Result<void> check_call(const policy::ToolCatalog& catalog, const RuleCallOptions& call) {
    const policy::KnownTool* const tool = catalog.find(call.tool);
    if (tool == nullptr) {
        return fail(Errc::not_found, "unknown_tool",
                    cat("there is no tool `", call.tool, "`; there are: ", catalog.names()));
    }
    if (tool->mounted) return {};  // Its operations are unknown here.
    if (!tool->built) {
        return fail(Errc::not_found, "not_built",
                    cat("there is no such tool yet: ", why_absent(*tool)));
    }
    if (tool->for_people)
        return fail(Errc::denied, "permission_denied",
                    cat("no agent may call it: ", why_absent(*tool)));
    if (call.operation.empty()) return {};
    const auto has = [&](const std::vector<std::string>& words) {
        return std::find(words.begin(), words.end(), call.operation) != words.end();
    };
    if (tool->operations.empty()) {
        return invalid("invalid_argument",
                       cat("`", tool->name, "` has no operations; leave out --operation"));
    }
    if (!has(tool->operations)) {
        std::string words;
        for (const std::string& word : tool->operations)
            cat_to(words, cat(words.empty() ? "" : ", ", word));
        return invalid("invalid_argument", cat("`", tool->name, "` has no operation '",
                                               call.operation, "'; it has: ", words));
    }
    if (has(tool->later)) {
        return fail(Errc::not_found, "not_built",
                    cat("there is no such operation yet: `", tool->name,
                        "` of this version has no ", call.operation));
    }
    return {};
}

Result<int> describe_rules(const Globals& globals, const RuleAgentOptions& options) {
    const policy::RuleBook book = TRY(workspace_rules(globals));
    const std::shared_ptr<const RuleSet> rules = book.rules_for(options.agent);
    const std::vector<std::string> sentences = rules->sentences();
    if (globals.json) {
        List out;
        for (std::size_t i = 0; i < sentences.size(); ++i) {
            Map rule = placed_rule(*rules, i);
            rule.append("sentence", sentences[i]);
            out.emplace_back(std::move(rule));
        }
        return output_json(Map{{"agent", options.agent}, {"rules", std::move(out)}});
    }
    if (sentences.empty()) {
        complain(cat("no rules for tools apply to agent:", options.agent,
                     "; [[tools.rules]] in quire.toml adds some"));
    }
    std::string text;
    for (const std::string& sentence : sentences) cat_to(text, cat(sentence, "\n"));
    return output(text);
}

// Warnings alone leave the exit code at kDone.
Result<int> report_rule_problems(const Globals& globals) {
    const policy::RuleBook book = TRY(workspace_rules(globals));
    List errors;
    List warnings;
    std::string text;
    for (const BookFinding& each : book.findings()) {
        const bool is_error = each.finding.is_error();
        (is_error ? errors : warnings).push_back(finding_value(each));
        cat_to(text,
               cat(is_error ? coloured("error", Colour::red) : coloured("warning", Colour::yellow),
                   " ", each.text, "\n"));
    }
    const bool good = errors.empty();
    if (globals.json) {
        const int printed = output_json(
            Map{{"ok", good}, {"errors", std::move(errors)}, {"warnings", std::move(warnings)}});
        return good ? printed : kRefused;
    }
    if (text.empty()) text = "The rules for tools can be met, and each has an effect.\n";
    const int printed = output(text);
    return good ? printed : kRefused;
}

// For a session in which nothing was called yet.
Result<int> explain_call(const Globals& globals, const RuleCallOptions& options) {
    const policy::RuleBook book = TRY(workspace_rules(globals));
    const RuleCallOptions call = as_published(options, book.catalog());
    TRY(check_call(book.catalog(), call));
    const SystemClock clock;
    // An empty ledger: a session without a past.
    policy::RuleLedger ledger(book.rules_for(options.agent), clock);
    const policy::RuleAutomaton automaton(ledger);
    const policy::CallDecision decision =
        automaton.explain({.tool = call.tool, .operation = call.operation});
    const RuleSet& rules = automaton.rules();
    if (globals.json) return output_json(decision_value(rules, decision));
    std::string text = cat(decision_line(decision), "\n");
    for (const RuleLook& look : decision.trace) {
        cat_to(text, cat("  ", name_of(look.outcome), "  ", named(rules.rule(look.rule)), ": ",
                         look.why, "\n"));
    }
    if (decision.trace.empty()) cat_to(text, "  no rule applies\n");
    return output(text);
}

// The verdicts of the rules for files on a path, for one actor.
Value path_verdicts(const policy::PathRules& rules, const std::string& path,
                    const policy::Actor& by) {
    Map operations;
    for (const policy::Operation each : policy::kOperations)
        operations.append(std::string(name_of(each)),
                          name_of(rules.decide(path, each, by).verdict));
    return Map{{"actor", by.str()}, {"operations", std::move(operations)}};
}

// For the actor that is named, or else for an agent without rules of its own and for the person
// who asks. A link is explained as itself and as the file that it leads to: the stricter one holds.
Result<int> explain_path(const Globals& globals, const std::string& typed) {
    const Settings settings = TRY(load_config(globals.workspace));
    const policy::PathRules rules(settings.files.rules);
    std::vector<policy::Actor> actors;
    if (!globals.actor_named) actors.emplace_back();
    actors.push_back(TRY(policy::Actor::parse(globals.actor)));
    // The file that a link leads to is judged as well, as the kernel does.
    std::vector<std::string> paths = {workspace_path(globals, typed)};
    std::error_code failed;
    const auto root = std::filesystem::canonical(globals.workspace, failed);
    const auto target = std::filesystem::weakly_canonical(root / paths[0], failed);
    const std::string leads_to = target.lexically_relative(root).string();
    if (!failed && !leads_to.empty() && !leads_to.starts_with("..") && leads_to != paths[0])
        paths.push_back(leads_to);

    List explained;
    std::string text;
    for (const std::string& path : paths) {
        // The permission and the rule that decides are the same for every operation.
        const policy::Decision read = rules.decide(path, policy::Operation::read, actors[0]);
        List verdicts;
        cat_to(text, cat(text::escape_hidden(read.why), "\n"));
        for (const policy::Actor& by : actors) {
            verdicts.push_back(path_verdicts(rules, path, by));
            cat_to(text, cat("  ", by.str(), "\n"));
            for (const Map::Entry& each : verdicts.back().get("operations")->as_map())
                cat_to(text, cat("    ", padded(each.key, 10), each.value.as_string(), "\n"));
        }
        explained.push_back(Map{{"path", path},
                                {"permission", name_of(read.permission)},
                                {"why", read.why},
                                {"actors", std::move(verdicts)}});
    }
    if (!globals.json) return output(text);
    Map out = std::move(explained.front().as_map());
    if (explained.size() > 1) out.append("leads_to", std::move(explained.back()));
    return output_json(out);
}

// For the actor that is named, or else for an agent without rules of its own.
Result<int> explain_command(const Globals& globals, const std::string& command) {
    const Settings settings = TRY(load_config(globals.workspace));
    policy::Actor by;
    if (globals.actor_named) by = TRY(policy::Actor::parse(globals.actor));
    std::error_code failed;
    std::string cwd = std::filesystem::current_path(failed).string();
    const auto root = std::filesystem::weakly_canonical(globals.workspace, failed);
    const std::string within = std::filesystem::path(cwd).lexically_relative(root).string();
    // A command that is explained from elsewhere is taken to run at the workspace's root.
    if (failed || within.empty() || within.starts_with("..")) cwd = root.string();
    const CommandReport report = report_command(settings, globals.workspace, cwd, by, command);
    return globals.json ? output_json(report.structured) : output(report.text);
}

Result<int> explain_rules(const Globals& globals, const RuleCallOptions& options) {
    if (!options.command.empty()) return explain_command(globals, options.command);
    if (!options.path.empty()) return explain_path(globals, options.path);
    if (!options.tool.empty()) return explain_call(globals, options);
    complain(
        "rules explain takes the PATH of a file, --agent and --tool for a call, or --command for a "
        "shell command");
    return kUsage;
}

CLI::Option& add_rule_agent(CLI::App& app, std::string& agent) {
    return *app.add_option("--agent", agent, "The agent whose rules apply")
                ->type_name("AGENT")
                ->check(check_agent);
}

void add_described_agent(CLI::App& app, RuleAgentOptions& options) {
    add_rule_agent(app, options.agent).required();
}

void add_rule_call_options(CLI::App& app, RuleCallOptions& options) {
    CLI::Option& agent = add_rule_agent(app, options.agent);
    CLI::Option* const tool =
        app.add_option("--tool", options.tool, "The tool that is called")->type_name("TOOL");
    CLI::Option* const operation =
        app.add_option("--operation", options.operation, "The operation of the tool")
            ->type_name("OPERATION");
    agent.needs(tool);
    tool->needs(&agent);
    operation->needs(tool);
    app.add_option("path", options.path,
                   "A file, whether it exists or not: which rule decides, and what the actor may "
                   "do with it; without --actor, for an agent and for you")
        ->type_name("PATH")
        ->excludes(tool);
    app.add_option("--command", options.command,
                   "A shell command: which files it would change, and what the rules say to that; "
                   "nothing is run")
        ->type_name("COMMAND")
        ->excludes(tool)
        ->excludes("path");
}

}  // namespace

Command rules_command() {
    return {.name = "rules",
            .about = "Explain and check the rules for files and tools in quire.toml",
            .example = "quire rules check",
            .subcommands = {
                {.name = "describe",
                 .about = "Print the rules for an agent, a sentence each, as its prompt has them",
                 .example = "quire rules describe --agent ada",
                 .action = action_with(add_described_agent, describe_rules),
                 .touches = Touches::looks},
                {.name = "check",
                 .about = "Print rules that contradict each other (errors, exit code 1) or have no "
                          "effect",
                 .example = "quire rules check --json",
                 .action = action_of(report_rule_problems),
                 .touches = Touches::looks},
                {.name = "explain",
                 .about = "Print who may do what with a file, or what an agent's first call would "
                          "get, and why",
                 .example = "quire rules explain src/main.cc --actor agent:ada\n"
                            "  quire rules explain --command 'rm -rf build'\n"
                            "  quire rules explain --agent ada --tool file --operation read",
                 .action = action_with(add_rule_call_options, explain_rules),
                 .touches = Touches::looks}}};
}

}  // namespace quire::cli
