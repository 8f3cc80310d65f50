// Braces of words: {a,b} and {1..9} make several words of one, before anything else is expanded.
//
// Atoms are bytes, or whole parts that are expanded later. One pass finds the pairs, so that braces which
// make nothing cost O(word). A word has at most kMostPairs that make something, and what they make is
// bounded by atoms as well as by words: each of the words has all that stands before and behind the braces.
#include <algorithm>

#include "base/concat.h"
#include "shell/parser_body.h"
#include "shell/run.h"

namespace quire::shell {

namespace {

constexpr std::size_t kMostPairs = 64;
// One more than Run::Braces makes.
constexpr std::size_t kMostBraceWords = 1024;
constexpr std::size_t kMostAtoms = 1 << 18;

// The texts of a sequence such as 1..5 or a..e..2; none if it is no sequence.
std::vector<std::string> sequence(const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t at = 0;;) {
        const std::size_t dots = text.find("..", at);
        parts.push_back(text.substr(at, dots == std::string::npos ? dots : dots - at));
        if (dots == std::string::npos) break;
        at = dots + 2;
    }
    if (parts.size() < 2 || parts.size() > 3) return {};
    const auto number = [](const std::string& part) {
        std::string_view digits = part;
        if (digits.starts_with('-')) digits.remove_prefix(1);
        return !digits.empty() && digits.size() < 7 &&
               std::all_of(digits.begin(), digits.end(), is_digit);
    };
    const bool numbers = number(parts[0]) && number(parts[1]);
    const bool letters = parts[0].size() == 1 && parts[1].size() == 1 &&
                         is_name_start(parts[0][0]) && is_name_start(parts[1][0]);
    if ((!numbers && !letters) || (parts.size() == 3 && !number(parts[2]))) return {};
    const long first = numbers ? std::stol(parts[0]) : parts[0][0];
    const long last = numbers ? std::stol(parts[1]) : parts[1][0];
    long step = parts.size() == 3 ? std::labs(std::stol(parts[2])) : 1;
    if (step == 0) step = 1;
    std::vector<std::string> out;
    const std::size_t width = std::max(parts[0].size(), parts[1].size());
    // bash pads all numbers to the same width if one of the two begins with a zero.
    const bool padded = numbers && (parts[0].starts_with('0') || parts[1].starts_with('0'));
    for (long at = first; first <= last ? at <= last : at >= last;
         at += first <= last ? step : -step) {
        std::string each = numbers ? cat(at) : std::string(1, static_cast<char>(at));
        if (padded && each.size() < width) each.insert(0, width - each.size(), '0');
        out.push_back(std::move(each));
        if (out.size() > kMostBraceWords) return out;
    }
    return out;
}

}  // namespace

Run::Atoms Run::atoms_of(const Word& word) {
    Atoms out;
    for (const Part& part : word.parts) {
        if (part.kind != PartKind::literal) {
            out.push_back({0, part.quoted, &part});
            continue;
        }
        // An empty quoted part makes a word too, but not that of "$@", which may have no elements.
        const bool begins_list = &part == &word.parts.front() && word.source.starts_with("\"$");
        if (part.text.empty() && !begins_list) out.push_back({0, true, nullptr});
        for (const char c : part.text) out.push_back({c, part.quoted, nullptr});
    }
    return out;
}

// Finds the pairs that are a list or a sequence. A pair that is neither stays as it is written, and so does
// a brace without its other one.
Run::Braces::Braces(const Atoms& all) : atoms(all) {
    // A sequence is short: two numbers or letters and a step.
    constexpr std::size_t kLongestSequence = 32;
    std::vector<std::vector<std::size_t>> open;  // The place of each '{', and of its commas.
    for (std::size_t at = 0; at < atoms.size(); ++at) {
        if (atoms[at].part != nullptr || atoms[at].quoted) continue;
        const char c = atoms[at].byte;
        if (c == '{') open.push_back({at});
        if (open.empty()) continue;
        if (c == ',') open.back().push_back(at);
        if (c != '}') continue;
        Pair pair;
        pair.cuts = std::move(open.back());
        open.pop_back();
        if (pair.cuts.size() == 1 && at - pair.cuts[0] < kLongestSequence) {
            std::string inner;
            bool is_plain = true;
            for (std::size_t i = pair.cuts[0] + 1; i < at; ++i) {
                is_plain = is_plain && atoms[i].part == nullptr && !atoms[i].quoted;
                inner += atoms[i].byte;
            }
            if (is_plain) pair.sequence = sequence(inner);
        }
        if (pair.cuts.size() == 1 && pair.sequence.empty()) continue;
        pair.cuts.push_back(at);
        pairs.emplace(pair.cuts[0], std::move(pair));
        is_complete = pairs.size() <= kMostPairs;
        if (!is_complete) return;
    }
    left = std::min(left, kMostAtoms / (atoms.size() + 1) + 1);
}

// Expands the first pair from `begin` on, and by recursion what stands in it and behind it.
std::vector<Run::Atoms> Run::Braces::words(std::size_t begin, std::size_t end) {
    const auto piece = [&](std::size_t from, std::size_t to) {
        return Atoms(atoms.begin() + static_cast<std::ptrdiff_t>(from),
                     atoms.begin() + static_cast<std::ptrdiff_t>(to));
    };
    const auto first = pairs.lower_bound(begin);
    if (first == pairs.end() || first->first >= end) return {piece(begin, end)};
    const Pair& pair = first->second;
    std::vector<Atoms> middles;
    for (const std::string& each : pair.sequence) {
        Atoms made;
        for (const char c : each) made.push_back({c, false, nullptr});
        middles.push_back(std::move(made));
    }
    for (std::size_t i = 0; pair.sequence.empty() && i + 1 < pair.cuts.size(); ++i) {
        for (Atoms& each : words(pair.cuts[i] + 1, pair.cuts[i + 1]))
            middles.push_back(std::move(each));
    }
    const Atoms head = piece(begin, first->first);
    std::vector<Atoms> out;
    const std::vector<Atoms> tails = words(pair.cuts.back() + 1, end);
    for (const Atoms& middle : middles) {
        for (const Atoms& tail : tails) {
            if (left == 0) {
                is_complete = false;
                return out;
            }
            --left;
            Atoms all = head;
            all.insert(all.end(), middle.begin(), middle.end());
            all.insert(all.end(), tail.begin(), tail.end());
            out.push_back(std::move(all));
        }
    }
    return out;
}

}  // namespace quire::shell
