// The counts of an agent's calls that outlive a session: per conversation and for ever.
//
// Each agent has one ledger, shared by its sessions; each session adds its own counts
// (rule_automaton.h). The ledger keeps facts about tools (how often one was called, when last,
// whether it ever succeeded), not the state of rules. So rules can be edited, added and moved
// between two starts without losing counts. Not thread-safe: the owner of an agent's sessions owns
// the ledger too.
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

// The facts within one session, one conversation, or for ever. Indexed by tool.
struct ToolFacts {
    explicit ToolFacts(std::size_t tools)
        : called(tools), succeeded(tools), calls(tools), last_start(tools) {}
    IndexSet called;     // Admitted at least once.
    IndexSet succeeded;  // Succeeded at least once.
    std::vector<std::int64_t> calls;
    // Steady milliseconds of the last start; valid if the tool was called.
    std::vector<std::int64_t> last_start;

    // Makes room for the tools of a longer catalog.
    void grow(std::size_t tools) {
        called.grow(tools);
        succeeded.grow(tools);
        calls.resize(tools);
        last_start.resize(tools);
    }
    // Counts a call that begins at `now`, in steady milliseconds.
    void note_call(std::size_t tool, std::int64_t now) {
        called.add(tool);
        ++calls[tool];
        last_start[tool] = now;
    }
};

// The stored facts about one tool. A stored entry replaces the one with an equal key().
struct LedgerEntry {
    std::string tool = {};
    std::optional<std::string> conversation = {};  // Absent: counted for ever.
    std::int64_t calls = 0;
    bool succeeded = false;
    std::int64_t last_wall_ms = 0;  // When the last call began.

    // The key under which the entry is stored.
    std::string key() const;
    // The entry for storing; parse() reads it back.
    Value value() const;
    // Errors: corrupt, if value() did not write it.
    static Result<LedgerEntry> parse(const Value& value);
    friend bool operator==(const LedgerEntry&, const LedgerEntry&) = default;
};

// The facts of one agent, and which of them have changed since they were last stored.
class RuleLedger {
public:
    // `clock` outlives it.
    RuleLedger(std::shared_ptr<const RuleSet> rules, const Clock& clock);

    const RuleSet& rules() const { return *rules_; }
    // Counts for other rules from now on. Their catalog begins with the tools of the one before, in
    // its order, so that all facts keep their place.
    void adopt(std::shared_ptr<const RuleSet> rules);
    const Clock& clock() const { return clock_; }

    // Call before the first call is admitted. Tools that the catalog lacks are skipped. A cooldown
    // continues from where it stood: the time since the last call is the difference of the wall
    // clocks, or zero if the clock was set back.
    void restore(std::span<const LedgerEntry> entries);
    // The entries that have changed since the last take_changes(), for storing.
    std::vector<LedgerEntry> take_changes();
    // Puts back entries that could not be stored: the next take_changes() returns them with their
    // values of that time.
    void not_kept(std::span<const LedgerEntry> entries);
    bool has_changes() const { return !changed_.empty(); }
    // Forgets a deleted conversation. The caller deletes its stored entries.
    void forget(std::string_view conversation);

private:
    friend class RuleAutomaton;
    // The conversation in which a call counts.
    using Place = std::optional<std::string>;  // Absent: for ever.

    const ToolFacts& find(std::string_view conversation) const;
    // Makes the facts of a conversation that has none yet; find() does not.
    ToolFacts& facts(const Place& place);
    void note_call(const Place& place, std::size_t tool, std::int64_t now);
    void note_success(const Place& place, std::size_t tool);

    std::shared_ptr<const RuleSet> rules_;
    const Clock& clock_;
    ToolFacts ever_;
    ToolFacts none_;  // The facts of a conversation in which nothing was called.
    std::map<std::string, ToolFacts, std::less<>> conversations_;
    std::set<std::pair<Place, std::size_t>> changed_;
};

}  // namespace quire::policy
