// A report costs O(1) below the limit. Above it all documents are sorted by their last use,
// O(documents · log documents), and enough of them asked to pay for a tenth of the limit. Documents
// are asked on their strands, and answer by left() or stays(); until then their bytes count as
// going.
#include "kernel/core/residence.h"

#include <algorithm>
#include <utility>

#include "kernel/core/live_document.h"

namespace quire::kernel {

Residence::Residence(std::size_t limit, std::size_t (*resident_size)())
    : limit_(limit),
      resident_size_(resident_size),
      size_before_(resident_size == nullptr ? 0 : resident_size()) {
    state_.with([&](State& state) {
        state.allowed = limit;
        state.paid = limit - limit / 8;
    });
}

// A process seldom gives back what was freed, but uses it again before it grows. So documents stop at
// what they take when the limit is near, and from then on give up once what the process grows more.
// An eighth of the limit is left for those that are on their way out. Half of the room that is left
// is given back at a time.
void Residence::allow_for_growth() {
    const std::size_t size = resident_size_();
    const std::size_t grown = size > size_before_ ? size - size_before_ : 0;
    const std::size_t aim = limit_ - limit_ / 8;
    state_.with([&](State& state) {
        state.unlooked = 0;
        if (grown < aim) state.allowed = std::min(limit_, state.allowed + (aim - grown) / 2);
        if (grown < limit_ / 4 * 3) state.paid = aim;
        if (grown <= state.paid) return;
        const std::size_t now =
            state.paid > aim ? state.allowed : std::min(state.allowed, state.bytes);
        const std::size_t more = grown - std::exchange(state.paid, grown);
        state.allowed = std::max(limit_ / 3, now > more ? now - more : 0);
        state.look_above = std::min(state.look_above, state.allowed);
    });
}

void Residence::holds(const std::shared_ptr<LiveDocument>& document, std::size_t bytes) {
    const bool is_due = resident_size_ != nullptr && state_.with([&](State& state) {
        state.unlooked += bytes;
        return state.unlooked >= limit_ / 32;
    });
    if (is_due) allow_for_growth();
    // No document may end under the lock, for its end is reported here too.
    Candidates candidates;
    std::size_t excess = 0;
    state_.with([&](State& state) {
        Entry& entry = state.entries[document->key()];
        if (entry.is_asked) state.asked -= entry.bytes;
        state.bytes += bytes - entry.bytes;
        entry = {document, bytes, false};
        const std::size_t left = state.bytes - state.asked;
        if (left <= state.allowed) state.look_above = state.allowed;
        if (left <= std::max(state.allowed, state.look_above)) return;
        excess = left - state.allowed / 10 * 9;
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
            // Two threads may have sorted at once: the first to come asks the document.
            if (at == state.entries.end() || std::exchange(at->second.is_asked, true)) return false;
            state.asked += at->second.bytes;
            return true;
        });
        if (!is_first) continue;
        sched::Strand& strand = each.document->strand();
        strand.post([self = shared_from_this(), leaver = std::move(each.document)]() mutable {
            self->leave(std::move(leaver));
        });
    }
}

void Residence::leave(std::shared_ptr<LiveDocument> document) {
    if (document->leave() && put_away_) put_away_(std::move(document));
}

void Residence::stays(store::DocumentKey key) {
    state_.with([&](State& state) {
        const auto at = state.entries.find(key);
        if (at == state.entries.end() || !std::exchange(at->second.is_asked, false)) return;
        state.asked -= at->second.bytes;
        // This one is busy, and the others may be. The documents are sorted again only when some
        // more has come in, so that a workspace full of busy documents does not sort at each
        // report.
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

std::size_t Residence::allowed() const {
    return state_.with([](const State& state) { return state.allowed; });
}

Residence::Held Residence::held() const {
    return state_.with([](const State& state) { return Held{state.entries.size(), state.bytes}; });
}

}  // namespace quire::kernel
