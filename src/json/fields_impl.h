// The bodies of Fields (json/fields.h), which includes this.
//
// Each member is kept as two functions, made when it is added: one reads it into a T, one writes it
// from a T. Whether it must be there, what stands for it where it is absent, and its schema are
// settled then, too, so that reading and writing only walk the list.
#pragma once

#include "json/fields.h"

namespace quire::json {

// Makes what a member holds lean as far as fields describe it: objects, and arrays of them.
template <class T>
struct LeanInside {
    static void make(Value& value) {
        if constexpr (requires { Codec<T>::fields(); }) {
            if (value.is_map()) Codec<T>::fields().lean(value.as_map());
        }
    }
};
template <class T>
struct LeanInside<std::vector<T>> {
    static void make(Value& value) {
        if (!value.is_list()) return;
        for (Value& each : value.as_list()) LeanInside<T>::make(each);
    }
};

template <class T>
Fields<T>& Fields<T>::constant(std::string name, Value value) {
    Field field;
    field.name = std::move(name);
    field.schema = {{"const", value}};
    field.read = [value](T&, const Value& found) -> std::optional<Fault> {
        if (found == value) return std::nullopt;
        return bad_value(cat("must be ", write(value)), write(value)).value();
    };
    field.encode = [value = std::move(value)](const T&) -> std::optional<Value> { return value; };
    fields_.push_back(std::move(field));
    return *this;
}

template <class T>
Fields<T>& Fields<T>::tag(std::string name, std::string word) {
    constant(std::move(name), std::move(word));
    fields_.back().is_tag = true;
    return *this;
}

template <class T>
template <class At>
Fields<T>& Fields<T>::add(std::string name, At at, Absent absent, std::string_view description,
                          const Map& rules) {
    using Reference = std::invoke_result_t<const At&, T&>;
    static_assert(std::is_lvalue_reference_v<Reference>, "it is where a member is, not what");
    using Member = std::remove_cvref_t<Reference>;
    using Type = typename Bare<Member>::type;
    constexpr bool kOptional = Bare<Member>::is_optional;

    Field field;
    field.name = std::move(name);
    field.required = absent == Absent::never || absent == Absent::null;
    field.schema = Codec<Type>::schema();
    field.lean = &LeanInside<Type>::make;
    for (const Map::Entry& rule : rules) field.schema.set(rule.key, rule.value);
    if (absent == Absent::null) field.schema = or_null(std::move(field.schema));
    if (!description.empty()) field.schema.append("description", description);
    Value fallback;
    if (absent != Absent::never) {
        const T empty{};
        if constexpr (kOptional) {
            CHECK(!std::invoke(at, empty));
        } else {
            fallback = Codec<Type>::encode(std::invoke(at, empty));
            if (absent != Absent::null && (std::is_arithmetic_v<Type> || std::is_enum_v<Type>))
                field.schema.append("default", fallback);
        }
    }
    field.read = [at, absent, rules](T& out, const Value& value) -> std::optional<Fault> {
        if (absent == Absent::null && value.is_null()) return std::nullopt;
        if (!rules.empty()) {
            // A value of the wrong type keeps every rule: then the codec refuses it.
            if (std::optional<Fault> broken = broken_rule(rules, value)) return broken;
        }
        Read<Type> member = Codec<Type>::read(value);
        if (!member) return std::move(member.error());
        std::invoke(at, out) = std::move(*member);
        return std::nullopt;
    };
    field.encode = [at, absent,
                    fallback = std::move(fallback)](const T& from) -> std::optional<Value> {
        const Member& member = std::invoke(at, from);
        if constexpr (kOptional) {
            if (member) return Codec<Type>::encode(*member);
            CHECK(absent != Absent::never && absent != Absent::filled_in);
        } else {
            Value value = Codec<Type>::encode(member);
            if (absent == Absent::never || absent == Absent::filled_in || !(value == fallback))
                return value;
        }
        return absent == Absent::null ? std::optional(Value()) : std::nullopt;
    };
    fields_.push_back(std::move(field));
    return *this;
}

template <class T>
template <class M, class At>
Fields<T>& Fields<T>::members(const Fields<M>& of, At at) {
    CHECK(!of.check_);
    const std::size_t before = fields_.size();
    for (const typename Fields<M>::Field& each : of.fields_) {
        Field field;
        field.name = each.name;
        field.schema = each.schema;
        field.required = each.required;
        field.listed = each.listed;
        field.is_tag = each.is_tag;
        field.written = each.written;
        field.in_lean = static_cast<InLean>(each.in_lean);
        field.lean = each.lean;

        for (std::size_t i = 0; i < before; ++i)
            field.written = field.written && fields_[i].name != field.name;
        field.read = [at, read = each.read](T& out, const Value& value) {
            return read(std::invoke(at, out), value);
        };
        field.encode = [at, encode = each.encode](const T& from) {
            return encode(std::invoke(at, from));
        };
        fields_.push_back(std::move(field));
    }
    return *this;
}

template <class T>
Map Fields<T>::schema() const {
    Map properties;
    List needed;
    bool closed = true;
    for (const Field& field : fields_) {
        closed = closed && field.listed;
        if (!field.listed || !field.written) continue;
        properties.append(field.name, field.schema);
        if (field.required) needed.emplace_back(field.name);
    }
    Map out{{"type", "object"}, {"properties", std::move(properties)}};
    if (!needed.empty()) out.append("required", std::move(needed));
    if (closed) out.append("additionalProperties", false);
    return out;
}

template <class T>
Fields<T>& Fields<T>::closed() {
    closed_ = true;
    return *this;
}

template <class T>
Fields<T>& Fields<T>::null_is_absent() {
    null_is_absent_ = true;
    return *this;
}

template <class T>
Fields<T>& Fields<T>::check(std::function<std::optional<Fault>(const T&)> fault_in) {
    check_ = std::move(fault_in);
    return *this;
}

template <class T>
Read<T> Fields<T>::read(const Value& value) const {
    if (!value.is_map()) return wrong_type("an object", value);
    T out{};
    for (const Field& field : fields_) {
        const Value* const member = value.get(field.name);
        if (member == nullptr || (null_is_absent_ && member->is_null())) {
            if (field.required) return missing(field);
            continue;
        }
        if (std::optional<Fault> fault = field.read(out, *member))
            return Unread(std::move(*fault).in_member(field.name));
    }
    if (closed_) {
        if (std::optional<Fault> fault = unknown_member(value.as_map()))
            return Unread(std::move(*fault));
    }
    if (check_) {
        if (std::optional<Fault> fault = check_(out)) return Unread(std::move(*fault));
    }
    return out;
}

template <class T>
T Fields<T>::decode(const Value& value) const {
    Read<T> out = read(value);
    CHECK(out.has_value());
    return std::move(*out);
}

// Reading a null says what would be right.
template <class T>
Unread Fields<T>::missing(const Field& field) {
    T unused{};
    std::optional<Fault> fault = field.read(unused, Value());
    return json::missing(field.name, fault ? std::move(fault->wanted) : std::string());
}

template <class T>
std::optional<Fault> Fields<T>::unknown_member(const Map& members) const {
    for (const Map::Entry& each : members) {
        std::string names;
        bool known = false;
        for (const Field& field : fields_) {
            known = known || field.name == each.key;
            if (field.written) cat_to(names, cat(names.empty() ? "" : ", ", field.name));
        }
        if (known) continue;
        return Fault{.kind = Fault::Kind::unknown_member,
                     .problem = cat("is not known; the members are ", names),
                     .wanted = names,
                     .path = each.key};
    }
    return std::nullopt;
}

template <class T>
Map Fields<T>::encode(const T& from) const {
    Map out;
    for (const Field& field : fields_) {
        if (!field.written) continue;
        if (std::optional<Value> value = field.encode(from))
            out.append(field.name, std::move(*value));
    }
    return out;
}

template <class T>
Fields<T>& Fields<T>::implied(std::string_view name) {
    for (Field& field : fields_) {
        if (field.name == name) field.in_lean = InLean::never;
    }
    return *this;
}

template <class T>
void Fields<T>::lean(Map& encoded, const Map& said) const {
    for (const Field& field : fields_) {
        Value* const value = encoded.find(field.name);
        if (value == nullptr) continue;
        field.lean(*value);
        if (field.in_lean == InLean::always) continue;
        const Value* const same = said.find(field.name);
        if (field.in_lean == InLean::never || says_nothing(*value) ||
            (same != nullptr && *same == *value))
            encoded.erase(field.name);
    }
}

template <class T>
bool Fields<T>::is_tagged(const Value& value) const {
    bool any = false;
    for (const Field& field : fields_) {
        if (!field.is_tag) continue;
        any = true;
        const Value* const word = value.get(field.name);
        if (word == nullptr || *word != *field.schema.find("const")) return false;
    }
    CHECK(any);
    return true;
}

template <class T>
const typename Fields<T>::Field& Fields<T>::first_tag() const {
    std::size_t i = 0;
    while (i < fields_.size() && !fields_[i].is_tag) ++i;
    CHECK(i < fields_.size());
    return fields_[i];
}

template <class T>
Map Fields<T>::or_null(Map schema) {
    Value* const type = schema.find("type");
    if (type == nullptr || !type->is_string() || schema.contains("enum"))
        return {{"anyOf", List{Value(std::move(schema)), Value(Map{{"type", "null"}})}}};
    *type = List{std::move(*type), "null"};
    return schema;
}

}  // namespace quire::json
