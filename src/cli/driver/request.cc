// Reads the arguments of requests, and writes versions as JSON.
//
// A request comes from another program, so every argument is checked when it is read, and the error
// names it.
#include "cli/driver/request.h"

#include <algorithm>
#include <limits>

#include "base/concat.h"
#include "crdt/ids/container_text.h"
#include "json/json.h"

namespace quire::cli {
namespace {

Failure wrong(std::string_view name, std::string_view expected) {
    return invalid("invalid_argument", cat("`", name, "` must be ", expected));
}

// {"$bytes": "..."} to bytes, at any depth.
Result<Value> with_bytes(const Value& value) {
    if (value.is_list()) {
        List list;
        list.reserve(value.as_list().size());
        for (const Value& item : value.as_list()) list.push_back(TRY(with_bytes(item)));
        return Value(std::move(list));
    }
    if (!value.is_map()) return value;
    const Map& map = value.as_map();
    if (const Value* encoded = map.find("$bytes");
        encoded != nullptr && map.size() == 1 && encoded->is_string()) {
        return Value(TRY(json::from_base64(encoded->as_string())));
    }
    if (map.size() == 1 && map.contains("$container")) {
        return invalid("invalid_argument",
                       "a container is made by insert_container, not inside a value");
    }
    Map out;
    for (const Map::Entry& entry : map) out.append(entry.key, TRY(with_bytes(entry.value)));
    return Value(std::move(out));
}

Result<crdt::PeerId> peer_from(std::string_view name, std::string_view text) {
    const auto peer = crdt::parse_peer_id(text);
    if (!peer || *peer == crdt::kNoPeer)
        return wrong(name, "a peer: a decimal string below 2^64 - 1");
    return *peer;
}

Result<crdt::Counter> counter_from(std::string_view name, const Value& value) {
    if (!value.is_int() || value.as_int() < 0 ||
        value.as_int() > std::numeric_limits<crdt::Counter>::max()) {
        return wrong(name, "a counter: an integer from 0 to 2^31 - 1");
    }
    return static_cast<crdt::Counter>(value.as_int());
}

}  // namespace

bool EngineRequest::has(std::string_view name) const {
    const Value* value = fields_.find(name);
    return value != nullptr && !value->is_null();
}

Result<std::string> EngineRequest::text(std::string_view name) const {
    const Value* value = fields_.find(name);
    if (value == nullptr || !value->is_string()) return wrong(name, "a string");
    return value->as_string();
}

Result<std::string> EngineRequest::text_or(std::string_view name, std::string otherwise) const {
    if (!has(name)) return otherwise;
    return text(name);
}

Result<bool> EngineRequest::flag_or(std::string_view name, bool otherwise) const {
    if (!has(name)) return otherwise;
    const Value* value = fields_.find(name);
    if (!value->is_bool()) return wrong(name, "true or false");
    return value->as_bool();
}

Result<std::int64_t> EngineRequest::integer(std::string_view name) const {
    const Value* value = fields_.find(name);
    if (value == nullptr || !value->is_int()) return wrong(name, "an integer");
    return value->as_int();
}

Result<std::size_t> EngineRequest::size(std::string_view name) const {
    const Value* value = fields_.find(name);
    if (value == nullptr || !value->is_int() || value->as_int() < 0)
        return wrong(name, "an integer from 0 on");
    return static_cast<std::size_t>(value->as_int());
}

Result<double> EngineRequest::number(std::string_view name) const {
    const Value* value = fields_.find(name);
    if (value != nullptr && value->is_int()) return static_cast<double>(value->as_int());
    if (value == nullptr || !value->is_float()) return wrong(name, "a number");
    return value->as_float();
}

Result<Value> EngineRequest::value(std::string_view name) const {
    const Value* value = fields_.find(name);
    if (value == nullptr) return wrong(name, "given (any JSON value)");
    return with_bytes(*value);
}

Result<Value> EngineRequest::plain(const Value& json) {
    return with_bytes(json);
}

Result<const Value*> EngineRequest::json(std::string_view name) const {
    const Value* value = fields_.find(name);
    if (value == nullptr) return wrong(name, "given (any JSON value)");
    return value;
}

Result<Bytes> EngineRequest::bytes(std::string_view name) const {
    const Value* value = fields_.find(name);
    if (value == nullptr || !value->is_string()) return wrong(name, "bytes: a base64 string");
    return json::from_base64(value->as_string());
}

Result<std::vector<Bytes>> EngineRequest::bytes_list(std::string_view name) const {
    const Value* value = fields_.find(name);
    if (value == nullptr || !value->is_list()) return wrong(name, "an array of base64 strings");
    std::vector<Bytes> all;
    for (const Value& item : value->as_list()) {
        if (!item.is_string()) return wrong(name, "an array of base64 strings");
        all.push_back(TRY(json::from_base64(item.as_string())));
    }
    return all;
}

Result<crdt::PeerId> EngineRequest::peer(std::string_view name) const {
    return peer_from(name, TRY(text(name)));
}

Result<crdt::OpId> EngineRequest::op_id(std::string_view name) const {
    const auto id = crdt::parse_op_id(TRY(text(name)));
    if (!id) return wrong(name, "an id such as 12@34");
    return *id;
}

Result<crdt::ContainerKind> EngineRequest::kind(std::string_view name) const {
    const auto kind = crdt::parse_container_kind(TRY(text(name)));
    if (!kind) return wrong(name, "one of Map List Text Tree MovableList Counter");
    return *kind;
}

Result<crdt::VersionVector> EngineRequest::version_or_empty(std::string_view name) const {
    crdt::VersionVector version;
    if (!has(name)) return version;
    const Value* value = fields_.find(name);
    if (!value->is_map()) return wrong(name, "a version vector: {peer: end}");
    for (const Map::Entry& entry : value->as_map()) {
        const crdt::PeerId peer = TRY(peer_from(name, entry.key));
        version.set(peer, TRY(counter_from(name, entry.value)));
    }
    return version;
}

Result<crdt::Frontiers> EngineRequest::frontiers(std::string_view name) const {
    const Value* value = fields_.find(name);
    if (value == nullptr || !value->is_list()) return wrong(name, "an array of ids");
    crdt::Frontiers frontiers;
    for (const Value& item : value->as_list()) {
        const auto id = item.is_string() ? crdt::parse_op_id(item.as_string()) : std::nullopt;
        if (!id) return wrong(name, "an array of ids, counter@peer");
        frontiers.push_back(*id);
    }
    return frontiers;
}

Result<std::vector<crdt::IdSpan>> EngineRequest::spans(std::string_view name) const {
    const Value* value = fields_.find(name);
    if (value == nullptr || !value->is_list()) return wrong(name, "an array of {id, len}");
    std::vector<crdt::IdSpan> spans;
    for (const Value& item : value->as_list()) {
        const Value* id_text = item.get("id");
        const Value* length = item.get("len");
        if (id_text == nullptr || !id_text->is_string() || length == nullptr)
            return wrong(name, "an array of {id, len}");
        const auto id = crdt::parse_op_id(id_text->as_string());
        if (!id) return wrong(name, "an array of {id, len} with ids counter@peer");
        const std::int64_t end = std::int64_t{id->counter} + TRY(counter_from(name, *length));
        const auto last = std::int64_t{std::numeric_limits<crdt::Counter>::max()};
        spans.push_back({id->peer, id->counter, static_cast<crdt::Counter>(std::min(end, last))});
    }
    return spans;
}

Result<crdt::ContainerId> EngineRequest::container(std::string_view name) const {
    const auto id = crdt::parse_container_id(TRY(text(name)));
    if (!id) return wrong(name, "a container id such as cid:root-NAME:Text or cid:12@34:Map");
    return *id;
}

Result<crdt::ContainerId> EngineRequest::container(std::string_view name,
                                                   crdt::ContainerKind kind) const {
    crdt::ContainerId id = TRY(container(name));
    if (id.kind != kind) {
        return invalid("wrong_kind", cat(crdt::to_text(id), " is no ", crdt::to_text(kind)));
    }
    return id;
}

Value to_json(const crdt::VersionVector& version) {
    Map map;
    for (const auto& [peer, end] : version.ends()) map.append(cat(peer), end);
    return map;
}

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
