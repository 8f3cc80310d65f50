// Fields: what a struct looks like in JSON, said once. From one list of its members come its JSON
// Schema 2020-12, its decoding and its encoding, so that these cannot differ.
//
//     struct Range {
//         std::size_t start = 0;
//         std::optional<std::size_t> end;
//         static Fields<Range> fields() {
//             return Fields<Range>()
//                 .required("start", &Range::start)
//                 .optional("end", &Range::end, "Absent: the last line.");
//         }
//     };
//     Codec<Range>::schema(); Codec<Range>::decode(value); Codec<Range>::encode(range);
//
// Shapes: std::string, bool, std::int64_t, std::size_t (from 0), double, Map (any object), Value
// (anything, null too), an enum by its Words, std::vector, a struct by its fields, and a
// std::variant of structs that their tags tell apart (oneOf). A member may be a std::optional of
// these.
//
// For every x that keeps to the `rules`, encode(x) fits schema(), and decode(encode(x)) is x again
// in all that its fields name. So that it holds, a member that may be absent is written where it
// says something and left out otherwise: a std::optional without a value, any other that is what
// T{} has.
//
// Cost: schema() O(what it says), anew each time; decode() and encode() O(value), with the members
// of an object looked for one by one: for tens of them.
//
// Errors: none. What arrives is checked against the schema first (json/schema.h), and decoding
// relies on it. Our own promises are CHECKed: a word for each enumerator, a value in each required
// std::optional, integers that fit a signed 64 bit one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"
#include "base/value.h"

namespace quire::json {

template <class T>
class Fields;

// How a type looks in JSON: `schema()`, `decode(value)` and `encode(it)`. Add one for another
// shape.
template <class T>
struct Codec;

// The fields of a struct: T::fields(). Add one for a struct of another room.
template <class T>
struct FieldsOf;
template <class T>
requires requires {
    T::fields();
}
struct FieldsOf<T> {
    static Fields<T> fields() { return T::fields(); }
};

// An enum whose enumerators are the words word() gives, `count` of them in order.
template <class Enum>
struct Words;

template <>
struct Codec<std::string> {
    static Map schema() { return {{"type", "string"}}; }
    static std::string decode(const Value& value) { return value.as_string(); }
    static Value encode(const std::string& text) { return text; }
};
template <>
struct Codec<bool> {
    static Map schema() { return {{"type", "boolean"}}; }
    static bool decode(const Value& value) { return value.as_bool(); }
    static Value encode(bool value) { return value; }
};
template <>
struct Codec<std::int64_t> {
    static Map schema() { return {{"type", "integer"}}; }
    static std::int64_t decode(const Value& value) { return value.as_int(); }
    static Value encode(std::int64_t value) { return value; }
};
template <>
struct Codec<std::size_t> {
    static Map schema() { return {{"type", "integer"}, {"minimum", 0}}; }
    static std::size_t decode(const Value& value) {
        return static_cast<std::size_t>(value.as_int());
    }
    static Value encode(std::size_t value) {
        CHECK(std::in_range<std::int64_t>(value));
        return value;
    }
};
// A finite one.
template <>
struct Codec<double> {
    static Map schema() { return {{"type", "number"}}; }
    static double decode(const Value& value) { return value.as_number(); }
    static Value encode(double value) { return value; }
};
template <>
struct Codec<Map> {
    static Map schema() { return {{"type", "object"}}; }
    static Map decode(const Value& value) { return value.as_map(); }
    static Value encode(const Map& value) { return value; }
};
template <>
struct Codec<Value> {
    static Map schema() { return {}; }
    static Value decode(const Value& value) { return value; }
    static Value encode(const Value& value) { return value; }
};

template <class T>
struct Codec<std::vector<T>> {
    static Map schema() { return {{"type", "array"}, {"items", Codec<T>::schema()}}; }
    static std::vector<T> decode(const Value& value) {
        std::vector<T> out;
        for (const Value& item : value.as_list()) out.push_back(Codec<T>::decode(item));
        return out;
    }
    static Value encode(const std::vector<T>& values) {
        List out;
        for (const T& item : values) out.push_back(Codec<T>::encode(item));
        return out;
    }
};

template <class Enum>
requires std::is_enum_v<Enum>
struct Codec<Enum> {
    static Map schema() {
        List words;
        for (std::size_t i = 0; i < Words<Enum>::count; ++i)
            words.emplace_back(encode(static_cast<Enum>(i)));
        return {{"enum", std::move(words)}};
    }
    static Enum decode(const Value& value) {
        const std::string& word = value.as_string();
        std::size_t i = 0;
        while (i < Words<Enum>::count && Words<Enum>::word(static_cast<Enum>(i)) != word) ++i;
        CHECK(i < Words<Enum>::count);
        return static_cast<Enum>(i);
    }
    static Value encode(Enum value) {
        CHECK(static_cast<std::size_t>(value) < Words<Enum>::count);
        return Words<Enum>::word(value);
    }
};

template <class T>
requires requires {
    FieldsOf<T>::fields();
}
struct Codec<T> {
    static const Fields<T>& fields() {
        static const Fields<T> made = FieldsOf<T>::fields();
        return made;
    }
    static Map schema() { return fields().schema(); }
    static T decode(const Value& value) { return fields().decode(value); }
    static Value encode(const T& value) { return fields().encode(value); }
};

template <class... Tagged>
struct Codec<std::variant<Tagged...>> {
    using OneOf = std::variant<Tagged...>;

