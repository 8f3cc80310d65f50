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
// Fields<T> is the typed surface of a FieldList (json/field_list.h), which does the work.
//
// Cost: schema() O(what it says), anew each time; read() and encode() O(value), with the members
// of an object looked for one by one: for tens of them.
//
// Errors: read() gives a json::Fault, which names the path of the member. Our own promises are
// CHECKed: a word for each enumerator, a value in each required std::optional, integers that fit a
// signed 64 bit one.
//
// A list is made once, by Codec<T>::fields(), at first use, and is then read by any thread. The
// order of the calls is the order of the members in what is written and in the schema. A request
// with few members, which need no struct, is read by json/parameters.h.
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
#include "json/field_list.h"

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

// Leaves out of an encoded M what says nothing: of an object that fields describe, and of each in an array.
template <class M>
struct LeanInside {
    static void make(Value& encoded) {
        if constexpr (requires { Codec<M>::fields(); }) {
            if (encoded.is_map()) Codec<M>::fields().lean(encoded.as_map());
        }
    }
};
template <class M>
struct LeanInside<std::vector<M>> {
    static void make(Value& encoded) {
        if (!encoded.is_list()) return;
        for (Value& each : encoded.as_list()) LeanInside<M>::make(each);
    }
};

// The functions of a member of type M.
template <class M>
struct MemberFunctions {
    using Inside = M;
    static constexpr bool kIsOptional = false;
    static std::optional<Value> encode(const void* member) {
        return Codec<M>::encode(*static_cast<const M*>(member));
    }
};
template <class M>
struct MemberFunctions<std::optional<M>> {
    using Inside = M;
    static constexpr bool kIsOptional = true;
    static std::optional<Value> encode(const void* member) {
        const auto& value = *static_cast<const std::optional<M>*>(member);
        return value ? std::optional<Value>(Codec<M>::encode(*value)) : std::nullopt;
    }
};
template <class M>
inline constexpr MemberType kMemberType = {
    .is_plain = std::is_arithmetic_v<M> || std::is_enum_v<M>,
    .is_optional = MemberFunctions<M>::kIsOptional,
    .schema = [] { return Codec<typename MemberFunctions<M>::Inside>::schema(); },
    .read = [](void* member, const Value& value) -> std::optional<Fault> {
        auto read = Codec<typename MemberFunctions<M>::Inside>::read(value);
        if (!read) return std::move(read.error());
        *static_cast<M*>(member) = std::move(*read);
        return std::nullopt;
    },
    .encode = &MemberFunctions<M>::encode,
    .wanted = []() -> std::string {
        const auto null = Codec<typename MemberFunctions<M>::Inside>::read(Value());
        return null ? "" : null.error().wanted;
    },
    .lean = &LeanInside<typename MemberFunctions<M>::Inside>::make,
};

