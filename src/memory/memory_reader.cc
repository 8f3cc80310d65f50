// Reading follows the schema, not the document: for each field the reader looks in the container
// that the schema implies (field_path.h), so content of other programs cannot add fields. Costs are
// O(1) per field and O(log n) per list element; only value() reads everything.

#include "memory/memory_reader.h"

#include <cmath>

#include "base/concat.h"
#include "crdt/doc/counter.h"
#include "crdt/doc/list.h"
#include "crdt/doc/map.h"
#include "crdt/doc/text.h"
#include "memory/validate.h"
#include "memory/written.h"

namespace quire::memory {
namespace {

// The plain value of a key; nothing if there is none, or if it is a container.
std::optional<Value> plain(const crdt::Doc& doc, crdt::Handle map, std::string_view key) {
    std::optional<crdt::Slot> slot = doc.map(map).get(key);
    if (!slot || !std::holds_alternative<Value>(*slot)) return std::nullopt;
    return std::get<Value>(std::move(*slot));
}

// The fields of an item or an entry; nullptr if it may have any members.
const std::vector<Field>* element_fields(const BlockSchema& schema) {
    if (const auto* log = schema.as<LogSchema>())
        return log->entry.fields.empty() ? nullptr : &log->entry.fields;
    return schema.as<ListSchema>() != nullptr ? fields_of(schema) : nullptr;
}

// Reorders the members of an item or an entry as in the schema, and adds the defaults of missing ones. The
// header of an entry, its time and its writer, comes first.
void fill_defaults(const BlockSchema& schema, Value& item) {
    const std::vector<Field>* fields = element_fields(schema);
    if (fields == nullptr || !item.is_map()) return;
    Map out;
    for (const std::string_view header : {"timestamp", "agent_id"}) {
        Value* const value = schema.as<LogSchema>() ? item.as_map().find(header) : nullptr;
        if (value == nullptr) continue;
        out.append(std::string(header), std::move(*value));
        item.as_map().erase(header);
    }
    for (const Field& each : *fields) {
        if (Value* value = item.as_map().find(each.name)) {
            out.append(each.name, std::move(*value));
            item.as_map().erase(each.name);
        } else if (each.default_value) {
            out.append(each.name, *each.default_value);
        }
    }
    for (Map::Entry& each : item.as_map()) out.append(each.key, std::move(each.value));
    item = std::move(out);
}

}  // namespace

Value number_of(double number) {
    if (std::trunc(number) == number && std::fabs(number) <= static_cast<double>(kExactWhole))
        return static_cast<std::int64_t>(number);
    return number;
}

Failure index_out_of_bounds(std::int64_t index, std::size_t len) {
    return fail(
        Errc::out_of_range, "index_out_of_bounds",
        cat("Index ", index, " is out of bounds: there are ", len, " elements, counted from 0"),
        {{"index", index}, {"len", len}});
}

// A null in `root` says that the value is in a container of its own. It is written when the value
// is set as a whole, so before that the default still counts.
bool is_set_apart(const crdt::Doc& doc, crdt::Handle root, std::string_view field) {
    const std::optional<Value> mark = plain(doc, root, field);
    return mark && mark->is_null();
}

Result<const seq::Rope*> MemoryReader::text(std::string_view section) const {
    const Located found = TRY(locate(schema_, section));
    TRY(check_shape(*found.schema, {.shape = Shape::text}));
    return &doc_.text(doc_.open(content_of(section))).rope();
}

Result<std::optional<Value>> MemoryReader::field(const FieldPath& path) const {
    const Located found = TRY(locate(schema_, path.section));
    TRY(check_shape(*found.schema, {.shape = Shape::map, .fields = {&path.field, 1}}));
    return value_of_field(path.section, *TRY(find_written(*found.schema, path.field)));
}

crdt::Handle MemoryReader::root_of_map(std::string_view section) const {
    return doc_.open(root_of(section));
}

std::optional<Value> MemoryReader::value_of_field(std::string_view section,
                                                  const Field& field) const {
    return value_in(root_of_map(section), section, field);
}

// Nothing for an empty list that was never set as a whole. Until the field is set as a whole, its
// elements follow those of its default. So an element that one replica appends and one that another
// appends both survive, though neither has written the default.
std::optional<Value> MemoryReader::list_in(crdt::Handle root, std::string_view section,
                                           const Field& field) const {
    Value elements = doc_.value(doc_.open(value_of(section, field)));
    if (elements.as_list().empty() && !field.default_value) {
        if (!is_set_apart(doc_, root, field.name)) return std::nullopt;
        return elements;
    }
    if (!field.default_value || is_set_apart(doc_, root, field.name)) return elements;
    Value out = *field.default_value;
    for (Value& each : elements.as_list()) out.as_list().push_back(std::move(each));
    return out;
}

// Follows the field to its container by type: counters, lists and long texts have their own.
std::optional<Value> MemoryReader::value_in(crdt::Handle root, std::string_view section,
                                            const Field& field) const {
    if (field.type == FieldType::counter) {
        const double base = field.default_value ? field.default_value->as_number() : 0;
        return number_of(base + doc_.counter(doc_.open(value_of(section, field))).value());
    }
    if (field.type == FieldType::list) return list_in(root, section, field);
    std::optional<Value> value = plain(doc_, root, field.name);
    if (value && !value->is_null()) return value;
    if (field.type == FieldType::text) {
        const seq::Rope& text = doc_.text(doc_.open(value_of(section, field))).rope();
        if (value || !text.empty()) return text.str();
    }
    return field.default_value;
}

std::size_t Elements::size() const {
    return doc_.list(list_).size();
}

// An object is a map container of its own (memory_items.cc); documents from elsewhere may hold it
// as a plain value.
Value Elements::operator[](std::size_t index) const {
    crdt::Slot slot = doc_.list(list_).get(index);
    Value out = std::holds_alternative<Value>(slot)
                    ? std::get<Value>(std::move(slot))
                    : doc_.value(doc_.open(doc_.list(list_).child(index)));
    fill_defaults(schema_, out);
    return out;
}

Result<Elements> MemoryReader::elements(std::string_view section) const {
    const Located found = TRY(locate(schema_, section));
    const bool is_log = found.schema->as<LogSchema>() != nullptr;
    if (!is_log) TRY(check_shape(*found.schema, {.shape = Shape::list}));
    return Elements(doc_, *found.schema,
                    doc_.open(is_log ? entries_of(section) : items_of(section)));
}

Result<std::size_t> MemoryReader::size(std::string_view section) const {
    return TRY(elements(section)).size();
}

Result<Value> MemoryReader::at(std::string_view section, std::int64_t index) const {
    const Elements all = TRY(elements(section));
    const std::size_t len = all.size();
    if (index < 0 || static_cast<std::size_t>(index) >= len) return index_out_of_bounds(index, len);
    return all[static_cast<std::size_t>(index)];
}

Result<Value> MemoryReader::value(std::string_view section) const {
    if (section.empty()) return value();
    return read_all(*TRY(locate(schema_, section)).schema, section);
}

// One case per kind of schema.
Value MemoryReader::read_all(const BlockSchema& schema, std::string_view section) const {
    if (schema.as<TextSchema>() != nullptr)
        return doc_.text(doc_.open(content_of(section))).rope().str();
    if (const auto* map = schema.as<MapSchema>()) {
        Map out;
        for_each_field(*map, section, [&](const Field& field, std::optional<Value> value) {
            if (value) out.append(field.name, std::move(*value));
        });
        return out;
    }
    if (const auto* composite = schema.as<CompositeSchema>()) {
        Map out;
        for (const Section& each : composite->sections) {
            out.append(
                each.name,
                read_all(*each.schema, section.empty() ? each.name : cat(section, "/", each.name)));
        }
        return out;
    }
    const bool is_log = schema.as<LogSchema>() != nullptr;
    Value all = doc_.value(doc_.open(is_log ? entries_of(section) : items_of(section)));
    for (Value& each : all.as_list()) fill_defaults(schema, each);
    return all;
}

// Descends into sections; items and entries have no missing fields.
void MemoryReader::find_missing(const BlockSchema& schema, const std::string& section,
                                std::vector<FieldPath>& out) const {
    if (const auto* map = schema.as<MapSchema>()) {
        for (const Field& each : map->fields) {
            if (each.required && !value_of_field(section, each))
                out.push_back({section, each.name});
        }
    }
    if (const auto* composite = schema.as<CompositeSchema>()) {
        for (const Section& each : composite->sections) {
            find_missing(*each.schema, section.empty() ? each.name : cat(section, "/", each.name),
                         out);
        }
    }
}

std::vector<FieldPath> MemoryReader::missing() const {
    std::vector<FieldPath> out;
    find_missing(schema_, "", out);
    return out;
}

}  // namespace quire::memory
