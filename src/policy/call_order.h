// CallOrder: decides if tools can succeed in an order that meets all demands.
//
// Each tool has two nodes, its first and its last success in a loop; a tool that may be called only
// once has one node for both. An arrow from a to b says that a comes strictly before b. The demands
// can be met exactly if there is no cycle. One more node stands for the moment from which tools
// other than those of start_constraint may be called.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace quire::policy {

// The order that is demanded of some tools, as arrows between their calls.
class CallOrder {
public:
    // An arrow of a node, with the rule that demands it.
    struct Arrow {
        std::size_t to;
        std::optional<std::size_t> rule;
        std::size_t from_tool;
    };
    explicit CallOrder(std::size_t tools)
        : arrows_(2 * tools + 1), merged_(tools), started_(2 * tools) {}

    // Makes the first and the last success of the tool one, because of `rule` if there is one.
    void merge(std::size_t tool, std::optional<std::size_t> rule) {
        merged_[tool] = true;
        if (rule) limits_.emplace_back(tool, *rule);
    }

    // Nodes, for put(). Call merge() for a tool before its last(), which depends on it.
    std::size_t first(std::size_t tool) const { return 2 * tool; }
    std::size_t last(std::size_t tool) const { return merged_[tool] ? 2 * tool : 2 * tool + 1; }
    std::size_t started() const { return started_; }
    // Demands that `from` comes before `to`, because of `rule`.
    void put(std::size_t from, std::size_t to, std::optional<std::size_t> rule) {
        arrows_[from].push_back({to, rule, from / 2});
    }
    // The arrows of a cycle; empty if there is none. O(nodes + arrows).
    std::vector<Arrow> cycle() const;
    // The rule that allows only one call of the tool.
    std::optional<std::size_t> limit_of(std::size_t tool) const {
        for (const auto& [limited, rule] : limits_) {
            if (limited == tool) return rule;
        }
        return std::nullopt;
    }

private:
    std::vector<Arrow> around(const std::vector<std::pair<std::size_t, std::size_t>>& path,
                              std::size_t to) const;

    // Indexed by node: two of each tool, and at the end started().
    std::vector<std::vector<Arrow>> arrows_;
    std::vector<bool> merged_;
    std::vector<std::pair<std::size_t, std::size_t>> limits_;
    std::size_t started_;
};

}  // namespace quire::policy
