// Line edits against a naive model: lines in a vector, with every rule spelt out again.
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "edits/line_edit.h"
#include "edits/poem_for_test.h"

namespace quire::edits {
namespace {

using Lines = std::vector<std::string>;

Lines split(const std::string& text) {
    Lines lines;
    std::string line;
    for (const char c : text) {
        line += c;
        if (c == '\n') lines.push_back(std::exchange(line, ""));
    }
    if (!line.empty()) lines.push_back(line);
    return lines;
}

std::string join(const Lines& lines) {
    std::string text;
    for (const std::string& line : lines) text += line;
    return text;
}

bool ends_crlf(const std::string& line) {
    return line.size() > 1 && line.compare(line.size() - 2, 2, "\r\n") == 0;
}
bool ends_newline(const std::string& line) {
    return !line.empty() && line.back() == '\n';
}

enum class Style { all_crlf, all_lf, mixed, none };
Style style(const Lines& lines) {
    bool crlf = false;
    bool lf = false;
    for (const std::string& line : lines) {
        crlf = crlf || ends_crlf(line);
        lf = lf || (ends_newline(line) && !ends_crlf(line));
    }
    if (crlf && lf) return Style::mixed;
    return crlf ? Style::all_crlf : lf ? Style::all_lf : Style::none;
}

std::string with_ends(const std::string& content, const std::string& end) {
    std::string out;
    for (std::size_t i = 0; i < content.size(); ++i) {
        if (content[i] == '\r' && i + 1 < content.size() && content[i + 1] == '\n') continue;
        out += content[i] == '\n' ? end : std::string(1, content[i]);
    }
    return out;
}

// The contract's sentence: in CRLF text newlines become "\r\n"; in mixed text they become the
// neighbour's; otherwise they stay.
std::string styled(const std::string& content, const Lines& lines,
                   const std::optional<std::string>& neighbour) {
    switch (style(lines)) {
        case Style::all_crlf:
            return with_ends(content, "\r\n");
        case Style::mixed:
            return with_ends(content, neighbour && ends_crlf(*neighbour) ? "\r\n" : "\n");
        case Style::all_lf:
        case Style::none:
            return content;
    }
    return content;
}

std::string end_for(const std::string& content, const Lines& lines,
                    const std::optional<std::string>& neighbour) {
    switch (style(lines)) {
        case Style::all_crlf:
            return "\r\n";
        case Style::mixed:
            return neighbour && ends_crlf(*neighbour) ? "\r\n" : "\n";
        case Style::all_lf:
            return "\n";
        case Style::none: {
            const std::size_t at = content.find('\n');
            return at != std::string::npos && at > 0 && content[at - 1] == '\r' ? "\r\n" : "\n";
        }
    }
    return "\n";
}

bool insert(Lines& lines, std::size_t at, const std::string& raw) {
    if (at > lines.size() || raw.empty()) return false;
    if (lines.empty()) {
        lines = split(raw);
        return true;
    }
    std::optional<std::string> neighbour;
    for (std::size_t i = at; i-- > 0 && !neighbour;) {
        if (ends_newline(lines[i])) neighbour = lines[i];
    }
    if (!neighbour && at < lines.size()) neighbour = lines[at];
    std::string content = styled(raw, lines, neighbour);
    const std::string end = end_for(content, lines, neighbour);
    std::string text;
    const bool before = at == lines.size() && !ends_newline(lines.back());
    if (before) {
        text = join(lines) + end + content;
    } else {
        if (!ends_newline(content)) content += end;
        text = join({lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(at)}) + content +
               join({lines.begin() + static_cast<std::ptrdiff_t>(at), lines.end()});
    }
    lines = split(text);
    return true;
}

bool replace(Lines& lines, std::size_t begin, std::size_t end, const std::string& raw) {
    if (begin > end || end > lines.size()) return false;
    if (begin == end) return insert(lines, begin, raw);
    const auto from = lines.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto to = lines.begin() + static_cast<std::ptrdiff_t>(end);
    std::string content;
    if (!raw.empty()) {
        std::optional<std::string> neighbour = lines[end - 1];
        if (!ends_newline(*neighbour))
            neighbour = begin > 0 ? std::optional(lines[begin - 1]) : lines[begin];
        content = styled(raw, lines, neighbour);
        if (!ends_newline(content) && ends_newline(lines[end - 1]))
            content += ends_crlf(lines[end - 1]) ? "\r\n" : "\n";
    }
    lines = split(join({lines.begin(), from}) + content + join({to, lines.end()}));
    return true;
}

class Dice {
public:
    explicit Dice(std::uint64_t seed) : engine_(seed) {}
    std::size_t below(std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(engine_);
    }
    std::string text(std::size_t most_lines, int style) {
        static constexpr const char* kWords[] = {"a", "b", "é", "", "x y", "😀", "a\rb"};
        std::string out;
        const std::size_t lines = below(most_lines + 1);
        for (std::size_t i = 0; i < lines; ++i) {
            out += kWords[below(7)];
            const bool crlf = style == 1 || (style == 2 && below(2) == 0);
            if (i + 1 < lines || below(2) == 0) out += crlf ? "\r\n" : "\n";
        }
        return out;
    }

private:
    std::mt19937_64 engine_;
};

TEST(LineEditModel, SequentialBatchesAgree) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    for (int round = 0; round < 20000; ++round) {
        const std::string text = dice.text(6, static_cast<int>(dice.below(3)));
        Lines model = split(text);
        bool fits = true;
        LineEdit edit;
        std::string trace = testing::PrintToString(text);
        for (std::size_t k = dice.below(5) + 1; k > 0 && fits; --k) {
            const std::size_t begin = dice.below(model.size() + 2);
            const std::size_t end = begin + dice.below(3);
            const std::string content = dice.text(3, static_cast<int>(dice.below(3)));
            trace += " | " + std::to_string(begin) + ".." + std::to_string(end) + " " +
                     testing::PrintToString(content);
            switch (dice.below(3)) {
                case 0:
                    edit.operations.emplace_back(InsertLines{{begin}, content, {}});
                    fits = insert(model, begin, content);
                    break;
                case 1:
                    edit.operations.emplace_back(DeleteLines{{{begin}, {end}}, {}});
                    fits = end <= model.size() && (begin == end || replace(model, begin, end, ""));
                    break;
                default:
                    edit.operations.emplace_back(ReplaceLines{{{begin}, {end}}, content, {}});
                    fits = replace(model, begin, end, content);
            }
        }
        const auto planned = line_edits(std::move(edit))(seq::Rope(text), 1);
        ASSERT_EQ(planned.has_value(), fits) << trace;
        if (!fits) continue;
        ASSERT_EQ(applied(text, *planned), join(model)) << trace;
        ASSERT_TRUE(join(model) != text || planned->splices.empty()) << trace;
        for (std::size_t i = 1; i < planned->splices.size(); ++i) {
            const text::Splice& above = planned->splices[i - 1];
            ASSERT_LT((above.at + above.erase).n, planned->splices[i].at.n) << trace;
        }
    }
}

// Operations on the text before the call give the same result one by one from the bottom as all at
// once.
TEST(LineEditModel, OriginalBatchesAgreeWithTheSameFromTheBottomUp) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    for (int round = 0; round < 20000; ++round) {
        std::string text = dice.text(9, static_cast<int>(dice.below(2)));
        if (!text.empty() && text.back() != '\n')
            text += '\n';  // Else two at the end depend on each other.
        const std::size_t count = split(text).size();
        std::vector<LineOp> downwards;
        for (std::size_t line = dice.below(2); line < count; line += 1 + dice.below(2)) {
            const std::string content = dice.text(2, 0);
            const std::size_t end = std::min(count, line + dice.below(3));
            if (line == end && content.empty()) continue;
            downwards.emplace_back(ReplaceLines{{{line}, {end}}, content, {}});
            line = end;
        }
        const std::vector<LineOp> upwards(downwards.rbegin(), downwards.rend());
        const std::string once =
            outcome(text, line_edits({.operations = downwards, .coords = Coords::original}));
        const std::string shuffled =
            outcome(text, line_edits({.operations = upwards, .coords = Coords::original}));
        const std::string in_turn = outcome(text, line_edits({.operations = upwards}));
        ASSERT_EQ(once, in_turn) << testing::PrintToString(text);
        ASSERT_EQ(shuffled, in_turn) << testing::PrintToString(text);
    }
}

}  // namespace
}  // namespace quire::edits
