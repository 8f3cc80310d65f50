// Rules for tools from their definitions alone: the whole list of calls is kept, and each rule is
// read over it anew for each question. Slow, and plain enough to be checked by reading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/tool_catalog.h"
#include "policy/tool_rule.h"

namespace quire::rules_model {

// The faults that can be planted in the model, to show that a comparison with it can fail.
enum class PlantedFault {
    none,
    failures_satisfy,       // A failed call satisfies prerequisites.
    wildcard_beside_named,  // A rule for "*" holds beside one that names the tool.
    refused_calls_count,    // max_calls counts what was refused.
    cooldown_from_end,      // A cooldown begins when the call has ended.
    loops_are_one,          // A success in one loop counts in the next.
    priority_ignored,
    running_is_free,  // A call that runs does not count as called.
    sessions_are_one,
};
inline constexpr PlantedFault kFaults[] = {
    PlantedFault::failures_satisfy,    PlantedFault::wildcard_beside_named,
    PlantedFault::refused_calls_count, PlantedFault::cooldown_from_end,
    PlantedFault::loops_are_one,       PlantedFault::priority_ignored,
    PlantedFault::running_is_free,     PlantedFault::sessions_are_one};

struct Now {
    std::int64_t steady_ms = 0;
    std::int64_t wall_ms = 0;
};

struct Asked {
    std::size_t session = 0;
    std::string tool;
    std::string operation;
    std::string conversation;
    bool consented = false;
};

struct Answer {
    std::string reason;                // "" where it is admitted.
    std::optional<std::size_t> line;   // The rule's line.
    std::vector<std::string> missing;  // In the catalog's order.
    std::vector<std::string> called;
    std::int64_t retry_after_ms = 0;
    std::vector<std::size_t> asks;  // The lines of the rules that want consent.
};

struct Outstanding {
    std::size_t line = 0;
    std::vector<std::string> tools;
    friend bool operator==(const Outstanding&, const Outstanding&) = default;
};

struct Report {
    bool running = false;
    std::size_t loops_ended = 0;
    std::vector<Outstanding> outstanding;
    std::vector<std::string> start_with;
    std::vector<std::pair<std::size_t, std::int64_t>> overdue;  // Line, and by how long.
};

class Rules {
public:
    Rules(policy::ToolCatalog catalog, std::vector<policy::ToolRule> common,
          std::vector<policy::ToolRule> own, PlantedFault fault = PlantedFault::none);

    std::size_t new_session();
    // The process ends: no call that runs goes on, no session is left, and the steady clock begins
    // anew.
    void restart(Now now);
    Answer ask(const Asked& asked, Now now) const;
    // Records that an admitted call begins, and returns its index.
    std::size_t begin(const Asked& asked, Now now);
    void note_refused(const Asked& asked, Now now);
    enum class Step { none, goes_on, ended };
    Step finish(std::size_t index, bool success, Now now);
    Report report(std::size_t session, Now now) const;

    // The state that alone decides what can still happen if time does not matter; it is for a
    // search of all that can be called. `session` is the one that goes on.
    std::string state_of(std::size_t session) const;
    bool has_succeeded_in_loop(std::size_t session, const std::string& tool) const;
    bool is_exit(const std::string& tool) const;
    bool has_exits() const;

private:
    struct Call {
        std::size_t session = 0;
        std::size_t loop = 0;
        std::string tool;
        std::string conversation;
        std::int64_t start_ms = 0;
        std::int64_t end_ms = 0;
        std::int64_t wall_ms = 0;
        std::size_t boot = 0;
        bool is_over = false;
        bool was_refused = false;
        std::size_t succeeded = 0;  // Which success it was of all; 0 for none.
    };
    struct Placed {
        policy::ToolRule rule;
        int level = 0;
    };

    bool is_named(int level, policy::RuleType type, const std::string& tool) const;
    bool is_about(const Placed& placed, const std::string& tool) const;
    bool leaves_groups(const Placed& placed, const std::string& tool) const;
    bool is_start(const std::string& tool) const;
    bool within(const Call& call, policy::Per per, const Asked& asked) const;
    bool counts_as_called(const Call& call) const;
    bool counts_as_done(const Call& call) const;
    std::size_t last_success(std::size_t session, const std::string& tool) const;
    std::vector<std::string> owed(const Placed& placed, std::size_t session,
                                  const std::string& ending, bool& is_owed) const;
    std::int64_t times_called(const std::string& tool, policy::Per per, const Asked& asked) const;
    std::int64_t wait_of(const policy::ToolRule& rule, const Asked& asked, Now now) const;
    std::vector<std::string> called_beside(const Placed& placed, const Asked& asked) const;
    std::optional<Answer> refusal(const Placed& placed, const Asked& asked, Now now) const;
    std::int64_t passed_since(const Call& call, Now now) const;
    std::vector<std::string> in_order(std::vector<std::string> tools) const;

    policy::ToolCatalog catalog_;
    std::vector<Placed> rules_;  // In the order in which they are told.
    PlantedFault fault_;
    std::vector<Call> calls_;
    std::vector<std::size_t> loops_ended_;  // For each session.
    std::size_t successes_ = 0;
    std::size_t boot_ = 0;
    Now booted_;
};

}  // namespace quire::rules_model
