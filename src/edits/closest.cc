// An agent that misremembers a passage mostly has some of its lines right. So each line of the text
// that equals a wanted one, blanks aside, votes for the place at which the passage would begin, and
// the place with most votes wins; of two the upper one. Only where no line is right is likeness
// measured, and then of one line, the longest wanted: it tells more than a brace. Either way it is
// one pass, with O(1) for a line that has no vote and a set of 4096 bits for one that is measured.
#include "edits/closest.h"

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "edits/lines.h"

namespace quire::edits {

namespace {

// Enough lines and columns to judge by; more would only slow down a miss.
constexpr std::size_t kMostWanted = 200;
constexpr std::size_t kMostColumns = 400;
// Two lines that share fewer letter pairs than this are not similar.
constexpr double kSimilar = 0.5;

std::string without_blanks(std::string_view line) {
    std::string out;
    for (const char c : line) {
        if (c != ' ' && c != '\t' && c != '\r' && c != '\n') out += c;
    }
    return out;
}

std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t newline = text.find('\n');
        const std::size_t length = newline == std::string_view::npos ? text.size() : newline + 1;
        lines.push_back(text.substr(0, length));
        text.remove_prefix(length);
    }
    return lines;
}

// The pairs of neighbouring bytes, hashed into a set of 4096. The likeness of two lines is the one
// of their sets (Dice's coefficient).
class Pairs {
public:
    // Hashing keeps the set at half a kilobyte; a few collisions do not change the ranking.
    explicit Pairs(std::string_view line) {
        line = line.substr(0, kMostColumns);
        for (std::size_t i = 1; i < line.size(); ++i) {
            const auto pair =
                static_cast<std::uint32_t>(static_cast<unsigned char>(line[i - 1]) << 8) |
                static_cast<unsigned char>(line[i]);
            set_.set((pair * 2654435761U) >> 20);
        }
        size_ = set_.count();
    }
    double likeness(const Pairs& other) const {
        if (size_ + other.size_ == 0) return 0;
        return 2.0 * static_cast<double>((set_ & other.set_).count()) /
               static_cast<double>(size_ + other.size_);
    }

private:
    std::bitset<4096> set_;
    std::size_t size_ = 0;
};

}  // namespace

// First choice: the place for which most lines vote. Without any vote: the line most like the
// longest wanted one.
std::optional<text::LineRange> closest_lines(const seq::Rope& text, std::string_view wanted) {
    std::vector<std::string_view> lines = split(wanted);
    const std::size_t height = std::max<std::size_t>(lines.size(), 1);
    lines.resize(std::min(lines.size(), kMostWanted));

    std::unordered_map<std::string, std::vector<std::size_t>>
        places;  // Maps each wanted line to its places in `wanted`.
    std::size_t longest = 0;
    std::string longest_line;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        std::string bare = without_blanks(lines[i]);
        if (bare.empty()) continue;
        if (bare.size() > longest_line.size()) {
            longest = i;
            longest_line = bare;
        }
        places[std::move(bare)].push_back(i);
    }
    if (places.empty()) return std::nullopt;

    // Each line that equals a wanted one votes for the place where the whole would begin.
    std::unordered_map<std::size_t, std::size_t> votes;
    const Pairs wanted_pairs(longest_line);
    std::size_t like_at = 0;
    double like = 0;
    const text::Line count = text.lines();
    for_each_line(text, {{0}, count}, [&](text::Line line, std::string_view content) {
        const std::string bare = without_blanks(content);
        if (const auto at = places.find(bare); at != places.end()) {
            for (const std::size_t i : at->second) {
                if (line.n >= i) ++votes[line.n - i];
            }
        // Likeness is measured only until the first vote, for it then decides nothing.
        } else if (votes.empty() && bare.size() > 1) {
            const double alike = wanted_pairs.likeness(Pairs(bare));
            if (alike > like) {
                like = alike;
                like_at = line.n;
            }
        }
        return true;
    });

    std::size_t begin = like_at - std::min(like_at, longest);
    if (!votes.empty()) {
        const auto best = std::ranges::max_element(votes, [](const auto& a, const auto& b) {
            return a.second != b.second ? a.second < b.second : a.first > b.first;
        });
        begin = best->first;
    } else if (like < kSimilar) {
        return std::nullopt;
    }
    return text::LineRange{{begin}, {std::min(begin + height, count.n)}};
}

}  // namespace quire::edits
