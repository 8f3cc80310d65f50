// Hooks of coding agents: what an agent says before and after it uses a tool of its own, and how it is
// answered. Each agent has its own words for the same things. Pure: values in, values out.
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

// A file that a tool is to read, to change, or to delete.
struct HookPath {
    enum class Use { read, change, erase } use = Use::read;
    std::string path;  // The agent's spelling.
    // How the tool will change its text, where it says so: all of it, or texts in place of others.
    struct Replacement {
        std::string before, after;
        bool all = false;  // Each occurrence; else the first.
        friend bool operator==(const Replacement&, const Replacement&) = default;
    };
    std::optional<std::string> content = {};
    std::vector<Replacement> replacements = {};
    friend bool operator==(const HookPath&, const HookPath&) = default;
};

struct HookEvent {
    HookAgent agent = HookAgent::claude;
    std::string name;  // The agent's word for the event.
    bool is_after = false;
    std::string cwd;
    // Names one use of a tool, before and after.
    std::string key;
    std::optional<std::string> command = {};  // For a shell.
    std::vector<HookPath> paths = {};
};

// The event, if it is about a tool that reads or changes files by other ways than ours; none for every
// other event. `agent`: none to tell it from the event.
std::optional<HookEvent> read_hook_event(const Value& event, std::optional<HookAgent> agent);

// The answer to an agent. Nothing to say leaves it to the agent's own settings.
struct HookAnswer {
    enum class Verdict { none, deny, ask } verdict = Verdict::none;
    std::string reason = {};   // For the verdict, or for what went wrong.
    std::string context = {};  // For the model to know.
};

// The answer in the agent's form. An agent whose hooks cannot ask a person is told no: the reason then
// says how to have a person asked.
Map hook_answer(const HookEvent& event, const HookAnswer& answer);

}  // namespace quire::cli
