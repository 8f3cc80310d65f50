// Writes changes as Loro's JSON updates: operations by the names of their kinds, ids as text. JSON
// has no bytes and one kind of number, so a document that takes such changes back compares them
// loosely (ImportOptions::says_less).
#include "codec/json_updates.h"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>

#include "base/concat.h"
#include "base/hex.h"
#include "codec/json_unknown.h"
#include "codec/json_values.h"
#include "codec/tables.h"
#include "crdt/ids/container_text.h"

namespace quire::codec {
namespace {

using crdt::Change;
using crdt::OpId;

class JsonWriter {
public:
    explicit JsonWriter(JsonPeers spelling) : table_(spelling == JsonPeers::table) {}

    Result<Value> change(const Change& change) {
        List ops;
        for (const crdt::Op& op : change.ops) {
            // Peers are numbered in the order in which Loro meets them: those of an op, then the
            // change's.
            const std::string container = id(op.container);
            own_ = {change.id.peer, op.counter};
            Value content = TRY(std::visit(*this, op.content));
            ops.push_back(Map{{"container", container},
                              {"content", std::move(content)},
                              {"counter", op.counter}});
        }
        Map json{{"id", id(change.id)}, {"timestamp", change.timestamp}};
        crdt::Frontiers deps = change.deps;
        std::sort(deps.begin(), deps.end());
        List dep_ids;
        for (const OpId dep : deps) dep_ids.push_back(id(dep));
        json.append("deps", std::move(dep_ids));
        json.append("lamport", change.lamport);
        json.append("msg", change.message.empty() ? Value() : Value(change.message));
        json.append("ops", std::move(ops));
        return Value(std::move(json));
    }

    Value peers() const {
        if (!table_) return nullptr;
        List list;
        for (const crdt::PeerId peer : peers_.items()) list.push_back(cat(peer));
        return list;
    }

    Result<Value> operator()(const crdt::TextInsert& op) {
        return Value(Map{{"type", "insert"}, {"pos", op.pos}, {"text", op.text}});
    }
    Result<Value> operator()(const crdt::ListInsert& op) {
        List values;
        OpId at = own_;
        for (const crdt::Slot& value : op.values) {
            values.push_back(slot(value, at));
            ++at.counter;
        }
        return Value(Map{{"type", "insert"}, {"pos", op.pos}, {"value", std::move(values)}});
    }
    Result<Value> operator()(const crdt::SequenceDelete& op) {
        return Value(
            Map{{"type", "delete"}, {"pos", op.pos}, {"len", op.len}, {"start_id", id(op.start)}});
    }
    Result<Value> operator()(const crdt::StyleStart& op) {
        return Value(Map{{"type", "mark"},
                         {"start", op.start},
                         {"end", op.end},
                         {"style_key", op.key},
                         {"style_value", plain_json(op.value)},
                         {"info", int{op.info}}});
    }
    Result<Value> operator()(const crdt::StyleEnd&) { return Value(Map{{"type", "mark_end"}}); }
    Result<Value> operator()(const crdt::ListMove& op) {
        return Value(
            Map{{"type", "move"}, {"from", op.from}, {"to", op.to}, {"elem_id", id(op.element)}});
    }
    Result<Value> operator()(const crdt::ListSet& op) {
        const std::string element = id(op.element);
        return Value(Map{{"type", "set"}, {"elem_id", element}, {"value", slot(op.value, own_)}});
    }
    Result<Value> operator()(const crdt::MapSet& op) {
        return Value(Map{{"type", "insert"}, {"key", op.key}, {"value", slot(op.value, own_)}});
    }
    Result<Value> operator()(const crdt::MapErase& op) {
        return Value(Map{{"type", "delete"}, {"key", op.key}});
    }
    Result<Value> operator()(const crdt::TreeCreate& op) {
        return node("create", op.target, op.parent, op.position);
    }
    Result<Value> operator()(const crdt::TreeMove& op) {
        return node("move", op.target, op.parent, op.position);
    }
    Result<Value> operator()(const crdt::TreeErase& op) {
        return Value(Map{{"type", "delete"}, {"target", id(op.target)}});
    }
    // Readers know a counter's deltas as floats only.
    Result<Value> operator()(const crdt::CounterAdd& op) {
        return Value(Map{{"type", "counter"},
                         {"value_type", "f64"},
                         {"value", plain_json(op.delta.as_number())},
                         {"prop", 0}});
    }
    Result<Value> operator()(const crdt::UnknownOp& op) { return unknown_to_json(op, own_); }

private:
    crdt::PeerId peer(crdt::PeerId peer) { return table_ ? peers_.add(peer) : peer; }
    std::string id(OpId id) { return crdt::to_text(OpId{peer(id.peer), id.counter}); }
    std::string id(const crdt::ElementId& id) { return cat("L", id.lamport, "@", peer(id.peer)); }
    std::string id(const crdt::ContainerId& id) {
        if (id.is_root()) return crdt::to_text(id);
        const OpId op = id.op();
        return crdt::to_text(crdt::ContainerId::normal({peer(op.peer), op.counter}, id.kind));
    }
    Value slot(const crdt::Slot& slot, OpId at) {
        if (const auto* value = std::get_if<Value>(&slot)) return plain_json(*value);
        const auto kind = std::get<crdt::ContainerKind>(slot);
        return cat(kContainerMark, id(crdt::ContainerId::normal(at, kind)));
    }
    Value node(const char* type, OpId target, const std::optional<OpId>& parent,
               const Bytes& position) {
        const std::string target_id = id(target);
        return Map{{"type", type},
                   {"target", target_id},
                   {"parent", parent ? Value(id(*parent)) : Value()},
                   {"fractional_index", to_hex(position, kUpperHex)}};
    }

    bool table_;
    Register<crdt::PeerId> peers_;
    OpId own_;  // The id of the present op.
};

}  // namespace

Result<Value> encode_json_updates(std::span<const Change> changes, const crdt::Frontiers& start,
                                  JsonPeers peers) {
    std::vector<const Change*> sorted;
    sorted.reserve(changes.size());
    for (const Change& change : changes) sorted.push_back(&change);
    std::stable_sort(sorted.begin(), sorted.end(), [](const Change* a, const Change* b) {
        return std::tie(a->lamport, a->id) < std::tie(b->lamport, b->id);
    });
    Map before;
    for (const OpId id : start) before.append(cat(id.peer), id.counter);
    JsonWriter writer(peers);
    List written;
    written.reserve(changes.size());
    for (const Change* change : sorted) written.push_back(TRY(writer.change(*change)));
    return Value(Map{{"schema_version", kJsonSchemaVersion},
                     {"start_version", std::move(before)},
                     {"peers", writer.peers()},
                     {"changes", std::move(written)}});
}

}  // namespace quire::codec
