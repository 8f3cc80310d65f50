// Two sorted run-length tables map ids to numbers and back: one over all atoms by number, one per
// peer by counter. A run is a stretch in which both count up together, so a peer that types alone
// costs one run. Lookups are binary searches, and the two usual questions (the last peer again, the
// last run again) are answered before searching. The base of a loaded state arrives in no useful
// order; it is sorted by radix instead of by comparison, O(n).

#include "crdt/history/atoms.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace quire::crdt {

namespace {

constexpr std::size_t kFewPeers = 4;

// Sorts by the upper halves; equal ones keep their order. A radix sort, O(n): the stretches of a
// document arrive in an order from which comparisons learn nothing.
void sort_by_upper_half(std::vector<std::uint64_t>& numbers) {
    constexpr std::size_t kFew = 256;
    constexpr unsigned kDigit = 11;
    if (numbers.size() < kFew) {
        std::stable_sort(numbers.begin(), numbers.end(),
                         [](std::uint64_t a, std::uint64_t b) { return a >> 32U < b >> 32U; });
        return;
    }
    std::uint64_t differing = 0;
    for (const std::uint64_t number : numbers) differing |= number ^ numbers.front();
    std::vector<std::uint64_t> sorted(numbers.size());
    for (unsigned shift = 32; shift < 64; shift += kDigit) {
        if (differing >> shift == 0) break;
        const auto digit = [shift](std::uint64_t number) {
            return number >> shift & ((1U << kDigit) - 1);
        };
        std::array<std::uint32_t, (1U << kDigit) + 1> begins{};
        for (const std::uint64_t number : numbers) ++begins[digit(number) + 1];
        for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
        for (const std::uint64_t number : numbers) sorted[begins[digit(number)]++] = number;
        numbers.swap(sorted);
    }
}

}  // namespace

PeerIndex AtomTable::intern(PeerId peer) {
    // Usually the peer is the same as last time.
    if (asked_ < peers_.size() && peers_[asked_].id == peer) return asked_;
    // Most documents have few, and a look at each of them is shorter than one into the table.
    if (peers_.size() <= kFewPeers) {
        for (PeerIndex i = 0; i < peers_.size(); ++i) {
            if (peers_[i].id == peer) return asked_ = i;
        }
    }
    const auto [at, added] = by_id_.try_emplace(peer, static_cast<PeerIndex>(peers_.size()));
    if (added) peers_.push_back({peer});
    return asked_ = at->second;
}

std::optional<PeerIndex> AtomTable::find(PeerId peer) const {
    const auto at = by_id_.find(peer);
    if (at == by_id_.end()) return std::nullopt;
    return at->second;
}

void AtomTable::begin_run(PeerIndex index, Lv count) {
    CHECK(count < kNoLv - end_);
    Peer& peer = peers_[index];
    runs_.push_back({end_, index, peer.end});
    peer.runs.push_back({peer.end, end_});
    end_ += count;
    peer.end += static_cast<Counter>(count);
}

void AtomTable::place(PeerIndex index, Counter first, Lv count, bool listed) {
    CHECK(count < kNoLv - end_);
    runs_.push_back({end_, index, first});
    if (listed) peers_[index].runs.push_back({first, end_});
    end_ += count;
    base_ = end_;
}

// Sorts the runs by peer and counter, then checks them against the version.
bool AtomTable::end_base(const VersionVector& version) {
    base_ = end_;
    for (const auto& [id, end] : version.ends()) {
        Peer& peer = peers_[intern(id)];
        peer.end = peer.base_end = end;
    }
    // The listed runs of each peer, as numbers that sort by counter and contain the index in runs_;
    // a run's length follows from its successor there.
    std::vector<std::vector<std::uint64_t>> listed(peers_.size());
    for (std::size_t peer = 0; peer < peers_.size(); ++peer)
        listed[peer].reserve(peers_[peer].runs.size());
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        const Run& run = runs_[i];
        const std::vector<PeerRun>& mine = peers_[run.peer].runs;
        std::vector<std::uint64_t>& seen = listed[run.peer];
        if (seen.size() < mine.size() && mine[seen.size()].lv == run.lv)
            seen.push_back(std::uint64_t{static_cast<std::uint32_t>(run.counter)} << 32U | i);
    }
    for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
        if (!place_in_order(peers_[peer], listed[peer])) return false;
    }
    return true;
}

// False if two atoms are equal, or if the peer's end does not include them.
bool AtomTable::place_in_order(Peer& peer, std::vector<std::uint64_t>& listed) const {
    if (!std::is_sorted(listed.begin(), listed.end())) sort_by_upper_half(listed);
    std::int64_t known = 0;
    for (std::size_t n = 0; n < listed.size(); ++n) {
        const std::size_t i = static_cast<std::uint32_t>(listed[n]);
        const Run& run = runs_[i];
        if (run.counter < known) return false;
        known =
            std::int64_t{run.counter} + ((i + 1 < runs_.size() ? runs_[i + 1].lv : end_) - run.lv);
        peer.runs[n] = {run.counter, run.lv};
    }
    return known <= peer.end;
}

