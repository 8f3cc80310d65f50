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
};

// An estimate: four characters are about one token. Tokenizers differ by model; a budget needs no
// more than the order of magnitude.
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

// The pieces of an agent's context. `describes`: blocks say what their fields and sections are for.
Result<std::vector<ContextPiece>> context_pieces(CommandClient& client, bool describes) {
    const Value answer = TRY(client.request("context", Map{{"describes", describes}}));
    std::vector<ContextPiece> out;
    for (const Value& piece : json::list_in(answer, "pieces"))
        out.push_back({json::text_in(piece, "name"), json::text_in(piece, "text")});
    return out;
}

// The pieces that fit the budget, and the names of the others.
struct Fitted {
    std::string text;
    List left_out;  // {name, tokens}
};

// A piece that does not fit is left out and the smaller ones after it may still fit, so the order
// of the others stays.
Fitted fitted(const std::vector<ContextPiece>& pieces, std::size_t budget) {
    Fitted out;
    for (const ContextPiece& piece : pieces) {
        std::string with = cat(out.text, out.text.empty() ? "" : "\n", piece.text);
        if (budget == 0 || token_count(with) <= budget) {
            out.text = std::move(with);
        } else {
            out.left_out.push_back(Map{{"name", piece.name}, {"tokens", token_count(piece.text)}});
        }
    }
    return out;
}

Result<int> render_context(const Globals& globals, const ContextOptions& options) {
    const Settings settings = TRY(load_config(globals.workspace));
    Globals as_agent = globals;
    as_agent.actor = cat("agent:", options.agent);
    CommandClient client = TRY(CommandClient::attach(as_agent));
    const std::vector<ContextPiece> pieces = TRY(context_pieces(client, true));
    if (pieces.empty()) TRY(check_is_known(client, settings, options.agent));
    Fitted shown = fitted(pieces, options.budget);
    // Only a text that is too long is asked for again without descriptions.
    if (!shown.left_out.empty()) shown = fitted(TRY(context_pieces(client, false)), options.budget);
    const std::size_t tokens = token_count(shown.text);
    if (globals.json) {
        return output_json(Map{{"text", std::move(shown.text)},
                               {"tokens", tokens},
                               {"left_out", std::move(shown.left_out)}});
    }
    for (const Value& each : shown.left_out) {
        complain(cat("left out, over the budget: ", json::text_in(each, "name"), " (",
                     json::number_in(each, "tokens"), " tokens)"));
    }
    return output(shown.text);
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
