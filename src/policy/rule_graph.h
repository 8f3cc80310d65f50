// The demands that an agent's rules make on each other, and whether a loop can meet them.
//
// Every demand is a plain "and": a tool that has to succeed brings others with it. So each way to
// end a loop has one smallest set of tools, and the order in which they succeed is a graph that
// must be free of cycles. Exact for one loop of a fresh agent; Reach says what else may have
// happened before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/rule_set.h"

namespace quire::policy {

// The reason why something is impossible: the rules behind it, and a clause for a message.
struct Conflict {
    std::vector<std::size_t> rules;
    std::string why;
};

// Built once from compiled rules; each question is a walk over the graph.
class RuleGraph {
public:
    // The past that is assumed before the loop. It decides which demands the loop itself must meet.
    enum class Reach : std::uint8_t {
        fresh,    // Nothing happened before, and all calls are in one conversation.
        session,  // Other sessions and conversations of the agent came before.
        any,      // Other loops of this session came before as well.
    };

    // For agents in `profile`, or for all agents if that is "".
    // The rules must outlive the graph. A profile leaves tools out that agents in it lack.
    explicit RuleGraph(const RuleSet& rules, std::string_view profile = {});

    // The reason why no call of the tool can ever be admitted and succeed; nothing if one can.
    const std::optional<Conflict>& never(std::size_t tool) const { return never_[tool]; }
    // Returns true if agents lack the tool, or all of its operations, although no rule forbids it.
    bool is_absent(std::size_t tool) const {
        return !absent_[tool].empty() || (rules_.is_listed(tool) && !rules_.is_callable(tool));
    }
    // The reason why a session can do only its first loop; nothing if it can do more.
    std::optional<Conflict> one_loop() const;
    // The cycles of tools that wait for each other, each once.
    const std::vector<Conflict>& cycles() const { return cycles_; }
    // Tools whose prerequisites exclude each other. A tool that only inherits this is left out.
    const std::vector<Conflict>& exclusions() const { return exclusions_; }
    // The reason why the loop cannot end by `exit` (absent: the host ends it, if no tool does)
    // after `also` has succeeded in it; nothing if it can.
    std::optional<Conflict> unmet(std::optional<std::size_t> exit, std::optional<std::size_t> also,
                                  Reach reach) const;
    // The tools that end the loop, in the catalog's order.
    const std::vector<std::size_t>& exits() const { return exits_; }

private:
    // `tool` must succeed, because of `rule`; the period says which calls count.
    struct Edge {
        std::size_t rule = 0;
        std::size_t tool = 0;
        Per per = Per::session;
    };
    // Tools of which at most one may be called in the period.
    struct Group {
        std::size_t rule = 0;
        Per per = Per::session;
        std::vector<std::size_t> members;
    };
    // A rule by which one call uses the tool up in the period.
    struct Limit {
        std::size_t rule = 0;
        Per per = Per::session;
    };
    // A set of tools, each with the rule and the tool that brought it in.
    struct Closure;

    void collect();
    void find_exclusions();
    void find_callable();
    void find_cycles();
    void explain_never();
    std::vector<Edge> needed_for(std::optional<std::size_t> exit,
                                 std::optional<std::size_t> also) const;
    bool counts(Per edge, Reach reach) const;
    bool binds(Per per, Reach reach) const;
    void bring(Closure& closure, std::size_t tool, std::optional<std::size_t> rule,
               std::optional<std::size_t> by) const;
    Closure closure_of(std::vector<Edge> seeds, Reach reach) const;
    std::optional<Conflict> excluded(const Closure& closure, Reach reach) const;
    std::optional<Conflict> out_of_order(const Closure& closure, std::optional<std::size_t> exit,
                                         Reach reach) const;
    Conflict behind(const Closure& closure, std::vector<std::size_t> tools) const;
    std::string quoted(std::size_t tool) const;

    const RuleSet& rules_;
    std::size_t tools_;
    std::vector<std::size_t> exits_;
    std::vector<std::size_t> exit_rule_;     // Indexed by tool; set for tools that end the loop.
    std::vector<Edge> required_;             // Must succeed before every end.
    std::vector<Edge> starts_;               // In rule order.
    std::vector<std::vector<Edge>> before_;  // Indexed by tool: must succeed before it.
    std::vector<std::vector<Edge>> after_;   // Indexed by tool: must succeed after it, in the loop.
    std::vector<std::vector<Edge>> then_;    // Indexed by tool: must succeed in the loop if it did.
    std::vector<Group> groups_;
    std::vector<std::string> absent_;                    // The reason why agents lack the tool.
    std::vector<std::optional<std::size_t>> forbidden_;  // The rule that forbids it.
    std::vector<std::vector<Limit>> once_;               // The rules that allow one call.
    std::vector<bool> callable_;
    std::vector<std::optional<Conflict>> never_;
    std::vector<Conflict> cycles_;
    std::vector<Conflict> exclusions_;
};

}  // namespace quire::policy
