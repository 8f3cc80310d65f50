// Writes changes as Loro's JSON updates: operations by the names of their kinds, ids as text. JSON
// has no bytes and one kind of number, so a document that takes such changes back compares them
// loosely (ImportOptions::says_less).
//
// One ContentWriter says what each kind of op has, to a Value or to text. A Value of a long history
// takes twenty times the memory of its text and most of the time that writing it takes, so who wants
// text writes it directly: O(text), with no allocation for most ops.
#include "codec/json_updates.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/concat.h"
#include "base/hex.h"
#include "codec/json_unknown.h"
#include "codec/json_values.h"
#include "codec/tables.h"
#include "crdt/ids/container_text.h"
#include "json/json.h"

namespace quire::codec {
namespace {

using crdt::Change;
using crdt::OpId;

// Ids as text, with peers spelled out or numbered. Peers get their numbers as they are met, so the
// order of calls decides the table, and peers() is complete only after everything else was written.
class JsonNames {
public:
    explicit JsonNames(JsonPeers spelling) : table_(spelling == JsonPeers::table) {}

    Value peers() const {
        if (!table_) return nullptr;
        List list;
        for (const crdt::PeerId peer : peers_.items()) list.push_back(cat(peer));
        return list;
    }
    std::string id(OpId id) { return crdt::to_text(OpId{peer(id.peer), id.counter}); }
    std::string id(const crdt::ElementId& id) { return cat("L", id.lamport, "@", peer(id.peer)); }
    std::string id(const crdt::ContainerId& id) {
        if (id.is_root()) return crdt::to_text(id);
        const OpId op = id.op();
        return crdt::to_text(crdt::ContainerId::normal({peer(op.peer), op.counter}, id.kind));
    }
    // `at` is the atom that fills the slot, which names a child container.
    Value slot(const crdt::Slot& slot, OpId at) {
        if (const auto* value = std::get_if<Value>(&slot)) return plain_json(*value);
        const auto kind = std::get<crdt::ContainerKind>(slot);
        return cat(kContainerMark, id(crdt::ContainerId::normal(at, kind)));
    }

private:
    crdt::PeerId peer(crdt::PeerId peer) { return table_ ? peers_.add(peer) : peer; }

    bool table_;
    Register<crdt::PeerId> peers_;
};

// Equal changes shall give equal text, whatever the order in which their deps came.
crdt::Frontiers sorted(crdt::Frontiers deps) {
    std::sort(deps.begin(), deps.end());
    return deps;
}

// The members of an operation's content, as a Value or as text.
class ValueFields {
public:
    template <class T>
    void add(std::string_view key, T&& value) {
        map_.append(std::string(key), Value(std::forward<T>(value)));
    }
    Map take() { return std::exchange(map_, {}); }

private:
    Map map_;
};

class TextFields {
public:
    explicit TextFields(std::string& out) : out_(out) {}

    void add(std::string_view key, std::string_view value) {
        begin(key);
        json::append_string(out_, value);
    }
    void add(std::string_view key, const char* value) { add(key, std::string_view(value)); }
    void add(std::string_view key, const std::string& value) { add(key, std::string_view(value)); }
    void add(std::string_view key, const Value& value) {
        begin(key);
        json::append(out_, value);
    }
    template <std::integral T>
    void add(std::string_view key, T value) {
        begin(key);
        cat_to(out_, value);
    }
    // The keys of the format need no escapes.
    void begin(std::string_view key) {
        out_.append(is_first_ ? "\"" : ",\"");
        is_first_ = false;
        out_.append(key).append("\":");
    }

private:
    std::string& out_;
    bool is_first_ = true;
};

// Writes what an operation says, member by member.
template <class Fields>
class ContentWriter {
public:
    ContentWriter(JsonNames& names, OpId own, Fields& out) : names_(names), own_(own), out_(out) {}

