// All diffs here reduce text to numbers: equal lines or tokens get equal symbols (Alphabet), and
// the sequence algorithms (sequence_diff.h) compare numbers only. minimal_splices() works in two
// levels, lines first and then tokens within each hunk, because a token diff of a whole file would
// be slow and would align unrelated words. A token is what an editor's user would change as a unit:
// a word, a run of blanks, a line end, or a character with everything that combines with it, so
// that no splice cuts an emoji in half.
//
// Most edits of a long text touch a few lines. So the whole lines that both texts have at their ends
// are skipped by their bytes, before anything is cut into lines: of 10 MB with one changed line that
// leaves a line.

#include "text/diff.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <unordered_map>

#include "base/concat.h"
#include "base/utf8.h"
#include "text/sequence_diff.h"

namespace quire::text {

namespace {

// Equal pieces get the same number.
class Alphabet {
public:
    std::vector<std::uint32_t> symbols(const std::vector<std::string_view>& pieces) {
        std::vector<std::uint32_t> out;
        out.reserve(pieces.size());
        for (const std::string_view piece : pieces) {
            out.push_back(numbers_.try_emplace(piece, static_cast<std::uint32_t>(numbers_.size()))
                              .first->second);
        }
        return out;
    }
    std::size_t size() const { return numbers_.size(); }

private:
    std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

bool is_word(unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Returns true for code points that belong to the one before them: combining marks, joiners, variation
// selectors, skin tones.
bool extends(char32_t c) {
    return (c >= 0x300 && c <= 0x36F) || c == 0x200D || (c >= 0xFE00 && c <= 0xFE0F) ||
           (c >= 0x1AB0 && c <= 0x1AFF) || (c >= 0x20D0 && c <= 0x20FF) ||
           (c >= 0x1F3FB && c <= 0x1F3FF);
}

// The end of the token that begins at `at`.
std::size_t token_end(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    std::size_t end = at + 1;
    if (byte(at) == '\r' && end < text.size() && byte(end) == '\n') return end + 1;
    if (byte(at) == ' ' || byte(at) == '\t') {
        while (end < text.size() && (byte(end) == ' ' || byte(end) == '\t')) ++end;
        return end;
    }
    if (is_word(byte(at))) {
        while (end < text.size() && is_word(byte(end))) ++end;
        if (end == text.size() || byte(end) < 0x80) return end;
    } else if (byte(at) >= 0x80) {
        end = at;
        utf8::decode(text, end);
    }
    // Marks after the token belong to it, and so does a character that a joiner attaches.
    bool joined = false;
    while (end < text.size() && byte(end) >= 0x80) {
        std::size_t next = end;
        const char32_t c = utf8::decode(text, next);
        if (!joined && !extends(c)) break;
        joined = c == 0x200D;
        end = next;
    }
    return end;
}

// Cuts a text into tokens.
std::vector<std::string_view> tokens(std::string_view text) {
    std::vector<std::string_view> out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = token_end(text, at);
        out.push_back(text.substr(at, end - at));
        at = end;
    }
    return out;
}

// Cuts a text into code points.
std::vector<std::string_view> code_points(std::string_view text) {
    std::vector<std::string_view> out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        utf8::decode(text, at);
        out.push_back(text.substr(begin, at - begin));
    }
    return out;
}

// starts[i] is the offset of piece i, with one more entry for the end.
std::vector<std::size_t> starts_of(const std::vector<std::string_view>& pieces) {
    std::vector<std::size_t> starts{0};
    starts.reserve(pieces.size() + 1);
    for (const std::string_view piece : pieces) starts.push_back(starts.back() + piece.size());
    return starts;
}

// Larger hunks are replaced whole: comparing them by token costs more than it can save.
constexpr std::size_t kTokenBytes = 256 << 10;

// One splice that replaces `before`, which begins at `at`, without the common tokens at either end.
// It never replaces part of a token: a concurrent change of the other part would then not be
// recognised as a conflict.
void replace_whole(std::string_view before, std::string_view after, std::size_t at,
                   std::vector<Splice>& out) {
    if (before.empty() || after.empty()) {
        if (before.size() != after.size())
            out.push_back({{at}, {before.size()}, std::string(after)});
        return;
    }
    std::size_t prefix = 0;
    while (prefix < before.size() && prefix < after.size()) {
        const std::size_t end = token_end(before, prefix);
        if (end != token_end(after, prefix) ||
            before.substr(prefix, end - prefix) != after.substr(prefix, end - prefix)) {
            break;
        }
        prefix = end;
    }
    const std::vector<std::string_view> old_tokens = tokens(before.substr(prefix));
    const std::vector<std::string_view> new_tokens = tokens(after.substr(prefix));
    std::size_t suffix = 0;
    for (std::size_t i = 1; i <= std::min(old_tokens.size(), new_tokens.size()); ++i) {
        const std::string_view token = old_tokens[old_tokens.size() - i];
        if (token != new_tokens[new_tokens.size() - i]) break;
        suffix += token.size();
    }
    out.push_back({{at + prefix},
                   {before.size() - prefix - suffix},
                   std::string(after.substr(prefix, after.size() - prefix - suffix))});
}

// Equal symbols for equal pieces of both texts, and the pieces.
struct Pieces {
    std::string_view text;
    const std::vector<std::string_view>& pieces;
};

// Turns edits of pieces into splices of a text in which the first piece begins at `at`.
void add_splices(const std::vector<Replaced>& edits, const std::vector<std::string_view>& before,
                 const Pieces& after, std::size_t at, std::vector<Splice>& out) {
    const std::vector<std::size_t> old_starts = starts_of(before);
    const std::vector<std::size_t> new_starts = starts_of(after.pieces);
    for (const Replaced& edit : edits) {
        const std::size_t begin = old_starts[edit.old_begin];
        const std::size_t new_begin = new_starts[edit.new_begin];
        const std::size_t new_size = new_starts[edit.new_end] - new_begin;
        out.push_back({{at + begin},
                       {old_starts[edit.old_end] - begin},
                       std::string(after.text.substr(new_begin, new_size))});
    }
}

// Compares one hunk by token, or replaces it whole.
void splice_hunk(std::string_view before, std::string_view after, std::size_t at,
                 std::vector<Splice>& out) {
    if (before.empty() || after.empty() || before.size() + after.size() > kTokenBytes) {
        return replace_whole(before, after, at, out);
    }
    const std::vector<std::string_view> old_tokens = tokens(before);
    const std::vector<std::string_view> new_tokens = tokens(after);
    Alphabet alphabet;
    const auto old_symbols = alphabet.symbols(old_tokens);
    const auto new_symbols = alphabet.symbols(new_tokens);
    const std::vector<Replaced> edits = myers_diff(old_symbols, new_symbols);

    std::size_t gone = 0;
    for (const Replaced& edit : edits) gone += edit.old_end - edit.old_begin;
    const std::size_t kept = old_tokens.size() - gone;
    if (2 * kept < std::max(old_tokens.size(), new_tokens.size()))
        return replace_whole(before, after, at, out);

    add_splices(edits, old_tokens, {after, new_tokens}, at, out);
}

}  // namespace

// A last line without terminator counts as a line.
std::vector<std::string_view> split_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t newline = text.find('\n');
        const std::size_t size = newline == std::string_view::npos ? text.size() : newline + 1;
        lines.push_back(text.substr(0, size));
        text.remove_prefix(size);
    }
    return lines;
}

