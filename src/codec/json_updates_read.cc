// Reads JSON updates (json_updates.h; docs/formats/json.md has the rules). The reader walks the
// parsed JSON once, O(size). Every step carries a Place, a chain of the members on the way from
// the root, so that an error names the exact path at no cost while nothing is wrong.
//
// Nothing is trusted: every number has its bounds, every text is UTF-8, ids count up without a gap,
// and a container or node that an op makes is named after that op. What only a document can tell
// (unknown deps, positions beyond an end) is left to the import. Values nest at most kMaxJsonDepth
// levels, since checking them recurses.
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/concat.h"
#include "base/hex.h"
#include "base/utf8.h"
#include "codec/json_unknown.h"
#include "codec/json_updates.h"
#include "codec/json_values.h"
#include "codec/ops.h"
#include "codec/tables.h"
#include "crdt/ids/container_text.h"

namespace quire::codec {
namespace {

using crdt::Change;
using crdt::ContainerId;
using crdt::ContainerKind;
using crdt::OpContent;
using crdt::OpId;

constexpr std::int64_t kMaxJsonLamport = std::numeric_limits<crdt::Lamport>::max() - 1;
// Loro writes whole counter deltas below this as integers, and larger ones as floats.
constexpr double kMaxWholeDelta = 1 << 27;
// The fractional index of a node that comes without one.
constexpr std::uint8_t kDefaultPosition = 0x80;

// A member of the JSON, and the way to it. A Place refers to the one above it, which lies on the
// stack of the caller: it must not outlive the function that reads its parent.
class Place {
public:
    explicit Place(const Value& value) : value_(value) {}
    Place(const Place& parent, std::string_view key, const Value& value)
        : value_(value), parent_(&parent), key_(key) {}
    Place(const Place& parent, std::size_t index, const Value& value)
        : value_(value), parent_(&parent), index_(index) {}

    const Value& value() const { return value_; }
    const Place* parent() const { return parent_; }

    Failure wrong(std::string_view what) const {
        const std::string at = path();
        return corrupt(cat("JSON updates: ", at.empty() ? "the whole" : at, " ", what),
                       {{"path", at}});
    }

    Result<const List*> list() const {
        if (!value_.is_list()) return wrong("is no array");
        return &value_.as_list();
    }
    Result<const Map*> object() const {
        if (!value_.is_map()) return wrong("is no object");
        return &value_.as_map();
    }
    Result<std::int64_t> integer(std::int64_t min, std::int64_t max) const {
        if (!value_.is_int() || value_.as_int() < min || value_.as_int() > max)
            return wrong(cat("is no integer from ", min, " to ", max));
        return value_.as_int();
    }
    Result<std::string> text() const {
        if (!value_.is_string()) return wrong("is no string");
        if (!utf8::is_valid(value_.as_string())) return wrong("is not UTF-8");
        return value_.as_string();
    }

    // The member of this object. Fails when it has none such.
    Result<Place> member(std::string_view key) const {
        const Map* map = TRY(object());
        const Value* found = map->find(key);
        if (found == nullptr) return wrong(cat("has no \"", key, "\""));
        return Place(*this, key, *found);
    }
    // Null counts as none.
    Result<std::optional<Place>> member_if(std::string_view key) const {
        const Map* map = TRY(object());
        const Value* found = map->find(key);
        if (found == nullptr || found->is_null()) return std::nullopt;
        return Place(*this, key, *found);
    }

private:
    // The path is built only once something is wrong, from the root down.
    std::string path() const {
        if (parent_ == nullptr) return "";
        const std::string before = parent_->path();
        if (key_.empty()) return cat(before, "[", index_, "]");
        return before.empty() ? std::string(key_) : cat(before, ".", key_);
    }

