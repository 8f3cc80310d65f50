// Four agents send much the same under different names. Two tables hold the names of their events
// and of their tools; what is left are the members in which an input carries paths, texts and
// commands, which are tried in turn. An event that is not understood gives no HookEvent, and the
// agent goes on by its own settings: a hook that fails on a new tool would stop the agent's work.
//
//     agent     asks before       tells after        a turn              answer
//     claude    PreToolUse        PostToolUse        UserPromptSubmit,   hookSpecificOutput
//     codex     PreToolUse        PostToolUse         Stop
//     gemini    BeforeTool        AfterTool          BeforeAgent, ...    decision, reason
//     cursor    beforeShell..., preToolUse, ...      beforeSubmitPrompt  permission
#include "cli/exchange/hook_event.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/concat.h"
#include "edits/patch.h"
#include "json/members.h"
#include "text/shell_word.h"

namespace quire::cli {
namespace {

using Use = HookPath::Use;

// The most bytes of text for the model in one answer.
constexpr std::size_t kMostContext = 400;

struct Moment {
    std::string_view name;
    HookMoment moment;
};
// The events of all agents.
constexpr std::array<Moment, 19> kMoments = {{
    {"PreToolUse", HookMoment::before_tool},
    {"PostToolUse", HookMoment::after_tool},
    {"PostToolUseFailure", HookMoment::after_tool},
    {"BeforeTool", HookMoment::before_tool},
    {"AfterTool", HookMoment::after_tool},
    {"preToolUse", HookMoment::before_tool},
    {"postToolUse", HookMoment::after_tool},
    {"beforeShellExecution", HookMoment::before_tool},
    {"afterShellExecution", HookMoment::after_tool},
    {"beforeReadFile", HookMoment::before_tool},
    {"afterFileEdit", HookMoment::after_tool},
    {"UserPromptSubmit", HookMoment::turn_begins},
    {"BeforeAgent", HookMoment::turn_begins},
    {"beforeSubmitPrompt", HookMoment::turn_begins},
    {"Stop", HookMoment::turn_ends},
    {"AfterAgent", HookMoment::turn_ends},
    {"stop", HookMoment::turn_ends},
    {"WorktreeCreate", HookMoment::worktree_wanted},
    {"WorktreeRemove", HookMoment::worktree_unwanted},
}};

enum class Does { shell, patch, read, change, erase };
struct KnownTool {
    std::string_view name;  // In lower case.
    Does does;
};
// The tools of all agents that touch files.
constexpr std::array<KnownTool, 25> kTools = {{
    {"bash", Does::shell},
    {"shell", Does::shell},
    {"local_shell", Does::shell},
    {"exec_command", Does::shell},
    {"shell_command", Does::shell},
    {"run_shell_command", Does::shell},
    {"run_terminal_cmd", Does::shell},
    {"apply_patch", Does::patch},
    {"read", Does::read},
    {"read_file", Does::read},
    {"view", Does::read},
    {"notebookread", Does::read},
    {"edit", Does::change},
    {"multiedit", Does::change},
    {"write", Does::change},
    {"create", Does::change},
    {"notebookedit", Does::change},
    {"replace", Does::change},
    {"write_file", Does::change},
    {"edit_file", Does::change},
    {"search_replace", Does::change},
    {"strreplace", Does::change},
    {"editnotebook", Does::change},
    {"delete", Does::erase},
    {"delete_file", Does::erase},
}};

std::string lower(std::string_view word) {
    std::string out(word);
    std::ranges::transform(out, out.begin(), [](unsigned char letter) {
        return static_cast<char>(std::tolower(letter));
    });
    return out;
}

// A guess for settings that were written by hand without --agent. Cursor's events begin in lower
// case, Gemini's with Before or After; Codex sends a turn_id and otherwise what Claude sends.
HookAgent agent_of(const Value& event, std::string_view name) {
    if (event.get("conversation_id") != nullptr || (!name.empty() && std::islower(name[0]) != 0))
        return HookAgent::cursor;
    if (name.starts_with("Before") || name.starts_with("After")) return HookAgent::gemini;
    return event.get("turn_id") != nullptr ? HookAgent::codex : HookAgent::claude;
}

// Reads a command given as text or as a list of words. A list such as bash -c TEXT gives TEXT.
std::optional<std::string> command_in(const Value& input) {
    const Value* const given = input.get("command");
    if (given == nullptr) return std::nullopt;
    if (given->is_string()) return given->as_string();
    if (!given->is_list()) return std::nullopt;
    std::vector<std::string> words;
    for (const Value& each : given->as_list()) {
        if (!each.is_string()) return std::nullopt;
        words.push_back(each.as_string());
    }
    const bool is_shell =
        words.size() == 3 && (words[1] == "-c" || words[1] == "-lc") && words[0].ends_with("sh");
    if (is_shell) return words[2];
    std::string out;
    for (const std::string& word : words)
        cat_to(out, cat(out.empty() ? "" : " ", text::for_shell(word)));
    return out;
}

std::string first_text(const Value& from, std::initializer_list<const char*> members) {
    for (const char* const member : members) {
        std::string found = json::text_in(from, member);
        if (!found.empty()) return found;
    }
    return {};
}

// The files that a patch names. A malformed patch gives none, and the agent's tool refuses it as well.
std::vector<HookPath> paths_in_patch(const std::string& patch) {
    std::vector<HookPath> out;
    const auto parts = edits::parse_patch(patch);
    if (!parts) return out;
    for (const edits::FilePatch& part : *parts) {
        const bool erases = part.action == edits::PatchAction::erase;
        out.push_back({erases ? Use::erase : Use::change, part.name});
        if (!part.new_name.empty() && part.new_name != part.name) {
            out.back().use = Use::erase;
            out.push_back({Use::change, part.new_name});
        }
    }
    return out;
}

// Reads the text, or the replacements, that an editing tool will write. A tool may give one
// replacement in its input or a list of them in `edits`. Malformed ones are left out: the agent's
// tool will refuse them.
void read_change(HookPath& out, const Value& input) {
    if (const Value* const content = input.get("content");
        content != nullptr && content->is_string())
        out.content = content->as_string();
    const auto add = [&](const Value& edit) {
        const Value* const before = edit.get("old_string");
        const Value* const after = edit.get("new_string");
        if (before == nullptr || after == nullptr || !before->is_string() || !after->is_string())
            return;
        const Value* const all = edit.get("replace_all");
        out.replacements.push_back(
            {before->as_string(), after->as_string(), all != nullptr && *all == Value(true)});
    };
    add(input);
    for (const Value& each : json::list_in(input, "edits")) add(each);
}

// A directory in the input is where the tool works; a relative one begins at the event's directory.
void read_input(HookEvent& out, Does does, const Value& input) {
    const std::string directory = first_text(input, {"cwd", "workdir", "directory", "dir_path"});
    if (!directory.empty() && directory.front() == '/') {
        out.cwd = directory;
    } else if (!directory.empty()) {
        out.cwd = cat(out.cwd, "/", directory);
    }
    if (does == Does::shell) {
        out.command = command_in(input);
        return;
    }
    if (does == Does::patch) {
        out.paths = paths_in_patch(first_text(input, {"command", "input", "patch"}));
        return;
    }
    std::string path =
        first_text(input, {"file_path", "path", "notebook_path", "absolute_path", "target_file"});
    if (path.empty()) return;
    const Use use = does == Does::read ? Use::read : does == Does::erase ? Use::erase : Use::change;
    out.paths.push_back({use, std::move(path)});
    if (use == Use::change) read_change(out.paths.back(), input);
}

// The agents whose hooks may hand a decision to the person in front of the agent.
bool can_ask(const HookEvent& event) {
    return event.agent == HookAgent::claude ||
           (event.agent == HookAgent::cursor && event.name == "beforeShellExecution");
}

// Cut between characters. Agents put the text into the model's context with every call.
std::string shortened(const std::string& text) {
    if (text.size() <= kMostContext) return text;
    std::size_t end = kMostContext;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return text.substr(0, end) + "…";
}

Map answer_of_cursor(const HookAnswer& answer, std::string_view verdict, const HookEvent& event) {
    Map out;
    if (!event.is_about_tool()) return out;  // It has no place for words there.
    const bool is_after = event.is_after();
    if (!is_after && !verdict.empty()) {
        out.append("permission", verdict);
        out.append("user_message", answer.reason);
        out.append("agent_message", answer.reason);
    }
    if (is_after) {
        const std::string context =
            cat(answer.reason, answer.reason.empty() || answer.context.empty() ? "" : "\n",
                answer.context);
        if (!context.empty()) out.append("additional_context", shortened(context));
    }
    return out;
}

}  // namespace

std::optional<HookEvent> read_hook_event(const Value& event, std::optional<HookAgent> agent) {
    if (!event.is_map()) return std::nullopt;
    HookEvent out;
    out.name = json::text_in(event, "hook_event_name");
    const auto* const moment = std::ranges::find(kMoments, out.name, &Moment::name);
    if (moment == kMoments.end()) return std::nullopt;
    out.moment = moment->moment;
    out.agent = agent.value_or(agent_of(event, out.name));
    out.cwd = json::text_in(event, "cwd");
    if (out.cwd.empty()) {
        const List roots = json::list_in(event, "workspace_roots");
        if (!roots.empty() && roots.front().is_string()) out.cwd = roots.front().as_string();
    }

    if (!out.is_about_tool()) {
        const bool is_wanted = out.moment == HookMoment::worktree_wanted;
        out.worktree = is_wanted ? first_text(event, {"name", "worktree_name"})
                                 : json::text_in(event, "worktree_path");
        return out;
    }

    const std::string tool = lower(json::text_in(event, "tool_name"));
    if (out.name == "beforeShellExecution" || out.name == "afterShellExecution") {
        read_input(out, Does::shell, event);
    } else if (out.name == "beforeReadFile") {
        read_input(out, Does::read, event);
    } else if (out.name == "afterFileEdit") {
        read_input(out, Does::change, event);
    } else {
        const auto* const known = std::ranges::find(kTools, tool, &KnownTool::name);
        const Value* const input = event.get("tool_input");
        if (known == kTools.end() || input == nullptr || !input->is_map()) return std::nullopt;
        read_input(out, known->does, *input);
    }
    if (!out.command && out.paths.empty()) return std::nullopt;

    // The events before and after one call carry the same ids. Where an agent sends none, the
    // command and the paths tell the calls of one session apart as well as they can.
    out.key =
        cat(first_text(event, {"session_id", "conversation_id"}), " ",
            first_text(event, {"tool_use_id", "generation_id"}), " ", out.command.value_or(""));
    for (const HookPath& each : out.paths) cat_to(out.key, cat(" ", each.path));
    return out;
}

// An answer has the members of its agent alone. The reason of a refusal is never shortened: it says
// what to do instead.
Map hook_answer(const HookEvent& event, const HookAnswer& answer) {
    using Verdict = HookAnswer::Verdict;
    const bool asks = answer.verdict == Verdict::ask;
    const bool says_no = answer.verdict == Verdict::deny || (asks && !can_ask(event));
    const std::string_view verdict = says_no ? "deny" : asks ? "ask" : "";
    HookAnswer said = answer;
    if (asks && says_no) {
        said.reason +=
            ". This agent's hooks cannot ask a person: make the change with quire's own tools "
            "(file, block_*, shell), which ask one";
    }
    if (event.agent == HookAgent::cursor) return answer_of_cursor(said, verdict, event);

    Map out;
    Map specific{{"hookEventName", event.name}};
    if (!said.notice.empty()) out.append("systemMessage", shortened(said.notice));
    if (event.agent == HookAgent::gemini) {
        if (!verdict.empty()) out.append("decision", verdict);
        if (!verdict.empty()) out.append("reason", said.reason);
    } else if (!event.is_after() && !verdict.empty()) {
        specific.append("permissionDecision", verdict);
        specific.append("permissionDecisionReason", said.reason);
    } else if (event.is_after() && !said.reason.empty()) {
        // It is too late to refuse the change, so the model is told to deal with it.
        out.append("decision", "block");
        out.append("reason", said.reason);
    }
    std::string context = said.context;
    if (event.agent == HookAgent::gemini && event.is_after() && !said.reason.empty())
        context = cat(said.reason, context.empty() ? "" : "\n", context);
    if (!context.empty()) specific.append("additionalContext", shortened(context));
    if (specific.size() > 1) out.append("hookSpecificOutput", std::move(specific));
    return out;
}

}  // namespace quire::cli
