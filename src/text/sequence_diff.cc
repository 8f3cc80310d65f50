// Both algorithms fill the same two bit vectors (which items of each side are kept) region by
// region, so they can hand regions to each other. A region is a Box; common items at its ends are
// trimmed first.
//
// Myers' algorithm searches from both corners of the box at once along diagonals (k = x - y); where
// the two searches meet lies a middle point of a shortest path, and the two halves are solved
// alone. That needs O(n + m) memory instead of the whole edit graph. If the cost cap is reached
// first, the box is split at the point that got furthest, and the result is only a good path.
//
// Histogram diff, after JGit's: for each run of items common to both sides, the rarity of its
// rarest item decides; the best run becomes an anchor, and the boxes left and right of it follow.

#include "text/sequence_diff.h"

#include <algorithm>
#include <optional>

namespace quire::text {

namespace {

// A region of both sequences that is still to be compared.
struct Box {
    std::size_t old_begin, old_end;
    std::size_t new_begin, new_end;

    std::size_t old_size() const { return old_end - old_begin; }
    std::size_t new_size() const { return new_end - new_begin; }
};

// The items of each side that are kept; the algorithms fill it in any order.
class Comparison {
public:
    const Symbols before;
    const Symbols after;

    Comparison(Symbols old_items, Symbols new_items)
        : before(old_items),
          after(new_items),
          old_changed_(before.size()),
          new_changed_(after.size()) {}

    // Removes equal items at both ends; false if nothing is left to decide. Items left on one side
    // only are changed.
    bool trim(Box& box) {
        while (box.old_size() > 0 && box.new_size() > 0 &&
               before[box.old_begin] == after[box.new_begin]) {
            ++box.old_begin;
            ++box.new_begin;
        }
        while (box.old_size() > 0 && box.new_size() > 0 &&
               before[box.old_end - 1] == after[box.new_end - 1]) {
            --box.old_end;
            --box.new_end;
        }
        if (box.old_size() > 0 && box.new_size() > 0) return true;
        change(box);
        return false;
    }

    void change(const Box& box) {
        std::fill(old_changed_.begin() + static_cast<std::ptrdiff_t>(box.old_begin),
                  old_changed_.begin() + static_cast<std::ptrdiff_t>(box.old_end), char{1});
        std::fill(new_changed_.begin() + static_cast<std::ptrdiff_t>(box.new_begin),
                  new_changed_.begin() + static_cast<std::ptrdiff_t>(box.new_end), char{1});
    }

    // The runs between kept items, in order.
    std::vector<Replaced> replaced() const {
        std::vector<Replaced> out;
        std::size_t i = 0;
        std::size_t j = 0;
        while (i < before.size() || j < after.size()) {
            const Replaced from{i, i, j, j};
            while (i < before.size() && old_changed_[i]) ++i;
            while (j < after.size() && new_changed_[j]) ++j;
            if (i > from.old_begin || j > from.new_begin)
                out.push_back({from.old_begin, i, from.new_begin, j});
            if (i < before.size()) ++i;
            if (j < after.size()) ++j;
        }
        return out;
    }

private:
    std::vector<char> old_changed_;
    std::vector<char> new_changed_;
};

// Myers' algorithm on boxes.
class Myers {
public:
    Myers(Comparison& comparison, std::size_t cost_cap)
        : comparison_(comparison), cost_cap_(std::max<std::size_t>(cost_cap, 2)) {}

    // Boxes are worked off from an explicit stack; the recursion would be as deep as the text is
    // long.
    void run(Box whole) {
        std::vector<Box> todo{whole};
        while (!todo.empty()) {
            Box box = todo.back();
            todo.pop_back();
            if (!comparison_.trim(box)) continue;
            const auto [x, y] = split(box);
            const bool at_begin = x == 0 && y == 0;
            const bool at_end = x == box.old_size() && y == box.new_size();
            if (at_begin || at_end) {
                comparison_.change(box);
                continue;
            }
            todo.push_back({box.old_begin + x, box.old_end, box.new_begin + y, box.new_end});
            todo.push_back({box.old_begin, box.old_begin + x, box.new_begin, box.new_begin + y});
        }
    }

private:
    struct Point {
        std::size_t x, y;
    };
    using Diagonals = std::vector<std::ptrdiff_t>;
    static constexpr std::ptrdiff_t kNowhere = -1;

