// The rules form a graph over the tools, with three kinds of edges: `before_` (must have succeeded
// earlier), `after_` (must succeed later in the loop), `then_` (must succeed in the loop at any
// point).
//
// requires_preceding_tools(save, [view])   view --before--> save
// requires_following_tools(save, [test])   save --after---> test
// required_before_exit_if(log, [save])     save --then----> log
//
// Two questions are answered. What can never be called at all? That is a fixed point: start with
// nothing callable, and add every tool whose prerequisites are callable until nothing changes; what
// is left waits for itself (a cycle) or for something impossible. Can a loop end by a given exit?
// Take the closure of what that exit needs under all edges, then look in it for tools that can
// never be called, for tools that exclude each other, and for an order (call_order.h). Demands
// never contain an "or", so the closure is the smallest possible set, and if it fails every larger
// one fails too.
//
// Cost: O(tools × (tools + edges)) for the first, O(tools + edges) per exit for the second.

#include "policy/rule_graph.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/concat.h"
#include "policy/call_order.h"

namespace quire::policy {
namespace {

// Marks a tool that the question itself asks for; no rule brought it.
constexpr std::size_t kNoRule = static_cast<std::size_t>(-1);

void add_once(std::vector<std::size_t>& to, std::size_t rule) {
    if (std::ranges::find(to, rule) == to.end()) to.push_back(rule);
}

}  // namespace

// Each tool remembers what brought it in, so that a conflict can name its rules.
struct RuleGraph::Closure {
    explicit Closure(std::size_t tools) : by_rule(tools), by_tool(tools), in(tools) {}
    std::vector<std::size_t> order;  // The order in which they came in.
    std::vector<std::optional<std::size_t>> by_rule;
    std::vector<std::optional<std::size_t>> by_tool;
    std::vector<bool> in;
    bool any_but_starts = false;
};

// The order matters: each step uses what the former ones found.
RuleGraph::RuleGraph(const RuleSet& rules, std::string_view profile)
    : rules_(rules),
      tools_(rules.catalog().size()),
      exit_rule_(tools_),
      before_(tools_),
      after_(tools_),
      then_(tools_),
      forbidden_(tools_),
      once_(tools_),
      callable_(tools_),
      never_(tools_) {
    for (const KnownTool& tool : rules_.catalog().tools())
        absent_.push_back(why_absent(tool, profile));
    collect();
    find_exclusions();
    find_callable();
    find_cycles();
    explain_never();
}

std::string RuleGraph::quoted(std::size_t tool) const {
    return cat("`", rules_.catalog().tools()[tool].name, "`");
}

// Sorts every rule into the edges and limits that it stands for.
void RuleGraph::collect() {
    for (std::size_t tool = 0; tool < tools_; ++tool) {
        if (rules_.ends_loop(tool)) exits_.push_back(tool);
    }
    for (std::size_t i = 0; i < rules_.rules().size(); ++i) {
        const ToolRule& rule = rules_.rule(i);
        if (rule.type == RuleType::exclusive_groups) {
            for (std::size_t group = 0; group < rule.groups.size(); ++group)
                groups_.push_back({i, rule.per, rules_.group_members(i, group)});
            continue;
        }
        const std::vector<std::size_t> listed = rules_.listed_tools(i);
        for (std::size_t tool = 0; tool < tools_; ++tool) {
            if (!rules_.applies(i, tool)) continue;
            switch (rule.type) {
                case RuleType::allowed_operations:
                    if (!rules_.is_callable(tool)) forbidden_[tool] = i;
                    break;
                case RuleType::max_calls:
                    if (rule.number == 0) forbidden_[tool] = i;
                    if (rule.number == 1) once_[tool].push_back({i, rule.per});
                    break;
                case RuleType::requires_preceding_tools:
                    for (const std::size_t each : listed)
                        before_[tool].push_back({i, each, rule.per});
                    break;
                case RuleType::requires_following_tools:
                    for (const std::size_t each : listed) after_[tool].push_back({i, each});
                    break;
                case RuleType::required_before_exit_if:
                    for (const std::size_t each : listed) then_[each].push_back({i, tool});
                    break;
                case RuleType::start_constraint:
                    starts_.push_back({i, tool});
                    break;
                case RuleType::required_before_exit:
                    required_.push_back({i, tool});
                    break;
                case RuleType::exit_loop:
                    exit_rule_[tool] = i;
                    break;
                case RuleType::cooldown:
                case RuleType::exclusive_groups:
                case RuleType::continue_loop:
                case RuleType::periodic:
                case RuleType::requires_consent:
                case RuleType::needed:
                    break;
            }
        }
    }
}

// Finds tools that need two members of one group before them, counted over the group's period.
void RuleGraph::find_exclusions() {
    std::vector<std::optional<Conflict>> found(tools_);
    std::vector<std::vector<std::size_t>> needs(tools_);
    for (const Per per : kEvery<Per>) {
        const bool any_group =
            std::ranges::any_of(groups_, [&](const Group& group) { return group.per == per; });
        for (std::size_t tool = 0; any_group && tool < tools_; ++tool) {
            Closure closure(tools_);
            bring(closure, tool, std::nullopt, std::nullopt);
            for (std::size_t at = 0; at < closure.order.size(); ++at) {
                const std::size_t each = closure.order[at];
                for (const Edge& edge : before_[each]) {
                    if (per == Per::persistent || edge.per == per)
                        bring(closure, edge.tool, edge.rule, each);
                }
            }
            for (const Group& group : groups_) {
                if (group.per != per || found[tool]) continue;
                std::vector<std::size_t> both;
                for (const std::size_t each : group.members) {
                    if (closure.in[each] && both.size() < 2) both.push_back(each);
                }
                if (both.size() < 2) continue;
                found[tool] = behind(closure, both);
                add_once(found[tool]->rules, group.rule);
                const bool with_itself = both[0] == tool || both[1] == tool;
                found[tool]->why =
                    with_itself
                        ? cat(quoted(tool), " needs ", quoted(both[both[0] == tool ? 1 : 0]),
                              " before it, but they exclude each other")
                        : cat(quoted(tool), " needs both ", quoted(both[0]), " and ",
                              quoted(both[1]), " before it, but they exclude each other");
            }
            needs[tool].insert(needs[tool].end(), closure.order.begin(), closure.order.end());
        }
    }
    for (std::size_t tool = 0; tool < tools_; ++tool) {
        if (!found[tool]) continue;
        never_[tool] = found[tool];
        const bool inherited = std::ranges::any_of(
            needs[tool], [&](std::size_t each) { return each != tool && found[each]; });
        if (!inherited) exclusions_.push_back(*found[tool]);
    }
}

// Finds the callable tools as a fixed point. A tool that is left out can never be called, whatever
// happened before.
void RuleGraph::find_callable() {
    const auto ready = [&](std::size_t tool) {
        if (!absent_[tool].empty() || forbidden_[tool] || never_[tool]) return false;
        const auto is_callable = [&](const Edge& edge) { return callable_[edge.tool]; };
        return std::ranges::all_of(before_[tool], is_callable) &&
               (rules_.starts_loop(tool) || std::ranges::all_of(starts_, is_callable));
    };
    for (bool more = true; more;) {
        more = false;
        for (std::size_t tool = 0; tool < tools_; ++tool) {
            if (callable_[tool] || !ready(tool)) continue;
            callable_[tool] = true;
            more = true;
        }
    }
}

// Looks for cycles among the tools that wait for each other; the callable ones are done with.
void RuleGraph::find_cycles() {
    // Depth-first search over the tools that wait for each other. Meeting an open tool closes a
    // cycle.
    enum class Mark : std::uint8_t { fresh, open, done };
    std::vector<Mark> marks(tools_, Mark::fresh);
    const auto waits = [&](std::size_t tool) {
        return !callable_[tool] && absent_[tool].empty() && !forbidden_[tool] && !never_[tool];
    };
    const auto edges_of = [&](std::size_t tool) {
        std::vector<Edge> out = before_[tool];
        if (!rules_.starts_loop(tool)) out.insert(out.end(), starts_.begin(), starts_.end());
        std::erase_if(out, [&](const Edge& edge) { return !waits(edge.tool); });
        return out;
    };
    struct Step {
        std::size_t tool;
        std::vector<Edge> edges;
        std::size_t next = 0;
    };
    for (std::size_t from = 0; from < tools_; ++from) {
        if (!waits(from) || marks[from] != Mark::fresh) continue;
        std::vector<Step> path = {{from, edges_of(from)}};
        marks[from] = Mark::open;
        while (!path.empty()) {
            Step& step = path.back();
            if (step.next == step.edges.size()) {
                marks[step.tool] = Mark::done;
                path.pop_back();
                continue;
            }
            const Edge edge = step.edges[step.next++];
            if (marks[edge.tool] == Mark::fresh) {
                marks[edge.tool] = Mark::open;
                path.push_back({edge.tool, edges_of(edge.tool)});
            } else if (marks[edge.tool] == Mark::open) {
                Conflict cycle;
                auto at = std::ranges::find(path, edge.tool, &Step::tool);
                std::string names;
                for (; at != path.end(); ++at) {
                    add_once(cycle.rules, at->edges[at->next - 1].rule);
                    cat_to(names, cat(quoted(at->tool), " waits for "));
                }
                cycle.why = cat(names, quoted(edge.tool));
                // A cycle that shares a tool with a reported one adds nothing.
                const bool is_reported = std::ranges::any_of(
                    path, [&](const Step& each) { return never_[each.tool].has_value(); });
                for (const Step& each : path) never_[each.tool] = cycle;
                if (!is_reported) cycles_.push_back(std::move(cycle));
            }
        }
    }
}

// Gives each tool that can never be called its reason, starting from the ones that are forbidden
// outright and following the waiting ones from there.
void RuleGraph::explain_never() {
    for (std::size_t tool = 0; tool < tools_; ++tool) {
        if (!absent_[tool].empty()) {
            never_[tool] = Conflict{{}, absent_[tool]};
            continue;
        }
        if (!forbidden_[tool]) continue;
        const ToolRule& rule = rules_.rule(*forbidden_[tool]);
        Conflict conflict{{*forbidden_[tool]}, cat(quoted(tool), " may not be called")};
        if (rule.type == RuleType::allowed_operations) {
            conflict.rules.clear();
            for (const RuleCheck& check : rules_.checks(tool)) {
                if (check.kind == RuleCheck::Kind::operation) add_once(conflict.rules, check.rule);
            }
            conflict.why =
                rules_.is_listed(tool)
                    ? cat("this version does not have the remaining operations of ", quoted(tool))
                    : cat("no operation of ", quoted(tool), " is left");
        }
        never_[tool] = std::move(conflict);
    }
    // All remaining tools wait for one of these, directly or not.
    for (bool more = true; more;) {
        more = false;
        for (std::size_t tool = 0; tool < tools_; ++tool) {
            if (callable_[tool] || never_[tool]) continue;
            std::vector<Edge> edges = before_[tool];
            if (!rules_.starts_loop(tool))
                edges.insert(edges.end(), starts_.begin(), starts_.end());
            const auto known = std::ranges::find_if(
                edges, [&](const Edge& edge) { return never_[edge.tool].has_value(); });
            if (known == edges.end()) continue;
            Conflict conflict = *never_[known->tool];
            conflict.rules.insert(conflict.rules.begin(), known->rule);
            conflict.why =
                cat(quoted(tool), " waits for ", quoted(known->tool), "; ", conflict.why);
            never_[tool] = std::move(conflict);
            more = true;
        }
    }
}

// True if a prerequisite of that period has to succeed in this very loop.
bool RuleGraph::counts(Per edge, Reach reach) const {
    switch (reach) {
        case Reach::fresh:
            return true;
        case Reach::session:
            return edge == Per::session;
        case Reach::any:
            return false;
    }
    return false;
}

// True if a count cannot be evaded by going on in another conversation.
bool RuleGraph::binds(Per per, Reach reach) const {
    return reach == Reach::fresh || per != Per::conversation;
}

// Adds the tool to the closure unless it is there already.
void RuleGraph::bring(Closure& closure, std::size_t tool, std::optional<std::size_t> rule,
                      std::optional<std::size_t> by) const {
    if (closure.in[tool]) return;
    closure.in[tool] = true;
    closure.by_rule[tool] = rule;
    closure.by_tool[tool] = by;
    closure.order.push_back(tool);
}

// Breadth-first closure of `seeds` under all edges that count within `reach`.
RuleGraph::Closure RuleGraph::closure_of(std::vector<Edge> seeds, Reach reach) const {
    Closure closure(tools_);
    for (const Edge& seed : seeds) {
        bring(closure, seed.tool,
              seed.rule == kNoRule ? std::nullopt : std::optional<std::size_t>(seed.rule),
              std::nullopt);
    }
    for (std::size_t at = 0; at < closure.order.size(); ++at) {
        const std::size_t tool = closure.order[at];
        if (!rules_.starts_loop(tool) && !closure.any_but_starts) {
            closure.any_but_starts = true;
            for (const Edge& edge : starts_) bring(closure, edge.tool, edge.rule, tool);
        }
        for (const Edge& edge : before_[tool]) {
            if (counts(edge.per, reach)) bring(closure, edge.tool, edge.rule, tool);
        }
        for (const Edge& edge : after_[tool]) bring(closure, edge.tool, edge.rule, tool);
        for (const Edge& edge : then_[tool]) bring(closure, edge.tool, edge.rule, tool);
    }
    return closure;
}

// The rules that brought these tools into the closure, followed back to the seeds.
Conflict RuleGraph::behind(const Closure& closure, std::vector<std::size_t> tools) const {
    Conflict out;
    for (const std::size_t each : tools) {
        std::optional<std::size_t> at = each;
        while (at) {
            if (closure.by_rule[*at]) add_once(out.rules, *closure.by_rule[*at]);
            at = closure.by_tool[*at];
        }
    }
    return out;
}

// Looks for two tools of the closure that a group excludes.
std::optional<Conflict> RuleGraph::excluded(const Closure& closure, Reach reach) const {
    for (const Group& group : groups_) {
        if (!binds(group.per, reach)) continue;
        std::vector<std::size_t> both;
        for (const std::size_t each : group.members) {
            if (closure.in[each] && both.size() < 2) both.push_back(each);
        }
        if (both.size() < 2) continue;
        Conflict out = behind(closure, both);
        add_once(out.rules, group.rule);
        out.why = cat("both ", quoted(both[0]), " and ", quoted(both[1]),
                      " must succeed, but they exclude each other");
        return out;
    }
    return std::nullopt;
}

// Builds the order of first and last calls that the closure demands, and looks for a cycle in it.
std::optional<Conflict> RuleGraph::out_of_order(const Closure& closure,
                                                std::optional<std::size_t> exit,
                                                Reach reach) const {
    CallOrder order(tools_);
    for (const std::size_t tool : closure.order) {
        for (const Limit& limit : once_[tool]) {
            if (binds(limit.per, reach)) order.merge(tool, limit.rule);
        }
        if (exit == tool) order.merge(tool, std::nullopt);
    }
    for (const std::size_t tool : closure.order) {
        if (order.first(tool) != order.last(tool))
            order.put(order.first(tool), order.last(tool), std::nullopt);
        if (exit && *exit != tool)
            order.put(order.last(tool), order.first(*exit), exit_rule_[*exit]);
        if (!rules_.starts_loop(tool)) order.put(order.started(), order.first(tool), std::nullopt);
        for (const Edge& edge : before_[tool]) {
            if (counts(edge.per, reach))
                order.put(order.first(edge.tool), order.first(tool), edge.rule);
        }
        for (const Edge& edge : after_[tool])
            order.put(order.last(tool), order.last(edge.tool), edge.rule);
    }
    for (const Edge& edge : starts_) {
        if (closure.any_but_starts) order.put(order.first(edge.tool), order.started(), edge.rule);
    }
    const std::vector<CallOrder::Arrow> cycle = order.cycle();
    if (cycle.empty()) return std::nullopt;
    std::vector<std::size_t> tools;
    for (const CallOrder::Arrow& arrow : cycle) {
        if (arrow.from_tool < tools_) add_once(tools, arrow.from_tool);
    }
    Conflict out = behind(closure, tools);
    std::string names;
    for (const std::size_t tool : tools) {
        cat_to(names, cat(names.empty() ? "" : ", ", quoted(tool)));
        if (const auto limit = order.limit_of(tool)) add_once(out.rules, *limit);
    }
    for (const CallOrder::Arrow& arrow : cycle) {
        if (arrow.rule) add_once(out.rules, *arrow.rule);
    }
    out.why = cat("there is no order in which ", names, " can succeed");
    return out;
}

// The seeds of a closure: what every end requires, the exit itself, and `also`.
std::vector<RuleGraph::Edge> RuleGraph::needed_for(std::optional<std::size_t> exit,
                                                   std::optional<std::size_t> also) const {
    std::vector<Edge> out = required_;
    if (also) out.push_back({kNoRule, *also});
    if (exit) out.push_back({exit_rule_[*exit], *exit});
    return out;
}

// Every exit needs a tool that may be called only once: then the second loop cannot end.
std::optional<Conflict> RuleGraph::one_loop() const {
    std::optional<Closure> first;
    std::vector<bool> in_each(tools_, true);
    for (const std::size_t exit : exits_) {
        if (unmet(exit, std::nullopt, Reach::any)) continue;
        Closure closure = closure_of(needed_for(exit, std::nullopt), Reach::any);
        for (std::size_t tool = 0; tool < tools_; ++tool)
            in_each[tool] = in_each[tool] && closure.in[tool];
        if (!first) first = std::move(closure);
    }
    for (std::size_t tool = 0; first && tool < tools_; ++tool) {
        if (!in_each[tool]) continue;
        for (const Limit& limit : once_[tool]) {
            if (limit.per == Per::conversation) continue;
            Conflict out = behind(*first, {tool});
            add_once(out.rules, limit.rule);
            out.why = cat(quoted(tool), " must succeed in every loop but may be called only once");
            return out;
        }
    }
    return std::nullopt;
}

// Three reasons why an end is impossible, from the most to the least specific.
std::optional<Conflict> RuleGraph::unmet(std::optional<std::size_t> exit,
                                         std::optional<std::size_t> also, Reach reach) const {
    const Closure closure = closure_of(needed_for(exit, also), reach);
    for (const std::size_t tool : closure.order) {
        if (never_[tool]) {
            Conflict out = behind(closure, {tool});
            for (const std::size_t rule : never_[tool]->rules) add_once(out.rules, rule);
            out.why = cat(quoted(tool), " must succeed but never can: ", never_[tool]->why);
            return out;
        }
        if (rules_.ends_loop(tool) && exit != tool) {
            Conflict out = behind(closure, {tool});
            add_once(out.rules, exit_rule_[tool]);
            out.why =
                cat(quoted(tool), " must succeed before the end, but it ends the work itself");
            return out;
        }
    }
    if (auto conflict = excluded(closure, reach)) return conflict;
    return out_of_order(closure, exit, reach);
}

}  // namespace quire::policy