namespace {

// The bytes that both texts begin with.
std::size_t common_prefix(std::string_view one, std::string_view other) {
    constexpr std::size_t kBlock = 4096;
    const std::size_t most = std::min(one.size(), other.size());
    std::size_t at = 0;
    while (at + kBlock <= most && std::memcmp(one.data() + at, other.data() + at, kBlock) == 0)
        at += kBlock;
    while (at < most && one[at] == other[at]) ++at;
    return at;
}

// The bytes that both texts end with.
std::size_t common_suffix(std::string_view one, std::string_view other) {
    constexpr std::size_t kBlock = 4096;
    const std::size_t most = std::min(one.size(), other.size());
    const char* const one_end = one.data() + one.size();
    const char* const other_end = other.data() + other.size();
    std::size_t size = 0;
    while (size + kBlock <= most &&
           std::memcmp(one_end - size - kBlock, other_end - size - kBlock, kBlock) == 0)
        size += kBlock;
    while (size < most && one[one.size() - size - 1] == other[other.size() - size - 1]) ++size;
    return size;
}

// The size of `begin` without what follows its last newline, and without `lines` lines before that.
std::size_t without_last_lines(std::string_view begin, std::size_t lines) {
    std::size_t size = begin.size();
    for (std::size_t kept = 0; size > 0; ++kept) {
        const std::size_t newline = begin.rfind('\n', size - 1);
        if (newline == std::string_view::npos) return 0;
        if (kept == lines) return newline + 1;
        size = newline;
    }
    return 0;
}

// Two texts without the whole lines that both have at either end.
struct Middles {
    std::string_view before;
    std::string_view after;
    std::size_t bytes = 0;  // In front of both.
    std::size_t lines = 0;
};

// `keep` common lines stay at either end. O(bytes), some gigabytes a second.
Middles middles_of(std::string_view before, std::string_view after, std::size_t keep) {
    Middles out{before, after};
    const std::size_t prefix = common_prefix(before, after);
    out.bytes = without_last_lines(before.substr(0, prefix), keep);
    const std::string_view skipped = before.substr(0, out.bytes);
    out.lines = static_cast<std::size_t>(std::count(skipped.begin(), skipped.end(), '\n'));
    out.before.remove_prefix(out.bytes);
    out.after.remove_prefix(out.bytes);

    std::size_t suffix = common_suffix(out.before, out.after);
    const auto drop_line = [&] {
        const std::size_t newline = out.before.find('\n', out.before.size() - suffix);
        suffix = newline == std::string_view::npos ? 0 : out.before.size() - newline - 1;
    };
    const auto begins_line = [&](std::string_view text) {
        return suffix == text.size() || text[text.size() - suffix - 1] == '\n';
    };
    if (!begins_line(out.before) || !begins_line(out.after)) drop_line();
    for (std::size_t kept = 0; kept < keep && suffix > 0; ++kept) drop_line();
    out.before.remove_suffix(suffix);
    out.after.remove_suffix(suffix);
    return out;
}

// Compares lines as symbols, by histogram.
std::vector<Hunk> hunks_of(const std::vector<std::string_view>& before,
                           const std::vector<std::string_view>& after) {
    Alphabet alphabet;
    const auto old_symbols = alphabet.symbols(before);
    const auto new_symbols = alphabet.symbols(after);
    std::vector<Hunk> out;
    for (const Replaced& part : histogram_diff(old_symbols, new_symbols, alphabet.size())) {
        out.push_back({{{part.old_begin}, {part.old_end}}, {{part.new_begin}, {part.new_end}}});
    }
    return out;
}

}  // namespace

