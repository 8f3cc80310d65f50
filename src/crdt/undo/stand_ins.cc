// Copies by their own numbers, and the newest copy by what it was at first: both in stretches,
// since letters come back side by side. A chain of copies is never walked, for each copy knows what
// it was at first.
#include "crdt/undo/stand_ins.h"

#include <algorithm>

#include "base/check.h"

namespace quire::crdt {

// Copies are made by new ops, so they come in ascending order and are appended. `of` may be a copy
// itself, of stretches that were made apart: each origin gets an entry of its own.
void Identities::add(Lv of, Lv copy, std::uint32_t len) {
    while (len > 0) {
        const Stretch first = origin(of, len);
        const std::uint32_t n = first.len;
        CHECK(can_add(copy));
        copies_.push_back({copy, first.lv, n});

        // Takes the place of what stood for these origins, which may reach out on either side.
        const Lv end = first.lv + n;
        auto at = newest_.lower_bound(first.lv);
        if (at != newest_.begin()) {
            const auto before = std::prev(at);
            const Lv before_end = before->first + before->second.len;
            if (before_end > end) {
                newest_[end] = {before->second.lv + (end - before->first), before_end - end};
            }
            if (before_end > first.lv) before->second.len = first.lv - before->first;
        }
        at = newest_.lower_bound(first.lv);
        while (at != newest_.end() && at->first < end) {
            const Lv at_end = at->first + at->second.len;
            if (at_end > end) {
                newest_[end] = {at->second.lv + (end - at->first), at_end - end};
            }
            at = newest_.erase(at);
        }
        newest_[first.lv] = {copy, n};

        of += n;
        copy += n;
        len -= n;
    }
}

Identities::Stretch Identities::origin(Lv lv, std::uint32_t len) const {
    const auto after = std::upper_bound(copies_.begin(), copies_.end(), lv,
                                        [](Lv value, const Copy& c) { return value < c.copy; });
    if (after != copies_.begin()) {
        const Copy& copy = *(after - 1);
        if (lv < copy.copy + copy.len) {
            const std::uint32_t skip = lv - copy.copy;
            return {copy.of + skip, std::min(len, copy.len - skip)};
        }
    }
    if (after != copies_.end()) len = std::min(len, after->copy - lv);
    return {lv, len};
}

// One look for the origin, and one for what stands for that last.
Identities::Stretch Identities::newest(Lv lv, std::uint32_t len) const {
    const Stretch first = origin(lv, len);
    auto after = newest_.upper_bound(first.lv);
    len = first.len;
    if (after != newest_.begin()) {
        const auto& [of, stretch] = *std::prev(after);
        if (first.lv < of + stretch.len) {
            const std::uint32_t skip = first.lv - of;
            return {stretch.lv + skip, std::min(len, stretch.len - skip)};
        }
    }
    if (after != newest_.end()) len = std::min(len, after->first - first.lv);
    return {lv, len};
}

// Goes through the copies in the order in which they were made, and follows both atoms to where
// they lie at the time. O(copies).
std::optional<std::pair<Lv, Lv>> Identities::first_together(Lv a, Lv b, const OpLog& log) const {
    const auto in_one = [&](Lv x, Lv y) { return log.container_of(x) == log.container_of(y); };
    std::pair<Lv, Lv> now(a, b);
    for (const Copy& copy : copies_) {
        const bool of_a = a >= copy.of && a < copy.of + copy.len;
        const bool of_b = b >= copy.of && b < copy.of + copy.len;
        if (!of_a && !of_b) continue;
        // An op that was made here knows all that came in before it.
        const Heads known = log.graph().parents_of(copy.copy);
        const bool both_in = log.graph().contains(known, of_a ? b : a);
        if (both_in && in_one(now.first, now.second)) return now;
        if (of_a) now.first = copy.copy + (a - copy.of);
        if (of_b) now.second = copy.copy + (b - copy.of);
    }
    return in_one(now.first, now.second) ? std::optional(now) : std::nullopt;
}

Lv Identities::last_copy(Lv begin, Lv end) const {
    const auto after = std::lower_bound(copies_.begin(), copies_.end(), end,
                                        [](const Copy& c, Lv value) { return c.copy < value; });
    if (after == copies_.begin()) return kNoLv;
    const Copy& copy = *(after - 1);
    const Lv last = std::min(copy.copy + copy.len, end) - 1;
    return last >= begin ? last : kNoLv;
}

// A settled write may have been settled again, as often as it was undone and redone.
Lv StandIns::settled_as(Lv write) const {
    for (auto at = settled.find(write); at != settled.end(); at = settled.find(write))
        write = at->second;
    return write;
}

Lv StandIns::style_in_force(Lv style) const {
    const auto at = styles.find(style);
    return at == styles.end() ? style : at->second;
}

void StandIns::copied(ContainerIndex from, ContainerIndex to) {
    heirs[from] = to;
    sources[to] = from;
    firsts[to] = first(from);
}

ContainerIndex StandIns::heir(ContainerIndex of) const {
    for (auto at = heirs.find(of); at != heirs.end(); at = heirs.find(of)) of = at->second;
    return of;
}

ContainerIndex StandIns::first(ContainerIndex of) const {
    const auto at = firsts.find(of);
    return at == firsts.end() ? of : at->second;
}

// Made when something first asks, so a document that nobody undoes in carries a null pointer.
StandIns& stand_ins_of(DocBody& body) {
    std::unique_ptr<Companion>& kept = body.companion();
    if (kept == nullptr) kept = std::make_unique<StandIns>();
    return static_cast<StandIns&>(*kept);
}

}  // namespace quire::crdt
