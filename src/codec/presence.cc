// Presence is read entry by entry; what follows the last one makes it corrupt.
//
// Entries come from any peer, so they are checked like a blob and charged to a budget. Of two
// entries with one key the later one counts, as if they had come one after the other.
#include "codec/presence.h"

#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/varint.h"
#include "codec/budget.h"
#include "codec/state_value.h"

namespace quire::codec {

Bytes encode_presence(const crdt::PresenceEntries& entries) {
    ByteWriter out;
    write_uleb(out, entries.size());
    for (const auto& [key, entry] : entries) {
        write_sized(out, key);
        out.byte(entry.value ? 1 : 0);
        if (entry.value) write_state_value(out, *entry.value);
        write_zigzag(out, entry.written_ms);
    }
    return std::move(out).take();
}

Result<crdt::PresenceEntries> decode_presence(std::span<const std::uint8_t> bytes) {
    ByteReader in(bytes);
    Budget budget(bytes.size());
    crdt::PresenceEntries entries;
    const std::uint64_t count = read_uleb(in, bytes.size(), "count of presence entries");
    for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
        const std::string_view key = read_utf8(in, "key of presence");
        if (!budget.take_heap(sizeof(crdt::PresenceEntries::value_type) + key.size()))
            in.fail("presence (too large for its input)");
        crdt::PresenceEntry entry;
        const std::uint8_t has_value = in.byte("presence");
        if (has_value > 1) in.fail("presence");
        if (has_value == 1) entry.value = read_state_value(in, budget);
        entry.written_ms = read_zigzag(in, "time of presence");
        if (!in.ok()) break;
        const auto [at, is_new] = entries.try_emplace(std::string(key), entry);
        if (!is_new && at->second.written_ms < entry.written_ms) at->second = std::move(entry);
    }
    if (in.ok() && !in.at_end()) in.fail("end of presence");
    if (!in.ok()) return in.error();
    return entries;
}

}  // namespace quire::codec
