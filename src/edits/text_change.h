// Text changes: what became of a text between two versions, as a reader who holds the older one
// would make the newer of it. Classified by where the texts differ, whatever call made the change.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "seq/rope.h"

namespace quire::edits {

// The part in which two texts differ: everything from the first to the last byte that does, on
// boundaries of code points. O(what copies of one rope do not share).
struct UnlikePart {
    std::size_t begin = 0;
    std::size_t old_end = 0;
    std::size_t new_end = 0;
};
UnlikePart unlike_part(const seq::Rope& before, const seq::Rope& after);

// The lines [start, end) of the older text became `content`, whole lines too.
struct LineChange {
    std::size_t start = 0;
    std::size_t end = 0;
    std::string content;
    friend bool operator==(const LineChange&, const LineChange&) = default;
};

// The step from one text to the next. Without either the texts are equal.
struct TextChange {
    // The text that was put at the end, where that is all; else "".
    std::string appended;
    // Ascending, in lines of the older text, with at least one kept line between two.
    std::vector<LineChange> edits;
};
TextChange text_change(const seq::Rope& before, const seq::Rope& after);

}  // namespace quire::edits