std::vector<Hunk> diff_lines(std::string_view before, std::string_view after) {
    const Middles middles = middles_of(before, after, 0);
    std::vector<Hunk> hunks = hunks_of(split_lines(middles.before), split_lines(middles.after));
    for (Hunk& hunk : hunks) {
        for (LineRange* const range : {&hunk.before, &hunk.after}) {
            range->begin.n += middles.lines;
            range->end.n += middles.lines;
        }
    }
    return hunks;
}

// Hunks by line first; then each hunk is refined by itself.
std::vector<Splice> minimal_splices(std::string_view before, std::string_view after) {
    const Middles middles = middles_of(before, after, 0);
    std::vector<Splice> out;
    if (middles.before.empty() || middles.after.empty()) {
        replace_whole(middles.before, middles.after, middles.bytes, out);
        return out;
    }
    const std::vector<std::string_view> old_lines = split_lines(middles.before);
    const std::vector<std::string_view> new_lines = split_lines(middles.after);
    const std::vector<std::size_t> old_starts = starts_of(old_lines);
    const std::vector<std::size_t> new_starts = starts_of(new_lines);
    for (const Hunk& hunk : hunks_of(old_lines, new_lines)) {
        const std::size_t begin = old_starts[hunk.before.begin.n];
        const std::size_t new_begin = new_starts[hunk.after.begin.n];
        splice_hunk(middles.before.substr(begin, old_starts[hunk.before.end.n] - begin),
                    middles.after.substr(new_begin, new_starts[hunk.after.end.n] - new_begin),
                    middles.bytes + begin, out);
    }
    return out;
}

