// Presence: what peers show of themselves for a while (a cursor, a name), by key. It is no part of
// any document's history and is kept in memory only.
//
// Each entry carries the wall time at which its owner wrote it; the later write wins, and of two
// with one time the one that is here already. An entry without a value says that its key was
// erased. An entry that is older than the timeout is nobody's any more: it is neither taken in nor
// handed out. Thread-confined.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/value.h"

namespace quire::crdt {

struct PresenceEntry {
    std::optional<Value> value;  // None: erased.
    std::int64_t written_ms = 0;
};
using PresenceEntries = std::map<std::string, PresenceEntry, std::less<>>;

class Presence {
public:
    explicit Presence(std::int64_t timeout_ms) : timeout_ms_(timeout_ms) {}

    // A write of our own. It counts as later than what the key held, even where another peer's
    // clock is ahead of ours: otherwise that peer would not take it. O(log entries).
    void set(std::string_view key, Value value, std::int64_t now_ms);
    void erase(std::string_view key, std::int64_t now_ms);

    // Takes in what another peer sent, entry by entry as far as each is later than ours.
    void merge(PresenceEntries entries, std::int64_t now_ms);

    // Forgets what is too old. O(entries), as are the functions below, which call it first.
    void expire(std::int64_t now_ms);
    // Everything to be sent to a peer that joins; with a key, that entry alone, if it is there.
    PresenceEntries entries(std::int64_t now_ms);
    PresenceEntries entries(std::int64_t now_ms, std::string_view key);
    // The values by key, without those that were erased.
    Map states(std::int64_t now_ms);

private:
    bool is_old(const PresenceEntry& entry, std::int64_t now_ms) const;
    void write(std::string_view key, std::optional<Value> value, std::int64_t now_ms);

    std::int64_t timeout_ms_;
    PresenceEntries entries_;
};

}  // namespace quire::crdt
