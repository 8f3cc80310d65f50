// Draft: a text being edited step by step, which remembers how it differs from where it began.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "seq/rope.h"
#include "text/units.h"

namespace quire::edits {

class Draft {
public:
    explicit Draft(const seq::Rope& original) : original_(original), text_(original) {}

    const seq::Rope& original() const { return original_; }
    const seq::Rope& text() const { return text_; }

    // In the text as the steps before left it. As cheap as the rope's own splice, and O(k) for the
    // k-th step where it does not lie behind all before it.
    void splice(text::Byte at, text::Byte erase, std::string_view insert);

    // The whole difference as splices of the original: ascending, apart from each other, and
    // without what they would only replace by itself at either end. Empty when nothing differs.
    std::vector<text::Splice> splices() const;

private:
    // original[begin, end) has become `length` bytes.
    struct Region {
        std::size_t begin = 0;
        std::size_t end = 0;
        std::size_t length = 0;
    };
    void record(std::size_t at, std::size_t erase, std::size_t insert);
    bool undone_by_itself(const std::vector<text::Splice>& splices) const;

    const seq::Rope& original_;
    seq::Rope text_;
    std::vector<Region> regions_;  // Ascending; at least one untouched byte between two.
    std::size_t grown_ = 0;        // Of all regions: lengths, and what they replaced.
    std::size_t shrunk_ = 0;
};

}  // namespace quire::edits
