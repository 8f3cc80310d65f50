// Changes are sorted by the atom that they wait for, so that the arrival of a peer's atoms releases
// a stretch of the map. A change that lacks several is parked under one and looked at again when
// that one is there.
#include "crdt/history/pending.h"

#include <algorithm>
#include <utility>

namespace quire::crdt {

// A change may come twice, cut differently; the longer one holds all of the other.
void Pending::park(Parked parked) {
    const auto [at, is_new] =
        by_missing_.try_emplace({parked.missing, parked.change->id}, parked.change);
    if (!is_new && atom_count(*at->second) < atom_count(*parked.change))
        at->second = std::move(parked.change);
}

std::vector<Pending::Parked> Pending::release(IdSpan known) {
    std::vector<Parked> out;
    const OpId first{known.peer, known.begin};
    const auto begin = by_missing_.lower_bound({first, OpId{}});
    auto end = begin;
    for (; end != by_missing_.end() && end->first.first < OpId{known.peer, known.end}; ++end)
        out.push_back({end->first.first, end->second});
    by_missing_.erase(begin, end);
    return out;
}

void Pending::drop(const Parked& parked) {
    by_missing_.erase({parked.missing, parked.change->id});
}

std::vector<std::shared_ptr<const Change>> Pending::changes() const {
    std::vector<std::shared_ptr<const Change>> out;
    for (const auto& [missing, change] : by_missing_) out.push_back(change);
    return out;
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
