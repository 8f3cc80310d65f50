// Map's functions stand here because they need the complete Entry, which holds a Value. Maps are
// small, so a key is found by going through the entries; they stay in one vector in the order of
// insertion.
#include "base/value.h"

#include <algorithm>

#include "base/check.h"

namespace quire {

Map::Map() = default;
Map::Map(const Map&) = default;
Map::Map(Map&&) noexcept = default;
Map& Map::operator=(const Map&) = default;
Map& Map::operator=(Map&&) noexcept = default;
Map::~Map() = default;

Map::Map(std::initializer_list<Entry> entries) {
    entries_.reserve(entries.size());
    for (const Entry& entry : entries) set(entry.key, entry.value);
}

const Value* Map::find(std::string_view key) const {
    for (const Entry& entry : entries_) {
        if (entry.key == key) return &entry.value;
    }
    return nullptr;
}

Value* Map::find(std::string_view key) {
    for (Entry& entry : entries_) {
        if (entry.key == key) return &entry.value;
    }
    return nullptr;
}

Value& Map::set(std::string_view key, Value value) {
    if (Value* present = find(key)) {
        *present = std::move(value);
        return *present;
    }
    return append(std::string(key), std::move(value));
}

Value& Map::append(std::string key, Value value) {
    return entries_.emplace_back(Entry{std::move(key), std::move(value)}).value;
}

bool Map::erase(std::string_view key) {
    const auto at = std::find_if(entries_.begin(), entries_.end(),
                                 [&](const Entry& entry) { return entry.key == key; });
    if (at == entries_.end()) return false;
    entries_.erase(at);
    return true;
}

Map::Entries::const_iterator Map::begin() const {
    return entries_.begin();
}
Map::Entries::const_iterator Map::end() const {
    return entries_.end();
}
Map::Entries::iterator Map::begin() {
    return entries_.begin();
}
Map::Entries::iterator Map::end() {
    return entries_.end();
}

// The order of insertion is no part of a map's value: two replicas may have set the keys in
// different orders. Sorting pointers to the entries moves no value.
bool operator==(const Map& a, const Map& b) {
    if (a.size() != b.size()) return false;
    std::vector<const Map::Entry*> left;
    std::vector<const Map::Entry*> right;
    for (const Map::Entry& entry : a) left.push_back(&entry);
    for (const Map::Entry& entry : b) right.push_back(&entry);
    const auto by_key = [](const Map::Entry* x, const Map::Entry* y) { return x->key < y->key; };
    std::sort(left.begin(), left.end(), by_key);
    std::sort(right.begin(), right.end(), by_key);
    return std::equal(left.begin(), left.end(), right.begin(),
                      [](const Map::Entry* x, const Map::Entry* y) {
                          return x->key == y->key && x->value == y->value;
                      });
}

namespace {

// A wrong type here is a fault of the program, not of its input, so it stops.
template <class T>
const T& stored(const Value& value) {
    const T* held = std::get_if<T>(&value.storage());
    CHECK(held != nullptr);
    return *held;
}

}  // namespace

bool Value::as_bool() const {
    return stored<bool>(*this);
}
std::int64_t Value::as_int() const {
    return stored<std::int64_t>(*this);
}
double Value::as_float() const {
    return stored<double>(*this);
}
double Value::as_number() const {
    return is_int() ? static_cast<double>(as_int()) : as_float();
}
const std::string& Value::as_string() const {
    return stored<std::string>(*this);
}
const Bytes& Value::as_bytes() const {
    return stored<Bytes>(*this);
}
const List& Value::as_list() const {
    return stored<List>(*this);
}
// The value is not const, so taking the const away from what stored() returns is allowed.
List& Value::as_list() {
    return const_cast<List&>(stored<List>(*this));
}
const Map& Value::as_map() const {
    return stored<Map>(*this);
}
Map& Value::as_map() {
    return const_cast<Map&>(stored<Map>(*this));
}

const Value* Value::get(std::string_view key) const {
    const Map* map = std::get_if<Map>(&storage_);
    return map == nullptr ? nullptr : map->find(key);
}

std::string_view kind_name(const Value& value) {
    static constexpr std::string_view kNames[] = {"null",   "boolean", "integer", "number",
                                                  "string", "bytes",   "array",   "object"};
    return kNames[value.storage().index()];
}

}  // namespace quire
