// The order of many keys by their bytes, without moving what they belong to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace quire {

// The numbers [begin, end) in the order of their keys, where key(i) is a view; equal keys in any order.
// Keys are often numbered names, so the eight bytes behind what all of them begin with tell most apart,
// without a look at the key itself. O(n log n).
template <class Key>
std::vector<std::uint32_t> order_by_key(std::size_t begin, std::size_t end, Key key) {
    std::vector<std::uint32_t> order;
    if (begin == end) return order;
    const std::string_view first = key(begin);
    std::size_t shared = first.size();
    for (std::size_t i = begin; i < end; ++i) {
        const std::string_view other = key(i);
        shared = std::min(shared, other.size());
        while (first.substr(0, shared) != other.substr(0, shared)) --shared;
    }
    struct Ranked {
        std::uint64_t rank;
        std::uint32_t number;
    };
    std::vector<Ranked> ranked;
    ranked.reserve(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
        const std::string_view bytes = key(i).substr(shared);
        std::uint64_t rank = 0;
        for (std::size_t k = 0; k < 8; ++k)
            rank = rank << 8U | (k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0U);
        ranked.push_back({rank, static_cast<std::uint32_t>(i)});
    }
    std::sort(ranked.begin(), ranked.end(), [&](const Ranked& a, const Ranked& b) {
        return a.rank != b.rank ? a.rank < b.rank : key(a.number) < key(b.number);
    });
    order.reserve(ranked.size());
    for (const Ranked& each : ranked) order.push_back(each.number);
    return order;
}

}  // namespace quire
