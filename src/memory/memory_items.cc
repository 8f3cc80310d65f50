// The items of a List. An object is a Map container that is created with the item: all editors of
// the item edit the same map, and setting a field leaves the others alone. Other values are plain
// elements.
#include "base/check.h"
#include "base/must.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "memory/memory_edit.h"
#include "memory/validate.h"

namespace quire::memory {
namespace {

using policy::Operation;

std::vector<std::string> keys_of(const Value& item) {
    std::vector<std::string> keys;
    if (!item.is_map()) return keys;
    for (const Map::Entry& each : item.as_map()) keys.push_back(each.key);
    return keys;
}

}  // namespace

// Only changed members are written. A key without a member in `members` is erased. Members that are
// not among the keys are left to whoever else edits the item.
void MemoryEdit::put_members(crdt::Handle item, const Map& members,
                             const std::vector<std::string>& keys) {
    for (const std::string& key : keys) {
        if (const Value* value = members.find(key)) {
            must(doc_.map(item).set(key, *value));
        } else if (doc_.map(item).get(key)) {
            must(doc_.map(item).erase(key));
        }
    }
}

// An object becomes a map container; its members are written into it.
void MemoryEdit::insert_element(crdt::Handle list, std::size_t at, Value item) {
    if (!item.is_map()) {
        must(doc_.list(list).insert(at, std::move(item)));
        return;
    }
    const auto made = doc_.list(list).insert_container(at, crdt::ContainerKind::map);
    CHECK(made.has_value());
    put_members(doc_.open(*made), item.as_map(), keys_of(item));
}

// Appending ignores the index: the end is looked up here, under the right to append.
Result<void> MemoryEdit::insert_item_at(Operation operation, std::string_view section,
                                        std::int64_t index, Value item) {
    const std::vector<std::string> keys = keys_of(item);
    const BlockSchema* found = TRY(enter({operation, section, Shape::list, keys}));
    const auto& schema = *found->as<ListSchema>();
    Value accepted = TRY(accept_item(schema, std::move(item)));
    TRY(check_length(text_length(accepted), block_.char_limit));
    const crdt::Handle list = doc_.open(items_of(section));
    const std::size_t len = doc_.list(list).size();
    const std::int64_t at = operation == Operation::append ? static_cast<std::int64_t>(len) : index;
    if (at < 0 || static_cast<std::size_t>(at) > len) return index_out_of_bounds(at, len);
    TRY(check_count(len + 1, schema.max_items));
    insert_element(list, static_cast<std::size_t>(at), std::move(accepted));
    return {};
}

Result<void> MemoryEdit::push_item(std::string_view section, Value item) {
    TRY(insert_item_at(Operation::append, section, 0, std::move(item)));
    done("push_item", section);
    return {};
}

Result<void> MemoryEdit::insert_item(std::string_view section, std::int64_t index, Value item) {
    TRY(insert_item_at(Operation::overwrite, section, index, std::move(item)));
    done("insert_item", section);
    return {};
}

// The list, after checking that it has an element at the index.
Result<crdt::Handle> MemoryEdit::item_list(std::string_view section, std::int64_t index) const {
    const crdt::Handle list = doc_.open(items_of(section));
    const std::size_t len = doc_.list(list).size();
    if (index < 0 || static_cast<std::size_t>(index) >= len) return index_out_of_bounds(index, len);
    return list;
}

// The element at the index as it was written, without defaults. CHECKs that it exists.
Value MemoryEdit::stored_item(crdt::Handle list, std::size_t at) const {
    crdt::Slot slot = doc_.list(list).get(at);
    if (std::holds_alternative<Value>(slot)) return std::get<Value>(std::move(slot));
    return doc_.value(doc_.open(doc_.list(list).child(at)));
}

// Makes the item at the index read `wanted`. In a map only `keys` are touched; anything else is
// replaced.
void MemoryEdit::put_item(crdt::Handle list, std::size_t at, Value wanted,
                          const std::vector<std::string>& keys) {
    const crdt::Slot slot = doc_.list(list).get(at);
    const auto* kind = std::get_if<crdt::ContainerKind>(&slot);
    if (kind != nullptr && *kind == crdt::ContainerKind::map && wanted.is_map()) {
        put_members(doc_.open(doc_.list(list).child(at)), wanted.as_map(), keys);
        return;
    }
    must(doc_.list(list).erase(at, 1));
    insert_element(list, at, std::move(wanted));
}

Result<void> MemoryEdit::set_item(std::string_view section, std::int64_t index, Value item) {
    // Only members that differ from the present reading are written. A value equal to its default
    // is left unset, so that it does not undo what another replica sets meanwhile.
    const std::vector<std::string> named = keys_of(item);
    std::vector<std::string> keys;
    const Value before = reader_.at(section, index).value_or(Value());
    for (const std::string& key : named) {
        const Value* old = before.get(key);
        if (old == nullptr || *old != *item.get(key)) keys.push_back(key);
    }
    const BlockSchema* found = TRY(enter({Operation::overwrite, section, Shape::list, keys}));
    const auto& schema = *found->as<ListSchema>();
    const crdt::Handle list = TRY(item_list(section, index));

    if (item.is_map() && before.is_map()) {
        for (const Map::Entry& each : before.as_map()) {
            if (item.as_map().contains(each.key)) continue;
            const Field* field = nullptr;
            if (const auto* fields = fields_of(*found)) field = find_field(*fields, each.key);
            if (field != nullptr && field->read_only && !by_.writes_read_only()) {
                item.as_map().append(each.key, each.value);
            } else {
                keys.push_back(each.key);
            }
        }
    }
    Value accepted = TRY(accept_item(schema, std::move(item)));
    TRY(check_length(text_length(accepted), block_.char_limit));
    put_item(list, static_cast<std::size_t>(index), std::move(accepted), keys);
    done("set_item", section);
    return {};
}

// The item must be an object; its schema decides whether the field exists.
Result<void> MemoryEdit::set_item_field(std::string_view section, std::int64_t index,
                                        const std::string& field, Value value) {
    const BlockSchema* found =
        TRY(enter({Operation::overwrite, section, Shape::list, {&field, 1}}));
    const crdt::Handle list = TRY(item_list(section, index));
    Value item = stored_item(list, static_cast<std::size_t>(index));
    if (!item.is_map()) return schema_mismatch(field, "Map", kind_name(item));
    if (value.is_null()) {
        item.as_map().erase(field);
    } else {
        item.as_map().set(field, std::move(value));
    }
    Value accepted = TRY(accept_item(*found->as<ListSchema>(), std::move(item)));
    TRY(check_length(text_length(accepted), block_.char_limit));
    put_item(list, static_cast<std::size_t>(index), std::move(accepted), {field});
    done("set_item_field", FieldPath{std::string(section), field});
    return {};
}

Result<Value> MemoryEdit::delete_item(std::string_view section, std::int64_t index) {
    TRY(enter({Operation::overwrite, section, Shape::list}));
    const crdt::Handle list = TRY(item_list(section, index));
    Value removed = TRY(reader_.at(section, index));
    must(doc_.list(list).erase(static_cast<std::size_t>(index), 1));
    done("delete_item", section);
    return removed;
}

}  // namespace quire::memory
