// Reads and writes the values of ops, whose keys of maps are indexes into the block's table, and
// which may be a new container where they are outermost. copy_value() carries values that we do not
// understand, without making objects of them. All recurse to kMaxValueDepth.
//
// Every list, map, string and byte array is charged to the budget before memory is taken for it. A
// count is at most the bytes that are left, because each element takes a byte at least; the budget
// then bounds what the elements take as objects.
#include "codec/values.h"

#include <algorithm>
#include <bit>
#include <string>

#include "base/utf8.h"
#include "base/varint.h"

namespace quire::codec {
namespace {

constexpr std::size_t kFewKeys = 8;

// Comparing all pairs is faster than sorting for the few keys that most maps have.
bool has_repeated_key(const Map& map) {
    if (map.size() <= kFewKeys) {
        for (auto a = map.begin(); a != map.end(); ++a) {
            if (std::any_of(map.begin(), a, [&](const Map::Entry& b) { return a->key == b.key; }))
                return true;
        }
        return false;
    }
    std::vector<std::string_view> keys;
    keys.reserve(map.size());
    for (const Map::Entry& entry : map) keys.push_back(entry.key);
    std::sort(keys.begin(), keys.end());
    return std::adjacent_find(keys.begin(), keys.end()) != keys.end();
}

class ValueReader {
public:
    ValueReader(ByteReader& in, const Tables& tables, Budget& budget)
        : in_(in), tables_(tables), budget_(budget) {}

    ValueTag tag() { return static_cast<ValueTag>(in_.byte("value")); }

    Value value(ValueTag tag, int depth = 0) {
        switch (tag) {
            case ValueTag::null:
                return nullptr;
            case ValueTag::yes:
                return Value(true);
            case ValueTag::no:
                return Value(false);
            case ValueTag::i64:
                return Value(read_sleb(in_, "integer"));
            case ValueTag::f64:
                return Value(std::bit_cast<double>(in_.u64_be("float")));
            case ValueTag::string:
                return Value(text());
            case ValueTag::bytes:
                return Value(bytes());
            case ValueTag::list:
                return list(depth);
            case ValueTag::map:
                return map(depth);
            case ValueTag::container:
                break;
        }
        in_.fail(tag == ValueTag::container ? "value (a container inside a value)"
                                            : "tag of a value");
        return nullptr;
    }

    // Only here may a container stand: value() refuses the tag at every depth below.
    crdt::Slot slot() {
        const ValueTag outermost = tag();
        if (outermost != ValueTag::container) return value(outermost);
        return static_cast<crdt::ContainerKind>(in_.byte("kind of a container"));
    }

    // Each element takes at least a byte.
    std::size_t count(std::size_t object_size, const char* what) {
        const std::uint64_t count = read_uleb(in_, in_.remaining(), what);
        if (!budget_.take_heap(count * object_size)) in_.fail("value (too large for its input)");
        return in_.ok() ? count : 0;
    }

private:
    // The view is checked and charged before it is copied.
    std::string text() {
        const std::string_view text = as_text(read_sized(in_, "string"));
        if (!utf8::is_valid(text)) in_.fail("UTF-8 of a string");
        if (!budget_.take_string(text.size())) in_.fail("string");
        return in_.ok() ? std::string(text) : std::string();
    }

    Bytes bytes() {
        const auto bytes = read_sized(in_, "bytes");
        if (!budget_.take_heap(bytes.size())) in_.fail("bytes");
        return {bytes.begin(), bytes.end()};
    }

    Value list(int depth) {
        if (depth == kMaxValueDepth) in_.fail("value (nested too deep)");
        const std::size_t size = count(sizeof(Value), "size of a list");
        List list;
        list.reserve(size);
        for (std::size_t i = 0; i < size && in_.ok(); ++i) list.push_back(value(tag(), depth + 1));
        return list;
    }

    Value map(int depth) {
        if (depth == kMaxValueDepth) in_.fail("value (nested too deep)");
        const std::size_t size = count(sizeof(Map::Entry), "size of a map");
        Map map;
        for (std::size_t i = 0; i < size && in_.ok(); ++i) {
            const std::string_view key =
                tables_.key(in_, read_uleb(in_, "key of a map"), "key of a map");
            if (!budget_.take_string(key.size())) in_.fail("map (too large for its input)");
            if (in_.ok()) map.append(std::string(key), value(tag(), depth + 1));
        }
        if (in_.ok() && has_repeated_key(map)) in_.fail("map (a key is there twice)");
        return map;
    }

