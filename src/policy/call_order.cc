#include "policy/call_order.h"

#include <algorithm>

namespace quire::policy {

// A depth-first search with its own stack. A node is unseen (0), on the path (1) or finished (2);
// an arrow to a node on the path closes a cycle.
std::vector<CallOrder::Arrow> CallOrder::cycle() const {
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

// The arrows of the path from its node `to` to its end.
std::vector<CallOrder::Arrow> CallOrder::around(
    const std::vector<std::pair<std::size_t, std::size_t>>& path, std::size_t to) const {
    std::vector<Arrow> out;
    auto at = std::ranges::find_if(path, [&](const auto& step) { return step.first == to; });
    for (; at != path.end(); ++at) out.push_back(arrows_[at->first][at->second - 1]);
    return out;
}

}  // namespace quire::policy
