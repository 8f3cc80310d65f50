// Times come from other machines, so they are compared without overflow: a time far in the past or
// in the future is a time like any other.
#include "crdt/state/presence.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace quire::crdt {

bool Presence::is_old(const PresenceEntry& entry, std::int64_t now_ms) const {
    // A difference that does not fit is a long one.
    std::int64_t age = 0;
    if (__builtin_sub_overflow(now_ms, entry.written_ms, &age)) return entry.written_ms < now_ms;
    return age > timeout_ms_;
}

// The time of an entry goes up with each write, even within one millisecond or under a clock that
// was set back, because merge() takes nothing that is not later.
void Presence::write(std::string_view key, std::optional<Value> value, std::int64_t now_ms) {
    const auto at = entries_.find(key);
    if (at == entries_.end()) {
        entries_.emplace(key, PresenceEntry{std::move(value), now_ms});
        return;
    }
    constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
    const std::int64_t before = at->second.written_ms;
    at->second = {std::move(value), std::max(now_ms, before == kLast ? kLast : before + 1)};
}

void Presence::set(std::string_view key, Value value, std::int64_t now_ms) {
    write(key, std::move(value), now_ms);
}

void Presence::erase(std::string_view key, std::int64_t now_ms) {
    write(key, std::nullopt, now_ms);
}

void Presence::merge(PresenceEntries entries, std::int64_t now_ms) {
    expire(now_ms);
    for (auto& [key, entry] : entries) {
        if (is_old(entry, now_ms)) continue;
        // An erase is taken in like a write, so that it outlives the value until both are old.
        const auto [at, is_new] = entries_.try_emplace(key, entry);
        if (!is_new && at->second.written_ms < entry.written_ms) at->second = std::move(entry);
    }
}

void Presence::expire(std::int64_t now_ms) {
    std::erase_if(entries_, [&](const auto& each) { return is_old(each.second, now_ms); });
}

PresenceEntries Presence::entries(std::int64_t now_ms) {
    expire(now_ms);
    return entries_;
}

PresenceEntries Presence::entries(std::int64_t now_ms, std::string_view key) {
    expire(now_ms);
    const auto at = entries_.find(key);
    return at == entries_.end() ? PresenceEntries() : PresenceEntries{*at};
}

Map Presence::states(std::int64_t now_ms) {
    expire(now_ms);
    Map states;
    for (const auto& [key, entry] : entries_) {
        if (entry.value) states.append(key, *entry.value);
    }
    return states;
}

}  // namespace quire::crdt
