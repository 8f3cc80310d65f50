// A memory schema told in the words of JSON Schema, for tools whose arguments are made from a
// block. One overload for each kind of schema. It describes values as writers give them and readers
// get them, not the containers in which they lie. O(the schema).
//
// A field is required here if a value without it would be refused: one with a default is filled in,
// and a Counter begins at 0 (check_fields() in validate.h says the same).

#include "memory/schema_json.h"

#include "base/concat.h"

namespace quire::memory {
namespace {

// The JSON Schema of a field's type.
Map type_of(FieldType type) {
    switch (type) {
        case FieldType::text:
            return {{"type", "string"}};
        case FieldType::number:
        case FieldType::counter:
            return {{"type", "number"}};
        case FieldType::boolean:
            return {{"type", "boolean"}};
        case FieldType::list:
            return {{"type", "array"}};
        case FieldType::timestamp:
            return {{"type", "string"}, {"format", "date-time"}};
    }
    return {};
}

Map field_schema(const Field& field) {
    Map out = type_of(field.type);
    if (!field.description.empty()) out.set("description", field.description);
    if (field.default_value) out.set("default", *field.default_value);
    if (field.read_only) out.set("readOnly", true);
    return out;
}

struct Properties {
    Map properties;
    List required;
};

// Collects the properties and the names of the required ones.
Properties properties_of(const std::vector<Field>& fields) {
    Properties out;
    for (const Field& each : fields) {
        out.properties.append(each.name, field_schema(each));
        if (each.required && !each.default_value && each.type != FieldType::counter)
            out.required.emplace_back(each.name);
    }
    return out;
}

Map object_of(Properties members, bool open) {
    Map out{{"type", "object"}, {"properties", std::move(members.properties)}};
    if (!members.required.empty()) out.append("required", std::move(members.required));
    if (!open) out.append("additionalProperties", false);
    return out;
}

Map shape_of(const BlockSchema& schema);

Map values_of(const TextSchema& /*text*/) {
    return {{"type", "string"}};
}

Map values_of(const MapSchema& map) {
    return object_of(properties_of(map.fields), false);
}

Map values_of(const ListSchema& list) {
    Map out{{"type", "array"}};
    if (list.item_schema) out.append("items", shape_of(**list.item_schema));
    if (list.max_items) out.append("maxItems", *list.max_items);
    return out;
}

// An entry's header may be given and may be left out. An entry without fields of its own is open:
// it may have any members.
Map values_of(const LogSchema& log) {
    Properties members = properties_of(log.entry.fields);
    if (log.entry.timestamp) members.properties.append("timestamp", type_of(FieldType::timestamp));
    if (log.entry.agent_id) members.properties.append("agent_id", type_of(FieldType::text));
    return {{"type", "array"}, {"items", object_of(std::move(members), log.entry.fields.empty())}};
}

Map values_of(const CompositeSchema& composite) {
    Properties members;
    for (const Section& each : composite.sections) {
        Map section = shape_of(*each.schema);
        if (!each.description.empty()) section.set("description", each.description);
        if (each.read_only) section.set("readOnly", true);
        members.properties.append(each.name, std::move(section));
    }
    return object_of(std::move(members), false);
}

Map shape_of(const BlockSchema& schema) {
    return std::visit([](const auto& shape) { return values_of(shape); }, schema.shape());
}

}  // namespace

Value json_schema(const BlockSchema& schema) {
    Map out{{"$schema", "https://json-schema.org/draft/2020-12/schema"}};
    for (const Map::Entry& each : shape_of(schema)) out.append(each.key, each.value);
    return out;
}

Value json_schema(const Field& field) {
    return field_schema(field);
}

}  // namespace quire::memory
