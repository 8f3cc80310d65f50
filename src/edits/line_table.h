// LineTable: a text cut into its lines, and the search for many sequences of lines in one pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "seq/rope.h"

namespace quire::edits {

// How lines are compared: as they are but for their terminators, or without blanks at their ends.
enum class LineLikeness : std::uint8_t { exact, blanks_at_end_ignored };

// The part of a line, without its terminator, that is compared.
std::string_view compared_part(std::string_view line, LineLikeness likeness);

// A copy of a text with the starts of its lines. Built in O(text).
class LineTable {
public:
    explicit LineTable(const seq::Rope& text);

    std::size_t size() const { return starts_.size() - 1; }
    std::size_t start(std::size_t line) const { return starts_[line]; }  // size(): the end.
    std::string_view bytes(std::size_t begin, std::size_t end) const {
        return std::string_view(text_).substr(starts_[begin], starts_[end] - starts_[begin]);
    }
    // The line without its terminator.
    std::string_view line(std::size_t line) const;
    bool has_crlf(std::size_t line) const { return bytes(line, line + 1).ends_with("\r\n"); }
    bool has_newline(std::size_t line) const { return text_[starts_[line + 1] - 1] == '\n'; }
    bool ends_with_newline() const { return text_.ends_with('\n'); }

private:
    std::string text_;
    std::vector<std::size_t> starts_;
};

// A sequence of lines to search for, without terminators; at least one.
struct SoughtLines {
    std::vector<std::string_view> lines;
    std::size_t most = 1;  // The most places that are wanted of it.
};
// For each sequence the lines at which it begins, ascending: all, or the first `most` of them and
// perhaps more.
//
// Lines become symbols, and the automaton of Aho and Corasick ("Efficient string matching", 1975)
// reads them once. A sequence with enough places is taken out of the chain of outputs, so the whole
// costs O(text + sequences + places), whatever the lines are.
std::vector<std::vector<std::uint32_t>> find_sequences(const LineTable& text,
                                                       std::span<const SoughtLines> sought,
                                                       LineLikeness likeness);

}  // namespace quire::edits
