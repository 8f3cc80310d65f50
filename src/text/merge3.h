// Merging two sets of changes to one base text.
//
// Changes are compared by line, and by token where two of them meet (text/diff.h). Changes that
// touch without overlapping are both kept. If both sides changed the same tokens differently, there
// is a tie: the result shows one side, and the caller keeps the other. After Khanna, Kunal and
// Pierce, "A Formal Investigation of Diff3" (2007), §2.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/units.h"

namespace quire::text {

// The two sides of a merge.
enum class Side { ours, theirs };

// A place where both sides changed the same tokens differently.
struct Tie {
    text::Byte begin;  // Position in the base.
    text::Byte end;
    std::string ours;
    std::string theirs;
};

// The merged text, with its ties.
struct Merged {
    std::string text;
    std::vector<Tie> ties;
    // True if both sides inserted at one place: then two orders of the insertions are equally
    // right.
    bool ordered_freely = false;
};

// `tie` is the side that a tie shows; `first` is the side that comes first if both inserted at one
// place.
Merged merge3(std::string_view base, std::string_view ours, std::string_view theirs, Side tie,
              Side first);

}  // namespace quire::text
