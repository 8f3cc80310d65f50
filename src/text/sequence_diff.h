// The longest common parts of two sequences of symbols.
//
// Two algorithms. Myers finds the fewest edits (E. Myers, "An O(ND) Difference Algorithm and Its
// Variations", 1986, §4b, linear space). Histogram anchors on the rarest symbols first, which keeps
// functions whole where Myers would align their braces; if all candidates are frequent, it leaves
// the region to Myers. Both are bounded: beyond their budget a difference gets coarser, never late.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quire::text {

// The items [old_begin, old_end) were replaced by [new_begin, new_end); one of the two may be
// empty.
struct Replaced {
    std::size_t old_begin = 0;
    std::size_t old_end = 0;
    std::size_t new_begin = 0;
    std::size_t new_end = 0;
    friend bool operator==(const Replaced&, const Replaced&) = default;
};

using Symbols = std::span<const std::uint32_t>;

// Ascending, with at least one kept item between two. `cost_cap` bounds the number of edits
// searched for in one piece: O((n + m) · cost_cap) time, O(n + m) memory.
std::vector<Replaced> myers_diff(Symbols before, Symbols after, std::size_t cost_cap = 256);

// Like myers_diff(), by histogram. Symbols must be below `symbol_count`. At most about 200 · (n +
// m) steps, plus Myers' cost for the regions left to it.
std::vector<Replaced> histogram_diff(Symbols before, Symbols after, std::size_t symbol_count);

}  // namespace quire::text
