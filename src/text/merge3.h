// Merging two sets of changes to one base text.
//
// Changes are compared by line; the lines of each side stand whole, one side's before the other's,
// unless both sides changed the same lines. Those are compared by token (text/diff.h). Both sides'
// tokens are taken if at least one unchanged token stands between them, if no side deleted a line
// that the other changed, and if no two words and no two lines are joined. Everything else is a
// tie: the result shows one side, and the caller keeps the other. What both sides made of a place,
// or both inserted there, appears once.
//
// After Khanna, Kunal and Pierce, "A Formal Investigation of Diff3" (2007), §2.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/units.h"

namespace quire::text {

// The two sides of a merge.
enum class Side { ours, theirs };

// A place that both sides changed in different ways.
struct Tie {
    text::Byte begin;  // Position in the base: whole lines.
    text::Byte end;
    std::string ours;
    std::string theirs;
    text::Byte at = {};         // Position in the merged text, of the side that is shown.
    text::Byte theirs_at = {};  // Position in their text.
};

// The merged text, with its ties.
struct Merged {
    std::string text;
    std::vector<Tie> ties;
};

// `tie` is the side that a tie shows; `first` is the side whose text comes first if both inserted at
// one place. O(n) beside the diffs.
Merged merge3(std::string_view base, std::string_view ours, std::string_view theirs, Side tie,
              Side first);

// The text that has the changes of both sides even where merge3() finds a tie: by token, the words
// of `first` before the other's, or by line where a side changed a line's end. Nothing that a side
// brought is left out, and no two words or lines are joined.
std::string keep_both(std::string_view base, std::string_view ours, std::string_view theirs,
                      Side first);

}  // namespace quire::text
