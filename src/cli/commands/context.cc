// quire context render: what an agent is to have in its context.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/concat.h"
#include "base/utf8.h"
#include "cli/commands/command_client.h"
#include "cli/commands/commands.h"
#include "cli/commands/terminal.h"
#include "cli/settings/config.h"
#include "cli/settings/tool_rules.h"
#include "json/json.h"
#include "policy/rule_book.h"

namespace quire::cli {
namespace {

struct Piece {
    std::string name;
    std::string text;
};

// Four characters are taken for one token.
std::size_t tokens_of(std::string_view text) {
    return (utf8::count_code_points(text) + 3) / 4;
}

std::string_view word(const Value& of, std::string_view member) {
    const Value* value = of.get(member);
    return value != nullptr && value->is_string() ? std::string_view(value->as_string()) : "";
}

// Blocks of `blocks` that are wanted, as a model sees them.
Result<void> add_blocks(CommandClient& client, const List& blocks,
                        const std::function<bool(const Value&)>& wanted, std::vector<Piece>& out) {
    for (const Value& block : blocks) {
        if (!wanted(block)) continue;
        const std::string label(word(block, "label"));
        const auto seen = client.call("context", Map{{"operation", "view"}, {"label", label}});
        if (!seen && seen.error().code() == Errc::not_found) continue;  // It has gone meanwhile.
        if (!seen) return Failure(seen.error());
        out.push_back({label, cat(word(*seen, "rendered"), "\n")});
    }
    return {};
}

Result<void> add_rules(const Settings& settings, const std::string& agent,
                       std::vector<Piece>& out) {
    const policy::RuleBook book = TRY(load_rules(settings, tools_known_from(settings)));
    const std::vector<std::string> sentences = book.rules_for(agent)->sentences();
    if (sentences.empty()) return {};
    std::string text = "# Rules for tools\n";
    for (const std::string& sentence : sentences) cat_to(text, cat("- ", sentence, "\n"));
    out.push_back({"rules for tools", std::move(text)});
    return {};
}

// In the order in which a model reads them.
Result<std::vector<Piece>> pieces_for(const Globals& globals, const std::string& agent) {
    const Settings settings = TRY(load_config(globals.workspace));
    Globals as_agent = globals;
    as_agent.actor = cat("agent:", agent);
    CommandClient client = TRY(CommandClient::attach(as_agent));
    const Value list = TRY(client.call("context", Map{{"operation", "list"}}));
    const Value* blocks = list.get("blocks");
    if (blocks == nullptr || !blocks->is_list()) return corrupt("the list of blocks is none");

    std::vector<Piece> out;
    TRY(add_blocks(
        client, blocks->as_list(), [](const Value& block) { return word(block, "type") == "core"; },
        out));
    TRY(add_blocks(
        client, blocks->as_list(),
        [](const Value& block) {
            const Value* pinned = block.get("pinned");
            return word(block, "type") == "working" && pinned != nullptr && *pinned == Value(true);
        },
        out));
    TRY(add_rules(settings, agent, out));
    return out;
}

}  // namespace

int render_context(const Globals& globals, const ContextOptions& options) {
    const Result<std::vector<Piece>> pieces = pieces_for(globals, options.agent);
    if (!pieces) return refuse(pieces.error());
    std::string text;
    List left_out;
    for (const Piece& piece : *pieces) {
        const std::string with = cat(text, text.empty() ? "" : "\n", piece.text);
        if (options.budget == 0 || tokens_of(with) <= options.budget) {
            text = with;
            continue;
        }
        const std::size_t tokens = tokens_of(piece.text);
        left_out.push_back(Map{{"name", piece.name}, {"tokens", tokens}});
        if (!globals.json)
            complain(cat("left out for lack of room: ", piece.name, " (", tokens, " tokens)"));
    }
    const std::size_t tokens = tokens_of(text);
    const bool printed = globals.json ? print(json::write(Map{{"text", std::move(text)},
                                                              {"tokens", tokens},
                                                              {"left_out", std::move(left_out)}}) +
                                              "\n")
                                      : print(text);
    return printed ? kDone : kRefused;
}

}  // namespace quire::cli
