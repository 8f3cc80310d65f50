// A region says that original[begin, end) reads as `length` other bytes now. Between two regions
// the text is the original, moved:
//
//   original   ....[ region 1 ]........[ region 2 ]....
//   text       ....[ longer now ]........[ short ]....
//   now(x) = x + grown - shrunk, with the sums over the regions before x
//
// A step that touches regions is merged with them into one, so regions stay ascending and apart. No
// old text is kept: splices() reads both ropes where they differ.
#include "edits/edited_text.h"

#include <algorithm>

#include "base/utf8.h"

namespace quire::edits {

namespace {

// Beyond this an edit that only seems to change something is taken for one that does.
constexpr std::size_t kMostCompared = 1 << 20;

}  // namespace

void EditedText::splice(text::Byte at, text::Byte erase, std::string_view insert) {
    text_.splice(at, erase, insert);
    record(at.n, erase.n, insert.size());
}

// Merges the step with every region that it touches.
void EditedText::record(std::size_t at, std::size_t erase, std::size_t insert) {
    // A position of the present text becomes one of the original by subtracting `grown` and adding
    // `shrunk`, summed over the regions before it.
    std::size_t grown = grown_;
    std::size_t shrunk = shrunk_;
    const std::size_t end = at + erase;
    const auto now = [&](std::size_t original) { return original + grown - shrunk; };

    // Most batches go downwards through the text, so search from the back for the first region that
    // the step touches.
    std::size_t first = regions_.size();
    while (first > 0) {
        const Region& region = regions_[first - 1];
        if (now(region.end) < at) break;
        grown -= region.length;
        shrunk -= region.end - region.begin;
        --first;
    }

    // At this point grown and shrunk cover the regions before `first`.
    Region merged{at + shrunk - grown, 0, 0};
    std::size_t now_begin = at;
    std::size_t now_end = end;
    std::size_t last = first;
    for (; last < regions_.size(); ++last) {
        const Region& region = regions_[last];
        if (now(region.begin) > end) break;
        if (now(region.begin) < at) {
            merged.begin = region.begin;
            now_begin = now(region.begin);
        }
        grown += region.length;
        shrunk += region.end - region.begin;
        now_end = std::max(now_end, now(region.end));
    }
    merged.end = now_end + shrunk - grown;
    merged.length = now_end - now_begin - erase + insert;

    for (std::size_t i = first; i < last; ++i) {
        grown_ -= regions_[i].length;
        shrunk_ -= regions_[i].end - regions_[i].begin;
    }
    grown_ += merged.length;
    shrunk_ += merged.end - merged.begin;
    const auto from = regions_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto to = regions_.begin() + static_cast<std::ptrdiff_t>(last);
    regions_.insert(regions_.erase(from, to), merged);
}

// Reads each region back and trims what it has in common with the original at both ends.
std::vector<text::Splice> EditedText::splices() const {
    std::vector<text::Splice> out;
    std::size_t grown = 0;
    std::size_t shrunk = 0;
    for (const Region& region : regions_) {
        const std::size_t now = region.begin + grown - shrunk;
        grown += region.length;
        shrunk += region.end - region.begin;

        std::string insert = text_.slice({now}, {now + region.length});
        const std::size_t erase = region.end - region.begin;
        // At most as much of the original is read as was written in its place.
        const std::size_t most = std::min(erase, insert.size());
        const std::string head = original_.slice({region.begin}, {region.begin + most});
        std::size_t prefix = static_cast<std::size_t>(
            std::mismatch(head.begin(), head.end(), insert.begin()).first - head.begin());
        const auto inside = [&](std::size_t offset) {
            const bool in_new = offset < insert.size() && !utf8::is_boundary(insert[offset]);
            return in_new || !original_.is_boundary({region.begin + offset});
        };
        // Two characters may share their first bytes. A splice must not begin or end within one, in
        // either text.
        while (prefix > 0 && inside(prefix)) --prefix;

        const std::string tail = original_.slice({region.end - (most - prefix)}, {region.end});
        std::size_t suffix = static_cast<std::size_t>(
            std::mismatch(tail.rbegin(), tail.rend(), insert.rbegin()).first - tail.rbegin());
        while (suffix > 0 && !utf8::is_boundary(insert[insert.size() - suffix])) --suffix;

        if (prefix + suffix == erase && prefix + suffix == insert.size()) continue;
        out.push_back({{region.begin + prefix},
                       {erase - prefix - suffix},
                       insert.substr(prefix, insert.size() - prefix - suffix)});
    }
    return undone_by_itself(out) ? std::vector<text::Splice>() : out;
}

// True if the splices together change nothing, as when lines were moved past lines that read the
// same.
bool EditedText::undone_by_itself(const std::vector<text::Splice>& splices) const {
    // Sums of several regions may cancel out, though each differs at its own place.
    if (splices.empty() || original_.bytes() != text_.bytes()) return false;
    const text::Byte begin = splices.front().at;
    const text::Byte end = splices.back().at + splices.back().erase;
    if ((end - begin).n > kMostCompared) return false;
    return original_.slice(begin, end) == text_.slice(begin, end);
}

}  // namespace quire::edits