// The members of a T, in the order in which they are written. Each is named by a pointer to a member of T or
// of a base of it, or by a function from a T& to a reference to what is in the T itself.
template <class T>
class Fields {
public:
    // A member that is always this value: the number of a format.
    Fields& constant(std::string name, Value value) {
        list_.add_constant(std::move(name), std::move(value), false);
        return *this;
    }
    // A constant that tells this struct from the others of a std::variant.
    Fields& tag(std::string name, std::string word) {
        list_.add_constant(std::move(name), std::move(word), true);
        return *this;
    }
    // A member that is always there. `rules` add to the schema what the type does not say, or replace it
    // ("minimum").
    template <class At>
    Fields& required(std::string name, At at, std::string_view description = "",
                     const Map& rules = {}) {
        return add(std::move(name), at, Absent::never, description, rules);
    }
    // A member that may be absent: then it is what T{} has, which the schema of a plain value names as the
    // default.
    template <class At>
    Fields& optional(std::string name, At at, std::string_view description = "",
                     const Map& rules = {}) {
        return add(std::move(name), at, Absent::left_out, description, rules);
    }
    // A member that may be absent when it is read: then it is what T{} has. It is always written.
    template <class At>
    Fields& defaulted(std::string name, At at, std::string_view description = "",
                      const Map& rules = {}) {
        return add(std::move(name), at, Absent::filled_in, description, rules);
    }
    // A member that is always there, and null where it is what T{} has: a std::optional without a value, "".
    template <class At>
    Fields& nullable(std::string name, At at, std::string_view description = "",
                     const Map& rules = {}) {
        return add(std::move(name), at, Absent::null, description, rules);
    }
    // The members of a struct that is in a T, as if they were the T's own. A name that stands here
    // already is written once, and must say the same.
    template <class M, class At>
    Fields& members(const Fields<M>& of, At at) {
        CHECK(!of.check_);
        list_.add_members(of.list_, offset_of(member_at(at)));
        return *this;
    }
    // The member that was added last is not in the schema, which then allows members that it does
    // not name. It is read and written all the same.
    Fields& unlisted(bool yes = true) {
        list_.set_unlisted(yes);
        return *this;
    }
    // The member that was added last is what a caller asks for: lean() keeps it whatever it holds.
    Fields& kept() {
        list_.set_kept();
        return *this;
    }
    // The member of that name says what others say: lean() leaves it out. Nothing happens where
    // there is no such member.
    Fields& implied(std::string_view name) {
        list_.set_implied(name);
        return *this;
    }
    // read() refuses members that the list does not name; else it passes over them.
    Fields& closed() {
        list_.set_closed();
        return *this;
    }
    // read() takes a null for a member that is not there.
    Fields& null_is_absent() {
        list_.set_null_is_absent();
        return *this;
    }
    // read() asks `fault_in` about a T whose members are right each by itself. It comes after all
    // members were read, and says the path of the fault itself. A struct with a check cannot be
    // taken in by members(), which would lose it.
    Fields& check(std::function<std::optional<Fault>(const T&)> fault_in) {
        check_ = std::move(fault_in);
        return *this;
    }

    Map schema() const { return list_.schema(); }
    // Checks types, required members, and those `rules` that broken_rule() knows.
    Read<T> read(const Value& value) const {
        T out{};
        std::optional<Fault> fault = list_.read(&out, value);
        if (!fault && check_) fault = check_(out);
        if (fault) return Unread(std::move(*fault));
        return out;
    }
    // Requires a value that fits schema(), and in which those not listed are of their types.
    T decode(const Value& value) const {
        Read<T> out = read(value);
        CHECK(out.has_value());
        return std::move(*out);
    }
    Map encode(const T& from) const { return list_.encode(&from); }
    // Takes out of `encoded`, which encode() made, what says nothing: null, false, empty strings,
    // arrays and objects, at each depth that fields describe; what is implied; and what `said` has
    // by the same name and value. O(size).
    void lean(Map& encoded, const Map& said = {}) const { list_.lean(encoded, said); }

    // Returns true if an object has the tags of this struct, of which there must be some.
    bool is_tagged(const Value& value) const { return list_.is_tagged(value); }
    // The first tag.
    std::string_view tag_name() const { return list_.tag_name(); }
    std::string tag_word() const { return list_.tag_word(); }

private:
    template <class>
    friend class Fields;
    using Absent = FieldList::Absent;

    // The T{} whose members are the defaults, and in which offsets are measured. So a T can be made
    // without arguments, and one of them is kept for the life of the process.
    static const T& empty() {
        static const T made{};
        return made;
    }
    // std::invoke would do, but compiles slowly, and there are hundreds of members.
    template <class At>
    static const auto& member_at(const At& at) {
        if constexpr (std::is_member_object_pointer_v<At>) {
            return empty().*at;
        } else {
            static_assert(std::is_lvalue_reference_v<decltype(at(empty()))>,
                          "it is where a member is, not what");
            return at(empty());
        }
    }
    template <class M>
    static std::size_t offset_of(const M& member) {
        const std::ptrdiff_t offset =
            reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&empty());
        CHECK(offset >= 0 && static_cast<std::size_t>(offset) + sizeof(member) <= sizeof(T));
        return static_cast<std::size_t>(offset);
    }
    template <class At>
    Fields& add(std::string name, const At& at, Absent absent, std::string_view description,
                const Map& rules) {
        const auto& member = member_at(at);
        list_.add(std::move(name), kMemberType<std::remove_cvref_t<decltype(member)>>,
                  offset_of(member), &member, absent, description, rules);
        return *this;
    }

    FieldList list_;
    std::function<std::optional<Fault>(const T&)> check_;
};

}  // namespace quire::json
