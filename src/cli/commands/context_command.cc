// quire context render: the text that belongs into an agent's context.
//
// The kernel gives the pieces in the order in which a model reads them (server/agent_context.h).
// Under a budget that is too small for all of it, the lines that say what fields and sections are for go first.
// Then each piece that still fits is taken, whole; the others are named.
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
#include "json/members.h"

namespace quire::cli {
namespace {

struct ContextOptions {
    std::string agent;
    std::size_t budget = 0;  // Tokens; 0 for no limit.
};

struct ContextPiece {
    std::string name;
    std::string text;
    std::string brief;  // "" if it is the same.
};

// An estimate: four characters are about one token.
std::size_t token_count(std::string_view text) {
    return (utf8::count_code_points(text) + 3) / 4;
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
    const Value answer = TRY(client.request("context", Map{}));
    std::vector<ContextPiece> out;
    for (const Value& piece : json::list_in(answer, "pieces"))
        out.push_back({json::text_in(piece, "name"), json::text_in(piece, "text"),
                       json::text_in(piece, "brief")});
    if (out.empty()) TRY(check_is_known(client, settings, agent));
    return out;
}

std::string joined(const std::vector<ContextPiece>& pieces) {
    std::string out;
    for (const ContextPiece& piece : pieces) cat_to(out, cat(out.empty() ? "" : "\n", piece.text));
    return out;
}

Result<int> render_context(const Globals& globals, const ContextOptions& options) {
    std::vector<ContextPiece> pieces = TRY(context_pieces(globals, options.agent));
    if (options.budget != 0 && token_count(joined(pieces)) > options.budget) {
        for (ContextPiece& piece : pieces) {
            if (!piece.brief.empty()) piece.text = piece.brief;
        }
    }
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
    app.add_option(
           "--budget", options.budget,
           "The most tokens to print, four characters each. What fields are for is left out "
           "first; what then does not fit is left out too and named on standard error")
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