    const Value& value_;
    const Place* parent_ = nullptr;
    std::string_view key_;
    std::size_t index_ = 0;
};

// Why a value cannot be one of a document; null when it can.
const char* fault_of(const Value& value, int depth = 0) {
    if (depth > kMaxJsonDepth) return "is nested deeper than 128 levels";
    if (value.is_string()) {
        if (!utf8::is_valid(value.as_string())) return "holds text that is not UTF-8";
        return container_reference(value) ? "holds a container inside a value" : nullptr;
    }
    if (value.is_list()) {
        for (const Value& item : value.as_list()) {
            if (const char* fault = fault_of(item, depth + 1)) return fault;
        }
    }
    if (value.is_map()) {
        for (const Map::Entry& entry : value.as_map()) {
            if (!utf8::is_valid(entry.key)) return "holds text that is not UTF-8";
            if (const char* fault = fault_of(entry.value, depth + 1)) return fault;
        }
    }
    return nullptr;
}

class JsonReader {
public:
    Result<std::vector<Change>> read(const Place& json);

private:
    Result<void> read_peers(const Place& json);
    Result<Change> change(const Place& json);
    Result<void> read_deps(const Place& deps, Change& change);
    Result<void> read_ops(const Place& ops, Change& change);
    Result<OpContent> content(const Place& json, ContainerKind kind, OpId own);
    Result<OpContent> text(const Place& json, std::string_view type);
    Result<OpContent> mark(const Place& json);
    Result<OpContent> list(const Place& json, std::string_view type, OpId own);
    Result<OpContent> movable_list(const Place& json, std::string_view type, OpId own);
    Result<OpContent> map(const Place& json, std::string_view type, OpId own);
    Result<OpContent> tree(const Place& json, std::string_view type, OpId own);
    Result<OpContent> counter(const Place& json);
    Result<OpContent> erase(const Place& json);

    Result<crdt::PeerId> peer(const Place& at, crdt::PeerId written) const;
    Result<OpId> id(const Place& at) const;
    Result<crdt::ElementId> element(const Place& at) const;
    Result<ContainerId> container(const Place& at) const;
    Result<std::uint32_t> position(const Place& json, std::string_view key) const;
    Result<Value> value(const Place& at) const;
    Result<crdt::Slot> slot(const Place& at, OpId own) const;

