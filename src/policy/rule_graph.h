// What an agent's rules demand of each other, and whether a loop can meet it.
//
// Every demand is a plain "and": a tool that has to succeed brings others with it, so there is one
// least set of tools for each way to end, and the order in which they succeed is a graph that has
// to be free of cycles. Exact for one loop of a fresh agent; Reach says what else may have been.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/rule_set.h"

namespace quire::policy {

// Why something cannot be: the rules that are behind it, and a clause for a message.
struct Conflict {
    std::vector<std::size_t> rules;
    std::string why;
};

class RuleGraph {
public:
    // What may have happened before the loop, and so what is demanded of the loop itself.
    enum class Reach : std::uint8_t {
        fresh,    // Nothing; and all is in one conversation.
        session,  // Other sessions and conversations of the agent.
        any,      // Other loops of this session, too.
    };

    // Of agents in `profile`, or of all where that is "".
    explicit RuleGraph(const RuleSet& rules, std::string_view profile = {});

    // Why no call of the tool is ever admitted and succeeds; none where some may.
    const std::optional<Conflict>& never(std::size_t tool) const { return never_[tool]; }
    // Whether agents have nothing of the tool that they could call, though no rule forbids it.
    bool is_absent(std::size_t tool) const {
        return !absent_[tool].empty() || (rules_.is_listed(tool) && !rules_.is_callable(tool));
    }
    // Why a session can do its first loop and no other; none where it may do more.
    std::optional<Conflict> one_loop() const;
    // Cycles of "needs first", each once.
    const std::vector<Conflict>& cycles() const { return cycles_; }
    // Tools whose prerequisites exclude each other, where those of none of them do already.
    const std::vector<Conflict>& exclusions() const { return exclusions_; }
    // Why the loop cannot end by `exit` (none: by the host's will, where no tool ends it) with
    // `also` having succeeded in it; none where it can.
    std::optional<Conflict> unmet(std::optional<std::size_t> exit, std::optional<std::size_t> also,
                                  Reach reach) const;
    // The tools that end the loop, in the catalog's order.
    const std::vector<std::size_t>& exits() const { return exits_; }

private:
    struct Edge {
        std::size_t rule = 0;
        std::size_t tool = 0;
        Per per = Per::session;
    };
    struct Group {
        std::size_t rule = 0;
        Per per = Per::session;
        std::vector<std::size_t> members;
    };
    struct Limit {
        std::size_t rule = 0;
        Per per = Per::session;
    };
    // A set of tools, each with the rule and the tool that brought it.
    struct Closure;
    class Order;

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
    std::vector<std::size_t> exit_rule_;     // By tool, of those that end the loop.
    std::vector<Edge> required_;             // Before each end.
    std::vector<Edge> starts_;               // In the order of the rules.
    std::vector<std::vector<Edge>> before_;  // By tool: what has to succeed before it.
    std::vector<std::vector<Edge>> after_;   // … after it, in the loop.
    std::vector<std::vector<Edge>> then_;    // … in the loop, if it did.
    std::vector<Group> groups_;
    std::vector<std::string> absent_;                    // Why agents have no such tool.
    std::vector<std::optional<std::size_t>> forbidden_;  // By which rule.
    std::vector<std::vector<Limit>> once_;               // Rules of one call.
    std::vector<bool> callable_;
    std::vector<std::optional<Conflict>> never_;
    std::vector<Conflict> cycles_;
    std::vector<Conflict> exclusions_;
};

}  // namespace quire::policy
