#include "policy/rule_graph.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/concat.h"

namespace quire::policy {
namespace {

// The rule of what is asked for and comes from none.
constexpr std::size_t kNoRule = static_cast<std::size_t>(-1);

void add_once(std::vector<std::size_t>& to, std::size_t rule) {
    if (std::find(to.begin(), to.end(), rule) == to.end()) to.push_back(rule);
}

}  // namespace

struct RuleGraph::Closure {
    explicit Closure(std::size_t tools) : by_rule(tools), by_tool(tools), in(tools) {}
    std::vector<std::size_t> order;  // As they were brought.
    std::vector<std::optional<std::size_t>> by_rule;
    std::vector<std::optional<std::size_t>> by_tool;
    std::vector<bool> in;
    bool any_but_starts = false;
};

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

// --- what can never be called ---

// Both members must have been called before the tool, within what the group counts over.
void RuleGraph::find_exclusions() {
    std::vector<std::optional<Conflict>> found(tools_);
    std::vector<std::vector<std::size_t>> needs(tools_);
    for (const Per per : kPers) {
        const bool any_group = std::any_of(groups_.begin(), groups_.end(),
                                           [&](const Group& group) { return group.per == per; });
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
                              " before it, and they exclude each other")
                        : cat(quoted(tool), " needs both ", quoted(both[0]), " and ",
                              quoted(both[1]), " before it, and they exclude each other");
            }
            needs[tool].insert(needs[tool].end(), closure.order.begin(), closure.order.end());
        }
    }
    for (std::size_t tool = 0; tool < tools_; ++tool) {
        if (!found[tool]) continue;
        never_[tool] = found[tool];
        const bool inherited =
            std::any_of(needs[tool].begin(), needs[tool].end(),
                        [&](std::size_t each) { return each != tool && found[each]; });
        if (!inherited) exclusions_.push_back(*found[tool]);
    }
}

// What may succeed first, then what may once that has, and so on: what is left never can, whatever
// happened before.
void RuleGraph::find_callable() {
    const auto ready = [&](std::size_t tool) {
        if (!absent_[tool].empty() || forbidden_[tool] || never_[tool]) return false;
        const auto is_callable = [&](const Edge& edge) { return callable_[edge.tool]; };
        return std::all_of(before_[tool].begin(), before_[tool].end(), is_callable) &&
               (rules_.starts_loop(tool) ||
                std::all_of(starts_.begin(), starts_.end(), is_callable));
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

void RuleGraph::find_cycles() {
    // From each tool that waits for another, on to the first that it waits for, until one is met
    // again.
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
                auto at = std::find_if(path.begin(), path.end(),
                                       [&](const Step& each) { return each.tool == edge.tool; });
                std::string names;
                for (; at != path.end(); ++at) {
                    add_once(cycle.rules, at->edges[at->next - 1].rule);
                    cat_to(names, cat(quoted(at->tool), " waits for "));
                }
                cycle.why = cat(names, quoted(edge.tool));
                // One that shares a tool with a cycle that was told adds nothing.
                const bool is_told = std::any_of(path.begin(), path.end(), [&](const Step& each) {
                    return never_[each.tool].has_value();
                });
                for (const Step& each : path) never_[each.tool] = cycle;
                if (!is_told) cycles_.push_back(std::move(cycle));
            }
        }
    }
}

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
                    ? cat("what is left of ", quoted(tool), " this version does not have yet")
                    : cat("no operation of ", quoted(tool), " is left");
        }
        never_[tool] = std::move(conflict);
    }
    // The others wait for one of these, directly or not.
    for (bool more = true; more;) {
        more = false;
        for (std::size_t tool = 0; tool < tools_; ++tool) {
            if (callable_[tool] || never_[tool]) continue;
            std::vector<Edge> edges = before_[tool];
            if (!rules_.starts_loop(tool))
                edges.insert(edges.end(), starts_.begin(), starts_.end());
            const auto known = std::find_if(edges.begin(), edges.end(), [&](const Edge& edge) {
                return never_[edge.tool].has_value();
            });
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

// --- what a loop has to do ---

// Whether what has to come first has to succeed in this very loop.
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

// Whether a count cannot be got round by going on in another conversation.
bool RuleGraph::binds(Per per, Reach reach) const {
    return reach == Reach::fresh || per != Per::conversation;
}

void RuleGraph::bring(Closure& closure, std::size_t tool, std::optional<std::size_t> rule,
                      std::optional<std::size_t> by) const {
    if (closure.in[tool]) return;
    closure.in[tool] = true;
    closure.by_rule[tool] = rule;
    closure.by_tool[tool] = by;
    closure.order.push_back(tool);
}

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

// The rules that brought these tools.
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
                      " have to succeed, and they exclude each other");
        return out;
    }
    return std::nullopt;
}

