// FieldList: the list of a struct's members without the struct's C++ type.
//
// Fields<T> (json/fields.h) is the typed surface, and a FieldList does its work. A member is stored
// as its offset in the struct and a table of functions for its type. Therefore reading, writing and
// the schema are compiled once, and not once for each struct: the room `tools` alone has some
// eighty of them. A list is made once for each struct, by Codec<T>::fields(), and not changed
// afterwards; any thread may read it then. Nothing here checks that an address is that of the right
// struct: Fields<T> does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/value.h"
#include "json/fault.h"

namespace quire::json {

// The functions of one type of member. They take its address.
struct MemberType {
    // The schema of a plain value names its default: numbers, truth values and the words of an enum.
    bool is_plain;
    bool is_optional;  // The member is a std::optional. Its schema is that of the value inside.
    Map (*schema)();
    // Assigns what `value` says to the member.
    std::optional<Fault> (*read)(void* member, const Value& value);
    // Returns none for a std::optional without a value.
    std::optional<Value> (*encode)(const void* member);
    // Says in words what the member takes; "" if it takes null too.
    std::string (*wanted)();
    // Leaves out of an encoded member what says nothing, as far as fields describe it.
    void (*lean)(Value& encoded);
};

// A struct's members in the order in which they are written.
class FieldList {
public:
    // How a member that is absent is read, and how one without a value is written.
    enum class Absent : std::uint8_t { never, left_out, filled_in, null };

    // A member without a place in the struct. read() demands exactly this value.
    void add_constant(std::string name, Value value, bool is_tag);
    // `empty` is the member of a T{}, read here and not kept. `type` outlives the list. CHECKs
    // that a std::optional is empty in a T{}.
    void add(std::string name, const MemberType& type, std::size_t offset, const void* empty,
             Absent absent, std::string_view description, const Map& rules);
    // Adds the members of a struct that begins at `offset`. A name that the list has already is read into
    // both places and written once.
    void add_members(const FieldList& of, std::size_t offset);

    // set_unlisted() and set_kept() concern the member that was added last.
    void set_unlisted(bool yes);
    void set_kept();
    // Concerns the member of that name, where there is one.
    void set_implied(std::string_view name);
    void set_closed() { is_closed_ = true; }
    void set_null_is_absent() { null_is_absent_ = true; }

    // The schema of the object. O(its size).
    Map schema() const;
    // Reads an object into `out`, which is a T{}. Returns the first fault, after which `out` is of
    // no use. O(members of the list times members of the object).
    std::optional<Fault> read(void* out, const Value& value) const;
    // The members in the order of the list. CHECKs that a required std::optional has a value.
    Map encode(const void* from) const;
    void lean(Map& encoded, const Map& said) const;

    // These three require that the list has a tag.
    bool is_tagged(const Value& value) const;
    std::string_view tag_name() const { return first_tag().name; }
    std::string tag_word() const { return first_tag().fallback.as_string(); }

private:
    // Says when lean() keeps a member.
    enum class InLean : std::uint8_t { where_it_says_something, always, never };
    // One member, with its schema as it stands in `properties`.
    struct Field {
        std::string name;
        const MemberType* type;  // nullptr: a constant.
        std::size_t offset = 0;
        Absent absent = Absent::never;
        Map rules = {};  // read() checks them.
        // The value of a constant, or of the member of a T{}, which is not written if it may be absent.
        Value fallback = {};
        Map schema = {};
        bool is_listed = true;
        bool is_written = true;
        bool is_tag = false;
        InLean in_lean = InLean::where_it_says_something;

        bool is_required() const { return absent == Absent::never || absent == Absent::null; }
        std::string wanted() const;
        std::optional<Fault> read(char* out, const Value& value) const;
        std::optional<Value> encode(const char* from) const;
    };

    const Field& first_tag() const;
    std::optional<Fault> unknown_member(const Map& members) const;

    std::vector<Field> fields_;
    bool is_closed_ = false;
    bool null_is_absent_ = false;
};

}  // namespace quire::json
