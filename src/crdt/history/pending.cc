#include "crdt/history/pending.h"

#include <algorithm>
#include <utility>

namespace quire::crdt {

void Pending::park(OpId missing, Parked change) {
    const auto [begin, end] = by_missing_.equal_range(missing);
    for (auto at = begin; at != end; ++at) {
        if (at->second->id == change->id) {
            if (atom_count(*at->second) < atom_count(*change)) at->second = std::move(change);
            return;
        }
    }
    by_missing_.emplace(missing, std::move(change));
}

std::vector<Pending::Parked> Pending::release(IdSpan known) {
    std::vector<Parked> out;
    const auto begin = by_missing_.lower_bound({known.peer, known.begin});
    auto end = begin;
    for (; end != by_missing_.end() && end->first < OpId{known.peer, known.end}; ++end)
        out.push_back(end->second);
    by_missing_.erase(begin, end);
    return out;
}

void Pending::drop(const Parked& change) {
    for (auto at = by_missing_.begin(); at != by_missing_.end();) {
        at = at->second == change ? by_missing_.erase(at) : std::next(at);
    }
}

std::vector<IdSpan> Pending::spans() const {
    std::vector<IdSpan> out;
    for (const auto& [missing, change] : by_missing_) {
        const Counter begin = change->id.counter;
        out.push_back({change->id.peer, begin, begin + atom_count(*change)});
    }
    std::sort(out.begin(), out.end());
    return out;
}

}  // namespace quire::crdt