    Result<void> operator()(const crdt::TextInsert& op) {
        out_.add("type", "insert");
        out_.add("pos", op.pos);
        out_.add("text", op.text);
        return {};
    }
    // Each value has an atom of its own, which a child container in it is named after.
    Result<void> operator()(const crdt::ListInsert& op) {
        List values;
        OpId at = own_;
        for (const crdt::Slot& value : op.values) {
            values.push_back(names_.slot(value, at));
            ++at.counter;
        }
        out_.add("type", "insert");
        out_.add("pos", op.pos);
        out_.add("value", Value(std::move(values)));
        return {};
    }
    Result<void> operator()(const crdt::SequenceDelete& op) {
        out_.add("type", "delete");
        out_.add("pos", op.pos);
        out_.add("len", op.len);
        out_.add("start_id", names_.id(op.start));
        return {};
    }
    Result<void> operator()(const crdt::StyleStart& op) {
        out_.add("type", "mark");
        out_.add("start", op.start);
        out_.add("end", op.end);
        out_.add("style_key", op.key);
        out_.add("style_value", plain_json(op.value));
        out_.add("info", int{op.info});
        return {};
    }
    Result<void> operator()(const crdt::StyleEnd&) {
        out_.add("type", "mark_end");
        return {};
    }
    Result<void> operator()(const crdt::ListMove& op) {
        out_.add("type", "move");
        out_.add("from", op.from);
        out_.add("to", op.to);
        out_.add("elem_id", names_.id(op.element));
        return {};
    }
    Result<void> operator()(const crdt::ListSet& op) {
        out_.add("type", "set");
        out_.add("elem_id", names_.id(op.element));
        out_.add("value", names_.slot(op.value, own_));
        return {};
    }
    Result<void> operator()(const crdt::MapSet& op) {
        out_.add("type", "insert");
        out_.add("key", op.key);
        out_.add("value", names_.slot(op.value, own_));
        return {};
    }
    Result<void> operator()(const crdt::MapErase& op) {
        out_.add("type", "delete");
        out_.add("key", op.key);
        return {};
    }
    Result<void> operator()(const crdt::TreeCreate& op) {
        return node("create", op.target, op.parent, op.position);
    }
    Result<void> operator()(const crdt::TreeMove& op) {
        return node("move", op.target, op.parent, op.position);
    }
    Result<void> operator()(const crdt::TreeErase& op) {
        out_.add("type", "delete");
        out_.add("target", names_.id(op.target));
        return {};
    }
    // Readers know a counter's deltas as floats only.
    Result<void> operator()(const crdt::CounterAdd& op) {
        out_.add("type", "counter");
        out_.add("value_type", "f64");
        out_.add("value", plain_json(op.delta.as_number()));
        out_.add("prop", 0);
        return {};
    }
    Result<void> operator()(const crdt::UnknownOp& op) {
        const Value content = TRY(unknown_to_json(op, own_));
        for (const Map::Entry& entry : content.as_map()) out_.add(entry.key, entry.value);
        return {};
    }

private:
    Result<void> node(const char* type, OpId target, const std::optional<OpId>& parent,
                      const Bytes& position) {
        out_.add("type", type);
        out_.add("target", names_.id(target));
        out_.add("parent", parent ? Value(names_.id(*parent)) : Value());
        out_.add("fractional_index", to_hex(position, kUpperHex));
        return {};
    }

    JsonNames& names_;
    OpId own_;  // The id of the op.
    Fields& out_;
};

// A change's ops come first here because peers are numbered in the order in which Loro meets them:
// those of an op, then the change's.
Result<Value> change_value(JsonNames& names, const Change& change) {
    List ops;
    ops.reserve(change.ops.size());
    ValueFields fields;
    for (const crdt::Op& op : change.ops) {
        Map json;
        json.append("container", names.id(op.container));
        TRY(std::visit(ContentWriter(names, OpId{change.id.peer, op.counter}, fields), op.content));
        json.append("content", fields.take());
        json.append("counter", op.counter);
        ops.push_back(std::move(json));
    }
    Map json;
    json.append("id", names.id(change.id));
    json.append("timestamp", change.timestamp);
    List dep_ids;
    for (const OpId dep : sorted(change.deps)) dep_ids.push_back(names.id(dep));
    json.append("deps", std::move(dep_ids));
    json.append("lamport", change.lamport);
    json.append("msg", change.message.empty() ? Value() : Value(change.message));
    json.append("ops", std::move(ops));
    return Value(std::move(json));
}

// Writes changes as text. The text of the last op's container is kept, as most ops follow one of
// the same container. The ops of a change go to a buffer of their own, because peers are to be
// numbered in the order of change_value() while the text has the id in front.
class TextWriter {
public:
    explicit TextWriter(JsonNames& names) : names_(names) {}

