// One list of members, walked in four ways: for the schema, for reading, for writing and for
// leaving out. A member is reached by its offset and by the functions of its type, so all of this
// is compiled once for all structs.
//
// How a member that may be absent behaves is settled by its Absent:
//
//      Absent      read without it   written when it is as in T{}   in `required`
//      never       missing           written                        yes
//      left_out    as in T{}         left out                       no
//      filled_in   as in T{}         written                        no
//      null        missing           null                           yes

#include "json/field_list.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/concat.h"
#include "json/json.h"
#include "json/members.h"

namespace quire::json {
namespace {

// Makes a schema accept null as well. A list of types is the short form; an `enum` would still
// refuse null beside it, and a schema without one type has none to extend, so both go into an
// anyOf.
Map or_null(Map schema) {
    Value* const type = schema.find("type");
    if (type == nullptr || !type->is_string() || schema.contains("enum"))
        return {{"anyOf", List{Value(std::move(schema)), Value(Map{{"type", "null"}})}}};
    *type = List{std::move(*type), "null"};
    return schema;
}

}  // namespace

void FieldList::add_constant(std::string name, Value value, bool is_tag) {
    Field field{.name = std::move(name), .type = nullptr};
    field.schema = {{"const", value}};
    field.fallback = std::move(value);
    field.is_tag = is_tag;
    fields_.push_back(std::move(field));
}

// The schema is made here, once for each list; `rules` come after the type's own words and may
// replace them. A member that may be absent keeps the encoded member of a T{}: it is the default in
// the schema, and the value that is left out. Only plain values name their default, since a list or
// a text that is empty by default tells a reader nothing.
void FieldList::add(std::string name, const MemberType& type, std::size_t offset, const void* empty,
                    Absent absent, std::string_view description, const Map& rules) {
    Field field{
        .name = std::move(name), .type = &type, .offset = offset, .absent = absent, .rules = rules};
    field.schema = type.schema();
    for (const Map::Entry& rule : rules) field.schema.set(rule.key, rule.value);
    if (absent == Absent::null) field.schema = or_null(std::move(field.schema));
    if (!description.empty()) field.schema.append("description", description);
    if (absent != Absent::never) {
        std::optional<Value> fallback = type.encode(empty);
        CHECK(type.is_optional != fallback.has_value());
        if (fallback) {
            if (type.is_plain && absent != Absent::null) field.schema.append("default", *fallback);
            field.fallback = std::move(*fallback);
        }
    }
    fields_.push_back(std::move(field));
}

// A name that is there already is read into both places, so that both structs are whole; the first
// of the two writes it and stands in the schema. O(members of both lists multiplied).
void FieldList::add_members(const FieldList& of, std::size_t offset) {
    const std::size_t before = fields_.size();
    for (const Field& each : of.fields_) {
        Field field = each;
        field.offset += offset;
        for (std::size_t i = 0; i < before; ++i)
            field.is_written = field.is_written && fields_[i].name != field.name;
        fields_.push_back(std::move(field));
    }
}

void FieldList::set_unlisted(bool yes) {
    CHECK(!fields_.empty());
    fields_.back().is_listed = !yes;
}

void FieldList::set_kept() {
    CHECK(!fields_.empty());
    fields_.back().in_lean = InLean::always;
}

void FieldList::set_implied(std::string_view name) {
    for (Field& field : fields_) {
        if (field.name == name) field.in_lean = InLean::never;
    }
}

// A schema that leaves members out cannot forbid unknown ones: they would be among them.
Map FieldList::schema() const {
    Map properties;
    List needed;
    bool is_closed = true;
    for (const Field& field : fields_) {
        is_closed = is_closed && field.is_listed;
        if (!field.is_listed || !field.is_written) continue;
        properties.append(field.name, field.schema);
        if (field.is_required()) needed.emplace_back(field.name);
    }
    Map out{{"type", "object"}, {"properties", std::move(properties)}};
    if (!needed.empty()) out.append("required", std::move(needed));
    if (is_closed) out.append("additionalProperties", false);
    return out;
}

// The first fault in the order of the list ends the reading; `out` is then filled in part and of no
// use. Unknown members are looked for last: a member that is wrong says more than one that is too
// many.
std::optional<Fault> FieldList::read(void* out, const Value& value) const {
    if (!value.is_map()) return wrong_type("an object", value).value();
    for (const Field& field : fields_) {
        const Value* const member = value.get(field.name);
        if (member == nullptr || (null_is_absent_ && member->is_null())) {
            if (field.is_required()) return missing(field.name, field.wanted()).value();
            continue;
        }
        if (std::optional<Fault> fault = field.read(static_cast<char*>(out), *member))
            return std::move(*fault).in_member(field.name);
    }
    return is_closed_ ? unknown_member(value.as_map()) : std::nullopt;
}

Map FieldList::encode(const void* from) const {
    Map out;
    for (const Field& field : fields_) {
        if (!field.is_written) continue;
        if (std::optional<Value> value = field.encode(static_cast<const char*>(from)))
            out.append(field.name, std::move(*value));
    }
    return out;
}

// Works from the inside out: an object that is emptied by its own list says nothing any more, and
// goes with it.
void FieldList::lean(Map& encoded, const Map& said) const {
    for (const Field& field : fields_) {
        Value* const value = encoded.find(field.name);
        if (value == nullptr) continue;
        if (field.type != nullptr) field.type->lean(*value);
        if (field.in_lean == InLean::always) continue;
        const Value* const same = said.find(field.name);
        if (field.in_lean == InLean::never || says_nothing(*value) ||
            (same != nullptr && *same == *value))
            encoded.erase(field.name);
    }
}

bool FieldList::is_tagged(const Value& value) const {
    CHECK(std::ranges::any_of(fields_, &Field::is_tag));
    return std::ranges::all_of(fields_, [&](const Field& field) {
        const Value* const word = value.get(field.name);
        return !field.is_tag || (word != nullptr && *word == field.fallback);
    });
}

const FieldList::Field& FieldList::first_tag() const {
    const auto tag = std::ranges::find_if(fields_, &Field::is_tag);
    CHECK(tag != fields_.end());
    return *tag;
}

std::optional<Fault> FieldList::unknown_member(const Map& members) const {
    for (const Map::Entry& each : members) {
        std::string names;
        bool is_known = false;
        for (const Field& field : fields_) {
            is_known = is_known || field.name == each.key;
            if (field.is_written) cat_to(names, cat(names.empty() ? "" : ", ", field.name));
        }
        if (is_known) continue;
        return Fault{.kind = Fault::Kind::unknown_member,
                     .problem = cat("is not known; the members are ", names),
                     .wanted = names,
                     .path = each.key};
    }
    return std::nullopt;
}

std::string FieldList::Field::wanted() const {
    if (type == nullptr) return write(fallback);
    return absent == Absent::null ? std::string() : type->wanted();
}

// Null is a value for a member that may be null: the struct keeps what T{} has. It is missing or
// wrong for the others, as their type says.
std::optional<Fault> FieldList::Field::read(char* out, const Value& value) const {
    if (type == nullptr) {
        if (value == fallback) return std::nullopt;
        return bad_value(cat("must be ", write(fallback)), write(fallback)).value();
    }
    if (absent == Absent::null && value.is_null()) return std::nullopt;
    // A value of the wrong type keeps every rule: then its codec refuses it.
    if (std::optional<Fault> broken = rules.empty() ? std::nullopt : broken_rule(rules, value))
        return broken;
    return type->read(out + offset, value);
}

// A std::optional tells by itself whether it has a value, and one that has is written even if the
// value is that of a default. Any other type can only be compared with the member of a T{}.
std::optional<Value> FieldList::Field::encode(const char* from) const {
    if (type == nullptr) return fallback;
    std::optional<Value> value = type->encode(from + offset);
    if (!value) {
        CHECK(absent == Absent::left_out || absent == Absent::null);
        return absent == Absent::null ? std::optional(Value()) : std::nullopt;
    }
    const bool may_be_absent = absent == Absent::left_out || absent == Absent::null;
    if (type->is_optional || !may_be_absent || !(*value == fallback)) return value;
    return absent == Absent::null ? std::optional(Value()) : std::nullopt;
}

}  // namespace quire::json
