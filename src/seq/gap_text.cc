//     text_   [ before the gap | gap | behind it ]
//             0           gap_begin_ gap_end_   capacity_
//
// The gap stands where the last edit ended, so an insert or a backspace there moves nothing.
// Positions are code points; in ASCII they are bytes, else those between the gap and the place are
// counted.
#include "seq/gap_text.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/utf8.h"

namespace quire::seq {

GapText::GapText(const Rope& from) : code_points_(from.code_points().n) {
    grow(from.bytes().n);
    from.for_each_chunk({0}, from.bytes(), [&](std::string_view chunk) {
        std::memcpy(text_.get() + gap_begin_, chunk.data(), chunk.size());
        gap_begin_ += chunk.size();
        return true;
    });
    before_ = code_points_;
}

// Moves the gap to the place and writes into it.
void GapText::insert(text::CodePoint at, std::string_view utf8, text::CodePoint length) {
    CHECK(at.n <= code_points_);
    seek(at.n);
    if (utf8.size() > gap_end_ - gap_begin_) grow(utf8.size());
    std::memcpy(text_.get() + gap_begin_, utf8.data(), utf8.size());
    gap_begin_ += utf8.size();
    before_ += length.n;
    code_points_ += length.n;
    ++edits_;
}

// Widens the gap over the erased bytes, which it moves to unless it lies among them or at their end.
void GapText::erase(text::CodePoint at, text::CodePoint count) {
    CHECK(at.n <= code_points_ && count.n <= code_points_ - at.n);
    if (at.n > before_ || before_ - at.n > count.n) seek(at.n);
    // Both are counted before the gap grows, because counting asks how long the text is.
    const std::size_t before = before_ - at.n;
    const std::size_t bytes_left = bytes_before(before);
    const std::size_t bytes_right = bytes_behind(count.n - before);
    gap_begin_ -= bytes_left;
    gap_end_ += bytes_right;
    before_ = at.n;
    code_points_ -= count.n;
    ++edits_;
}

// The gap goes to the end first, so that the text lies in one piece.
Rope GapText::rope() {
    seek(code_points_);
    return Rope(std::string_view(text_.get(), gap_begin_));
}

std::size_t GapText::bytes_before(std::size_t count) const {
    if (is_ascii()) return count;
    std::size_t from = gap_begin_;
    while (count > 0) count -= utf8::is_boundary(text_[--from]) ? 1 : 0;
    return gap_begin_ - from;
}

std::size_t GapText::bytes_behind(std::size_t count) const {
    if (is_ascii()) return count;
    const std::string_view behind(text_.get() + gap_end_, capacity_ - gap_end_);
    return utf8::offset_of_code_point(behind, count);
}

// Moves the gap to the code point `at`.
void GapText::seek(std::size_t at) {
    if (at == before_) return;
    char* text = text_.get();
    std::size_t bytes = 0;
    if (at < before_) {
        bytes = bytes_before(before_ - at);
        gap_begin_ -= bytes;
        gap_end_ -= bytes;
        std::memmove(text + gap_end_, text + gap_begin_, bytes);
    } else {
        bytes = bytes_behind(at - before_);
        std::memmove(text + gap_begin_, text + gap_end_, bytes);
        gap_begin_ += bytes;
        gap_end_ += bytes;
    }
    before_ = at;
    moved_ += bytes;
}

// Makes the gap at least `room` bytes wide.
void GapText::grow(std::size_t room) {
    constexpr std::size_t kLeast = 4096;
    const std::size_t behind = capacity_ - gap_end_;
    const std::size_t capacity = std::max(2 * capacity_, size() + room + kLeast);
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    if (text_ != nullptr) {
        std::memcpy(larger.get(), text_.get(), gap_begin_);
        std::memcpy(larger.get() + capacity - behind, text_.get() + gap_end_, behind);
    }
    text_ = std::move(larger);
    capacity_ = capacity;
    gap_end_ = capacity - behind;
}

}  // namespace quire::seq
