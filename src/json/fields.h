// Fields: what a struct looks like in JSON, said once. From one list of its members come its JSON
// Schema 2020-12, its reading and its writing (json/codec.h), so that these cannot differ.
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
//     json::read<Range>(value);           // A stored record, a stranger's object: checks it.
//     Codec<Range>::decode(value);        // After Codec<Range>::schema() accepted the value.
//     Codec<Range>::encode(range);
//
// A member may be a std::optional of any type that has a codec.
//
// For every x that keeps to the `rules`, encode(x) fits schema(), and decode(encode(x)) is x again
// in all that its fields name. So that it holds, a member that may be absent is written where it
// says something and left out otherwise: a std::optional without a value, any other that is what
// T{} has.
//
// Cost: schema() O(what it says), anew each time; read() and encode() O(value), with the members
// of an object looked for one by one: for tens of them.
//
// Errors: read() gives a json::Fault, which names the path of the member. Our own promises are
// CHECKed: a word for each enumerator, a value in each required std::optional, integers that fit a
// signed 64 bit one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/value.h"
#include "json/codec.h"
#include "json/members.h"

namespace quire::json {

template <class T>
class Fields;

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
    static Read<T> read(const Value& value) { return fields().read(value); }
    static T decode(const Value& value) { return fields().decode(value); }
    static Value encode(const T& value) { return fields().encode(value); }
};

// The members of a T, in the order in which they are written. Each says where in a T it is: by a
// pointer to a member of T or of a base of it, or by a function from a T& to a reference.
template <class T>
class Fields {
public:
    // A member that is always this value: the number of a format.
    Fields& constant(std::string name, Value value);
    // A constant that tells this struct from the others of a std::variant.
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
    // May be absent when it is read: then it is what T{} has. It is always written.
    template <class At>
    Fields& defaulted(std::string name, At at, std::string_view description = "",
                      const Map& rules = {}) {
        return add(std::move(name), std::move(at), Absent::filled_in, description, rules);
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
    // The member that was added last is not in the schema, which then allows members that it does
    // not name.
    Fields& unlisted(bool yes = true) {
        CHECK(!fields_.empty());
        fields_.back().listed = !yes;
        return *this;
    }

    // The member that was added last is what a caller asks for: lean() keeps it whatever it holds.
    Fields& kept() {
        CHECK(!fields_.empty());
        fields_.back().in_lean = InLean::always;
        return *this;
    }
    // The member of that name says what others say: lean() leaves it out.
    Fields& implied(std::string_view name);

    // read() refuses members that the list does not name; else it passes over them.

    Fields& closed();
    // read() takes a null for a member that is not there.
    Fields& null_is_absent();
    // read() asks `fault_in` about a T whose members are right each by itself.
    Fields& check(std::function<std::optional<Fault>(const T&)> fault_in);

    Map schema() const;
    // Checks types, required members, and those `rules` that broken_rule() knows.
    Read<T> read(const Value& value) const;
    // Requires a value that fits schema(), and in which those not listed are of their types.
    T decode(const Value& value) const;
    Map encode(const T& from) const;
    // Takes out of `encoded`, which encode() made, what says nothing: null, false, empty strings,
    // arrays and objects, at each depth that fields describe; what is implied; and what `said` has
    // by the same name and value. O(size).
    void lean(Map& encoded, const Map& said = {}) const;

    // Returns true if an object has the tags of this struct, of which there must be some.
    bool is_tagged(const Value& value) const;
    // The first tag.
    std::string_view tag_name() const { return first_tag().name; }
    std::string tag_word() const { return first_tag().schema.find("const")->as_string(); }

private:
    template <class>
    friend class Fields;

    enum class Absent : std::uint8_t { never, left_out, filled_in, null };
    enum class InLean : std::uint8_t { where_it_says_something, always, never };
    struct Field {
        std::string name;

        Map schema;
        bool required = true;
        bool listed = true;
        bool written = true;
        bool is_tag = false;
        InLean in_lean = InLean::where_it_says_something;
        void (*lean)(Value& inside) = [](Value&) {};

        std::function<std::optional<Fault>(T&, const Value&)> read;
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
    const Field& first_tag() const;
    std::optional<Fault> unknown_member(const Map& members) const;
    static Unread missing(const Field& field);

    std::vector<Field> fields_;
    bool closed_ = false;
    bool null_is_absent_ = false;
    std::function<std::optional<Fault>(const T&)> check_;
};

}  // namespace quire::json

#include "json/fields_impl.h"  // IWYU pragma: keep
