// The places of a patch's hunks in a text.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "edits/line_table.h"
#include "edits/patch.h"

namespace quire::edits {

// How well a hunk fits where it was found, from best to worst.
enum class HunkFit : std::uint8_t {
    exact,                 // Byte for byte.
    other_line_ends,       // "\r\n" is taken for '\n' or the other way round.
    blanks_at_end_differ,  // Blanks at the ends of lines differ, or the final newline does.
};

// A hunk's place, or why it has none.
struct FoundHunk {
    std::optional<std::size_t> line;  // The first of its old lines in the text.
    HunkFit fit = HunkFit::exact;
    std::vector<std::size_t> several;  // If there is more than one place, the first of them.
    std::string trouble;               // A heading that was not found; no lines to find it by.
};

// The places of all hunks of one text. O(text + patch).
std::vector<FoundHunk> find_hunks(std::span<const PatchHunk> hunks, const LineTable& text);

// The lines of a hunk that the text must have: context and removed.
std::vector<const PatchLine*> old_lines_of(const PatchHunk& hunk);

}  // namespace quire::edits
