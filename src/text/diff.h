// The difference of two texts: by lines for readers and for merging, by tokens for editing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/units.h"

namespace quire::text {

// A text cut into lines, terminators kept; views into it.
std::vector<std::string_view> split_lines(std::string_view text);

// Lines `before` of the old text became lines `after` of the new.
struct Hunk {
    LineRange before;
    LineRange after;
    friend bool operator==(const Hunk&, const Hunk&) = default;
};

// Ascending, with at least one kept line between two. Lines are equal with their terminators.
// Histogram, with Myers where that has no anchor (sequence_diff.h); bounded time: 8 MiB of unlike
// text take well under two seconds.
std::vector<Hunk> diff_lines(std::string_view before, std::string_view after);

// The smallest edit that makes `after` of `before`: hunks by line, and within a hunk by token (a
// line end, a run of blanks, a word, a character with its combining marks) as long as half of it is
// kept. A hunk that shares less is replaced whole, so that it cannot be interleaved with someone
// else's. Ascending, apart from each other, on code point boundaries. Requires well-formed UTF-8.
std::vector<Splice> minimal_splices(std::string_view before, std::string_view after);

// The fewest code points to erase and to insert that make `after` of `before`, wherever in a word
// they stand. What differs by more than a budget of time comes out coarser. Ascending, apart from
// each other. Requires well-formed UTF-8.
std::vector<Splice> fewest_splices(std::string_view before, std::string_view after);

struct UnifiedOptions {
    std::string from = "a";
    std::string to = "b";
    std::size_t context = 3;
};
// As `diff -u` prints it, "\ No newline at end of file" included; "" for equal texts.
std::string unified_diff(std::string_view before, std::string_view after,
                         const UnifiedOptions& options = {});

}  // namespace quire::text
