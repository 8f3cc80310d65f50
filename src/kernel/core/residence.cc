#include "kernel/core/residence.h"

#include <algorithm>
#include <utility>

#include "kernel/core/live_document.h"

namespace quire::kernel {

void Residence::holds(const std::shared_ptr<LiveDocument>& document, std::size_t bytes) {
    // No document may end under the lock, for its end is reported here too.
    Candidates candidates;
    std::size_t excess = 0;
    state_.with([&](State& state) {
        Entry& entry = state.entries[document->key()];
        if (entry.is_asked) state.asked -= entry.bytes;
        state.bytes += bytes - entry.bytes;
        entry = {document, bytes, false};
        const std::size_t left = state.bytes - state.asked;
        if (left <= limit_) state.look_above = limit_;
        if (left <= std::max(limit_, state.look_above)) return;
        excess = left - limit_ / 10 * 9;
        for (const auto& [key, each] : state.entries) {
            if (each.is_asked || key == document->key()) continue;
            if (auto live = each.document.lock())
                candidates.push_back({0, each.bytes, std::move(live)});
        }
    });
    if (!candidates.empty()) ask_oldest(std::move(candidates), excess);
}

void Residence::ask_oldest(Candidates candidates, std::size_t excess) {
    for (Candidate& each : candidates) each.last_used = each.document->last_used();
    std::sort(candidates.begin(), candidates.end(),
              [](const Candidate& a, const Candidate& b) { return a.last_used < b.last_used; });
    std::size_t gone = 0;
    for (Candidate& each : candidates) {
        if (gone >= excess) break;
        gone += each.bytes;
        const bool is_first = state_.with([&](State& state) {
            const auto at = state.entries.find(each.document->key());
            if (at == state.entries.end() || std::exchange(at->second.is_asked, true)) return false;
            state.asked += at->second.bytes;
            return true;
        });
        if (!is_first) continue;
        sched::Strand& strand = each.document->strand();
        strand.post([leaver = std::move(each.document)] { leaver->leave(); });
    }
}

void Residence::stays(store::DocumentKey key) {
    state_.with([&](State& state) {
        const auto at = state.entries.find(key);
        if (at == state.entries.end() || !std::exchange(at->second.is_asked, false)) return;
        state.asked -= at->second.bytes;
        state.look_above = state.bytes - state.asked + limit_ / 64;
    });
}

void Residence::left(store::DocumentKey key) {
    state_.with([&](State& state) {
        const auto at = state.entries.find(key);
        if (at == state.entries.end()) return;
        if (at->second.is_asked) state.asked -= at->second.bytes;
        state.bytes -= at->second.bytes;
        state.entries.erase(at);
    });
}

Residence::Held Residence::held() const {
    return state_.with([](const State& state) { return Held{state.entries.size(), state.bytes}; });
}

}  // namespace quire::kernel
