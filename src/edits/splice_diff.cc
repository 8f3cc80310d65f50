// A diff of two large texts costs a comparison of both. Here the splices say where they can differ,
// so only the lines around them are compared, and each group of splices gives its own hunks, with
// its line numbers moved by what the groups before wrote and took away.
#include "edits/splice_diff.h"

#include <algorithm>

#include "base/concat.h"

namespace quire::edits {

// Splices whose context would meet are compared together: the lines that they touch, with the
// context around them.
std::string splice_diff(const seq::Rope& before, std::span<const text::Splice> splices,
                        const text::UnifiedOptions& options) {
    std::string hunks;
    const std::size_t lines = before.lines().n;
    std::size_t written = 0;  // Newlines that the splices so far wrote, and took away.
    std::size_t gone = 0;
    // The last line that a splice touches: an erased newline joins the next one.
    const auto last_line = [&](const text::Splice& splice) {
        return before.to_line(splice.at + splice.erase).n;
    };
    for (std::size_t i = 0; i < splices.size();) {
        std::size_t end = i + 1;
        // Two hunks with so few lines between them would be one hunk in a diff of the whole.
        while (end < splices.size() && before.to_line(splices[end].at).n <=
                                           last_line(splices[end - 1]) + 2 * options.context + 3)
            ++end;
        const std::size_t touched = before.to_line(splices[i].at).n;
        const std::size_t first = touched - std::min(touched, options.context + 1);
        const std::size_t last = std::min(lines, last_line(splices[end - 1]) + options.context + 2);
        const text::Byte begin = before.line_start({first});
        const std::string old_part = before.slice(begin, before.line_start({last}));
        std::string new_part;
        text::UnifiedOptions part = options;
        part.from = part.to = "";
        part.lines_before_from = options.lines_before_from + first;
        part.lines_before_to = options.lines_before_to + first + written - gone;
        std::size_t at = 0;
        for (; i < end; ++i) {
            const std::size_t from = splices[i].at.n - begin.n;
            new_part.append(old_part, at, from - at);
            new_part += splices[i].insert;
            at = from + splices[i].erase.n;
            const auto newlines = [](std::string_view text) {
                return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
            };
            written += newlines(splices[i].insert);
            gone += newlines(std::string_view(old_part).substr(from, splices[i].erase.n));
        }
        new_part.append(old_part, at);
        hunks += text::unified_diff(old_part, new_part, part);
    }
    if (hunks.empty()) return hunks;
    return cat("--- ", options.from, "\n+++ ", options.to, "\n", hunks);
}

}  // namespace quire::edits
