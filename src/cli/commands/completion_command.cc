// quire completion: completions for bash, zsh and fish. quire complete: what their scripts ask.
//
// Words of the workspace cost a connection to its kernel; where nothing is kept yet there are none.
// Nothing that goes wrong is said: whoever presses a key did not ask for it.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/concat.h"
#include "cli/commands/command_client.h"
#include "cli/commands/command_list.h"
#include "cli/commands/completion.h"
#include "cli/commands/looking_kernel.h"
#include "cli/commands/terminal.h"
#include "cli/settings/config.h"
#include "cli/settings/person.h"
#include "cli/settings/tool_rules.h"
#include "json/members.h"
#include "policy/tool_catalog.h"
#include "text/escape_hidden.h"

namespace quire::cli {
namespace {

struct CompleteOptions {
    std::vector<std::string> words;  // After the program's name.
    std::string line;                // Or the line up to the cursor, with the name.
    bool breaks = false;             // The shell replaces only what follows the last ':' or '='.
};

using Words = std::vector<CompletedWord>;

// The words that may stand for a value, asked of the workspace that the line names. Every answer
// that fails is an empty list. A workspace that keeps nothing yet is not asked, because asking
// would have to copy its state or start a kernel.
class WorkspaceWords {
public:
    WorkspaceWords(const Globals& globals, const GivenOptions& given) : globals_(globals) {
        globals_.touches = Touches::looks;
        globals_.actor = person_here().str();
        if (const auto named = given.find("workspace"); named != given.end())
            globals_.workspace = named->second;
        if (!globals_.workspace.empty()) return;
        if (auto found = find_workspace(".")) globals_.workspace = std::move(found->directory);
    }

    // A label that several owners have is completed with the owner before it.
    Words labels() {
        const List blocks = rows("context", {{"operation", "list"}}, "blocks");
        std::multiset<std::string> seen;
        for (const Value& each : blocks) seen.insert(json::text_in(each, "label"));
        Words out;
        for (const Value& each : blocks) {
            const std::string label = json::text_in(each, "label");
            const bool is_one = seen.count(label) == 1;
            out.push_back({is_one ? label : cat(json::text_in(each, "owner"), "/", label),
                           json::text_in(each, "description")});
        }
        return out;
    }

    // Blocks of conversations and files come from one tool, memory from another; a description
    // helps to tell ids apart.
    Words ids() {
        Words out;
        for (const Value& each : rows("block_list", {{"depth", 0}, {"limit", 1000}}, "blocks")) {
            const std::string path = json::text_in(each, "path");
            out.push_back({json::text_in(each, "block_id"),
                           path.empty() ? json::text_in(each, "summary") : path});
        }
        for (const Value& each : rows("context", {{"operation", "list"}}, "blocks"))
            out.push_back({json::text_in(each, "block_id"), json::text_in(each, "label")});
        return out;
    }

    Words approvals() {
        Words out;
        for (const Value& each : rows("approvals", {{"operation", "list"}}, "approvals")) {
            out.push_back(
                {json::text_in(each, "approval_id"),
                 cat(json::text_in(each, "actor"), " ", json::text_in(each, "operation"))});
        }
        return out;
    }

    // Those who have changed something, who have settings, and who types. The log's newest entries
    // are enough: who has not changed anything for so long is not typed often.
    Words actors() {
        std::set<std::string> names = {"agent:local", globals_.actor};
        if (const auto settings = load_config(globals_.workspace)) {
            for (const auto& [name, agent] : settings->agents) names.insert(cat("agent:", name));
        }
        if (has_state()) {
            const auto changes = request_once(globals_, "log", Map{{"limit", 1000}});
            for (const Value& each : json::list_in(changes ? *changes : Value(Map()), "entries"))
                names.insert(json::text_in(each, "actor"));
        }
        Words out;
        for (const std::string& name : names) out.push_back({name});
        return out;
    }

    Words agents() {
        constexpr std::string_view kAgent = "agent:";
        Words out;
        for (const CompletedWord& each : actors())
            if (each.word.starts_with(kAgent)) out.push_back({each.word.substr(kAgent.size())});
        return out;
    }

    Words mounts() {
        Words out;
        const auto settings = load_config(globals_.workspace);
        if (!settings) return out;
        for (const auto& [name, mount] : settings->mounts) out.push_back({name});
        return out;
    }

