// GapText: a text under construction by many edits that nobody reads in between.
//
// A gap buffer: an edit moves the text between it and the edit before, which is little for the way
// people and agents write, and finds its place without a tree. If edits turn out to be far apart,
// or the text grows long, a rope is better for the rest: has_room() tells.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "seq/rope.h"

namespace quire::seq {

// The text as one array with a gap at the last edit.
class GapText {
public:
    // Copies the rope's text, with the gap at the end. O(n).
    explicit GapText(const Rope& from);

    // Returns true if it is still worthwhile to insert `bytes` more bytes here.
    bool has_room(std::size_t bytes) const {
        return size() + bytes <= kMost && moved_ <= kPatience * (edits_ + 64);
    }
    // Positions as in Rope: the end is allowed, beyond it is a broken promise of the caller. The
    // text is well-formed UTF-8 with `length` code points. O(distance from the last edit + size).
    void insert(text::CodePoint at, std::string_view utf8, text::CodePoint length);
    void erase(text::CodePoint at, text::CodePoint count);

    text::CodePoint code_points() const { return {code_points_}; }
    // The finished text. O(n).
    Rope rope();

private:
    // The most bytes of text, and the bytes that one edit may move before a tree search is cheaper.
    static constexpr std::size_t kMost = std::size_t{4} << 20;
    static constexpr std::size_t kPatience = 1024;

    std::size_t size() const { return capacity_ - (gap_end_ - gap_begin_); }
    bool is_ascii() const { return size() == code_points_; }
    // The bytes of the last `count` code points before the gap, or of the first behind it.
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
    std::size_t moved_ = 0;  // Bytes moved so far.
    std::size_t edits_ = 0;
};

}  // namespace quire::seq