    std::optional<std::vector<crdt::PeerId>> peers_;
};

// The start version is checked and not used: an import finds out by the deps whether changes follow
// what is there.
Result<std::vector<Change>> JsonReader::read(const Place& json) {
    const Place version = TRY(json.member("schema_version"));
    if (version.value() != Value(kJsonSchemaVersion)) return version.wrong("is not 1");
    const Place start = TRY(json.member("start_version"));
    const Map* heads = TRY(start.object());
    for (const Map::Entry& head : *heads) {
        const Place counter(start, head.key, head.value);
        if (!crdt::parse_peer_id(head.key)) return counter.wrong("is of no peer");
        TRY(counter.integer(0, kMaxCounter));
    }
    TRY(read_peers(json));
    const Place list = TRY(json.member("changes"));
    const List* items = TRY(list.list());
    std::vector<Change> changes;
    changes.reserve(items->size());
    for (std::size_t i = 0; i < items->size(); ++i)
        changes.push_back(TRY(change(Place(list, i, (*items)[i]))));
    return changes;
}

// With a table, every peer in an id is an index into it; with null, the peer itself.
Result<void> JsonReader::read_peers(const Place& json) {
    const Place table = TRY(json.member("peers"));
    if (table.value().is_null()) return {};
    const List* items = TRY(table.list());
    peers_.emplace();
    for (std::size_t i = 0; i < items->size(); ++i) {
        const Place at(table, i, (*items)[i]);
        const auto peer = crdt::parse_peer_id(TRY(at.text()));
        if (!peer || *peer == crdt::kNoPeer) return at.wrong("is no peer");
        peers_->push_back(*peer);
    }
    return {};
}

Result<Change> JsonReader::change(const Place& json) {
    Change change;
    const Place own = TRY(json.member("id"));
    change.id = TRY(id(own));
    const Place timestamp = TRY(json.member("timestamp"));
    change.timestamp = TRY(timestamp.integer(INT64_MIN, INT64_MAX));
    const Place deps = TRY(json.member("deps"));
    TRY(read_deps(deps, change));
    const Place lamport = TRY(json.member("lamport"));
    change.lamport = static_cast<crdt::Lamport>(TRY(lamport.integer(0, kMaxJsonLamport)));
    if (const std::optional<Place> message = TRY(json.member_if("msg")))
        change.message = TRY(message->text());

    const Place ops = TRY(json.member("ops"));
    TRY(read_ops(ops, change));
    return change;
}

Result<void> JsonReader::read_deps(const Place& deps, Change& change) {
    const List* items = TRY(deps.list());
    for (std::size_t i = 0; i < items->size(); ++i)
        change.deps.push_back(TRY(id(Place(deps, i, (*items)[i]))));
    return {};
}

// The change has its id.
Result<void> JsonReader::read_ops(const Place& ops, Change& change) {
    const List* items = TRY(ops.list());
    if (items->empty()) return ops.wrong("is empty: a change has at least one operation");
    change.ops.reserve(items->size());
    std::int64_t next = change.id.counter;
    for (std::size_t i = 0; i < items->size(); ++i) {
        const Place at(ops, i, (*items)[i]);
        const Place target = TRY(at.member("container"));
        const Place counter = TRY(at.member("counter"));
        const Place said = TRY(at.member("content"));
        // The counters follow from the change's id. They are compared, because a gap would shift
        // the ids of all that follows.
        if (TRY(counter.integer(0, kMaxCounter)) != next)
            return counter.wrong(cat("leaves a gap: the operations before it end at ", next));
        crdt::Op op{TRY(container(target)), static_cast<crdt::Counter>(next), {}};
        op.content = TRY(content(said, op.container.kind, {change.id.peer, op.counter}));
        const crdt::Counter atoms = crdt::atom_count(op.content);
        if (atoms == 0) return said.wrong("is empty: an operation has at least one atom");
        next += atoms;
        if (next > kMaxCounter) return at.wrong("counts beyond the last id");
        change.ops.push_back(std::move(op));
    }
    return {};
}

// A counter's content has no `type` to look at; the container's kind decides. A kind from the
// future has contents of the type "unknown" only.
Result<OpContent> JsonReader::content(const Place& json, ContainerKind kind, OpId own) {
    if (kind == ContainerKind::counter) return counter(json);
    const Place type_place = TRY(json.member("type"));
    const std::string type = TRY(type_place.text());
    switch (kind) {
        case ContainerKind::map:
            return map(json, type, own);
        case ContainerKind::list:
            return list(json, type, own);
        case ContainerKind::text:
            return text(json, type);
        case ContainerKind::tree:
            return tree(json, type, own);
        case ContainerKind::movable_list:
            return movable_list(json, type, own);
        case ContainerKind::counter:
            break;
    }
    if (type != "unknown") return type_place.wrong("is not \"unknown\"");
    auto op = unknown_from_json(json.value().as_map());
    if (!op) return json.wrong(cat("cannot be read: ", op.error().message()));
    return std::move(*op);
}

Failure unknown_type(const Place& json, ContainerKind kind) {
    return json.wrong(cat("is of no type that a ", crdt::to_text(kind), " has"));
}

Result<OpContent> JsonReader::text(const Place& json, std::string_view type) {
    if (type == "delete") return erase(json);
    if (type == "mark_end") return crdt::StyleEnd{};
    if (type == "insert") {
        const std::uint32_t at = TRY(position(json, "pos"));
        const Place text = TRY(json.member("text"));
        return crdt::TextInsert{at, TRY(text.text())};
    }
    if (type != "mark") return unknown_type(json, ContainerKind::text);
    return mark(json);
}

Result<OpContent> JsonReader::mark(const Place& json) {
    crdt::StyleStart style{};
    style.start = TRY(position(json, "start"));
    const Place end = TRY(json.member("end"));
    style.end = static_cast<std::uint32_t>(TRY(end.integer(style.start, kMaxPosition)));
    const Place key = TRY(json.member("style_key"));
    style.key = TRY(key.text());
    const Place worth = TRY(json.member("style_value"));
    style.value = TRY(value(worth));
    const Place info = TRY(json.member("info"));
    style.info = static_cast<std::uint8_t>(TRY(info.integer(0, UINT8_MAX)));
    return style;
}

Result<OpContent> JsonReader::list(const Place& json, std::string_view type, OpId own) {
    if (type == "delete") return erase(json);
    if (type != "insert") return unknown_type(json, ContainerKind::list);
    crdt::ListInsert insert{TRY(position(json, "pos")), {}};
    const Place values = TRY(json.member("value"));
    const List* items = TRY(values.list());
    insert.values.reserve(items->size());
    // The number is checked before the loop counts `own` up, which would overflow.
    if (items->size() > static_cast<std::size_t>(kMaxCounter - own.counter))
        return values.wrong("counts beyond the last id");
    for (std::size_t i = 0; i < items->size(); ++i) {
        insert.values.push_back(TRY(slot(Place(values, i, (*items)[i]), own)));
        ++own.counter;
    }
    return insert;
}

Result<OpContent> JsonReader::movable_list(const Place& json, std::string_view type, OpId own) {
    if (type != "move" && type != "set") return list(json, type, own);
    const Place named = TRY(json.member("elem_id"));
    const crdt::ElementId target = TRY(element(named));
    if (type == "move") {
        const std::uint32_t from = TRY(position(json, "from"));
        return crdt::ListMove{from, TRY(position(json, "to")), target};
    }
    const Place worth = TRY(json.member("value"));
    return crdt::ListSet{target, TRY(slot(worth, own))};
}

Result<OpContent> JsonReader::map(const Place& json, std::string_view type, OpId own) {
    if (type != "insert" && type != "delete") return unknown_type(json, ContainerKind::map);
    const Place key_place = TRY(json.member("key"));
    std::string key = TRY(key_place.text());
    if (type == "delete") return crdt::MapErase{std::move(key)};
    const Place worth = TRY(json.member("value"));
    crdt::Slot value = TRY(slot(worth, own));
    return crdt::MapSet{std::move(key), std::move(value)};
}

Result<OpContent> JsonReader::tree(const Place& json, std::string_view type, OpId own) {
    if (type != "create" && type != "move" && type != "delete")
        return unknown_type(json, ContainerKind::tree);
    const Place named = TRY(json.member("target"));
    const OpId target = TRY(id(named));
    if (type == "delete") return crdt::TreeErase{target};
    // A node is named by the atom that makes it, and a move of what it makes itself makes it.
    if (type == "create" && target != own) return named.wrong("is not the id of the operation");
    const Place above = TRY(json.member("parent"));
    std::optional<OpId> parent;
    if (!above.value().is_null()) parent = TRY(id(above));
    Bytes index = {kDefaultPosition};
    if (const Value* given = TRY(json.object())->find("fractional_index")) {
        const Place at(json, "fractional_index", *given);
        auto bytes = from_hex(TRY(at.text()));
        if (!bytes) return at.wrong("is not hexadecimal");
        index = std::move(*bytes);
    }
    if (target == own) return crdt::TreeCreate{target, parent, std::move(index)};
    return crdt::TreeMove{target, parent, std::move(index)};
}

Result<OpContent> JsonReader::counter(const Place& json) {
    const Place type = TRY(json.member("value_type"));
    const Place delta = TRY(json.member("value"));
    if (type.value() == Value("i64")) {
        TRY(delta.integer(INT64_MIN, INT64_MAX));
    } else if (type.value() != Value("f64")) {
        return type.wrong("is neither \"f64\" nor \"i64\"");
    }
    if (!delta.value().is_number()) return delta.wrong("is no number");
    const double number = delta.value().as_number();
    // The number is kept as Loro writes it in binary, whatever the JSON called it, so that the op
    // compares equal to the one that a peer has.
    if (number == std::trunc(number) && std::abs(number) < kMaxWholeDelta)
        return crdt::CounterAdd{static_cast<std::int64_t>(number)};
    return crdt::CounterAdd{number};
}

Result<OpContent> JsonReader::erase(const Place& json) {
    const std::uint32_t at = TRY(position(json, "pos"));
    const Place length = TRY(json.member("len"));
    // A run of backspaces ends at the start at the latest.
    const std::int64_t len = TRY(length.integer(-std::int64_t{at} - 1, kMaxPosition));
    const Place start = TRY(json.member("start_id"));
    return crdt::SequenceDelete{static_cast<std::int32_t>(at), static_cast<std::int32_t>(len),
                                TRY(id(start))};
}

// `written` is a peer or an index of the table.
Result<crdt::PeerId> JsonReader::peer(const Place& at, crdt::PeerId written) const {
    if (!peers_) {
        if (written == crdt::kNoPeer) return at.wrong("names the reserved peer");
        return written;
    }
    if (written >= peers_->size())
        return at.wrong(cat("names peer number ", written, " of ", peers_->size()));
    return (*peers_)[written];
}

Result<OpId> JsonReader::id(const Place& at) const {
    const auto parsed = crdt::parse_op_id(TRY(at.text()));
    if (!parsed) return at.wrong("is no id (counter@peer)");
    return OpId{TRY(peer(at, parsed->peer)), parsed->counter};
}

// A lamport and an index have the syntax of a peer: digits without leading zeros.
Result<crdt::ElementId> JsonReader::element(const Place& at) const {
    const std::string text = TRY(at.text());
    const std::size_t mark = text.find('@');
    if (!text.empty() && text.front() == 'L' && mark != std::string::npos) {
        const auto lamport = crdt::parse_peer_id(std::string_view(text).substr(1, mark - 1));
        const auto written = crdt::parse_peer_id(std::string_view(text).substr(mark + 1));
        if (lamport && written && *lamport <= static_cast<std::uint64_t>(kMaxJsonLamport)) {
            return crdt::ElementId{TRY(peer(at, *written)), static_cast<crdt::Lamport>(*lamport)};
        }
    }
    return at.wrong("is no id of an element (Llamport@peer)");
}

Result<ContainerId> JsonReader::container(const Place& at) const {
    auto parsed = crdt::parse_container_id(TRY(at.text()));
    if (!parsed) return at.wrong("is no container id");
    if (parsed->is_root()) return std::move(*parsed);
    const OpId written = parsed->op();
    return ContainerId::normal({TRY(peer(at, written.peer)), written.counter}, parsed->kind);
}

Result<std::uint32_t> JsonReader::position(const Place& json, std::string_view key) const {
    const Place at = TRY(json.member(key));
    return static_cast<std::uint32_t>(TRY(at.integer(0, kMaxPosition)));
}

Result<Value> JsonReader::value(const Place& at) const {
    if (const char* fault = fault_of(at.value())) return at.wrong(fault);
    return at.value();
}

// A string that begins with the mark and goes on as an id makes a container. Any other string, even
// one with the mark, is a value.
Result<crdt::Slot> JsonReader::slot(const Place& at, OpId own) const {
    const auto reference = container_reference(at.value());
    if (!reference) return crdt::Slot(TRY(value(at)));
    if (reference->is_root()) return at.wrong("makes a container that has a name");
    const OpId written = reference->op();
    if (OpId{TRY(peer(at, written.peer)), written.counter} != own)
        return at.wrong("makes a container whose id is not the operation's");
    return crdt::Slot(reference->kind);
}

}  // namespace

Result<std::vector<Change>> decode_json_updates(const Value& json) {
    return JsonReader().read(Place(json));
}

}  // namespace quire::codec
