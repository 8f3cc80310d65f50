// The order of many keys by their bytes, without moving what they belong to.
//
// The sort is a radix sort from the lowest byte (LSD) over fixed ranks of eight bytes, so its time
// does not depend on how the keys are spread. What is sorted is 16 bytes a key, however large the
// elements are, and their own bytes are looked at again only where ranks are equal.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace quire {

// Numbers by the first eight bytes of their keys that differ. The rank has the first of those bytes
// highest, so that comparing ranks compares the bytes in order; a shorter key is filled up with
// zeros.
struct RankedKey {
    std::uint64_t rank;
    std::uint32_t number;
};

// Sorts by rank: many keys by one pass over all for each byte that is not the same everywhere. O(n).
inline void sort_by_rank(std::vector<RankedKey>& keys) {
    // Below this the passes, each with 256 counters to clear and to sum, cost more than comparing.
    constexpr std::size_t kMany = 256;
    const auto in_order = [](const RankedKey& a, const RankedKey& b) { return a.rank < b.rank; };
    if (keys.size() < kMany) return std::sort(keys.begin(), keys.end(), in_order);
    if (std::is_sorted(keys.begin(), keys.end(), in_order)) return;
    std::vector<RankedKey> sorted(keys.size());
    for (unsigned shift = 0; shift < 64; shift += 8) {
        const auto byte = [shift](const RankedKey& key) { return key.rank >> shift & 0xffU; };
        std::array<std::size_t, 256> places{};
        for (const RankedKey& key : keys) ++places[byte(key)];
        // All keys have this byte in common: the pass would move nothing.
        if (places[byte(keys.front())] == keys.size()) continue;
        // The counts become the places at which the keys of each byte begin. Going through the keys
        // in order keeps those with equal bytes as the passes before have left them, on which the
        // method depends.
        std::size_t before = 0;
        for (std::size_t& place : places) before += std::exchange(place, before);
        for (const RankedKey& key : keys) sorted[places[byte(key)]++] = key;
        keys.swap(sorted);
    }
}

// The numbers [begin, end) in the order of their keys, where key(i) is a view; equal keys in any order.
// Keys are often numbered names, so the eight bytes behind what all of them begin with tell most apart,
// without a look at the key itself. O(n), and O(n log n) for keys that those bytes do not tell apart.
template <class Key>
std::vector<std::uint32_t> order_by_key(std::size_t begin, std::size_t end, Key key) {
    std::vector<std::uint32_t> order;
    if (begin == end) return order;
    // The length that all keys share at their beginning. Comparing each with the first is enough.
    const std::string_view first = key(begin);
    std::size_t shared = first.size();
    for (std::size_t i = begin; i < end; ++i) {
        const std::string_view other = key(i);
        shared = std::min(shared, other.size());
        while (first.substr(0, shared) != other.substr(0, shared)) --shared;
    }
    std::vector<RankedKey> ranked;
    ranked.reserve(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
        const std::string_view bytes = key(i).substr(shared);
        std::uint64_t rank = 0;
        for (std::size_t k = 0; k < 8; ++k)
            rank = rank << 8U | (k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0U);
        ranked.push_back({rank, static_cast<std::uint32_t>(i)});
    }
    sort_by_rank(ranked);
    // Equal ranks say nothing about the order: the keys may differ further behind, or one may be
    // the other with zeros at its end.
    for (auto from = ranked.begin(); from != ranked.end();) {
        const auto to = std::find_if(
            from, ranked.end(), [&](const RankedKey& each) { return each.rank != from->rank; });
        if (to - from > 1) {
            std::sort(from, to, [&](const RankedKey& a, const RankedKey& b) {
                return key(a.number) < key(b.number);
            });
        }
        from = to;
    }
    order.reserve(ranked.size());
    for (const RankedKey& each : ranked) order.push_back(each.number);
    return order;
}

}  // namespace quire
