// Reads and writes the values of states. They share the shape of the values of ops (values.cc) and
// none of the spelling: tags are numbered otherwise, integers are zigzag, floats begin with the
// least significant byte, and keys of maps stand in place. A reader recurses to kMaxValueDepth.
//
// Counts are bounded twice, by the bytes that are left and by the budget, before anything is
// reserved (values.cc does the same).
#include "codec/state_value.h"

#include <algorithm>
#include <bit>
#include <string>

#include "base/utf8.h"
#include "base/varint.h"
#include "codec/container_ids.h"
#include "codec/values.h"

namespace quire::codec {
namespace {

enum class StateTag : std::uint8_t { null, boolean, f64, i64, string, list, map, container, bytes };

class StateValueReader {
public:
    StateValueReader(ByteReader& in, Budget& budget) : in_(in), budget_(budget) {}

    StateTag tag() { return static_cast<StateTag>(in_.byte("value")); }

    Value value(StateTag tag, int depth = 0) {
        switch (tag) {
            case StateTag::null:
                return nullptr;
            case StateTag::boolean: {
                const std::uint8_t flag = in_.byte("boolean");
                if (flag > 1) in_.fail("boolean");
                return Value(flag == 1);
            }
            case StateTag::f64:
                return Value(std::bit_cast<double>(in_.u64_le("float")));
            case StateTag::i64:
                return Value(read_zigzag(in_, "integer"));
            case StateTag::string:
                return Value(text("string"));
            case StateTag::list:
                return list(depth);
            case StateTag::map:
                return map(depth);
            case StateTag::bytes:
                return Value(bytes());
            case StateTag::container:
                break;
        }
        in_.fail(tag == StateTag::container ? "value (a container inside a value)"
                                            : "tag of a value");
        return nullptr;
    }

    StateSlot slot() {
        const StateTag outermost = tag();
        if (outermost != StateTag::container) return value(outermost);
        return read_container_id(in_, budget_);
    }

    // Each element takes at least a byte.
    std::size_t count(std::size_t object_size, const char* what) {
        const std::uint64_t count = read_uleb(in_, in_.remaining(), what);
        if (!budget_.take_heap(count * object_size)) in_.fail("value (too large for its input)");
        return in_.ok() ? count : 0;
    }

private:
    std::string text(const char* what) {
        const std::string_view text = read_utf8(in_, what);
        if (!budget_.take_string(text.size())) in_.fail("string (too large for its input)");
        return in_.ok() ? std::string(text) : std::string();
    }

    Bytes bytes() {
        const auto bytes = read_sized(in_, "bytes");
        if (!budget_.take_heap(bytes.size())) in_.fail("bytes (too large for their input)");
        if (!in_.ok()) return {};
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

    // Keys stand in any order, so repeated ones are found by sorting views of them at the end.
    Value map(int depth) {
        if (depth == kMaxValueDepth) in_.fail("value (nested too deep)");
        // A map grows by doubling: both the old and the new entries may be there for a moment.
        const std::size_t size = count(3 * sizeof(Map::Entry), "size of a map");
        if (!budget_.take_heap(size * sizeof(std::string_view)))
            in_.fail("value (too large for its input)");
        std::vector<std::string_view> keys;
        Map map;
        for (std::size_t i = 0; i < size && in_.ok(); ++i) {
            keys.push_back(read_utf8(in_, "key of a map"));
            if (!budget_.take_string(keys.back().size()))
                in_.fail("key of a map (too large for its input)");
            if (in_.ok()) map.append(std::string(keys.back()), value(tag(), depth + 1));
        }
        std::sort(keys.begin(), keys.end());
        if (in_.ok() && std::adjacent_find(keys.begin(), keys.end()) != keys.end()) {
            in_.fail("map (a key is there twice)");
        }
        return map;
    }

    ByteReader& in_;
    Budget& budget_;
};

void put_tag(ByteWriter& out, StateTag tag) {
    out.byte(static_cast<std::uint8_t>(tag));
}

}  // namespace

// The text is empty after a failure, so that callers may go on with it.
std::string_view read_utf8(ByteReader& in, const char* what) {
    const std::string_view text = as_text(read_sized(in, what));
    if (!utf8::is_valid(text)) in.fail(what);
    return in.ok() ? text : std::string_view();
}

Value read_state_value(ByteReader& in, Budget& budget) {
    StateValueReader reader(in, budget);
    return reader.value(reader.tag());
}

StateSlot read_state_slot(ByteReader& in, Budget& budget) {
    return StateValueReader(in, budget).slot();
}

std::vector<StateSlot> read_state_slots(ByteReader& in, Budget& budget) {
    StateValueReader reader(in, budget);
    const std::size_t size = reader.count(sizeof(StateSlot), "number of values");
    std::vector<StateSlot> slots;
    slots.reserve(size);
    for (std::size_t i = 0; i < size && in.ok(); ++i) slots.push_back(reader.slot());
    return slots;
}

void write_state_value(ByteWriter& out, const Value& value) {
    struct Writer {
        ByteWriter& out;

        void operator()(std::monostate) const { put_tag(out, StateTag::null); }
        void operator()(bool flag) const {
            put_tag(out, StateTag::boolean);
            out.byte(flag ? 1 : 0);
        }
        void operator()(std::int64_t number) const {
            put_tag(out, StateTag::i64);
            write_zigzag(out, number);
        }
        void operator()(double number) const {
            put_tag(out, StateTag::f64);
            out.u64_le(std::bit_cast<std::uint64_t>(number));
        }
        void operator()(const std::string& text) const {
            put_tag(out, StateTag::string);
            write_sized(out, text);
        }
        void operator()(const Bytes& bytes) const {
            put_tag(out, StateTag::bytes);
            write_sized(out, bytes);
        }
        void operator()(const List& list) const {
            put_tag(out, StateTag::list);
            write_uleb(out, list.size());
            for (const Value& item : list) std::visit(*this, item.storage());
        }
        void operator()(const Map& map) const {
            put_tag(out, StateTag::map);
            write_uleb(out, map.size());
            for (const Map::Entry& entry : map) {
                write_sized(out, entry.key);
                std::visit(*this, entry.value.storage());
            }
        }
    };
    std::visit(Writer{out}, value.storage());
}

void write_state_slot(ByteWriter& out, const StateSlot& slot) {
    if (const auto* value = std::get_if<Value>(&slot)) return write_state_value(out, *value);
    put_tag(out, StateTag::container);
    write_container_id(out, std::get<crdt::ContainerId>(slot));
}

}  // namespace quire::codec
