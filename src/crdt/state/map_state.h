// MapState: the writes to each key, and the winning one: the last by (lamport, peer). An erase is a
// write too.
//
// Most maps have few keys, and most keys one write: those lie in one sorted vector. A map with more
// than kFew keys has a hash table of their places, and its order by key is computed when somebody
// reads all of it: a writer of many keys would pay for a search tree at each write. Keys that come in
// order are new, so the table is computed when the first one comes that does not, or is looked up.
//
//     keys    [ "b" ] [ "c" ] [ "a" ] ...      in order of their first writes
//     table   [ · ] [ 7f, 0 ] [ · ] [ a2, 2 ]  a hash and the place in keys; linear probing
//     order   [ 2, 0, 1 ]                      places by key, as far as they were ever sorted
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "crdt/ids/ids.h"

namespace quire::crdt {

// The entries of one map.
class MapState {
public:
    // A write, by its number in history and its rank.
    struct Write {
        std::uint32_t lv = 0;
        Lamport lamport = 0;
        PeerId peer = 0;
        bool erases = false;
        bool loses_to(const Write& other) const {
            return lamport != other.lamport ? lamport < other.lamport : peer < other.peer;
        }
    };
    // A key's writes: the winner and the others.
    struct Entry {
        Write winner;
        std::unique_ptr<std::vector<Write>> others;  // Null while there are none.
    };

    // Returns true if the write wins its key. O(1) amortised.
    bool apply(std::string_view key, const Write& write);
    // The entry of a key, null if nothing was ever written to it. An erased key has an entry
    // whose winner erases. Valid until the next apply(). O(1) amortised.
    const Entry* find(std::string_view key) const;
    // Calls take(key, entry) for each key that was ever written, sorted by key. O(keys), and
    // O(n log n) for n keys that are new since the last time.
    template <class Take>
    void for_each(Take take) const {
        if (many_ == nullptr) {
            for (const auto& [key, entry] : few_) take(key, entry);
            return;
        }
        many_->sort();
        for (const std::uint32_t place : many_->order) {
            const Keyed& keyed = many_->keys[place];
            take(keyed.first, keyed.second);
        }
    }
    // Forgets every key, as if nothing was ever written.
    void clear() {
        few_.clear();
        many_.reset();
    }

private:
    static constexpr std::size_t kFew = 16;
    using Keyed = std::pair<std::string, Entry>;
    struct Place {
        std::uint32_t hash = 0;
        std::uint32_t next = 0;  // The place in keys plus one; 0 for an empty cell.
    };
    struct Many {
        // A deque: a vector of this length keeps room for up to twice as many, and moves them.
        std::deque<Keyed> keys;
        std::vector<Place> table;  // A power of two of cells, at most half of them used.
        std::size_t entered = 0;   // How many of the keys are in the table.
        std::vector<std::uint32_t> order;

        // Returns true if the key comes behind all others, so that it is new.
        bool goes_behind(std::string_view key) const {
            return order.size() == keys.size() && keys[order.back()].first < key;
        }
        void append(Keyed keyed);
        // The cell of a key, or the empty one where it belongs.
        // Enters the keys that are not in the table yet, with room for one more.
        Place& cell_of(std::string_view key, std::uint32_t hash);
        // Makes the table large enough and enters what is missing. O(keys), amortised O(1) for a
        // key.
        void enter_all();
        void enter(Place place);
        Entry* find_or_add(std::string_view key, const Write& write);
        void sort();
    };

    std::vector<Keyed> few_;      // Sorted; empty once there are many.
    std::unique_ptr<Many> many_;  // Null while there are few.

    // The entry of a key; null if there was none and the write has begun it.
    Entry* find_or_add(std::string_view key, const Write& write);
};

}  // namespace quire::crdt
