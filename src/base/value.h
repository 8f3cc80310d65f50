// Value: the one dynamic value of all rooms. JSON, SQL and the documents' own values are spellings
// of it.
//
// An integer (i64) and a float (f64) are different values even where they are numerically equal:
// 1 and 1.0 differ, because Loro's formats tell them apart. Maps keep the order in which keys were
// first set, so that what we print is the same each time.
//
//     JSON      null   true    1        1.5     "a"      -       [...]   {...}
//     here      null   bool    integer  float   string   bytes   list    map
//
// Bytes exist beside strings because documents hold them; JSON spells them as it can (json/json.h).
// A Value owns all that it holds. How deeply values are nested is bounded where they enter, by the
// parsers and decoders, since copying, comparing and printing recurse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace quire {

class Value;
// Binary data, and a sequence of values.
using Bytes = std::vector<std::uint8_t>;
using List = std::vector<Value>;

// A map that keeps the order of insertion; keys are unique. find() is O(n): for tens of keys, not
// thousands. The functions that need the complete Entry are defined in value.cc, because a Value
// may hold a Map and so neither type is complete before the other.
class Map {
public:
    struct Entry;
    using Entries = std::vector<Entry>;

    Map();
    // A key that occurs twice has its last value, in its first place. O(n^2).
    Map(std::initializer_list<Entry> entries);
    Map(const Map&);
    Map(Map&&) noexcept;
    Map& operator=(const Map&);
    Map& operator=(Map&&) noexcept;
    ~Map();

    // The value at `key`, or null when there is none; valid until the map changes. O(n).
    const Value* find(std::string_view key) const;
    Value* find(std::string_view key);
    bool contains(std::string_view key) const { return find(key) != nullptr; }
    // Replaces the value of a key in its place, or appends a new key. O(n). Returns the value where
    // it now is; valid until the map changes.
    Value& set(std::string_view key, Value value);
    // Appends without looking for `key`: the caller knows that it is new. O(1). A key that is there
    // already would be there twice, and find() would give the first.
    Value& append(std::string key, Value value);
    // Removes a key; false if it is absent. O(n).
    bool erase(std::string_view key);

    std::size_t size() const;
    bool empty() const;
    // The entries, in the order of insertion.
    Entries::const_iterator begin() const;
    Entries::const_iterator end() const;
    Entries::iterator begin();
    Entries::iterator end();

    // Equal as unordered maps. O(n log n).
    friend bool operator==(const Map& a, const Map& b);

private:
    Entries entries_;
};

// One value: null, bool, integer, float, string, bytes, list or map. Copies are deep.
//
// Every type that a value can have converts to it by itself, so that Map{{"line", 3}} and a List of
// texts can be written down. A pointer to anything but characters would become a bool.
class Value {
public:
    using Storage =
        std::variant<std::monostate, bool, std::int64_t, double, std::string, Bytes, List, Map>;

    // The default is null. An unsigned number from 2^63 on becomes negative: whoever has such
    // numbers checks them first.
    Value() = default;
    Value(std::nullptr_t) {}                                  // NOLINT(google-explicit-constructor)
    Value(bool v) : storage_(v) {}                            // NOLINT(google-explicit-constructor)
    Value(int v) : storage_(static_cast<std::int64_t>(v)) {}  // NOLINT(google-explicit-constructor)
    Value(unsigned v)
        : storage_(static_cast<std::int64_t>(v)) {}  // NOLINT(google-explicit-constructor)
    Value(long v)
        : storage_(static_cast<std::int64_t>(v)) {}  // NOLINT(google-explicit-constructor)
    Value(long long v)
        : storage_(static_cast<std::int64_t>(v)) {}  // NOLINT(google-explicit-constructor)
    Value(unsigned long v)
        : storage_(static_cast<std::int64_t>(v)) {}  // NOLINT(google-explicit-constructor)
    Value(unsigned long long v)
        : storage_(static_cast<std::int64_t>(v)) {}          // NOLINT(google-explicit-constructor)
    Value(double v) : storage_(v) {}                         // NOLINT(google-explicit-constructor)
    Value(const char* v) : storage_(std::string(v)) {}       // NOLINT(google-explicit-constructor)
    Value(std::string_view v) : storage_(std::string(v)) {}  // NOLINT(google-explicit-constructor)
    Value(std::string v) : storage_(std::move(v)) {}         // NOLINT(google-explicit-constructor)
    Value(Bytes v) : storage_(std::move(v)) {}               // NOLINT(google-explicit-constructor)
    Value(List v) : storage_(std::move(v)) {}                // NOLINT(google-explicit-constructor)
    Value(Map v) : storage_(std::move(v)) {}                 // NOLINT(google-explicit-constructor)

    // The type of the value. Exactly one of these is true, apart from is_number().
    bool is_null() const { return std::holds_alternative<std::monostate>(storage_); }
    bool is_bool() const { return std::holds_alternative<bool>(storage_); }
    bool is_int() const { return std::holds_alternative<std::int64_t>(storage_); }
    bool is_float() const { return std::holds_alternative<double>(storage_); }
    bool is_number() const { return is_int() || is_float(); }
    bool is_string() const { return std::holds_alternative<std::string>(storage_); }
    bool is_bytes() const { return std::holds_alternative<Bytes>(storage_); }
    bool is_list() const { return std::holds_alternative<List>(storage_); }
    bool is_map() const { return std::holds_alternative<Map>(storage_); }

    // Each requires the matching is_…(), and CHECKs it. A value from outside is asked for its type
    // first, or read by json/fields.h, which reports what is wrong.
    bool as_bool() const;
    std::int64_t as_int() const;
    double as_float() const;
    double as_number() const;  // The number of an integer or a float.
    const std::string& as_string() const;
    const Bytes& as_bytes() const;
    const List& as_list() const;
    List& as_list();
    const Map& as_map() const;
    Map& as_map();

    // The member `key` of a map; null (the pointer) when this is no map or has no such member.
    const Value* get(std::string_view key) const;

    // The variant, for visitors. The order of its alternatives is that of kind_name()'s words.
    const Storage& storage() const { return storage_; }

    // Equal in type and content: 1 and 1.0 differ. A float that is no number equals nothing, itself
    // included. O(size), and recursive.
    friend bool operator==(const Value& a, const Value& b) { return a.storage_ == b.storage_; }

private:
    Storage storage_;
};

struct Map::Entry {
    std::string key;
    Value value;
};

// Here, because a vector cannot tell its size before its element is complete.
inline std::size_t Map::size() const {
    return entries_.size();
}
inline bool Map::empty() const {
    return entries_.empty();
}

// "null", "boolean", "integer", "number", "string", "bytes", "array" or "object". For messages: the
// words of JSON Schema, and "bytes".
std::string_view kind_name(const Value& value);

}  // namespace quire
