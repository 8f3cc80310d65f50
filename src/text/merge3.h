// Three versions of a text: what two sides made of one base, put together.
//
// Changes are compared by line, and where two meet by token (text/diff.h). Changes that touch
// without overlapping both stand. Where both sides changed the same tokens to different text there
// is a tie: one side is shown there, and the caller keeps the other. After Khanna, Kunal and
// Pierce, "A Formal Investigation of Diff3" (2007), §2.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/units.h"

namespace quire::text {

enum class Side { ours, theirs };

struct Tie {
    text::Byte begin;  // In the base.
    text::Byte end;
    std::string ours;
    std::string theirs;
};

struct Merged {
    std::string text;
    std::vector<Tie> ties;
    // Where both sides inserted at one spot: two texts that differ only in the order of the two are
    // both right.
    bool ordered_freely = false;
};

// `tie` says which side a tie shows; `first` which goes first where both inserted at one spot.
Merged merge3(std::string_view base, std::string_view ours, std::string_view theirs, Side tie,
              Side first);

}  // namespace quire::text