    Words sources() {
        Words out;
        if (!has_state()) return out;
        const auto answer = request_once(globals_, "sources");
        for (const Value& each : json::list_in(answer ? *answer : Value(Map()), "sources"))
            out.push_back({json::text_in(each, "source_id"), json::text_in(each, "state")});
        return out;
    }

private:
    bool has_state() const { return !is_without_state(globals_.workspace); }

    List rows(std::string_view tool, Map arguments, std::string_view member) {
        if (!has_state()) return {};
        const auto answer = call_once(globals_, tool, std::move(arguments));
        return answer ? json::list_in(*answer, member) : List();
    }

    Globals globals_;
};

Words tool_words() {
    Words out;
    const policy::ToolCatalog catalog = known_tools();
    for (const policy::KnownTool& tool : catalog.tools())
        if (tool.built) out.push_back({tool.name});
    return out;
}

// The operations depend on the tool that the line names already.
Words operation_words(const GivenOptions& given) {
    Words out;
    const auto tool = given.find("tool");
    const policy::ToolCatalog catalog = known_tools();
    const policy::KnownTool* const known =
        tool == given.end() ? nullptr : catalog.find(tool->second);
    if (known == nullptr) return out;
    for (const std::string& name : known->operations)
        if (std::ranges::find(known->later, name) == known->later.end()) out.push_back({name});
    return out;
}

Words value_words(const Globals& globals, std::string_view type, const GivenOptions& given) {
    if (type == "TOOL") return tool_words();
    if (type == "OPERATION") return operation_words(given);
    WorkspaceWords words(globals, given);
    if (type == "LABEL") return words.labels();
    if (type == "BLOCK_ID" || type == "BLOCK|PATH" || type == "TARGET") return words.ids();
    if (type == "ACTOR") return words.actors();
    if (type == "AGENT") return words.agents();
    if (type == "APPROVAL_ID") return words.approvals();
    if (type == "MOUNT") return words.mounts();
    if (type == "SOURCE") return words.sources();
    return {};
}

// A word, a tab, what it is. The shells read no further than the line end. `cut` bytes of the word
// are there already, in bash's way of seeing it. Words are escaped, since labels are chosen by
// agents and the shell prints them.
std::string completion_lines(const Completions& completions, std::size_t cut) {
    std::string out;
    for (const CompletedWord& each : completions.words) {
        std::string word = text::escape_hidden(each.word);
        cat_to(out, cat(word.substr(std::min(cut, word.size())), "\t",
                        text::escape_hidden(each.description), "\n"));
    }
    if (completions.files) out += ":files\n";
    if (completions.directories) out += ":directories\n";
    return out;
}

// The parser that is asked is that of this very run (`app`'s parent), so no second description of
// the commands exists.
CommandRun complete_action(CLI::App& app) {
    const auto options = std::make_shared<CompleteOptions>();
    app.add_option("words", options->words, "The words after the program's name");
    app.add_option("--line", options->line, "The line up to the cursor");
    app.add_flag("--breaks", options->breaks, "Words end at ':' and '=' too");
    return [options, &app](const Globals& globals) -> Result<int> {
        std::vector<std::string> words = options->words;
        if (!options->line.empty()) {
            words = words_of_line(options->line);
            words.erase(words.begin());
        }
        if (words.empty()) words.emplace_back();
        const Completions completions = completions_of(
            *app.get_parent(), words, [&](std::string_view type, const GivenOptions& given) {
                return value_words(globals, type, given);
            });
        const std::size_t last =
            options->breaks ? words.back().find_last_of(":=") : std::string::npos;
        return output(completion_lines(completions, last == std::string::npos ? 0 : last + 1));
    };
}

CommandRun completion_action(CLI::App& app) {
    const auto shell = std::make_shared<std::string>();
    app.add_option("shell", *shell, "The shell that will read the completions")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}))
        ->type_name("SHELL");
    return [shell](const Globals&) -> Result<int> { return output(completion_script(*shell)); };
}

}  // namespace

Command completion_command() {
    return {.name = "completion",
            .about = "Print completions for a shell",
            .example = "source <(quire completion bash)",
            .action = completion_action,
            .touches = Touches::nothing};
}

Command complete_command() {
    return {.name = "complete",
            .about = "Print what may stand at the cursor, for the scripts of quire completion",
            .example = {},
            .action = complete_action,
            .hidden = true,
            .touches = Touches::nothing};
}

}  // namespace quire::cli
