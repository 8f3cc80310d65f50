#include "crdt/doc/revert_identity.h"

#include <algorithm>

#include "base/check.h"

namespace quire::crdt {

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

Lv Identities::newest_before(Lv of, Lv by, const Graph& graph) const {
    for (auto at = copies_.rbegin(); at != copies_.rend(); ++at) {
        if (of < at->of || of >= at->of + at->len) continue;
        const Lv copy = at->copy + (of - at->of);
        // An op that was made here knows all that came in before it.
        if (!graph.contains(graph.parents_of(copy), by)) return copy;
    }
    return of;
}

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
}

ContainerIndex StandIns::heir(ContainerIndex of) const {
    for (auto at = heirs.find(of); at != heirs.end(); at = heirs.find(of)) of = at->second;
    return of;
}

}  // namespace quire::crdt
