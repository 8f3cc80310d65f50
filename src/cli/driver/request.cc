// Reads the forms of arguments, and writes versions as JSON.
//
// A request comes from another program, so every argument is checked when it is read, and the error
// names it.
//
// plain() and the JSON parser work together: the parser bounds how deep a request is nested, and
// plain() recurses over what was parsed.
#include "cli/driver/request.h"

#include <algorithm>
#include <limits>

#include "base/concat.h"
#include "crdt/ids/container_text.h"
#include "json/json.h"

namespace quire::json {
namespace {

// A text that `parse` knows.
template <class T>
Read<T> read_parsed(const Value& value, std::optional<T> (*parse)(std::string_view),
                    std::string_view wanted) {
    const std::optional<T> parsed = value.is_string() ? parse(value.as_string()) : std::nullopt;
    if (!parsed) return bad_value(cat("must be ", wanted), std::string(wanted));
    return *parsed;
}

Read<crdt::Counter> read_counter(const Value& value) {
    if (!value.is_int() || value.as_int() < 0 ||
        value.as_int() > std::numeric_limits<crdt::Counter>::max())
        return wrong_type("a counter: an integer from 0 to 2^31 - 1", value);
    return static_cast<crdt::Counter>(value.as_int());
}

}  // namespace

Read<cli::Peer> Codec<cli::Peer>::read(const Value& value) {
    // The largest number is no peer: documents use it as "none".
    constexpr auto kParse = [](std::string_view text) -> std::optional<cli::Peer> {
        const auto peer = crdt::parse_peer_id(text);
        return peer && *peer != crdt::kNoPeer ? std::optional(cli::Peer{*peer}) : std::nullopt;
    };
    return read_parsed<cli::Peer>(value, kParse, "a peer: a decimal string below 2^64 - 1");
}

Read<crdt::OpId> Codec<crdt::OpId>::read(const Value& value) {
    return read_parsed(value, crdt::parse_op_id, "an id such as 12@34");
}

Read<crdt::ContainerId> Codec<crdt::ContainerId>::read(const Value& value) {
    return read_parsed(value, crdt::parse_container_id,
                       "a container id such as cid:root-NAME:Text or cid:12@34:Map");
}

Read<crdt::ContainerKind> Codec<crdt::ContainerKind>::read(const Value& value) {
    return read_parsed(value, crdt::parse_container_kind,
                       "one of Map List Text Tree MovableList Counter");
}

Read<crdt::VersionVector> Codec<crdt::VersionVector>::read(const Value& value) {
    if (!value.is_map()) return wrong_type("a version vector: {peer: end}", value);
    crdt::VersionVector version;
    for (const Map::Entry& entry : value.as_map()) {
        const Read<cli::Peer> peer = json::read<cli::Peer>(entry.key);
        if (!peer) return Unread(peer.error());
        const Read<crdt::Counter> end = read_counter(entry.value);
        if (!end) return Unread(end.error());
        version.set(peer->id, *end);
    }
    return version;
}

Read<crdt::IdSpan> Codec<crdt::IdSpan>::read(const Value& value) {
    const Value* const id_text = value.get("id");
    const Value* const length = value.get("len");
    if (id_text == nullptr || length == nullptr) return wrong_type("{id, len}", value);
    const Read<crdt::OpId> id = json::read<crdt::OpId>(*id_text);
    if (!id) return Unread(id.error());
    const Read<crdt::Counter> count = read_counter(*length);
    if (!count) return Unread(count.error());
    // The sum of two counters does not fit a counter; computed in 64 bits it cannot overflow.
    const std::int64_t end = std::int64_t{id->counter} + *count;
    const auto last = std::int64_t{std::numeric_limits<crdt::Counter>::max()};
    return crdt::IdSpan{id->peer, id->counter, static_cast<crdt::Counter>(std::min(end, last))};
}

}  // namespace quire::json

namespace quire::cli {

Result<Value> plain(const Value& value) {
    if (value.is_list()) {
        List list;
        list.reserve(value.as_list().size());
        for (const Value& item : value.as_list()) list.push_back(TRY(plain(item)));
        return Value(std::move(list));
    }
    if (!value.is_map()) return value;
    const Map& map = value.as_map();
    if (const Value* encoded = map.find("$bytes");
        encoded != nullptr && map.size() == 1 && encoded->is_string()) {
        return Value(TRY(json::from_base64(encoded->as_string())));
    }
    // An object of this form is refused, although it would be a valid map: in a diff it names a
    // container, and a value that reads back as something else would be a trap.
    if (map.size() == 1 && map.contains("$container")) {
        return invalid("invalid_argument",
                       "a container is made by insert_container, not inside a value");
    }
    Map out;
    for (const Map::Entry& entry : map) out.append(entry.key, TRY(plain(entry.value)));
    return Value(std::move(out));
}

Value to_json(const crdt::VersionVector& version) {
    Map map;
    for (const auto& [peer, end] : version.ends()) map.append(cat(peer), end);
    return map;
}

// The order of the heads depends on the order of merging. Sorted, two replicas at one version print
// the same bytes, which tests compare.
Value to_json(const crdt::Frontiers& frontiers) {
    crdt::Frontiers sorted = frontiers;
    std::sort(sorted.begin(), sorted.end());
    List list;
    for (const crdt::OpId id : sorted) list.push_back(crdt::to_text(id));
    return list;
}

Value to_json(const std::vector<crdt::IdSpan>& spans) {
    Map map;
    for (const crdt::IdSpan& span : spans) {
        const std::string peer = cat(span.peer);
        if (Value* known = map.find(peer)) {
            List& bounds = known->as_list();
            bounds[0] = std::min(bounds[0].as_int(), std::int64_t{span.begin});
            bounds[1] = std::max(bounds[1].as_int(), std::int64_t{span.end});
        } else {
            map.append(peer, List{span.begin, span.end});
        }
    }
    return map;
}

}  // namespace quire::cli
