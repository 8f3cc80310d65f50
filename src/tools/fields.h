// Fields: what a tool takes, said once. From one description of a struct come its JSON Schema and
// its decoding, so that the two cannot differ.
//
//     struct Args { std::string block_id; std::optional<std::string> text; };
//     Fields<Args>().required("block_id", &Args::block_id).optional("text", &Args::text, "What to
//     add.")
//
// A value is checked against the schema first (json/schema.h); decoding relies on it.
#pragma once

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
#include "blocks/block.h"

namespace quire::tools {

// How a type looks in JSON: `schema()` and `decode(value)`. Add one to use a new type in Fields.
template <class T>
struct Codec;

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
    static Value encode(std::size_t value) { return value; }
};
template <>
struct Codec<Map> {
    static Map schema() { return {{"type", "object"}}; }
    static Map decode(const Value& value) { return value.as_map(); }
    static Value encode(const Map& value) { return value; }
};
// Any JSON value, null too.
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

// An enum whose enumerators are the words name_of() gives, `count` of them in order.
template <class Enum>
struct Words;
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
        std::size_t i = 0;
        while (i < Words<Enum>::count && encode(static_cast<Enum>(i)) != value) ++i;
        CHECK(i < Words<Enum>::count);
        return static_cast<Enum>(i);
    }
    static Value encode(Enum value) { return Words<Enum>::word(value); }
};
template <>
struct Words<blocks::Role> {
    static constexpr std::size_t count = 4;
    static std::string_view word(blocks::Role role) { return blocks::name_of(role); }
};
template <>
struct Words<blocks::Kind> {
    static constexpr std::size_t count = 8;
    static std::string_view word(blocks::Kind kind) { return blocks::name_of(kind); }
};
template <>
struct Words<blocks::Status> {
    static constexpr std::size_t count = 4;
    static std::string_view word(blocks::Status status) { return blocks::name_of(status); }
};

template <class T>
class Fields {
public:
    // A constant member that tells this struct from others in a oneOf.
    Fields& tag(std::string name, std::string word) {
        fields_.push_back(
            {std::move(name), {{"const", std::move(word)}}, true, [](T&, const Value&) {}});
        return *this;
    }
    // A member of T or of a base of it.
    template <class M, class Of>
    Fields& required(std::string name, M Of::*member, std::string_view description = "",
                     Map rules = {}) {
        return add(std::move(name), property<M>(description, rules), true, member);
    }
    // Required here, though the struct allows for its absence.
    template <class M, class Of>
    Fields& required(std::string name, std::optional<M> Of::*member,
                     std::string_view description = "") {
        return add(std::move(name), property<M>(description, {}), true, member);
    }
    // May be absent: then what T{} has, which the schema names as the default.
    template <class M, class Of>
    Fields& optional(std::string name, M Of::*member, std::string_view description = "",
                     Map rules = {}) {
        Map schema = property<M>(description, rules);
        if constexpr (std::is_arithmetic_v<M> || std::is_enum_v<M>) {
            const T fallback{};
            schema.append("default", Codec<M>::encode(fallback.*member));
        }
        return add(std::move(name), std::move(schema), false, member);
    }
    template <class M, class Of>
    Fields& optional(std::string name, std::optional<M> Of::*member,
                     std::string_view description = "", Map rules = {}) {
        return add(std::move(name), property<M>(description, rules), false, member);
    }

    Map schema() const {
        Map properties;
        List needed;
        for (const Field& field : fields_) {
            properties.append(field.name, field.schema);
            if (field.required) needed.emplace_back(field.name);
        }
        Map out{{"type", "object"}, {"properties", std::move(properties)}};
        if (!needed.empty()) out.append("required", std::move(needed));
        out.append("additionalProperties", false);
        return out;
    }
    // Requires a value that fits schema().
    T decode(const Value& value) const {
        T out{};
        for (const Field& field : fields_) {
            if (const Value* member = value.get(field.name)) field.decode(out, *member);
        }
        return out;
    }

private:
    struct Field {
        std::string name;
        Map schema;
        bool required;
        std::function<void(T&, const Value&)> decode;
    };
    template <class M>
    struct Bare {
        using type = M;
    };
    template <class M>
    struct Bare<std::optional<M>> {
        using type = M;
    };
    template <class M, class Of>
    Fields& add(std::string name, Map schema, bool required, M Of::*member) {
        fields_.push_back(
            {std::move(name), std::move(schema), required, [member](T& out, const Value& value) {
                 out.*member = Codec<typename Bare<M>::type>::decode(value);
             }});
        return *this;
    }
    // `rules` add to what the type says, or replace it ("minimum").
    template <class M>
    static Map property(std::string_view description, const Map& rules) {
        Map schema = Codec<M>::schema();
        for (const Map::Entry& rule : rules) schema.set(rule.key, rule.value);
        if (!description.empty()) schema.append("description", description);
        return schema;
    }
    std::vector<Field> fields_;
};

}  // namespace quire::tools
