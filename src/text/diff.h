// The difference of two texts: by lines for readers and for merging, by tokens for editing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/units.h"

namespace quire::text {

// The lines of a text with their terminators, as views into it.
std::vector<std::string_view> split_lines(std::string_view text);

// The lines `before` of the old text became the lines `after` of the new one.
struct Hunk {
    LineRange before;
    LineRange after;
    friend bool operator==(const Hunk&, const Hunk&) = default;
};

// Ascending, with at least one kept line between two hunks. Lines are compared with their
// terminators. Histogram diff, with Myers' algorithm where it finds no anchor (sequence_diff.h).
// Time is bounded: 8 MiB of unlike text take well under two seconds.
std::vector<Hunk> diff_lines(std::string_view before, std::string_view after);

// The smallest edit that turns `before` into `after`: hunks by line, and within a hunk by token (a
// line end, a run of blanks, a word, a character with its combining marks) as long as half of it is
// kept. A hunk that keeps less is replaced whole, so that it cannot be interleaved with a
// concurrent edit. Ascending, not touching, on code point boundaries. Requires well-formed UTF-8.
std::vector<Splice> minimal_splices(std::string_view before, std::string_view after);

// The fewest code points to erase and insert that turn `before` into `after`, even within words.
// Differences beyond a time budget come out coarser. Ascending, not touching. Requires well-formed
// UTF-8.
std::vector<Splice> fewest_splices(std::string_view before, std::string_view after);

// The names of the two texts, and the lines of context around each hunk. Without names only hunks
// are written.
struct UnifiedOptions {
    std::string from = "a";
    std::string to = "b";
    std::size_t context = 3;
    // The lines that stand before both texts, which are parts of longer ones.
    std::size_t lines_before_from = 0;
    std::size_t lines_before_to = 0;
};
// The output of `diff -u`, "\ No newline at end of file" included; "" for equal texts.
std::string unified_diff(std::string_view before, std::string_view after,
                         const UnifiedOptions& options = {});

}  // namespace quire::text
