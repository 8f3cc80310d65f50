// An op names its container, and a container's name says which field, item or entry it belongs to
// (field_path.h). So each op is turned into the write that would have produced it and passed
// through the same gate. Items made by the batch are remembered, because later ops of the batch
// fill them. Sizes are added up per root and compared with the limits at the end.
//
// Ops do not show that a batch only appends: two concurrent inserts at the end may interleave. So
// is_append() replays the batch on the version it was written on and checks that its delta keeps
// everything and adds at the end.

#include "memory/incoming.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>

#include "base/concat.h"
#include "base/utf8.h"
#include "crdt/doc/history.h"
#include "crdt/doc/inspection.h"
#include "crdt/doc/list.h"
#include "crdt/doc/text.h"
#include "crdt/ids/beyond.h"
#include "crdt/ids/container_text.h"
#include "memory/memory_reader.h"
#include "memory/validate.h"

namespace quire::memory {
namespace {

using policy::Operation;

std::string_view kind_name(const crdt::Slot& slot) {
    return std::holds_alternative<Value>(slot) ? quire::kind_name(std::get<Value>(slot))
                                               : std::string_view("a container");
}

// Passes one batch through the gate.
class Batch {
public:
    Batch(crdt::Doc& doc, const MemoryBlock& block, const Writer& by, Operation operation,
          IncomingOptions options)
        : doc_(doc), block_(block), by_(by), operation_(operation), options_(options) {}

    Result<void> check(const crdt::Change& change) {
        for (const crdt::Op& op : change.ops) TRY(check(change, op));
        return {};
    }
    // Checks the sizes, after all changes have passed.
    Result<void> check_limits() const;

private:
    // The owner of a container in the batch: a root of the block, or an item of its list.
    struct Target {
        Place place;
        bool is_item = false;
    };

    Result<void> check(const crdt::Change& change, const crdt::Op& op);
    Result<Target> target_of(const crdt::ContainerId& id) const;
    Result<void> check_other(const Target& target, const BlockSchema& schema, const crdt::Op& op);
    Result<void> check_values(const Target& target, const BlockSchema& schema, const crdt::Op& op,
                              crdt::PeerId peer);
    Result<void> check_member(const BlockSchema& schema, const std::string& key,
                              const crdt::Slot& slot) const;
    const Field* field_of(const BlockSchema& schema, std::string_view name) const {
        const std::vector<Field>* fields = fields_of(schema);
        return fields == nullptr ? nullptr : find_field(*fields, name);
    }

