// EditedText: a text that is edited step by step and remembers how it differs from the original.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "seq/rope.h"
#include "text/units.h"

namespace quire::edits {

// The differences are kept as regions of the original, so reading them back costs nothing per byte.
class EditedText {
public:
    explicit EditedText(const seq::Rope& original) : original_(original), text_(original) {}

    const seq::Rope& original() const { return original_; }
    const seq::Rope& text() const { return text_; }

    // A step on the text as earlier steps left it. Costs the rope's splice, plus O(k) for the k-th
    // step unless it lies behind all earlier ones.
    void splice(text::Byte at, text::Byte erase, std::string_view insert);

    // The whole difference as splices of the original: ascending, not touching, and without equal
    // text at either end of a splice. Empty if nothing differs.
    std::vector<text::Splice> splices() const;

private:
    // original[begin, end) was replaced by `length` bytes.
    struct Region {
        std::size_t begin = 0;
        std::size_t end = 0;
        std::size_t length = 0;
    };
    void record(std::size_t at, std::size_t erase, std::size_t insert);
    bool undone_by_itself(const std::vector<text::Splice>& splices) const;

    const seq::Rope& original_;
    seq::Rope text_;
    std::vector<Region> regions_;  // Ascending, with at least one untouched byte between two.
    // The sums over all regions: bytes written, and bytes replaced.
    std::size_t grown_ = 0;
    std::size_t shrunk_ = 0;
};

}  // namespace quire::edits
