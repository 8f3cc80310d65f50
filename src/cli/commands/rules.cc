// quire rules: the rules for tools in words, whether they can be met, and what they say to a call.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/concat.h"
#include "cli/commands/commands.h"
#include "cli/commands/terminal.h"
#include "cli/settings/config.h"
#include "cli/settings/tool_rules.h"
#include "json/json.h"
#include "policy/rule_automaton.h"
#include "policy/rule_book.h"
#include "tools/tool.h"

namespace quire::cli {
namespace {

using policy::BookFinding;
using policy::RuleLook;
using policy::RuleSet;
using policy::Verdict;

Result<policy::RuleBook> rules_of(const Globals& globals) {
    const Settings settings = TRY(load_config(globals.workspace));
    return compile_rules(settings, tools_known_from(settings));
}

int print_json(const Value& value) {
    return print(json::write(value) + "\n") ? kDone : kRefused;
}

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
            return cat(coloured("a person has to agree", Colour::yellow), ": ",
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
        out.append("error", Map{{"code", errc_name(decision.error->code())},
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

// The call that the options mean: "file.read" is the operation `read` of `file`, and "block.edit"
// the tool `block_edit`, as in a call.
RuleOptions as_published(RuleOptions options, const policy::ToolCatalog& catalog) {
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

// Errors: not_found "unknown_tool" and invalid_argument "invalid_argument" for what is no call that
// there could be, with what is; denied "permission_denied" and not_found "not_built" for what no
// agent gets, whatever the rules.
Result<void> check_call(const policy::ToolCatalog& catalog, const RuleOptions& call) {
    const policy::KnownTool* const tool = catalog.find(call.tool);
    if (tool == nullptr) {
        return fail(Errc::not_found, "unknown_tool",
                    cat("there is no tool `", call.tool, "`; there are: ", catalog.names()));
    }
    if (tool->mounted) return {};  // What it has is not known here.
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
        return invalid("invalid_argument", cat("`", tool->name,
                                               "` does one thing, and has no "
                                               "operations; leave out --operation"));
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

}  // namespace

int describe_rules(const Globals& globals, const RuleOptions& options) {
    const auto book = rules_of(globals);
    if (!book) return refuse(book.error());
    const std::shared_ptr<const RuleSet> rules = book->rules_for(options.agent);
    const std::vector<std::string> sentences = rules->sentences();
    if (globals.json) {
        List out;
        for (std::size_t i = 0; i < sentences.size(); ++i) {
            Map rule = placed_rule(*rules, i);
            rule.append("sentence", sentences[i]);
            out.emplace_back(std::move(rule));
        }
        return print_json(Map{{"agent", options.agent}, {"rules", std::move(out)}});
    }
    if (sentences.empty()) {
        complain(cat("no rules for tools hold for agent:", options.agent,
                     "; [[tools.rules]] in quire.toml makes some"));
    }
    std::string text;
    for (const std::string& sentence : sentences) cat_to(text, cat(sentence, "\n"));
    return print(text) ? kDone : kRefused;
}

int check_rules(const Globals& globals) {
    const auto book = rules_of(globals);
    if (!book) return refuse(book.error());
    List errors;
    List warnings;
    std::string text;
    for (const BookFinding& each : book->findings()) {
        const bool is_error = each.finding.is_error();
        (is_error ? errors : warnings).push_back(finding_value(each));
        cat_to(text,
               cat(is_error ? coloured("error", Colour::red) : coloured("warning", Colour::yellow),
                   " ", each.text, "\n"));
    }
    const bool good = errors.empty();
    if (globals.json) {
        const bool printed = print_json(Map{{"ok", good},
                                            {"errors", std::move(errors)},
                                            {"warnings", std::move(warnings)}}) == kDone;
        return printed && good ? kDone : kRefused;
    }
    if (text.empty()) text = "The rules for tools can be met, and each has an effect.\n";
    return print(text) && good ? kDone : kRefused;
}

int explain_call(const Globals& globals, const RuleOptions& options) {
    const auto book = rules_of(globals);
    if (!book) return refuse(book.error());
    const RuleOptions call = as_published(options, book->catalog());
    if (const auto good = check_call(book->catalog(), call); !good) return refuse(good.error());
    const SystemClock clock;
    policy::RuleLedger ledger(book->rules_for(options.agent), clock);
    const policy::RuleAutomaton automaton(ledger);
    const policy::CallDecision decision =
        automaton.explain({.tool = call.tool, .operation = call.operation});
    const RuleSet& rules = automaton.rules();
    if (globals.json) return print_json(decision_value(rules, decision));
    std::string text = cat(decision_line(decision), "\n");
    for (const RuleLook& look : decision.trace) {
        cat_to(text, cat("  ", name_of(look.outcome), "  ", named(rules.rule(look.rule)), ": ",
                         look.why, "\n"));
    }
    if (decision.trace.empty()) cat_to(text, "  no rule is about it\n");
    return print(text) ? kDone : kRefused;
}

}  // namespace quire::cli