// When the first and the last call of each tool succeeds: one that may be called once has both at
// once. Nothing may come after itself.
class RuleGraph::Order {
public:
    struct Arrow {
        std::size_t to;
        std::optional<std::size_t> rule;
        std::size_t from_tool;
    };
    explicit Order(std::size_t tools)
        : arrows_(2 * tools + 1), merged_(tools), started_(2 * tools) {}

    void merge(std::size_t tool, std::optional<std::size_t> rule) {
        merged_[tool] = true;
        if (rule) limits_.emplace_back(tool, *rule);
    }
    std::size_t first(std::size_t tool) const { return 2 * tool; }
    std::size_t last(std::size_t tool) const { return merged_[tool] ? 2 * tool : 2 * tool + 1; }
    std::size_t started() const { return started_; }
    void put(std::size_t from, std::size_t to, std::optional<std::size_t> rule) {
        arrows_[from].push_back({to, rule, from / 2});
    }
    // The arrows of a cycle; empty where there is none.
    std::vector<Arrow> cycle() const {
        std::vector<int> marks(arrows_.size(), 0);
        for (std::size_t from = 0; from < arrows_.size(); ++from) {
            if (marks[from] != 0) continue;
            std::vector<std::pair<std::size_t, std::size_t>> path = {{from, 0}};
            marks[from] = 1;
            while (!path.empty()) {
                auto& [node, next] = path.back();
                if (next == arrows_[node].size()) {
                    marks[node] = 2;
                    path.pop_back();
                    continue;
                }
                const std::size_t to = arrows_[node][next++].to;
                if (marks[to] == 1) return around(path, to);
                if (marks[to] == 0) {
                    marks[to] = 1;
                    path.emplace_back(to, 0);
                }
            }
        }
        return {};
    }
    // The rules because of which a tool may be called once.
    std::optional<std::size_t> limit_of(std::size_t tool) const {
        for (const auto& [limited, rule] : limits_) {
            if (limited == tool) return rule;
        }
        return std::nullopt;
    }

private:
    std::vector<Arrow> around(const std::vector<std::pair<std::size_t, std::size_t>>& path,
                              std::size_t to) const {
        std::vector<Arrow> out;
        auto at = std::find_if(path.begin(), path.end(),
                               [&](const auto& step) { return step.first == to; });
        for (; at != path.end(); ++at) out.push_back(arrows_[at->first][at->second - 1]);
        return out;
    }

    std::vector<std::vector<Arrow>> arrows_;
    std::vector<bool> merged_;
    std::vector<std::pair<std::size_t, std::size_t>> limits_;
    std::size_t started_;
};

std::optional<Conflict> RuleGraph::out_of_order(const Closure& closure,
                                                std::optional<std::size_t> exit,
                                                Reach reach) const {
    Order order(tools_);
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
    const std::vector<Order::Arrow> cycle = order.cycle();
    if (cycle.empty()) return std::nullopt;
    std::vector<std::size_t> tools;
    for (const Order::Arrow& arrow : cycle) {
        if (arrow.from_tool < tools_) add_once(tools, arrow.from_tool);
    }
    Conflict out = behind(closure, tools);
    std::string names;
    for (const std::size_t tool : tools) {
        cat_to(names, cat(names.empty() ? "" : ", ", quoted(tool)));
        if (const auto limit = order.limit_of(tool)) add_once(out.rules, *limit);
    }
    for (const Order::Arrow& arrow : cycle) {
        if (arrow.rule) add_once(out.rules, *arrow.rule);
    }
    out.why = cat("there is no order in which ", names, " can succeed");
    return out;
}

std::vector<RuleGraph::Edge> RuleGraph::needed_for(std::optional<std::size_t> exit,
                                                   std::optional<std::size_t> also) const {
    std::vector<Edge> out = required_;
    if (also) out.push_back({kNoRule, *also});
    if (exit) out.push_back({exit_rule_[*exit], *exit});
    return out;
}

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
            out.why = cat(quoted(tool), " has to succeed in each, and may be called once");
            return out;
        }
    }
    return std::nullopt;
}

std::optional<Conflict> RuleGraph::unmet(std::optional<std::size_t> exit,
                                         std::optional<std::size_t> also, Reach reach) const {
    const Closure closure = closure_of(needed_for(exit, also), reach);
    for (const std::size_t tool : closure.order) {
        if (never_[tool]) {
            Conflict out = behind(closure, {tool});
            for (const std::size_t rule : never_[tool]->rules) add_once(out.rules, rule);
            out.why = cat(quoted(tool), " has to succeed, and never can: ", never_[tool]->why);
            return out;
        }
        if (rules_.ends_loop(tool) && exit != tool) {
            Conflict out = behind(closure, {tool});
            add_once(out.rules, exit_rule_[tool]);
            out.why = cat(quoted(tool), " has to succeed before the end, and ends the work itself");
            return out;
        }
    }
    if (auto conflict = excluded(closure, reach)) return conflict;
    return out_of_order(closure, exit, reach);
}

}  // namespace quire::policy