    // The furthest point that one more edit reaches on diagonal `k`; kNowhere outside of the box.
    static std::ptrdiff_t step(const Diagonals& reach, std::ptrdiff_t zero, std::ptrdiff_t k,
                               std::ptrdiff_t n, std::ptrdiff_t m) {
        const auto at = [&](std::ptrdiff_t diagonal) {
            return reach[static_cast<std::size_t>(diagonal + zero)];
        };
        std::ptrdiff_t x = kNowhere;
        if (at(k + 1) != kNowhere && at(k + 1) - k <= m) x = at(k + 1);
        if (at(k - 1) != kNowhere && at(k - 1) < n) x = std::max(x, at(k - 1) + 1);
        return x;
    }

    // A point on a shortest path through the box, or on a good path if the cap is reached.
    Point split(const Box& box) {
        const auto n = static_cast<std::ptrdiff_t>(box.old_size());
        const auto m = static_cast<std::ptrdiff_t>(box.new_size());
        const auto* a = comparison_.before.data() + box.old_begin;
        const auto* b = comparison_.after.data() + box.new_begin;
        const std::ptrdiff_t delta = n - m;
        const bool odd = (delta & 1) != 0;
        const std::ptrdiff_t limit =
            std::min<std::ptrdiff_t>((n + m + 1) / 2, static_cast<std::ptrdiff_t>(cost_cap_));
        const std::ptrdiff_t zero = limit + 1;
        forward_.assign(static_cast<std::size_t>(2 * zero + 1), kNowhere);
        backward_.assign(static_cast<std::size_t>(2 * zero + 1), kNowhere);
        const auto reach = [&](Diagonals& side, std::ptrdiff_t k) -> std::ptrdiff_t& {
            return side[static_cast<std::size_t>(k + zero)];
        };

        for (std::ptrdiff_t d = 0; d <= limit; ++d) {
            for (std::ptrdiff_t k = -d; k <= d; k += 2) {
                std::ptrdiff_t x = d == 0 ? 0 : step(forward_, zero, k, n, m);
                if (x != kNowhere) {
                    while (x < n && x - k < m && a[x] == b[x - k]) ++x;
                }
                reach(forward_, k) = x;
                const std::ptrdiff_t facing = delta - k;
                if (x == kNowhere || !odd || facing < -(d - 1) || facing > d - 1) continue;
                const std::ptrdiff_t back = reach(backward_, facing);
                if (back != kNowhere && x + back >= n) return point(x, x - k);
            }
            for (std::ptrdiff_t k = -d; k <= d; k += 2) {
                std::ptrdiff_t x = d == 0 ? 0 : step(backward_, zero, k, n, m);
                if (x != kNowhere) {
                    while (x < n && x - k < m && a[n - 1 - x] == b[m - 1 - (x - k)]) ++x;
                }
                reach(backward_, k) = x;
                const std::ptrdiff_t facing = delta - k;
                if (x == kNowhere || odd || facing < -d || facing > d) continue;
                const std::ptrdiff_t front = reach(forward_, facing);
                if (front != kNowhere && x + front >= n) return point(n - x, m - (x - k));
            }
        }
        // The cap is reached: continue from the furthest point.
        std::ptrdiff_t best = 0;
        Point furthest{0, 0};
        for (std::ptrdiff_t k = -limit; k <= limit; ++k) {
            const std::ptrdiff_t x = reach(forward_, k);
            if (x == kNowhere || 2 * x - k <= best) continue;
            best = 2 * x - k;
            furthest = point(x, x - k);
        }
        return furthest;
    }

    static Point point(std::ptrdiff_t x, std::ptrdiff_t y) {
        return {static_cast<std::size_t>(x), static_cast<std::size_t>(y)};
    }

    Comparison& comparison_;
    std::size_t cost_cap_;
    Diagonals forward_;
    Diagonals backward_;
};

// Histogram diff on boxes.
class Histogram {
public:
    Histogram(Comparison& comparison, std::size_t symbol_count)
        : comparison_(comparison),
          count_(symbol_count),
          first_(symbol_count, kNone),
          next_(comparison.before.size(), kNone),
          budget_(200 * (comparison.before.size() + comparison.after.size()) + 1000) {}

