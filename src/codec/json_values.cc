// Values inside JSON updates: bytes become arrays of numbers, and child containers their ids behind
// a mark.
//
// The way to JSON loses something: bytes cannot be told from a list of numbers afterwards, nor NaN
// from null. Only where a format says that bytes stand there are they read back (json_unknown.cc).
#include "codec/json_values.h"

#include <cmath>

#include "crdt/ids/container_text.h"

namespace quire::codec {

Value json_bytes(const Bytes& bytes) {
    List list;
    list.reserve(bytes.size());
    for (const std::uint8_t byte : bytes) list.emplace_back(int{byte});
    return list;
}

// Every string that a reader meets is asked, so the mark is compared before anything is parsed.
std::optional<crdt::ContainerId> container_reference(const Value& value) {
    if (!value.is_string()) return std::nullopt;
    std::string_view text = value.as_string();
    if (text.substr(0, kContainerMark.size()) != kContainerMark) return std::nullopt;
    text.remove_prefix(kContainerMark.size());
    return crdt::parse_container_id(text);
}

Value plain_json(const Value& value) {
    if (value.is_bytes()) return json_bytes(value.as_bytes());
    if (value.is_float() && !std::isfinite(value.as_float())) return nullptr;
    if (value.is_list()) {
        List list;
        list.reserve(value.as_list().size());
        for (const Value& item : value.as_list()) list.push_back(plain_json(item));
        return list;
    }
    if (value.is_map()) {
        Map map;
        for (const Map::Entry& entry : value.as_map())
            map.append(entry.key, plain_json(entry.value));
        return map;
    }
    return value;
}

std::optional<Bytes> bytes_from_json(const Value& value) {
    if (!value.is_list()) return std::nullopt;
    Bytes bytes;
    bytes.reserve(value.as_list().size());
    for (const Value& item : value.as_list()) {
        if (!item.is_int() || item.as_int() < 0 || item.as_int() > UINT8_MAX) return std::nullopt;
        bytes.push_back(static_cast<std::uint8_t>(item.as_int()));
    }
    return bytes;
}

}  // namespace quire::codec
