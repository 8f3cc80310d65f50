// Every check is a pure function from schema and value to a result, and there is one overload per
// kind of schema (check_shape), chosen by std::visit. Depth is bounded before anything recurses, so
// a value from outside cannot exhaust the stack. Messages name the field and both types, since
// their reader is usually a model that repeats the call.

#include "memory/validate.h"

#include <algorithm>
#include <cmath>

#include "base/concat.h"
#include "base/utf8.h"
#include "memory/timestamp.h"

namespace quire::memory {
namespace {

// The part of a value that is not JSON, in a few words; nothing if all of it is.
std::optional<std::string_view> not_json(const Value& value, std::size_t depth) {
    if (depth > kMaxValueDepth) return "a value nested too deep";
    if (value.is_bytes()) return "bytes";
    if (value.is_float() && !std::isfinite(value.as_float())) return "a number that is not finite";
    if (value.is_string() && !utf8::is_valid(value.as_string()))
        return "a string that is not UTF-8";
    if (value.is_list()) {
        for (const Value& each : value.as_list()) {
            if (const auto fault = not_json(each, depth + 1)) return fault;
        }
    }
    if (value.is_map()) {
        for (const Map::Entry& each : value.as_map()) {
            if (!utf8::is_valid(each.key)) return "a key that is not UTF-8";
            if (const auto fault = not_json(each.value, depth + 1)) return fault;
        }
    }
    return std::nullopt;
}

// A whole number is fine where a Number is expected; a Timestamp must also parse.
bool has_type(FieldType type, const Value& value) {
    switch (type) {
        case FieldType::text:
            return value.is_string();
        case FieldType::number:
        case FieldType::counter:
            return value.is_number();
        case FieldType::boolean:
            return value.is_bool();
        case FieldType::list:
            return value.is_list();
        case FieldType::timestamp:
            return value.is_string() && parse_timestamp(value.as_string()).has_value();
    }
    return false;
}

// A string that is no Timestamp is wrong by its content, so the message quotes it.
std::string actual_of(const Field& field, const Value& value) {
    if (field.type == FieldType::timestamp && value.is_string())
        return cat("'", utf8::prefix(value.as_string(), 40), "'");
    return std::string(kind_name(value));
}

// A caller says by null that a member has no value; stored, it would be a value of no type.
void drop_nulls(Map& object) {
    std::vector<std::string> nulls;
    for (const Map::Entry& each : object) {
        if (each.value.is_null()) nulls.push_back(each.key);
    }
    for (const std::string& key : nulls) object.erase(key);
}

// A Counter always has a value.
bool needs_value(const Field& field) {
    return field.required && !field.default_value && field.type != FieldType::counter;
}

// The field that receives a text offered as an entry: the one that needs a value, else the first
// Text. Errors: schema_mismatch if the text alone is no entry. Several fields that need values
// cannot all be filled by one text, and the error names them.
Result<const Field*> field_for_text(const std::vector<Field>& fields) {
    std::vector<const Field*> needed;
    std::string names;
    for (const Field& each : fields) {
        if (!needs_value(each)) continue;
        cat_to(names, cat(needed.empty() ? "" : ", ", each.name));
        needed.push_back(&each);
    }
    if (needed.size() > 1) return schema_mismatch("", cat("an object with ", names), "string");
    const auto is_text = [](const Field& each) { return each.type == FieldType::text; };
    const auto first = std::ranges::find_if(fields, is_text);
    const Field* const field = !needed.empty()         ? needed.front()
                               : first != fields.end() ? &*first
                                                       : nullptr;
    if (field != nullptr && is_text(*field)) return field;
    return schema_mismatch("", "an entry, an object", "string");
}

// Checks the members of an entry beside its fields.
Result<void> check_header(const EntrySchema& entry, const Map& object) {
    if (const Value* when = entry.timestamp ? object.find("timestamp") : nullptr)
        TRY(check_field({.name = "timestamp", .type = FieldType::timestamp}, *when));
    if (const Value* who = entry.agent_id ? object.find("agent_id") : nullptr)
        TRY(check_field({.name = "agent_id", .type = FieldType::text}, *who));
    return {};
}

// An open entry accepts any JSON; others are checked like an object of fields.
Result<void> check_entry(const EntrySchema& entry, const Value& object) {
    TRY(check_header(entry, object.as_map()));
    if (entry.fields.empty()) return check_json("", object);
    Map fields = object.as_map();
    if (entry.timestamp) fields.erase("timestamp");
    if (entry.agent_id) fields.erase("agent_id");
    return check_fields(entry.fields, fields);
}

Result<void> check_shape(const TextSchema& /*text*/, const Value& value) {
    if (!value.is_string()) return schema_mismatch("", "Text", kind_name(value));
    return check_json("", value);
}

Result<void> check_shape(const MapSchema& map, const Value& value) {
    if (!value.is_map()) return schema_mismatch("", "Map", kind_name(value));
    return check_fields(map.fields, value.as_map());
}

Result<void> check_item(const ListSchema& list, const Value& value) {
    return list.item_schema ? check_value(**list.item_schema, value) : check_json("", value);
}

Result<void> check_shape(const ListSchema& list, const Value& value) {
    if (!value.is_list()) return schema_mismatch("", "List", kind_name(value));
    TRY(check_count(value.as_list().size(), list.max_items));
    for (const Value& each : value.as_list()) TRY(check_item(list, each));
    return {};
}

Result<void> check_shape(const LogSchema& log, const Value& value) {
    if (!value.is_list()) return schema_mismatch("", "Log", kind_name(value));
    for (const Value& each : value.as_list()) {
        if (!each.is_map()) return schema_mismatch("", "an entry, an object", kind_name(each));
        TRY(check_entry(log.entry, each));
    }
    return {};
}

// Sections may be missing: each is empty until something is written in it.
Result<void> check_shape(const CompositeSchema& composite, const Value& value) {
    if (!value.is_map()) return schema_mismatch("", "Composite", kind_name(value));
    for (const Map::Entry& each : value.as_map()) {
        const auto at = std::ranges::find(composite.sections, each.key, &Section::name);
        if (at == composite.sections.end()) {
            return fail(Errc::not_found, "section_not_found",
                        cat("Section '", each.key, "' not found"), {{"section", each.key}});
        }
        TRY(check_value(*at->schema, each.value));
    }
    return {};
}

Value default_of(const TextSchema& /*text*/) {
    return "";
}
// The defaults of the fields; a Counter without one begins at 0.
Value default_of(const MapSchema& map) {
    Map out;
    for (const Field& each : map.fields) {
        if (each.default_value) {
            out.append(each.name, *each.default_value);
        } else if (each.type == FieldType::counter) {
            out.append(each.name, 0);
        }
    }
    return out;
}
Value default_of(const ListSchema& /*list*/) {
    return List();
}
Value default_of(const LogSchema& /*log*/) {
    return List();
}
Value default_of(const CompositeSchema& composite) {
    Map out;
    for (const Section& each : composite.sections)
        out.append(each.name, default_value(*each.schema));
    return out;
}

}  // namespace

Failure schema_mismatch(std::string_view field, std::string_view expected,
                        std::string_view actual) {
    return invalid("schema_mismatch", cat("Schema mismatch: expected ", expected, ", got ", actual),
                   {{"field", field}, {"expected", expected}, {"actual", actual}});
}

// The error lists the fields, since the cause is usually a misspelt name.
Failure field_not_found(std::string_view field, const std::vector<Field>& fields) {
    List names;
    std::string listed;
    for (const Field& each : fields) {
        names.emplace_back(each.name);
        cat_to(listed, cat(listed.empty() ? "" : ", ", each.name));
    }
    return fail(Errc::not_found, "field_not_found",
                cat("Field '", field, "' not found; ",
                    listed.empty() ? "there are no fields" : "the fields are: ", listed),
                {{"field", field}, {"fields", std::move(names)}});
}

Result<void> check_json(std::string_view field, const Value& value) {
    if (const auto fault = not_json(value, 1))
        return schema_mismatch(field, "a JSON value", *fault);
    return {};
}

Result<void> check_field(const Field& field, const Value& value) {
    if (!has_type(field.type, value))
        return schema_mismatch(field.name, name_of(field.type), actual_of(field, value));
    return check_json(field.name, value);
}

// Unknown fields are reported before missing ones, since a typing mistake causes both.
Result<void> check_fields(const std::vector<Field>& fields, const Map& object) {
    for (const Map::Entry& each : object) {
        const Field* field = find_field(fields, each.key);
        if (field == nullptr) return field_not_found(each.key, fields);
        TRY(check_field(*field, each.value));
    }
    for (const Field& each : fields) {
        if (needs_value(each) && !object.contains(each.name))
            return schema_mismatch(each.name, name_of(each.type), "nothing");
    }
    return {};
}

Result<void> check_value(const BlockSchema& schema, const Value& value) {
    return std::visit([&](const auto& shape) { return check_shape(shape, value); }, schema.shape());
}

Result<Value> accept_item(const ListSchema& list, Value value) {
    if (value.is_map() && list.item_schema && (*list.item_schema)->as<MapSchema>() != nullptr)
        drop_nulls(value.as_map());
    TRY(check_item(list, value));
    return value;
}

// A text becomes the entry's main field, so that appending a sentence just works where one field needs a value.
Result<Map> accept_entry(const LogSchema& log, Value value) {
    if (value.is_string()) {
        std::string name = "message";
        if (!log.entry.fields.empty()) name = TRY(field_for_text(log.entry.fields))->name;
        Map entry;
        entry.append(std::move(name), std::move(value));
        value = std::move(entry);
    }
    if (!value.is_map()) return schema_mismatch("", "an entry, an object", kind_name(value));
    drop_nulls(value.as_map());
    TRY(check_entry(log.entry, value));
    return std::move(value.as_map());
}

std::size_t text_length(const Value& value) {
    if (value.is_string()) return utf8::count_code_points(value.as_string());
    std::size_t sum = 0;
    if (value.is_list()) {
        for (const Value& each : value.as_list()) sum += text_length(each);
    }
    if (value.is_map()) sum += text_length(value.as_map());
    return sum;
}

std::size_t text_length(const Map& object) {
    std::size_t sum = 0;
    for (const Map::Entry& each : object) sum += text_length(each.value);
    return sum;
}

Result<void> check_length(std::size_t length, std::optional<std::size_t> char_limit) {
    if (!char_limit || length <= *char_limit) return {};
    return fail(Errc::out_of_range, "char_limit",
                cat("the text would have ", length, " characters, but at most ", *char_limit,
                    " are allowed; shorten it, or put part of it elsewhere"),
                {{"limit", *char_limit}, {"len", length}});
}

Result<void> check_count(std::size_t len, std::optional<std::size_t> max_items) {
    if (!max_items || len <= *max_items) return {};
    return fail(Errc::out_of_range, "max_items",
                cat("the list would have ", len, " items, but at most ", *max_items,
                    " are allowed; remove some first"),
                {{"limit", *max_items}, {"len", len}});
}

Value default_value(const BlockSchema& schema) {
    return std::visit([](const auto& shape) { return default_of(shape); }, schema.shape());
}

}  // namespace quire::memory
