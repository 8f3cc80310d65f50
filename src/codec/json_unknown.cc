// A payload of an unknown op is bytes that carry their keys themselves (payload.h). Towards JSON
// they are read without checks, because they were checked when they came in. From JSON everything
// is checked, and written as the same bytes.
//
// Both directions go by the table of names kTypes. A kind without a name has no form in JSON; a
// kind beyond the table is called "Unknown" and keeps its bytes.
#include "codec/json_unknown.h"

#include <array>
#include <bit>
#include <limits>
#include <string_view>

#include "base/check.h"
#include "base/concat.h"
#include "base/utf8.h"
#include "base/varint.h"
#include "codec/json_updates.h"
#include "codec/json_values.h"
#include "codec/payload.h"
#include "codec/values.h"
#include "crdt/ids/container_text.h"

namespace quire::codec {
namespace {

// In the order of PayloadKind; empty for what has no JSON form.
constexpr std::array<std::string_view, kLastKnownKind + 1> kTypes = {"null",
                                                                     "true",
                                                                     "false",
                                                                     "i64",
                                                                     "f64",
                                                                     "str",
                                                                     "binary",
                                                                     "container_idx",
                                                                     "delete_once",
                                                                     "delete_seq",
                                                                     "delta_int",
                                                                     "loro_value",
                                                                     "",
                                                                     "",
                                                                     "list_move",
                                                                     "",
                                                                     ""};
constexpr std::string_view kFutureType = "Unknown";
constexpr std::uint8_t kMaxKind = 127;

// A tagged value whose maps hold their keys themselves (payload.h); its bytes were checked when
// they were read. A new container has the id of its op.
Value read_kept_value(ByteReader& in, crdt::OpId own) {
    switch (static_cast<ValueTag>(in.byte(""))) {
        case ValueTag::null:
            break;
        case ValueTag::container: {
            const auto kind = static_cast<crdt::ContainerKind>(in.byte(""));
            return Value(cat(kContainerMark, crdt::to_text(crdt::ContainerId::normal(own, kind))));
        }
        case ValueTag::yes:
            return Value(true);
        case ValueTag::no:
            return Value(false);
        case ValueTag::i64:
            return Value(read_sleb(in, ""));
        case ValueTag::f64:
            return Value(std::bit_cast<double>(in.u64_be("")));
        case ValueTag::string:
            return Value(std::string(as_text(read_sized(in, ""))));
        case ValueTag::bytes: {
            const auto bytes = read_sized(in, "");
            return Value(Bytes(bytes.begin(), bytes.end()));
        }
        case ValueTag::list: {
            List list;
            for (std::uint64_t left = read_uleb(in, ""); left > 0; --left)
                list.push_back(read_kept_value(in, own));
            return list;
        }
        case ValueTag::map: {
            Map map;
            for (std::uint64_t left = read_uleb(in, ""); left > 0; --left) {
                const std::string_view key = as_text(read_sized(in, ""));
                map.set(key, read_kept_value(in, own));
            }
            return map;
        }
    }
    return nullptr;
}

// Returns false for a value that is nested too deep, or holds text that is not UTF-8.
bool write_kept_value(ByteWriter& out, const Value& value, int depth) {
    if (depth > kMaxJsonDepth) return false;
    if (value.is_null()) {
        put_tag(out, ValueTag::null);
    } else if (value.is_bool()) {
        put_tag(out, value.as_bool() ? ValueTag::yes : ValueTag::no);
    } else if (value.is_int()) {
        put_tag(out, ValueTag::i64);
        write_sleb(out, value.as_int());
    } else if (value.is_float()) {
        put_tag(out, ValueTag::f64);
        out.u64_be(std::bit_cast<std::uint64_t>(value.as_float()));
    } else if (value.is_string()) {
        if (!utf8::is_valid(value.as_string())) return false;
        if (const auto container = container_reference(value)) {
            put_tag(out, ValueTag::container);
            out.byte(static_cast<std::uint8_t>(container->kind));
        } else {
            put_tag(out, ValueTag::string);
            write_sized(out, value.as_string());
        }
    } else if (value.is_bytes()) {
        put_tag(out, ValueTag::bytes);
        write_sized(out, value.as_bytes());
    } else if (value.is_list()) {
        put_tag(out, ValueTag::list);
        write_uleb(out, value.as_list().size());
        for (const Value& item : value.as_list()) {
            if (!write_kept_value(out, item, depth + 1)) return false;
        }
    } else {
        put_tag(out, ValueTag::map);
        write_uleb(out, value.as_map().size());
        for (const Map::Entry& entry : value.as_map()) {
            if (!utf8::is_valid(entry.key)) return false;
            write_sized(out, entry.key);
            if (!write_kept_value(out, entry.value, depth + 1)) return false;
        }
    }
    return true;
}

}  // namespace

Result<Value> unknown_to_json(const crdt::UnknownOp& op, crdt::OpId own) {
    Map json{{"type", "unknown"}};
    ByteReader in(op.value);
    if ((op.value_kind & kFutureBit) != 0) {
        const auto data = read_sized(in, "");
        json.append("value_type", kFutureType);
        json.append("value", Map{{"kind", op.value_kind & ~kFutureBit},
                                 {"data", json_bytes({data.begin(), data.end()})}});
    } else {
        // read_unknown() and unknown_from_json() let no other kind in without the bit for the
        // future.
        CHECK(op.value_kind < kTypes.size());
        const std::string_view type = kTypes[op.value_kind];
        if (type.empty()) {
            return fail(Errc::unsupported, "no_json_form",
                        "an operation on a container from the future names keys or peers by their "
                        "place in a binary block; export binary updates instead");
        }
        json.append("value_type", type);
        switch (static_cast<PayloadKind>(op.value_kind)) {
            case PayloadKind::i64:
            case PayloadKind::delta:
                json.append("value", read_sleb(in, ""));
                break;
            case PayloadKind::f64:
                // NaN and the infinities become null: JSON has no word for them.
                json.append("value", plain_json(std::bit_cast<double>(in.u64_be(""))));
                break;
            case PayloadKind::string:
                json.append("value", as_text(read_sized(in, "")));
                break;
            case PayloadKind::bytes: {
                const auto bytes = read_sized(in, "");
                json.append("value", json_bytes({bytes.begin(), bytes.end()}));
                break;
            }
            case PayloadKind::index:
                json.append("value", static_cast<std::int64_t>(read_uleb(in, "")));
                break;
            case PayloadKind::value:
                json.append("value", plain_json(read_kept_value(in, own)));
                break;
            case PayloadKind::list_move: {
                const auto number = [&] { return static_cast<std::int64_t>(read_uleb(in, "")); };
                Map move;
                for (const char* name : {"from", "from_idx", "lamport"})
                    move.append(name, number());
                json.append("value", std::move(move));
                break;
            }
            case PayloadKind::null:
            case PayloadKind::yes:
            case PayloadKind::no:
            case PayloadKind::delete_once:
            case PayloadKind::delete_sequence:
            case PayloadKind::style_start:
            case PayloadKind::old_tree_move:
            case PayloadKind::list_set:
            case PayloadKind::tree_move:
                break;
        }
    }
    json.append("prop", op.prop);
    return Value(std::move(json));
}

namespace {

Failure wrong_value() {
    return corrupt("its `value` is not what its `value_type` says");
}

// The payload of a kind that this version does not know, either.
Result<void> read_future(const Value& value, crdt::UnknownOp& op) {
    const Value* kind = value.get("kind");
    const Value* data = value.get("data");
    if (kind == nullptr || !kind->is_int() || data == nullptr) return wrong_value();
    // A writer may have given the kind with its bit or without.
    const std::int64_t number = kind->as_int() & ~std::int64_t{kFutureBit};
    const auto bytes = bytes_from_json(*data);
    if (number <= kLastKnownKind || number > kMaxKind || !bytes) return wrong_value();
    op.value_kind = static_cast<std::uint8_t>(number | kFutureBit);
    ByteWriter out;
    write_sized(out, *bytes);
    op.value = std::move(out).take();
    return {};
}

// Kinds without a payload take any value, as a reader of them looks at none.
Result<void> write_payload(ByteWriter& out, PayloadKind kind, const Value& value) {
    switch (kind) {
        case PayloadKind::i64:
        case PayloadKind::delta:
            if (!value.is_int()) return wrong_value();
            write_sleb(out, value.as_int());
            break;
        case PayloadKind::f64:
            if (!value.is_number()) return wrong_value();
            out.u64_be(std::bit_cast<std::uint64_t>(value.as_number()));
            break;
        case PayloadKind::string:
            if (!value.is_string() || !utf8::is_valid(value.as_string())) return wrong_value();
            write_sized(out, value.as_string());
            break;
        case PayloadKind::bytes: {
            const auto bytes = bytes_from_json(value);
            if (!bytes) return wrong_value();
            write_sized(out, *bytes);
            break;
        }
        case PayloadKind::index:
            if (!value.is_int() || value.as_int() < 0) return wrong_value();
            write_uleb(out, static_cast<std::uint64_t>(value.as_int()));
            break;
        case PayloadKind::value:
            if (!write_kept_value(out, value, 0))
                return corrupt("its `value` is nested too deep, or holds text that is not UTF-8");
            break;
        case PayloadKind::list_move:
            for (const char* name : {"from", "from_idx", "lamport"}) {
                const Value* number = value.get(name);
                if (number == nullptr || !number->is_int() || number->as_int() < 0)
                    return wrong_value();
                write_uleb(out, static_cast<std::uint64_t>(number->as_int()));
            }
            break;
        case PayloadKind::null:
        case PayloadKind::yes:
        case PayloadKind::no:
        case PayloadKind::delete_once:
        case PayloadKind::delete_sequence:
        case PayloadKind::style_start:
        case PayloadKind::old_tree_move:
        case PayloadKind::list_set:
        case PayloadKind::tree_move:
            break;
    }
    return {};
}

}  // namespace

Result<crdt::UnknownOp> unknown_from_json(const Map& content) {
    const Value* type = content.find("value_type");
    const Value* prop = content.find("prop");
    const Value* given = content.find("value");
    if (type == nullptr || !type->is_string())
        return corrupt("the type of its value (`value_type`) is no text");
    if (prop == nullptr || !prop->is_int() ||
        prop->as_int() < std::numeric_limits<std::int32_t>::min() ||
        prop->as_int() > std::numeric_limits<std::int32_t>::max()) {
        return corrupt("its `prop` is no 32-bit integer");
    }
    crdt::UnknownOp op{static_cast<std::int32_t>(prop->as_int()), 0, {}};
    const Value null;
    const Value& value = given == nullptr ? null : *given;
    if (type->as_string() == kFutureType) {
        TRY(read_future(value, op));
        return op;
    }
    std::size_t kind = 0;
    // An empty name stands for a kind without a JSON form, which no text may select.
    while (kind < kTypes.size() && (kTypes[kind].empty() || kTypes[kind] != type->as_string()))
        ++kind;
    if (kind == kTypes.size()) return corrupt("the type of its value (`value_type`) is not known");
    op.value_kind = static_cast<std::uint8_t>(kind);
    ByteWriter out;
    TRY(write_payload(out, static_cast<PayloadKind>(kind), value));
    op.value = std::move(out).take();
    return op;
}

}  // namespace quire::codec
