// The lines of a patch while it is parsed, and what both of its dialects have in common.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "edits/patch.h"

namespace quire::edits {

// A patch, cut into lines without '\n'. A patch that was sent with "\r\n" throughout has lost its
// '\r' too.
class PatchLines {
public:
    explicit PatchLines(std::string_view patch);

    std::size_t size() const { return lines_.size(); }
    std::string_view operator[](std::size_t i) const { return lines_[i]; }
    // Headers and marks are compared without a '\r' at their end.
    std::string_view header(std::size_t i) const;
    // The first line from `i` on that is not empty; size() if there is none. O(1).
    std::size_t next_filled(std::size_t i) const { return i < size() ? next_filled_[i] : size(); }

private:
    std::vector<std::string_view> lines_;
    std::vector<std::size_t> next_filled_;
};

// The numbers of "@@ -3,4 +3,5 @@".
struct HunkCounts {
    std::optional<std::size_t> hint;
    std::size_t old_lines = 0;
    std::size_t new_lines = 0;
};
// Nothing if the line has no such numbers.
std::optional<HunkCounts> hunk_counts(std::string_view header);
// The words of "@@ class Poem" or "@@ class Poem @@"; "" for a bare "@@".
std::string_view hunk_heading(std::string_view header);

// Returns true for a line that can stand in a hunk: context, removed or added.
bool is_hunk_line(std::string_view line);
// Adds a line that has its mark; an empty line is an empty line of context.
void add_hunk_line(PatchHunk& hunk, std::string_view marked);
// Takes "\ No newline at end of file" for the hunk's last line. False if there is none.
bool mark_no_newline(PatchHunk& hunk);
// Checks a hunk that is complete, and settles `at_end`. Error: invalid_patch().
Result<void> check_hunk(PatchHunk& hunk);

// Parsers of the two dialects. Errors: those of parse_patch().
Result<std::vector<FilePatch>> parse_unified(const PatchLines& lines);
Result<std::vector<FilePatch>> parse_envelope(const PatchLines& lines, std::size_t begin);

}  // namespace quire::edits