// Works on code points, so edits may fall inside words.
std::vector<Splice> fewest_splices(std::string_view before, std::string_view after) {
    constexpr std::size_t kSteps = 50'000'000;
    constexpr std::size_t kLeastCost = 256;
    const std::vector<std::string_view> old_points = code_points(before);
    const std::vector<std::string_view> new_points = code_points(after);
    Alphabet alphabet;
    const auto old_symbols = alphabet.symbols(old_points);
    const auto new_symbols = alphabet.symbols(new_points);
    const std::size_t size = old_points.size() + new_points.size();
    std::vector<Splice> out;
    add_splices(myers_diff(old_symbols, new_symbols, std::max(kLeastCost, kSteps / (size + 1))),
                old_points, {after, new_points}, 0, out);
    return out;
}

// The format of POSIX diff -u.
std::string unified_diff(std::string_view before, std::string_view after,
                         const UnifiedOptions& options) {
    const Middles middles = middles_of(before, after, options.context);
    const std::vector<std::string_view> old_lines = split_lines(middles.before);
    const std::vector<std::string_view> new_lines = split_lines(middles.after);
    const std::vector<Hunk> hunks = hunks_of(old_lines, new_lines);
    if (hunks.empty()) return "";
    const std::size_t from_line = options.lines_before_from + middles.lines;
    const std::size_t to_line = options.lines_before_to + middles.lines;

    std::string out;
    if (!options.from.empty() || !options.to.empty())
        out = cat("--- ", options.from, "\n+++ ", options.to, "\n");
    const auto put = [&](char mark, std::string_view line) {
        out += mark;
        out.append(line);
        if (!line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
    };
    // An empty range is named by the line before it, as diff does.
    const auto range = [](std::size_t begin, std::size_t count) {
        if (count == 1) return cat(begin + 1);
        return cat(count == 0 ? begin : begin + 1, ",", count);
    };
    for (std::size_t i = 0; i < hunks.size();) {
        // Hunks whose contexts would meet are printed together.
        std::size_t last = i;
        while (last + 1 < hunks.size() &&
               hunks[last + 1].before.begin.n - hunks[last].before.end.n <= 2 * options.context) {
            ++last;
        }
        const std::size_t lead = std::min(options.context, hunks[i].before.begin.n);
        const std::size_t trail =
            std::min(options.context, old_lines.size() - hunks[last].before.end.n);
        const std::size_t old_begin = hunks[i].before.begin.n - lead;
        const std::size_t new_begin = hunks[i].after.begin.n - lead;
        const std::size_t old_end = hunks[last].before.end.n + trail;
        const std::size_t new_end = hunks[last].after.end.n + trail;
        cat_to(out, cat("@@ -", range(from_line + old_begin, old_end - old_begin), " +",
                        range(to_line + new_begin, new_end - new_begin), " @@\n"));
        std::size_t at = old_begin;
        for (; i <= last; ++i) {
            for (; at < hunks[i].before.begin.n; ++at) put(' ', old_lines[at]);
            for (; at < hunks[i].before.end.n; ++at) put('-', old_lines[at]);
            for (std::size_t j = hunks[i].after.begin.n; j < hunks[i].after.end.n; ++j)
                put('+', new_lines[j]);
        }
        for (; at < old_end; ++at) put(' ', old_lines[at]);
    }
    return out;
}

}  // namespace quire::text