// Removes whole runs from the end and shortens the last one.
void AtomTable::truncate(Lv end) {
    CHECK(end >= base_);
    while (!runs_.empty() && runs_.back().lv >= end) {
        Peer& peer = peers_[runs_.back().peer];
        peer.end = runs_.back().counter;
        peer.runs.pop_back();
        runs_.pop_back();
    }
    if (end > base_) {
        const Run& last = runs_.back();
        peers_[last.peer].end = last.counter + static_cast<Counter>(end - last.lv);
    }
    end_ = end;
}

Counter AtomTable::end_of(PeerId peer) const {
    const auto index = find(peer);
    return index ? peers_[*index].end : 0;
}

std::size_t AtomTable::run_of(Lv lv) const {
    if (runs_.back().lv <= lv) return runs_.size() - 1;
    const auto after = std::upper_bound(runs_.begin(), runs_.end(), lv,
                                        [](Lv value, const Run& run) { return value < run.lv; });
    return static_cast<std::size_t>(after - runs_.begin()) - 1;
}

OpId AtomTable::id_of(Lv lv) const {
    const Run& run = runs_[run_of(lv)];
    return {peers_[run.peer].id, run.counter + static_cast<Counter>(lv - run.lv)};
}

Lv AtomTable::run_end(Lv lv) const {
    const std::size_t next = run_of(lv) + 1;
    return next < runs_.size() ? runs_[next].lv : end_;
}

std::optional<Lv> AtomTable::lv_of(OpId id) const {
    const auto index = find(id.peer);
    return index ? lv_of(*index, id.counter) : std::nullopt;
}

// Binary search among the peer's runs.
std::optional<Lv> AtomTable::lv_of(PeerIndex peer, Counter counter) const {
    const auto& runs = peers_[peer].runs;
    if (counter < 0 || counter >= peers_[peer].end || runs.empty()) return std::nullopt;
    const PeerRun* run = &runs.back();
    if (run->counter > counter) {
        const auto after =
            std::upper_bound(runs.begin(), runs.end(), counter,
                             [](Counter value, const PeerRun& at) { return value < at.counter; });
        if (after == runs.begin()) return std::nullopt;
        run = &*(after - 1);
    }
    // Between runs of the base there are atoms that were not placed.
    if (run->lv < base_ && static_cast<Lv>(counter - run->counter) >= run_end(run->lv) - run->lv)
        return std::nullopt;
    return run->lv + static_cast<Lv>(counter - run->counter);
}

std::vector<LvSpan> AtomTable::spans_of(IdSpan ids) const {
    std::vector<LvSpan> spans;
    append_spans(ids, spans);
    return spans;
}

void AtomTable::append_spans(IdSpan ids, std::vector<LvSpan>& out) const {
    if (ids.begin >= ids.end) return;
    const std::optional<PeerIndex> peer = find(ids.peer);
    CHECK(peer.has_value());
    ids.begin = std::max(ids.begin, base_end_of(*peer));
    while (ids.begin < ids.end) {
        const std::optional<Lv> lv = lv_of(*peer, ids.begin);
        CHECK(lv.has_value());
        const Lv end = std::min(run_end(*lv), *lv + static_cast<Lv>(ids.size()));
        out.push_back({*lv, end});
        ids.begin += static_cast<Counter>(end - *lv);
    }
}

// The highest counter of each peer below `end`; runs above are skipped.
VersionVector AtomTable::version_before(Lv end) const {
    VersionVector version;
    for (const Peer& peer : peers_) {
        Counter known = peer.end;
        for (auto run = peer.runs.rbegin(); run != peer.runs.rend(); ++run) {
            if (run->lv < end) {
                known = std::min(known, run->counter + static_cast<Counter>(end - run->lv));
                break;
            }
            known = run->counter;
        }
        version.set(peer.id, known);
    }
    return version;
}

void AtomTable::check_invariants() const {
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        const Lv next = i + 1 < runs_.size() ? runs_[i + 1].lv : end_;
        CHECK(runs_[i].lv < next && (i > 0 || runs_[i].lv == 0));
        if (runs_[i].lv < base_) continue;  // Some of the base's atoms have no id of their own.
        CHECK(lv_of(id_of(runs_[i].lv)) == runs_[i].lv);
        CHECK(lv_of(id_of(next - 1)) == next - 1);
    }
    for (const Peer& peer : peers_) {
        for (std::size_t i = 1; i < peer.runs.size(); ++i) {
            CHECK(peer.runs[i - 1].counter < peer.runs[i].counter);
            CHECK(peer.runs[i - 1].lv < base_ || peer.runs[i - 1].lv < peer.runs[i].lv);
        }
    }
}

}  // namespace quire::crdt
