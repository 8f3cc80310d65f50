// quire context render: the text that belongs into an agent's context.
//
// The pieces come in the order in which a model reads them: core memory, pinned working memory, the
// rules for tools. Under a budget each piece that still fits is taken, whole; the others are named.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/concat.h"
#include "base/utf8.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/terminal.h"
#include "cli/settings/config.h"
#include "cli/settings/tool_rules.h"
#include "json/members.h"
#include "policy/rule_book.h"

namespace quire::cli {
namespace {

struct ContextOptions {
    std::string agent;
    std::size_t budget = 0;  // Tokens; 0 for no limit.
};

struct ContextPiece {
    std::string name;
    std::string text;
};

// An estimate: four characters are about one token.
std::size_t token_count(std::string_view text) {
    return (utf8::count_code_points(text) + 3) / 4;
}

// Adds those of `blocks` that are wanted, as a model sees them.
Result<void> add_blocks(CommandClient& client, const List& blocks,
                        const std::function<bool(const Value&)>& wanted,
                        std::vector<ContextPiece>& out) {
    for (const Value& block : blocks) {
        if (!wanted(block)) continue;
        const std::string label = json::text_in(block, "label");
        const Map view{{"operation", "view"}, {"label", json::text_in(block, "block_id")}};
        const auto seen = client.call("context", view);
        if (!seen && seen.error().code() == Errc::not_found) continue;  // Deleted meanwhile.
        if (!seen) return Failure(seen.error());
        out.push_back({label, cat(json::text_in(*seen, "rendered"), "\n")});
    }
    return {};
}

Result<void> add_rules(const Settings& settings, const std::string& agent,
                       std::vector<ContextPiece>& out) {
    const policy::RuleBook book = TRY(load_rules(settings, tools_known_from(settings)));
    const std::vector<std::string> sentences = book.rules_for(agent)->sentences();
    if (sentences.empty()) return {};
    std::string text = "# Rules for tools\n";
    for (const std::string& sentence : sentences) cat_to(text, cat("- ", sentence, "\n"));
    out.push_back({"rules for tools", std::move(text)});
    return {};
}

// Errors: not_found "unknown_agent" when the settings do not name the agent and it has changed
// nothing.
Result<void> check_is_known(CommandClient& client, const Settings& settings,
                            const std::string& agent) {
    if (settings.agents.contains(agent)) return {};
    const Value changes =
        TRY(client.request("log", Map{{"actor", cat("agent:", agent)}, {"limit", 1}}));
    if (!json::list_in(changes, "entries").empty()) return {};
    return fail(Errc::not_found, "unknown_agent",
                cat("there is no agent:", agent,
                    " here: quire.toml does not name it, and it has changed nothing. quire log "
                    "shows who has"),
                {{"agent", agent}});
}

Result<std::vector<ContextPiece>> context_pieces(const Globals& globals, const std::string& agent) {
    const Settings settings = TRY(load_config(globals.workspace));
    Globals as_agent = globals;
    as_agent.actor = cat("agent:", agent);
    CommandClient client = TRY(CommandClient::attach(as_agent));
    const Value list = TRY(client.call("context", Map{{"operation", "list"}}));
    const Value* blocks = list.get("blocks");
    if (blocks == nullptr || !blocks->is_list())
        return corrupt("the answer holds no list of blocks");

    std::vector<ContextPiece> out;
    TRY(add_blocks(
        client, blocks->as_list(),
        [](const Value& block) { return json::text_in(block, "type") == "core"; }, out));
    TRY(add_blocks(
        client, blocks->as_list(),
        [](const Value& block) {
            const Value* pinned = block.get("pinned");
            return json::text_in(block, "type") == "working" && pinned != nullptr &&
                   *pinned == Value(true);
        },
        out));
    TRY(add_rules(settings, agent, out));
    if (out.empty()) TRY(check_is_known(client, settings, agent));
    return out;
}

Result<int> render_context(const Globals& globals, const ContextOptions& options) {
    const std::vector<ContextPiece> pieces = TRY(context_pieces(globals, options.agent));
    std::string text;
    List left_out;
    for (const ContextPiece& piece : pieces) {
        const std::string with = cat(text, text.empty() ? "" : "\n", piece.text);
        if (options.budget == 0 || token_count(with) <= options.budget) {
            text = with;
            continue;
        }
        const std::size_t tokens = token_count(piece.text);
        left_out.push_back(Map{{"name", piece.name}, {"tokens", tokens}});
        if (!globals.json)
            complain(cat("left out, over the budget: ", piece.name, " (", tokens, " tokens)"));
    }
    const std::size_t tokens = token_count(text);
    if (!globals.json) return output(text);
    return output_json(
        Map{{"text", std::move(text)}, {"tokens", tokens}, {"left_out", std::move(left_out)}});
}

void add_context_options(CLI::App& app, ContextOptions& options) {
    app.add_option("--agent", options.agent, "The agent whose context to print")
        ->required()
        ->type_name("AGENT")
        ->check(check_agent);
    app.add_option("--budget", options.budget,
                   "The most tokens to print, four characters each; what does not fit is left out "
                   "and named on standard error")
        ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 40))
        ->type_name("TOKENS");
}

}  // namespace

Command context_command() {
    constexpr std::string_view kExample = "quire context render --agent ada --budget 8000";
    return {.name = "context",
            .about = "Print the text that belongs into an agent's context",
            .example = kExample,
            .subcommands = {{.name = "render",
                             .about = "Print an agent's core memory, its pinned working memory, "
                                      "and the rules for its tools",
                             .example = kExample,
                             .action = action_with(add_context_options, render_context),
                             .touches = Touches::looks}},
            .touches = Touches::looks};
}

}  // namespace quire::cli
