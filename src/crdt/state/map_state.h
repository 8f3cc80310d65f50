// MapState: the writes to each key, and the winning one: the last by (lamport, peer). An erase is a
// write too.
//
// Most maps have few keys, and most keys one write: those lie in one sorted vector. A map with more
// keys moves into a tree.
#pragma once

#include <map>
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

    // True if the write wins its key. O(log keys).
    bool apply(std::string_view key, const Write& write);
    // The entry of a key, null if nothing was ever written to it. An erased key has an entry
    // whose winner erases. Valid until the next apply(). O(log keys).
    const Entry* find(std::string_view key) const;
    // Calls take(key, entry) for each key that was ever written, sorted by key.
    template <class Take>
    void for_each(Take take) const {
        for (const auto& [key, entry] : few_) take(key, entry);
        for (const auto& [key, entry] : many_) take(key, entry);
    }
    void clear() {
        few_.clear();
        many_.clear();
    }

private:
    static constexpr std::size_t kFew = 16;

    void add(std::string_view key, const Write& write);

    // All keys are in one of the two; in `few_` they are sorted.
    std::vector<std::pair<std::string, Entry>> few_;
    std::map<std::string, Entry, std::less<>> many_;
};

}  // namespace quire::crdt
