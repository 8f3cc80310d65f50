// What an agent's rules remember of its calls: per conversation and ever.
//
// One for each agent; its sessions share it, each with what is its own beside it
// (rule_automaton.h). What is kept is facts about tools (how often one was called, when last,
// whether it ever succeeded), not the state of rules: so rules can be edited, added and moved
// between two starts, and what was counted still counts. Not thread-safe: whoever owns an agent's
// sessions owns this, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "policy/rule_set.h"

namespace quire::policy {

// The facts within one session, one conversation, or ever.
struct ToolFacts {
    explicit ToolFacts(std::size_t tools)
        : called(tools), succeeded(tools), calls(tools), last_start(tools) {}
    IndexSet called;     // Admitted at least once.
    IndexSet succeeded;  // At least once.
    std::vector<std::int64_t> calls;
    std::vector<std::int64_t> last_start;  // Steady milliseconds, where it was called.

    void note_call(std::size_t tool, std::int64_t now) {
        called.add(tool);
        ++calls[tool];
        last_start[tool] = now;
    }
};

// The facts about one tool, for keeping. key() tells entries apart; one that is kept replaces that
// with the same key.
struct LedgerEntry {
    std::string tool = {};
    std::optional<std::string> conversation = {};  // None: ever.
    std::int64_t calls = 0;
    bool succeeded = false;
    std::int64_t last_wall_ms = 0;  // When the last call began.

    std::string key() const;
    Value value() const;
    // Errors: corrupt, for what value() does not write.
    static Result<LedgerEntry> parse(const Value& value);
    friend bool operator==(const LedgerEntry&, const LedgerEntry&) = default;
};

class RuleLedger {
public:
    // `clock` outlives it.
    RuleLedger(std::shared_ptr<const RuleSet> rules, const Clock& clock);

    const RuleSet& rules() const { return *rules_; }
    const Clock& clock() const { return clock_; }

    // Before the first call. Of a tool that is not in the catalog nothing is taken. A cooldown goes
    // on where it stood: what passed meanwhile is the difference of the two wall clocks, or nothing
    // where that one was set back.
    void restore(std::span<const LedgerEntry> entries);
    // What is to be kept of what has changed since the last time.
    std::vector<LedgerEntry> take_changes();
    // What could not be kept: it is among the next changes, as it is by then.
    void not_kept(std::span<const LedgerEntry> entries);
    bool has_changes() const { return !changed_.empty(); }
    // A conversation that is gone. Keep nothing of it either.
    void forget(std::string_view conversation);

private:
    friend class RuleAutomaton;
    using Place = std::optional<std::string>;  // None: ever.

    const ToolFacts& find(std::string_view conversation) const;
    ToolFacts& facts(const Place& place);
    void note_call(const Place& place, std::size_t tool, std::int64_t now);
    void note_success(const Place& place, std::size_t tool);

    std::shared_ptr<const RuleSet> rules_;
    const Clock& clock_;
    ToolFacts ever_;
    ToolFacts none_;  // Of a conversation in which nothing was called.
    std::map<std::string, ToolFacts, std::less<>> conversations_;
    std::set<std::pair<Place, std::size_t>> changed_;
};

}  // namespace quire::policy