    static Map schema() { return {{"oneOf", List{Value(Codec<Tagged>::schema())...}}}; }
    static OneOf decode(const Value& value) {
        std::optional<OneOf> out;
        ((!out && Codec<Tagged>::fields().is_tagged(value)
              ? static_cast<void>(out.emplace(Codec<Tagged>::decode(value)))
              : static_cast<void>(0)),
         ...);
        CHECK(out.has_value());
        return std::move(*out);
    }
    static Value encode(const OneOf& value) {
        return std::visit([]<class One>(const One& one) { return Codec<One>::encode(one); }, value);
    }
};

// The members of a T, in the order in which they are written. Of each is said where in a T it is:
// by a pointer to a member of T or of a base of it, or by a function from a T& to a reference.
template <class T>
class Fields {
public:
    // A constant member that tells this struct from the others of a std::variant.
    Fields& tag(std::string name, std::string word);
    // Always there. `rules` add to the schema what the type does not say, or replace it
    // ("minimum").
    template <class At>
    Fields& required(std::string name, At at, std::string_view description = "",
                     const Map& rules = {}) {
        return add(std::move(name), std::move(at), Absent::never, description, rules);
    }
    // May be absent: then it is what T{} has, which the schema of a plain value names as the
    // default.
    template <class At>
    Fields& optional(std::string name, At at, std::string_view description = "",
                     const Map& rules = {}) {
        return add(std::move(name), std::move(at), Absent::left_out, description, rules);
    }
    // Always there, and null where it is what T{} has: a std::optional without a value, "".
    template <class At>
    Fields& nullable(std::string name, At at, std::string_view description = "",
                     const Map& rules = {}) {
        return add(std::move(name), std::move(at), Absent::null, description, rules);
    }
    // The members of a struct that is in a T, as if they were the T's own. A name that stands here
    // already is written once, and must say the same.
    template <class M, class At>
    Fields& members(const Fields<M>& of, At at);
    // The one that was added last is not in the schema, which then lets through what it does not
    // name.
    Fields& unlisted(bool yes = true) {
        CHECK(!fields_.empty());
        fields_.back().listed = !yes;
        return *this;
    }

    Map schema() const;
    // Requires a value that fits schema(), and in which those not listed are of their types.
    T decode(const Value& value) const;
    Map encode(const T& from) const;
    // Whether an object has the tags of this struct, of which there must be some.
    bool is_tagged(const Value& value) const;

private:
    template <class>
    friend class Fields;

    enum class Absent : std::uint8_t { never, left_out, null };
    struct Field {
        std::string name;
        Map schema;
        bool required = true;
        bool listed = true;
        bool written = true;
        bool is_tag = false;
        std::function<void(T&, const Value&)> decode;
        std::function<std::optional<Value>(const T&)> encode;  // None: it is left out.
    };
    template <class M>
    struct Bare {
        using type = M;
        static constexpr bool is_optional = false;
    };
    template <class M>
    struct Bare<std::optional<M>> {
        using type = M;
        static constexpr bool is_optional = true;
    };
    template <class At>
    Fields& add(std::string name, At at, Absent absent, std::string_view description,
                const Map& rules);
    static Map or_null(Map schema);

    std::vector<Field> fields_;
};

template <class T>
Fields<T>& Fields<T>::tag(std::string name, std::string word) {
    Field field;
    field.name = std::move(name);
    field.schema = {{"const", word}};
    field.is_tag = true;
    field.decode = [](T&, const Value&) {};
    field.encode = [word = std::move(word)](const T&) -> std::optional<Value> { return word; };
    fields_.push_back(std::move(field));
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
    field.required = absent != Absent::left_out;
    field.schema = Codec<Type>::schema();
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
            if (absent == Absent::left_out && (std::is_arithmetic_v<Type> || std::is_enum_v<Type>))
                field.schema.append("default", fallback);
        }
    }
    field.decode = [at, absent](T& out, const Value& value) {
        if (absent == Absent::null && value.is_null()) return;
        std::invoke(at, out) = Codec<Type>::decode(value);
    };
    field.encode = [at, absent,
                    fallback = std::move(fallback)](const T& from) -> std::optional<Value> {
        const Member& member = std::invoke(at, from);
        if constexpr (kOptional) {
            if (member) return Codec<Type>::encode(*member);
            CHECK(absent != Absent::never);
        } else {
            Value value = Codec<Type>::encode(member);
            if (absent == Absent::never || !(value == fallback)) return value;
        }
        return absent == Absent::null ? std::optional(Value()) : std::nullopt;
    };
    fields_.push_back(std::move(field));
    return *this;
}

template <class T>
template <class M, class At>
Fields<T>& Fields<T>::members(const Fields<M>& of, At at) {
    const std::size_t before = fields_.size();
    for (const typename Fields<M>::Field& each : of.fields_) {
        Field field;
        field.name = each.name;
        field.schema = each.schema;
        field.required = each.required;
        field.listed = each.listed;
        field.is_tag = each.is_tag;
        field.written = each.written;
        for (std::size_t i = 0; i < before; ++i)
            field.written = field.written && fields_[i].name != field.name;
        field.decode = [at, decode = each.decode](T& out, const Value& value) {
            decode(std::invoke(at, out), value);
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
T Fields<T>::decode(const Value& value) const {
    T out{};
    for (const Field& field : fields_) {
        if (const Value* member = value.get(field.name)) field.decode(out, *member);
    }
    return out;
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
Map Fields<T>::or_null(Map schema) {
    Value* const type = schema.find("type");
    if (type == nullptr || !type->is_string() || schema.contains("enum"))
        return {{"anyOf", List{Value(std::move(schema)), Value(Map{{"type", "null"}})}}};
    *type = List{std::move(*type), "null"};
    return schema;
}

}  // namespace quire::json
