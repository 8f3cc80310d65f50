// Which items of two sequences of symbols belong together.
//
// Two ways to look for them. Myers finds fewest edits (E. Myers, "An O(ND) Difference Algorithm and
// Its Variations", 1986, §4b, linear space). Histogram anchors on the rarest lines first, which
// keeps functions whole where Myers would align their braces; where all candidates are frequent it
// leaves the region to Myers. Both are bounded: past their budget a difference gets coarser, never
// late.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quire::text {

// Items [old_begin, old_end) were replaced by [new_begin, new_end); one of the two may be empty.
struct Replaced {
    std::size_t old_begin = 0;
    std::size_t old_end = 0;
    std::size_t new_begin = 0;
    std::size_t new_end = 0;
    friend bool operator==(const Replaced&, const Replaced&) = default;
};

using Symbols = std::span<const std::uint32_t>;

// Ascending, with at least one item kept between two. `cost_cap` bounds the edits looked for in one
// piece: time is O((n + m) * cost_cap), memory O(n + m).
std::vector<Replaced> myers_diff(Symbols before, Symbols after, std::size_t cost_cap = 256);

// The same, by histogram. Symbols must be below `symbol_count`. Time is bounded by about
// 200 (n + m) steps plus what Myers takes for the regions it is left with.
std::vector<Replaced> histogram_diff(Symbols before, Symbols after, std::size_t symbol_count);

}  // namespace quire::text
