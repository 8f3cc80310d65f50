#include "edits/numbering.h"

#include "base/concat.h"

namespace quire::edits {

std::size_t shown(Numbering numbering, text::Line line) {
    return numbering == Numbering::one_inclusive ? line.n + 1 : line.n;
}

Map shown(Numbering numbering, text::LineRange range) {
    return {{"start_line", shown(numbering, range.begin)}, {"end_line", range.end.n}};
}

std::string in_words(Numbering numbering, text::LineRange range) {
    const std::size_t first = shown(numbering, range.begin);
    if (range.end.n == range.begin.n + 1) return cat("line ", first);
    if (numbering == Numbering::one_inclusive) return cat("lines ", first, "-", range.end.n);
    return cat("lines [", first, ", ", range.end.n, ")");
}

std::string numbered(std::span<const std::string> lines, text::Line first, Numbering numbering,
                     bool end_each_line) {
    std::string out;
    std::size_t number = shown(numbering, first);
    for (const std::string& line : lines) {
        cat_to(out, number++);
        out += '\t';
        out += line;
        if (end_each_line && !line.ends_with('\n')) out += '\n';
    }
    return out;
}

}  // namespace quire::edits
