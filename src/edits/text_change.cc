// Nothing is known of the call that made a change, so the texts themselves are compared: both ends
// are alike up to the first and the last byte that differ. Two versions of one rope share most of
// their nodes, which shared_ends() finds without reading them. The part between is widened to whole
// lines and compared by line. A text that only grew at its end is told as an append, with no lines
// at all.
#include "edits/text_change.h"

#include <algorithm>
#include <string_view>

#include "text/diff.h"

namespace quire::edits {
namespace {

// How much is compared at a time.
constexpr std::size_t kWindow = 32 << 10;

// Returns true if a line begins at the byte.
bool begins_line(const seq::Rope& text, std::size_t at) {
    return at == 0 || text.slice({at - 1}, {at}) == "\n";
}

// The end of the line that holds the byte, its terminator included.
std::size_t line_end(const seq::Rope& text, std::size_t at) {
    return text.line_start({text.to_line(text::Byte{at}).n + 1}).n;
}

}  // namespace

// Compares in windows from both ends, from where the ropes are known to be alike.
UnlikePart unlike_part(const seq::Rope& before, const seq::Rope& after) {
    const std::size_t old_size = before.bytes().n;
    const std::size_t new_size = after.bytes().n;
    const std::size_t most = std::min(old_size, new_size);
    const auto shared = seq::Rope::shared_ends(before, after);

    std::size_t prefix = shared.start;
    for (bool same = true; same && prefix < most;) {
        const std::size_t end = std::min(most, prefix + kWindow);
        const std::string a = before.slice({prefix}, {end});
        const std::string b = after.slice({prefix}, {end});
        prefix += static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first -
                                           a.begin());
        same = prefix == end;
    }
    while (prefix > 0 && !(before.is_boundary({prefix}) && after.is_boundary({prefix}))) --prefix;

    std::size_t suffix = std::min(shared.end, most - prefix);
    for (bool same = true; same && suffix < most - prefix;) {
        const std::size_t begin = std::min(most - prefix, suffix + kWindow);
        const std::string a = before.slice({old_size - begin}, {old_size - suffix});
        const std::string b = after.slice({new_size - begin}, {new_size - suffix});
        suffix += static_cast<std::size_t>(std::mismatch(a.rbegin(), a.rend(), b.rbegin()).first -
                                           a.rbegin());
        same = suffix == begin;
    }
    while (suffix > 0 && !after.is_boundary({new_size - suffix})) --suffix;
    return {prefix, old_size - suffix, new_size - suffix};
}

TextChange text_change(const seq::Rope& before, const seq::Rope& after) {
    TextChange out;
    UnlikePart part = unlike_part(before, after);
    if (part.begin == part.old_end && part.begin == part.new_end) return out;
    if (part.begin == before.bytes().n) {
        out.appended = after.slice({part.begin}, after.bytes());
        return out;
    }

    // The part, to the bounds of its lines in both texts.
    const text::Line first = before.to_line(text::Byte{part.begin});
    part.begin = before.line_start(first).n;
    const bool is_whole = begins_line(before, part.old_end) && begins_line(after, part.new_end);
    if (part.old_end < before.bytes().n && !is_whole) {
        const std::size_t end = line_end(before, part.old_end);
        part.new_end += end - part.old_end;
        part.old_end = end;
    }
    const std::string old_lines = before.slice({part.begin}, {part.old_end});
    const std::string new_lines = after.slice({part.begin}, {part.new_end});
    const std::vector<std::string_view> lines = text::split_lines(new_lines);
    for (const text::Hunk& hunk : text::diff_lines(old_lines, new_lines)) {
        LineChange edit{first.n + hunk.before.begin.n, first.n + hunk.before.end.n, ""};
        for (std::size_t i = hunk.after.begin.n; i < hunk.after.end.n; ++i)
            edit.content += lines[i];
        out.edits.push_back(std::move(edit));
    }
    return out;
}

}  // namespace quire::edits
