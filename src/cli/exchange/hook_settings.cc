// One row for each agent: its file, the events that it is to report, and how entries are written
// there. An entry is recognised as ours by the end of its command, " hook --agent NAME", whatever
// program runs it, so that an update of the program replaces its entries and takes back those of an
// older one.
//
// Editing is done one event at a time by jsonc_edit.h, which keeps everything else in the file as
// it is.
#include "cli/exchange/hook_settings.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/concat.h"
#include "base/value.h"
#include "cli/exchange/jsonc_edit.h"
#include "text/shell_word.h"

namespace quire::cli {
namespace {

constexpr std::string_view kHooks = "hooks";

// A hooked event and the tools that it matches; "" if the event is about one kind of tool, or none.
struct HookedEvent {
    std::string_view name;
    std::string_view tools = "";
    int timeout = 0;  // In the agent's unit; 0 for the file's.
};
constexpr std::array<HookedEvent, 6> kOfClaude = {{
    {"PreToolUse", "Bash|Edit|MultiEdit|Write|NotebookEdit|Read"},
    {"PostToolUse", "Bash|Edit|MultiEdit|Write|NotebookEdit"},
    {"UserPromptSubmit", "", 60},
    {"Stop", "", 60},
    {"WorktreeCreate", "", 300},
    {"WorktreeRemove", "", 60},
}};
constexpr std::array<HookedEvent, 4> kOfCodex = {{
    {"PreToolUse", "Bash|apply_patch"},
    {"PostToolUse", "Bash|apply_patch"},
    {"UserPromptSubmit", "", 60},
    {"Stop", "", 60},
}};
constexpr std::array<HookedEvent, 7> kOfCursor = {{
    {"beforeShellExecution", ""},
    {"afterShellExecution", ""},
    {"beforeReadFile", ""},
    {"preToolUse", "Write|Delete"},
    {"postToolUse", "Write|Delete"},
    {"beforeSubmitPrompt"},
    {"stop"},
}};
constexpr std::array<HookedEvent, 4> kOfGemini = {{
    {"BeforeTool", "run_shell_command|write_file|replace|read_file"},
    {"AfterTool", "run_shell_command|write_file|replace"},
    {"BeforeAgent", "", 60'000},
    {"AfterAgent", "", 60'000},
}};

struct HookFile {
    std::string_view agent;
    std::string_view file;
    std::span<const HookedEvent> events;
    // The hooks are grouped by the tools that they match.
    bool has_groups;
    int timeout;  // In the agent's unit; 0 for none.
};
constexpr std::array<HookFile, 4> kFiles = {{
    {"claude", ".claude/settings.json", kOfClaude, true, 10},
    {"codex", ".codex/hooks.json", kOfCodex, true, 10},
    {"cursor", ".cursor/hooks.json", kOfCursor, false, 0},
    {"gemini", ".gemini/settings.json", kOfGemini, true, 10'000},
}};

const HookFile* find_file(std::string_view agent) {
    const auto* const at = std::ranges::find(kFiles, agent, &HookFile::agent);
    return at == kFiles.end() ? nullptr : at;
}

std::string ending_of(const HookFile& of) {
    return cat(" hook --agent ", of.agent);
}

Value entry_of(const HookFile& of, const HookedEvent& event, const std::string& program) {
    const std::string command = cat(text::for_shell(program), ending_of(of));
    if (!of.has_groups) {
        Map out{{"command", command}};
        if (!event.tools.empty()) out.append("matcher", event.tools);
        return out;
    }
    Map hook{{"type", "command"}, {"command", command}};
    const int timeout = event.timeout != 0 ? event.timeout : of.timeout;
    if (timeout != 0) hook.append("timeout", timeout);
    Map out;
    if (!event.tools.empty()) out.append("matcher", event.tools);
    out.append("hooks", List{std::move(hook)});
    return out;
}

bool runs_us(const HookFile& of, const Value& hook) {
    const Value* const command = hook.get("command");
    return command != nullptr && command->is_string() &&
           command->as_string().ends_with(ending_of(of));
}

// A group in which a person has added a hook of their own is theirs, and stays.
bool is_ours(const HookFile& of, const Value& entry) {
    if (!of.has_groups) return runs_us(of, entry);
    const Value* const hooks = entry.get("hooks");
    return hooks != nullptr && hooks->is_list() && hooks->as_list().size() == 1 &&
           runs_us(of, hooks->as_list().front());
}

Failure in_file(const HookFile& of, Error error) {
    error.details().set("path", of.file);
    return Failure(std::move(error).within(of.file));
}

// Removes our entries of one event, except `except`.
Result<std::string> without_ours(const HookFile& of, std::string text, const HookedEvent& event,
                                 const Value* except) {
    const MemberPlace place{kHooks, event.name};
    const std::optional<Value> there = TRY(jsonc_value(text, place));
    if (!there || !there->is_list()) return text;
    for (const Value& each : there->as_list()) {
        if (is_ours(of, each) && (except == nullptr || !(each == *except)))
            text = TRY(jsonc_without_element(text, place, each));
    }
    return text;
}

Result<std::string> with_all(const HookFile& of, std::string text, const std::string& program) {
    // Cursor takes no file without a version. Without ours in it this very text counts as empty
    // again.
    if (of.agent == "cursor" && text.empty()) text = "{\n  \"version\": 1\n}\n";
    for (const HookedEvent& event : of.events) {
        const Value entry = entry_of(of, event, program);
        if (!text.empty()) {
            text = TRY(without_ours(of, std::move(text), event, &entry));
            const auto there = TRY(jsonc_value(text, {kHooks, event.name}));
            const bool is_there =
                there && there->is_list() &&
                std::ranges::find(there->as_list(), entry) != there->as_list().end();
            if (is_there) continue;
        }
        text = TRY(jsonc_with_first(text, {kHooks, event.name}, entry));
    }
    return text;
}

Result<std::string> without_all(const HookFile& of, std::string text) {
    // The entries are removed in reverse order of adding, which restores the text exactly.
    for (auto event = of.events.rbegin(); event != of.events.rend() && !text.empty(); ++event)
        text = TRY(without_ours(of, std::move(text), *event, nullptr));
    return text == "{\n  \"version\": 1\n}\n" ? std::string() : text;
}

}  // namespace

std::string_view hooks_file(std::string_view agent) {
    const HookFile* const of = find_file(agent);
    return of == nullptr ? "" : of->file;
}

Result<std::string> with_hooks(std::string_view agent, std::string_view text,
                               const std::string& program) {
    const HookFile& of = *find_file(agent);
    Result<std::string> made = with_all(of, std::string(text), program);
    if (!made) return in_file(of, std::move(made).error());
    return made;
}

Result<std::string> without_hooks(std::string_view agent, std::string_view text) {
    const HookFile& of = *find_file(agent);
    Result<std::string> left = without_all(of, std::string(text));
    if (!left) return in_file(of, std::move(left).error());
    return left;
}

}  // namespace quire::cli
