// MapState: the writes to each key, and the winning one: the last by (lamport, peer). An erase is a
// write too.
#pragma once

#include <map>
#include <string>
#include <string_view>
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
    // A key's writes and its winner.
    struct Entry {
        Write winner;
        std::vector<Write> writes;  // All writes in the order in which they became known.
    };

    // True if the write wins its key.
    bool apply(std::string_view key, const Write& write);
    // The entry of a key, null if nothing was ever written to it. An erased key has an entry
    // whose winner erases. O(log keys).
    const Entry* find(std::string_view key) const;
    const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }
    void clear() { entries_.clear(); }

private:
    std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace quire::crdt