    Result<void> change(std::string& out, const Change& change) {
        ops_.clear();
        for (const crdt::Op& op : change.ops) {
            ops_.append(ops_.empty() ? R"({"container":)" : R"(,{"container":)");
            add_container(op.container);
            ops_.append(R"(,"content":{)");
            TextFields fields(ops_);
            TRY(std::visit(ContentWriter(names_, OpId{change.id.peer, op.counter}, fields),
                           op.content));
            ops_.append(R"(},"counter":)");
            cat_to(ops_, op.counter);
            ops_.push_back('}');
        }
        TextFields fields(out);
        out.push_back('{');
        fields.add("id", names_.id(change.id));
        fields.add("timestamp", change.timestamp);
        fields.begin("deps");
        out.push_back('[');
        for (const OpId dep : sorted(change.deps)) {
            if (out.back() != '[') out.push_back(',');
            json::append_string(out, names_.id(dep));
        }
        out.push_back(']');
        fields.add("lamport", change.lamport);
        fields.add("msg", change.message.empty() ? Value() : Value(change.message));
        fields.begin("ops");
        out.append("[").append(ops_).append("]}");
        return {};
    }

private:
    void add_container(const crdt::ContainerId& container) {
        if (last_ == nullptr || *last_ != container) {
            text_.clear();
            json::append_string(text_, names_.id(container));
            last_ = &container;
        }
        ops_.append(text_);
    }

    JsonNames& names_;
    std::string ops_;
    const crdt::ContainerId* last_ = nullptr;
    std::string text_;
};

// Lamport order is causal, so a reader meets every change after what it depends on.
std::vector<const Change*> by_lamport(std::span<const Change> changes) {
    std::vector<const Change*> sorted;
    sorted.reserve(changes.size());
    for (const Change& change : changes) sorted.push_back(&change);
    std::stable_sort(sorted.begin(), sorted.end(), [](const Change* a, const Change* b) {
        return std::tie(a->lamport, a->id) < std::tie(b->lamport, b->id);
    });
    return sorted;
}

Map start_version(const crdt::Frontiers& start) {
    Map before;
    for (const OpId id : start) before.append(cat(id.peer), id.counter);
    return before;
}

}  // namespace

Result<Value> encode_json_updates(std::span<const Change> changes, const crdt::Frontiers& start,
                                  JsonPeers peers) {
    JsonNames names(peers);
    List written;
    written.reserve(changes.size());
    for (const Change* change : by_lamport(changes))
        written.push_back(TRY(change_value(names, *change)));
    Map json;
    json.append("schema_version", kJsonSchemaVersion);
    json.append("start_version", start_version(start));
    json.append("peers", names.peers());
    json.append("changes", std::move(written));
    return Value(std::move(json));
}

Result<std::string> write_json_updates(std::span<const Change> changes,
                                       const crdt::Frontiers& start, JsonPeers peers) {
    JsonNames names(peers);
    TextWriter writer(names);
    // Changes are written before the head of the text, which holds the table of peers.
    std::string written;
    for (const Change* change : by_lamport(changes)) {
        if (!written.empty()) written.push_back(',');
        TRY(writer.change(written, *change));
    }
    std::string out = "{";
    TextFields fields(out);
    fields.add("schema_version", kJsonSchemaVersion);
    fields.add("start_version", Value(start_version(start)));
    fields.add("peers", names.peers());
    fields.begin("changes");
    out.append("[").append(written).append("]}");
    return out;
}

}  // namespace quire::codec