    ByteReader& in_;
    const Tables& tables_;
    Budget& budget_;
};

// Checks depth, tags and UTF-8 as ValueReader does, but neither repeated keys nor where a container
// stands, which may be otherwise in an op from the future. Makes no objects; the caller charges the
// bytes.
void copy_value(ByteReader& in, ByteWriter& out, const CopyKey& copy_key, int depth) {
    const std::uint8_t tag = in.byte("value");
    out.byte(tag);
    switch (static_cast<ValueTag>(tag)) {
        case ValueTag::null:
        case ValueTag::yes:
        case ValueTag::no:
            return;
        case ValueTag::i64:
            return write_sleb(out, read_sleb(in, "integer"));
        case ValueTag::f64:
            return out.append(in.take(8, "float"));
        case ValueTag::string: {
            const auto text = read_sized(in, "string");
            if (!utf8::is_valid(as_text(text))) in.fail("UTF-8 of a string");
            return write_sized(out, text);
        }
        case ValueTag::bytes:
            return write_sized(out, read_sized(in, "bytes"));
        case ValueTag::container:
            return out.byte(in.byte("kind of a container"));
        case ValueTag::list:
        case ValueTag::map: {
            if (depth == kMaxValueDepth) in.fail("value (nested too deep)");
            const std::uint64_t count = read_uleb(in, in.remaining(), "size of a value");
            write_uleb(out, count);
            for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
                if (static_cast<ValueTag>(tag) == ValueTag::map) copy_key(in, out);
                copy_value(in, out, copy_key, depth + 1);
            }
            return;
        }
    }
    in.fail("tag of a value");
}

}  // namespace

Value read_value(ByteReader& in, const Tables& tables, Budget& budget) {
    ValueReader reader(in, tables, budget);
    return reader.value(reader.tag());
}

crdt::Slot read_slot(ByteReader& in, const Tables& tables, Budget& budget) {
    return ValueReader(in, tables, budget).slot();
}

// A list insert spells its values as one list, in whose elements new containers may stand.
std::vector<crdt::Slot> read_slots(ByteReader& in, const Tables& tables, Budget& budget) {
    ValueReader reader(in, tables, budget);
    if (reader.tag() != ValueTag::list) in.fail("values of a list insert");
    const std::size_t size = reader.count(sizeof(crdt::Slot), "number of values");
    std::vector<crdt::Slot> slots;
    slots.reserve(size);
    for (std::size_t i = 0; i < size && in.ok(); ++i) slots.push_back(reader.slot());
    return slots;
}

// Recurses as deep as the value, which was bounded where it came in. Keys get their numbers here,
// so the key table is complete only after all ops are written.
void write_value(ByteWriter& out, const Value& value, Registers& registers) {
    struct Writer {
        ByteWriter& out;
        Registers& registers;

        void operator()(std::monostate) const { put_tag(out, ValueTag::null); }
        void operator()(bool flag) const { put_tag(out, flag ? ValueTag::yes : ValueTag::no); }
        void operator()(std::int64_t number) const {
            put_tag(out, ValueTag::i64);
            write_sleb(out, number);
        }
        void operator()(double number) const {
            put_tag(out, ValueTag::f64);
            out.u64_be(std::bit_cast<std::uint64_t>(number));
        }
        void operator()(const std::string& text) const {
            put_tag(out, ValueTag::string);
            write_sized(out, text);
        }
        void operator()(const Bytes& bytes) const {
            put_tag(out, ValueTag::bytes);
            write_sized(out, bytes);
        }
        void operator()(const List& list) const {
            put_tag(out, ValueTag::list);
            write_uleb(out, list.size());
            for (const Value& item : list) std::visit(*this, item.storage());
        }
        void operator()(const Map& map) const {
            put_tag(out, ValueTag::map);
            write_uleb(out, map.size());
            for (const Map::Entry& entry : map) {
                write_uleb(out, registers.keys.add(entry.key));
                std::visit(*this, entry.value.storage());
            }
        }
    };
    std::visit(Writer{out, registers}, value.storage());
}

void write_slot(ByteWriter& out, const crdt::Slot& slot, Registers& registers) {
    if (const auto* value = std::get_if<Value>(&slot)) return write_value(out, *value, registers);
    put_tag(out, ValueTag::container);
    out.byte(static_cast<std::uint8_t>(std::get<crdt::ContainerKind>(slot)));
}

void write_slots(ByteWriter& out, const std::vector<crdt::Slot>& slots, Registers& registers) {
    put_tag(out, ValueTag::list);
    write_uleb(out, slots.size());
    for (const crdt::Slot& slot : slots) write_slot(out, slot, registers);
}

void copy_value(ByteReader& in, ByteWriter& out, const CopyKey& copy_key) {
    copy_value(in, out, copy_key, 0);
}

}  // namespace quire::codec