    // Splits each box at its anchor, or hands it to Myers' algorithm.
    void run(Box whole) {
        std::vector<Box> todo{whole};
        while (!todo.empty()) {
            Box box = todo.back();
            todo.pop_back();
            if (!comparison_.trim(box)) continue;
            if (box.old_size() + box.new_size() > budget_) {
                budget_ = 0;
                Myers(comparison_, kFallbackCost).run(box);
                continue;
            }
            const Anchor anchor = find_anchor(box);
            if (anchor.size == 0) {
                if (anchor.any_common) {
                    Myers(comparison_, kFallbackCost).run(box);
                } else {
                    comparison_.change(box);
                }
                continue;
            }
            todo.push_back({anchor.old_begin + anchor.size, box.old_end,
                            anchor.new_begin + anchor.size, box.new_end});
            todo.push_back({box.old_begin, anchor.old_begin, box.new_begin, anchor.new_begin});
        }
    }

private:
    static constexpr std::size_t kNone = SIZE_MAX;
    // An item that is more frequent than this in a region does not tell where it belongs.
    static constexpr std::size_t kMostOccurrences = 64;
    static constexpr std::size_t kFallbackCost = 256;

    // A common run: as rare as possible, then as long as possible.
    struct Anchor {
        std::size_t old_begin = 0;
        std::size_t new_begin = 0;
        std::size_t size = 0;
        std::size_t occurrences = kMostOccurrences + 1;
        bool any_common = false;
    };

    void spend(std::size_t steps) { budget_ -= std::min(budget_, steps); }

    // Indexes the items of one side by symbol, then tries each run of the other side.
    Anchor find_anchor(const Box& box) {
        const Symbols a = comparison_.before;
        const Symbols b = comparison_.after;
        for (std::size_t i = box.old_end; i-- > box.old_begin;) {
            ++count_[a[i]];
            next_[i] = first_[a[i]];
            first_[a[i]] = i;
        }
        spend(box.old_size() + box.new_size());

        Anchor best;
        for (std::size_t j = box.new_begin; j < box.new_end;) {
            const std::size_t occurrences = count_[b[j]];
            best.any_common = best.any_common || occurrences > 0;
            std::size_t on = j + 1;
            if (occurrences > 0 && occurrences <= std::min(kMostOccurrences, best.occurrences) &&
                budget_ > 0) {
                on = std::max(on, consider(box, j, best));
            }
            j = on;
        }
        for (std::size_t i = box.old_begin; i < box.old_end; ++i) {
            count_[a[i]] = 0;
            first_[a[i]] = kNone;
        }
        return best;
    }

    // Updates the best anchor with the best run through b[j]; returns the next place in b to try.
    std::size_t consider(const Box& box, std::size_t j, Anchor& best) {
        const Symbols a = comparison_.before;
        const Symbols b = comparison_.after;
        std::size_t on = j + 1;
        std::size_t seen = box.old_begin;  // The end of the runs that were tried already.
        for (std::size_t i = first_[b[j]]; i != kNone; i = next_[i]) {
            spend(1);
            if (i < seen) continue;
            std::size_t begin = i;
            std::size_t new_begin = j;
            std::size_t rarest = count_[b[j]];
            while (begin > box.old_begin && new_begin > box.new_begin &&
                   a[begin - 1] == b[new_begin - 1]) {
                --begin;
                --new_begin;
                rarest = std::min(rarest, count_[a[begin]]);
            }
            std::size_t end = i + 1;
            std::size_t new_end = j + 1;
            while (end < box.old_end && new_end < box.new_end && a[end] == b[new_end]) {
                rarest = std::min(rarest, count_[a[end]]);
                ++end;
                ++new_end;
            }
            spend(end - begin);
            if (rarest < best.occurrences ||
                (rarest == best.occurrences && end - begin > best.size)) {
                best = {begin, new_begin, end - begin, rarest, true};
            }
            on = std::max(on, new_end);
            seen = end;
        }
        return on;
    }

    Comparison& comparison_;
    // The number of each symbol in the present region,
    std::vector<std::size_t> count_;
    // and the chain of its places.
    std::vector<std::size_t> first_;
    std::vector<std::size_t> next_;
    std::size_t budget_;
};

}  // namespace

std::vector<Replaced> myers_diff(Symbols before, Symbols after, std::size_t cost_cap) {
    Comparison comparison(before, after);
    Myers(comparison, cost_cap).run({0, before.size(), 0, after.size()});
    return comparison.replaced();
}

std::vector<Replaced> histogram_diff(Symbols before, Symbols after, std::size_t symbol_count) {
    Comparison comparison(before, after);
    Histogram(comparison, symbol_count).run({0, before.size(), 0, after.size()});
    return comparison.replaced();
}

}  // namespace quire::text
