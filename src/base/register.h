// Register: numbers things in the order in which they are first seen.
//
// Formats that name peers or keys by number use it: the items are written once as a table, in the
// order of their numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace quire {

// A table of distinct items. A few are searched one by one, more by hash; the item asked for last
// is found at once. O(1), amortised. Items need == and std::hash. Their numbers are 0, 1, 2 and so
// on, and stay until clear().
template <class T>
class Register {
public:
    // The number of the item, which is added if it is new. Runs of the same item, which are
    // frequent in a history, cost one comparison.
    std::uint32_t add(const T& item) {
        if (last_ < items_.size() && items_[last_] == item) return last_;
        last_ = index_of(item);
        return last_;
    }
    const std::vector<T>& items() const { return items_; }
    const T& operator[](std::size_t index) const { return items_[index]; }
    std::size_t size() const { return items_.size(); }
    // Empties the table and keeps its memory.
    void clear() {
        items_.clear();
        if (!by_item_.empty()) by_item_.clear();
    }

private:
    // Up to here items are compared one by one, which needs no hash.
    static constexpr std::size_t kFew = 8;

    // The hash table is filled once there are kFew items and another call comes; small tables never
    // make one.
    std::uint32_t index_of(const T& item) {
        const auto next = static_cast<std::uint32_t>(items_.size());
        if (items_.size() < kFew) {
            for (std::uint32_t i = 0; i < next; ++i) {
                if (items_[i] == item) return i;
            }
        } else {
            if (by_item_.empty()) {
                for (std::uint32_t i = 0; i < next; ++i) by_item_.emplace(items_[i], i);
            }
            const auto [at, is_new] = by_item_.emplace(item, next);
            if (!is_new) return at->second;
        }
        items_.push_back(item);
        return next;
    }

    std::vector<T> items_;
    std::unordered_map<T, std::uint32_t> by_item_;
    std::uint32_t last_ = 0;
};

}  // namespace quire
