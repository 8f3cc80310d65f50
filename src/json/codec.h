// Codec: how one C++ type looks in JSON. From it come its JSON Schema 2020-12, its reading and its
// writing, so that these cannot differ.
//
// There is a codec for std::string, bool, std::int64_t, std::size_t (from 0), double, Map (any
// object), Value (anything, null too), Bytes (base64), an enum by its words (base/enum_words.h), a
// type with parse() and str(), std::vector, a struct by its fields (json/fields.h), and a
// std::variant of structs that their tags tell apart (oneOf). Specialise Codec for another shape.
//
// read() checks all that it is given. decode() is for a value that was checked against schema()
// before (json/schema): it CHECKs that read() succeeds.
//
// Each read() says the first fault that it finds, with the path from the value that it was given.
// No codec converts: "3" is no number, and 2.0 no integer, though a schema of type integer accepts
// it; Schema::accept() makes it one before a call is decoded. Encoding cannot fail, but for a
// CHECK of our own promises. O(value), all of it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"
#include "base/concat.h"
#include "base/enum_words.h"
#include "base/value.h"
#include "json/fault.h"
#include "json/json.h"

namespace quire::json {

// A Codec<T> has three static functions: `schema()`, `read(value)` and `encode(it)`. A type
// without a specialisation cannot be a member of a Fields list.
template <class T>
// Values of a T are copied out of the Value that is read. Fails with the first fault found.
struct Codec;

// Reads `value` as a T, or says why it is none.
template <class T>
Read<T> read(const Value& value) {
    return Codec<T>::read(value);
}
template <class T>
T decode(const Value& value) {
    Read<T> out = Codec<T>::read(value);
    CHECK(out.has_value());
    return std::move(*out);
}

template <>
struct Codec<std::string> {
    static Map schema() { return {{"type", "string"}}; }
    static Read<std::string> read(const Value& value) {
        if (!value.is_string()) return wrong_type("a string", value);
        return value.as_string();
    }
    static Value encode(const std::string& text) { return text; }
};
template <>
struct Codec<bool> {
    static Map schema() { return {{"type", "boolean"}}; }
    static Read<bool> read(const Value& value) {
        if (!value.is_bool()) return wrong_type("true or false", value);
        return value.as_bool();
    }
    static Value encode(bool value) { return value; }
};
template <>
struct Codec<std::int64_t> {
    static Map schema() { return {{"type", "integer"}}; }
    static Read<std::int64_t> read(const Value& value) {
        if (!value.is_int()) return wrong_type("a whole number", value);
        return value.as_int();
    }
    static Value encode(std::int64_t value) { return value; }
};
// One that fits a signed 64 bit integer.
template <>
struct Codec<std::size_t> {
    static constexpr std::string_view kWanted = "a whole number from 0 on";
    static Map schema() { return {{"type", "integer"}, {"minimum", 0}}; }
    static Read<std::size_t> read(const Value& value) {
        if (!value.is_int()) return wrong_type(kWanted, value);
        if (value.as_int() < 0) return bad_value(cat("must be ", kWanted), std::string(kWanted));
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
    static Read<double> read(const Value& value) {
        if (!value.is_number()) return wrong_type("a number", value);
        return value.as_number();
    }
    static Value encode(double value) { return value; }
};
template <>
struct Codec<Map> {
    static Map schema() { return {{"type", "object"}}; }
    static Read<Map> read(const Value& value) {
        if (!value.is_map()) return wrong_type("an object", value);
        return value.as_map();
    }
    static Value encode(const Map& value) { return value; }
};
template <>
struct Codec<Value> {
    static Map schema() { return {}; }
    static Read<Value> read(const Value& value) { return value; }
    static Value encode(const Value& value) { return value; }
};
template <>
struct Codec<Bytes> {
    static Map schema() { return {{"type", "string"}, {"contentEncoding", "base64"}}; }
    static Read<Bytes> read(const Value& value) {
        if (!value.is_string()) return wrong_type("base64", value);
        Result<Bytes> bytes = from_base64(value.as_string());
        if (!bytes) return bad_value("must be base64", "base64");
        return std::move(*bytes);
    }
    static Value encode(const Bytes& bytes) {
        return base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
};

template <class T>
struct Codec<std::vector<T>> {
    static Map schema() { return {{"type", "array"}, {"items", Codec<T>::schema()}}; }
    static Read<std::vector<T>> read(const Value& value) {
        if (!value.is_list()) return wrong_type("an array", value);
        std::vector<T> out;
        out.reserve(value.as_list().size());
        for (const Value& each : value.as_list()) {
            Read<T> item = Codec<T>::read(each);
            if (!item) return Unread(std::move(item.error()).in_item(out.size()));
            out.push_back(std::move(*item));
        }
        return out;
    }
    static Value encode(const std::vector<T>& values) {
        List out;
        for (const T& item : values) out.push_back(Codec<T>::encode(item));
        return out;
    }
};

template <WordedEnum Enum>
struct Codec<Enum> {
    static Map schema() { return {{"enum", List(kWords<Enum>.begin(), kWords<Enum>.end())}}; }
    static Read<Enum> read(const Value& value) {
        const std::string wanted = cat("one of ", listed_words<Enum>());
        if (!value.is_string()) return wrong_type(wanted, value);
        const std::optional<Enum> known = enum_named<Enum>(value.as_string());
        if (!known) return bad_value(cat("must be ", wanted), wanted);
        return *known;
    }
    static Value encode(Enum value) {
        CHECK(static_cast<std::size_t>(value) < kWords<Enum>.size());
        return name_of(value);
    }
};

// A value that is a text to others: an actor, a block's id.
template <class T>
concept TextForm = requires(const T& it, std::string_view text) {
    { T::parse(text) } -> std::same_as<Result<T>>;
    { it.str() } -> std::same_as<std::string>;
};
template <TextForm T>
struct Codec<T> {
    static Map schema() { return {{"type", "string"}}; }
    static Read<T> read(const Value& value) {
        if (!value.is_string()) return wrong_type("a string", value);
        Result<T> parsed = T::parse(value.as_string());
        if (!parsed) return bad_value(cat("is wrong: ", parsed.error().message()));
        return std::move(*parsed);
    }
    static Value encode(const T& it) { return it.str(); }
};

template <class... Tagged>
struct Codec<std::variant<Tagged...>> {
    using OneOf = std::variant<Tagged...>;

    static Map schema() { return {{"oneOf", List{Value(Codec<Tagged>::schema())...}}}; }
    static Read<OneOf> read(const Value& value) {
        if (!value.is_map()) return wrong_type("an object", value);
        std::optional<Read<OneOf>> out;
        std::string words;
        std::string_view tag;
        ((!out && Codec<Tagged>::fields().is_tagged(value)
              ? static_cast<void>(out = Codec<Tagged>::read(value).map(
                                      [](Tagged&& one) { return OneOf(std::move(one)); }))
              : static_cast<void>(0)),
         ...);
        if (out) return std::move(*out);
        ((cat_to(words, cat(words.empty() ? "" : ", ", Codec<Tagged>::fields().tag_word())),
          tag = Codec<Tagged>::fields().tag_name()),
         ...);
        const std::string wanted = cat("one of ", words);
        return Unread(
            Fault{.kind = value.get(tag) == nullptr ? Fault::Kind::missing : Fault::Kind::bad_value,
                  .problem = cat("must be ", wanted),
                  .wanted = wanted}
                .in_member(tag));
    }
    static Value encode(const OneOf& value) {
        return std::visit([]<class One>(const One& one) { return Codec<One>::encode(one); }, value);
    }
};

}  // namespace quire::json
