// The hooks of coding agents: reads the events that an agent sends before and after it uses a tool of its
// own, and writes the answers. Each agent has its own words for the same things. Pure functions.
//
// Nothing here decides: the caller asks the kernel's rules and gives back a HookAnswer.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_words.h"
#include "base/value.h"

namespace quire::cli {

enum class HookAgent { claude, codex, cursor, gemini };
constexpr auto words_of(HookAgent) {
    return word_table("claude", "codex", "cursor", "gemini");
}

// A file that a tool will read, change or delete.
struct HookPath {
    enum class Use { read, change, erase } use = Use::read;
    std::string path;  // The agent's spelling.
    // The new text, if the event gives it: the whole content, or replacements.
    struct Replacement {
        std::string before, after;
        bool all = false;  // Replaces every occurrence, not only the first.
        friend bool operator==(const Replacement&, const Replacement&) = default;
    };
    std::optional<std::string> content = {};
    std::vector<Replacement> replacements = {};
    friend bool operator==(const HookPath&, const HookPath&) = default;
};

enum class HookMoment {
    before_tool,
    after_tool,
    turn_begins,
    turn_ends,
    worktree_wanted,  // The agent asks for a work tree, and is told where it is.
    worktree_unwanted,
};

struct HookEvent {
    HookAgent agent = HookAgent::claude;
    std::string name;  // The agent's word for the event.
    HookMoment moment = HookMoment::before_tool;
    bool is_after() const { return moment == HookMoment::after_tool; }
    bool is_about_tool() const { return moment == HookMoment::before_tool || is_after(); }
    std::string cwd;
    // Identifies one tool call, in the events before and after it.
    std::string key;
    std::optional<std::string> command = {};  // Set for a shell.
    std::vector<HookPath> paths = {};
    std::string worktree = {};  // The name of one that is wanted, or the path of one that is not.
};

// Reads an event about a tool of the agent's own that reads or changes files, about one of its turns, or about
// a work tree. Returns none for every other event. Without `agent`, the agent is recognised by the event.
std::optional<HookEvent> read_hook_event(const Value& event, std::optional<HookAgent> agent);

// The answer to a hook. Verdict::none leaves the decision to the agent's own settings.
struct HookAnswer {
    enum class Verdict { none, deny, ask } verdict = Verdict::none;
    std::string reason =
        {};  // The reason of the verdict, or the violation that was found afterwards.
    std::string context = {};  // Information for the model,
    std::string notice = {};   // and for the person, at the end of a turn.
};

// Writes the answer in the agent's form. If the agent's hooks cannot ask a person, `ask` becomes `deny`,
// and the reason says how a person can be asked.
Map hook_answer(const HookEvent& event, const HookAnswer& answer);

}  // namespace quire::cli
