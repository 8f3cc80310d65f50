// Draft: a text while many edits make it, one after another, and nobody reads it.
//
// A gap buffer: an edit moves what lies between it and the one before, which for what people and
// agents write is little, and finds its place without a tree. Where edits turn out to lie far
// apart, or the text to be long, a rope is the better place for those that follow: has_room() says
// when.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "seq/rope.h"

namespace quire::seq {

class Draft {
public:
    explicit Draft(const Rope& from);

    // Whether it is worth its while to go on here with an edit that inserts so many bytes.
    bool has_room(std::size_t bytes) const {
        return size() + bytes <= kMost && moved_ <= kPatience * (edits_ + 64);
    }
    // As Rope's: positions at the end are allowed, beyond it is a broken promise of the caller's.
    // The text is well-formed UTF-8 of so many code points. O(distance from the edit before, and
    // size).
    void insert(text::CodePoint at, std::string_view utf8, text::CodePoint length);
    void erase(text::CodePoint at, text::CodePoint count);

    text::CodePoint code_points() const { return {code_points_}; }
    Rope rope();  // What was made. O(n).

private:
    // Bytes of text; and bytes moved by an edit for which a tree would be searched as well.
    static constexpr std::size_t kMost = std::size_t{4} << 20;
    static constexpr std::size_t kPatience = 1024;

    std::size_t size() const { return capacity_ - (gap_end_ - gap_begin_); }
    bool is_ascii() const { return size() == code_points_; }
    // Bytes of the last `count` code points before the gap, and of the first behind it.
    std::size_t bytes_before(std::size_t count) const;
    std::size_t bytes_behind(std::size_t count) const;
    void seek(std::size_t at);
    void grow(std::size_t room);

    std::unique_ptr<char[]> text_;
    std::size_t capacity_ = 0;
    std::size_t gap_begin_ = 0;
    std::size_t gap_end_ = 0;
    std::size_t before_ = 0;  // Code points before the gap.
    std::size_t code_points_ = 0;
    std::size_t moved_ = 0;  // Bytes.
    std::size_t edits_ = 0;
};

}  // namespace quire::seq