    crdt::Doc& doc_;
    const MemoryBlock& block_;
    const Writer& by_;
    const Operation operation_;
    const IncomingOptions options_;
    // Items made by the batch, with their section.
    std::map<crdt::ContainerId, std::string> items_;
    std::map<crdt::ContainerId, std::int64_t> grown_;    // Added characters or elements, by root.
    std::map<crdt::ContainerId, std::string> sections_;  // The sections of the roots in grown_.
};

Shape shape_of(Part part) {
    switch (part) {
        case Part::content:
            return Shape::text;
        case Part::root:
        case Part::value:
            return Shape::map;
        case Part::items:
            return Shape::list;
        case Part::entries:
            return Shape::log;
    }
    return Shape::text;
}

crdt::ContainerKind kind_of(Part part) {
    switch (part) {
        case Part::content:
            return crdt::ContainerKind::text;
        case Part::root:
            return crdt::ContainerKind::map;
        case Part::value:
        case Part::items:
        case Part::entries:
            break;
    }
    return crdt::ContainerKind::list;
}

// Checks that the container has the kind that its place requires; for a value, its field decides.
Result<void> check_kind(const Place& place, const BlockSchema& schema, crdt::ContainerKind actual) {
    crdt::ContainerKind wanted = kind_of(place.part);
    if (place.part == Part::value) {
        const Field& field = *schema.field(place.field);
        const bool apart = field.type == FieldType::list || field.type == FieldType::counter ||
                           field.type == FieldType::text;
        if (!apart) return schema_mismatch(place.field, name_of(field.type), "a container");
        wanted = value_of(place.section, field).kind;
    }
    if (wanted == actual) return {};
    return schema_mismatch(place.field, crdt::to_text(wanted), crdt::to_text(actual));
}

// Returns true if items may be objects.
bool has_objects(const BlockSchema& list) {
    const auto& item = list.as<ListSchema>()->item_schema;
    return !item || (*item)->as<MapSchema>() != nullptr ||
           (*item)->as<CompositeSchema>() != nullptr;
}

// The fields that an op writes, in the words of a schema.
std::vector<std::string> written_fields(const Place& place, bool is_item, const crdt::Op& op) {
    if (place.part == Part::value) return {place.field};
    if (place.part == Part::root || is_item) {
        if (const auto* set = std::get_if<crdt::MapSet>(&op.content)) return {set->key};
        if (const auto* erased = std::get_if<crdt::MapErase>(&op.content)) return {erased->key};
    }
    std::vector<std::string> out;
    if (const auto* insert = std::get_if<crdt::ListInsert>(&op.content)) {
        for (const crdt::Slot& slot : insert->values) {
            const auto* value = std::get_if<Value>(&slot);
            if (value == nullptr || !value->is_map()) continue;
            for (const Map::Entry& each : value->as_map()) out.push_back(each.key);
        }
    }
    return out;
}

// Roots are found by name; other containers must be items that the batch or the block knows.
// Containers inside of items have no place in memory: an item's members are plain values.
Result<Batch::Target> Batch::target_of(const crdt::ContainerId& id) const {
    if (id.is_root()) {
        auto place = place_of(id.root_name());
        if (place) return Target{std::move(*place), false};
        return fail(
            Errc::not_found, "field_not_found",
            cat("Field '", id.root_name(), "' not found; this memory has no such container"),
            {{"field", id.root_name()}});
    }
    if (const auto made = items_.find(id); made != items_.end())
        return Target{{made->second, Part::items}, true};
    const auto parent = crdt::Inspection(doc_).parent_of(id);
    const auto place = parent && parent->is_root() ? place_of(parent->root_name()) : std::nullopt;
    if (place && place->part == Part::items) return Target{*place, true};
    return schema_mismatch("", "plain values", "a container");
}

// Builds the write that the op amounts to and passes it through the gate.
Result<void> Batch::check(const crdt::Change& change, const crdt::Op& op) {
    const Target target = TRY(target_of(op.container));
    const std::vector<std::string> fields = written_fields(target.place, target.is_item, op);
    const BlockSchema* schema =
        TRY(admit(by_, {operation_, target.place.section, shape_of(target.place.part), fields},
                  block_.schema));
    const bool is_map = op.container.kind == crdt::ContainerKind::map;
    if (target.is_item && !is_map) return schema_mismatch("", "plain values", "a container");
    if (!target.is_item) TRY(check_kind(target.place, *schema, op.container.kind));
    if (std::holds_alternative<crdt::ListInsert>(op.content))
        return check_values(target, *schema, op, change.id.peer);
    if (const auto* set = std::get_if<crdt::MapSet>(&op.content))
        return check_member(*schema, set->key, set->value);
    return check_other(target, *schema, op);
}

// Records what a text or list op adds and removes; refuses ops that no schema allows.
Result<void> Batch::check_other(const Target& target, const BlockSchema& schema,
                                const crdt::Op& op) {
    if (const auto* erased = std::get_if<crdt::MapErase>(&op.content)) {
        const Field* field = field_of(schema, erased->key);
        const bool wanted = field != nullptr && field->required && !field->default_value;
        if (wanted && !options_.go_back)
            return schema_mismatch(field->name, name_of(field->type), "null");
        return {};
    }
    std::int64_t more = 0;
    if (const auto* insert = std::get_if<crdt::TextInsert>(&op.content))
        more = static_cast<std::int64_t>(utf8::count_code_points(insert->text));
    if (const auto* erased = std::get_if<crdt::SequenceDelete>(&op.content))
        more = -std::abs(std::int64_t{erased->len});
    const bool known = more != 0 || std::holds_alternative<crdt::TextInsert>(op.content) ||
                       std::holds_alternative<crdt::StyleStart>(op.content) ||
                       std::holds_alternative<crdt::StyleEnd>(op.content) ||
                       std::holds_alternative<crdt::CounterAdd>(op.content);
    if (!known) return schema_mismatch(target.place.field, "plain values", "another op");
    grown_[op.container] += more;
    sections_[op.container] = target.place.section;
    return {};
}

// Checks the values that an op inserts.
Result<void> Batch::check_values(const Target& target, const BlockSchema& schema,
                                 const crdt::Op& op, crdt::PeerId peer) {
    const auto& insert = std::get<crdt::ListInsert>(op.content);
    for (std::size_t i = 0; i < insert.values.size(); ++i) {
        const crdt::Slot& slot = insert.values[i];
        const auto* value = std::get_if<Value>(&slot);
        const bool is_map =
            value == nullptr && std::get<crdt::ContainerKind>(slot) == crdt::ContainerKind::map;
        const bool for_item = is_map && target.place.part == Part::items && has_objects(schema);
        if (value == nullptr && !for_item)
            return schema_mismatch(target.place.field, "plain values", kind_name(slot));
        if (for_item) {
            const auto at = op.counter + static_cast<crdt::Counter>(i);
            items_.emplace(crdt::ContainerId::normal({peer, at}, crdt::ContainerKind::map),
                           target.place.section);
            continue;
        }
        TRY(check_length(text_length(*value), block_.char_limit));
        if (const auto* list = schema.as<ListSchema>()) {
            TRY(accept_item(*list, *value));
        } else if (const auto* log = schema.as<LogSchema>()) {
            TRY(accept_entry(*log, *value));
            const Value* who = log->entry.agent_id ? value->get("agent_id") : nullptr;
            const bool own = who == nullptr || *who == Value(entry_writer(by_.actor));
            if (!own && !by_.writes_read_only()) return read_only_field("agent_id");
        } else {
            TRY(check_json(target.place.field, *value));
        }
    }
    grown_[op.container] += static_cast<std::int64_t>(insert.values.size());
    sections_[op.container] = target.place.section;
    return {};
}

// Checks a key of `root`, or of an item.
Result<void> Batch::check_member(const BlockSchema& schema, const std::string& key,
                                 const crdt::Slot& slot) const {
    const Field* field = field_of(schema, key);
    const auto* value = std::get_if<Value>(&slot);
    if (value == nullptr) {
        return schema_mismatch(key, field == nullptr ? "plain values" : name_of(field->type),
                               kind_name(slot));
    }
    TRY(check_length(text_length(*value), block_.char_limit));
    if (field == nullptr) return check_json(key, *value);
    // In `root`, null means that the value is in a container of its own.
    const bool is_map = schema.as<MapSchema>() != nullptr;
    const bool apart = is_map && (field->type == FieldType::list || field->type == FieldType::text);
    if (apart && value->is_null()) return {};
    if (is_map && (field->type == FieldType::list || field->type == FieldType::counter)) {
        return schema_mismatch(key, name_of(field->type), kind_name(slot));
    }
    return check_field(*field, *value);
}

// Compares the final sizes with the limits, per root. A root that does not grow is not refused,
// even if it is above its limit.
Result<void> Batch::check_limits() const {
    for (const auto& [id, more] : grown_) {
        if (more <= 0) continue;
        const auto added = static_cast<std::size_t>(more);
        const crdt::Handle here = doc_.open(id);
        if (id.kind == crdt::ContainerKind::text) {
            TRY(check_length(doc_.text(here).rope().code_points().n + added, block_.char_limit));
            continue;
        }
        const Located found = TRY(locate(block_.schema, sections_.at(id)));
        if (const auto* list = found.schema->as<ListSchema>())
            TRY(check_count(doc_.list(here).size() + added, list->max_items));
    }
    return {};
}

// True if a delta keeps all content and adds only at the end.
template <class Steps>
bool only_adds(const Steps& delta, std::size_t before) {
    std::size_t at = 0;
    for (const auto& step : delta) {
        if (std::holds_alternative<crdt::Erase>(step)) return false;
        if (const auto* kept = std::get_if<crdt::Retain>(&step)) {
            if (!kept->attributes.empty()) return false;
            at += kept->count;
        } else if (at < before) {
            return false;
        }
    }
    return true;
}

// The set of atoms in a batch.
class Atoms {
public:
    explicit Atoms(std::span<const crdt::Change> changes) {
        for (const crdt::Change& each : changes) {
            crdt::Counter& end = ends_[each.id];
            end = std::max(end, each.id.counter + atom_count(each));
        }
        // A batch may contain an op twice, cut differently: an earlier stretch may end later.
        for (auto at = ends_.begin(); at != ends_.end(); ++at) {
            const auto next = std::next(at);
            if (next != ends_.end() && next->first.peer == at->first.peer)
                next->second = std::max(next->second, at->second);
        }
    }
    bool contains(crdt::OpId id) const {
        const auto after = ends_.upper_bound(id);
        if (after == ends_.begin()) return false;
        const auto& [first, end] = *std::prev(after);
        return first.peer == id.peer && id.counter < end;
    }

private:
    std::map<crdt::OpId, crdt::Counter> ends_;  // Indexed by the beginning of a stretch.
};

// The version that the changes were written on; nothing if this document lacks it.
std::optional<crdt::Frontiers> base_of(const crdt::Doc& doc, std::span<const crdt::Change> changes,
                                       const Atoms& atoms) {
    crdt::Frontiers base;
    for (const crdt::Change& each : changes) {
        crdt::Frontiers deps = each.deps;
        if (each.id.counter > 0) deps.push_back({each.id.peer, each.id.counter - 1});
        for (const crdt::OpId& dep : deps) {
            if (!atoms.contains(dep)) base.push_back(dep);
        }
    }
    auto minimal = doc.history().minimal(base);
    if (!minimal) return std::nullopt;
    return std::move(*minimal);
}

// Returns true if the changes only append, seen from the version that they were written on. Costs a
// copy of the document. It is asked only of an actor for whom the answer matters.
bool is_append(const crdt::Doc& doc, std::span<const crdt::Change> changes) {
    const Atoms atoms(changes);
    const auto base = base_of(doc, changes, atoms);
    if (!base) return false;
    auto copy = fork_at(doc, *base, doc.peer());
    if (!copy) return false;
    std::map<crdt::ContainerId, std::size_t> sizes;
    for (const crdt::Change& change : changes) {
        for (const crdt::Op& op : change.ops) {
            const crdt::Handle here = copy->open(op.container);
            if (op.container.kind == crdt::ContainerKind::text)
                sizes.emplace(op.container, copy->text(here).rope().code_points().n);
            if (op.container.kind == crdt::ContainerKind::list)
                sizes.emplace(op.container, copy->list(here).size());
        }
    }
    const auto imported = copy->import(std::vector<crdt::Change>(changes.begin(), changes.end()),
                                       {.want_diff = true});
    if (!imported || !imported->pending.empty()) return false;
    return std::ranges::all_of(imported->diff, [&](const crdt::ContainerDiff& each) {
        // An item that the changes created may be filled freely.
        if (!each.container.is_root() && atoms.contains(each.container.op())) return true;
        const auto size = sizes.find(each.container);
        if (size == sizes.end()) return false;
        if (const auto* text = std::get_if<crdt::TextDelta>(&each.delta))
            return only_adds(*text, size->second);
        const auto* list = std::get_if<crdt::ListDelta>(&each.delta);
        return list != nullptr && only_adds(*list, size->second);
    });
}

}  // namespace

// Plain checks first; the replay runs only if the actor may append but not overwrite.
Result<void> check_incoming(crdt::Doc& doc, const MemoryBlock& block, const Writer& by,
                            std::span<const crdt::Change> changes, IncomingOptions options) {
    // Known changes were admitted before.
    const std::vector<crdt::Change> fresh = crdt::beyond(doc.history().version(), changes);
    if (fresh.empty()) return {};
    const bool appends =
        by.rights.permission == policy::Permission::append && is_append(doc, fresh);
    Batch batch(doc, block, by, appends ? Operation::append : Operation::overwrite, options);
    for (const crdt::Change& each : fresh) {
        Result<void> checked = batch.check(each);
        if (checked) continue;
        Error refused = std::move(checked).error();
        refused.details().set("change", crdt::to_text(each.id));
        return Failure(std::move(refused));
    }
    return batch.check_limits();
}

}  // namespace quire::memory
