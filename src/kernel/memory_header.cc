#include "kernel/memory_header.h"

#include <algorithm>
#include <iterator>

#include "base/concat.h"
#include "base/utf8.h"
#include "json/json.h"
#include "memory/schema_form.h"

namespace quire::kernel {
namespace {

constexpr std::int64_t kFormat = 1;
constexpr std::size_t kLongestLabel = 200;

Failure damaged(const std::string& label, std::string_view what) {
    return corrupt(cat("memory block '", label, "' cannot be used: its stored ", what,
                       ". Its bytes are kept as they are"));
}

const std::string* text_of(const Value& form, std::string_view member) {
    const Value* value = form.get(member);
    return value != nullptr && value->is_string() ? &value->as_string() : nullptr;
}

Result<std::vector<policy::Share>> shares_of(const Value& form) {
    std::vector<policy::Share> shares;
    const Value* list = form.get("shares");
    if (list == nullptr || !list->is_list()) return corrupt("shares are missing");
    for (const Value& each : list->as_list()) {
        const std::string* with = text_of(each, "with");
        const std::string* level = text_of(each, "permission");
        if (with == nullptr || level == nullptr) return corrupt("a share is not one");
        shares.push_back({TRY(policy::Actor::parse(*with)), TRY(policy::parse_permission(*level))});
    }
    return shares;
}

Result<MemoryHeader> read(const Value& form) {
    const Value* format = form.get("format");
    if (format == nullptr || *format != Value(kFormat))
        return corrupt("header is of no known format");
    const std::string* type = text_of(form, "type");
    const std::string* owner = text_of(form, "owner");
    const std::string* permission = text_of(form, "permission");
    const std::string* description = text_of(form, "description");
    const Value* pinned = form.get("pinned");
    const Value* schema = form.get("schema");
    const bool whole = type != nullptr && owner != nullptr && permission != nullptr &&
                       description != nullptr && pinned != nullptr && pinned->is_bool() &&
                       schema != nullptr;
    if (!whole) return corrupt("header is not whole");

    MemoryHeader header;
    const auto known = enum_named<MemoryType>(*type);
    if (!known) return corrupt(cat("type '", *type, "' is not known"));
    header.type = *known;
    header.pinned = pinned->as_bool();
    header.owner = TRY(policy::Actor::parse(*owner));
    header.shares = TRY(shares_of(form));
    header.block.description = *description;
    header.block.permission = TRY(policy::parse_permission(*permission));
    if (const Value* limit = form.get("char_limit"); limit != nullptr) {
        if (!limit->is_int() || limit->as_int() < 0) return corrupt("char_limit is no number");
        header.block.char_limit = static_cast<std::size_t>(limit->as_int());
    }
    Result<memory::BlockSchema> parsed = memory::parse_schema(*schema);
    if (!parsed) return corrupt(cat("schema does not parse: ", parsed.error().message()));
    header.block.schema = std::move(*parsed);
    return header;
}

}  // namespace

Bytes encode(const MemoryHeader& header) {
    List shares;
    for (const policy::Share& each : header.shares) {
        shares.push_back(Map{{"with", each.with.str()}, {"permission", name_of(each.permission)}});
    }
    Map form{{"format", kFormat},           {"type", name_of(header.type)},
             {"owner", header.owner.str()}, {"permission", name_of(header.block.permission)},
             {"pinned", header.pinned},     {"description", header.block.description},
             {"shares", std::move(shares)}, {"schema", memory::to_value(header.block.schema)}};
    if (header.block.char_limit) form.append("char_limit", *header.block.char_limit);
    const std::string text = json::write(form);
    return {text.begin(), text.end()};
}

Result<MemoryHeader> decode_memory_header(const std::string& label, const Bytes& bytes) {
    const Result<Value> form =
        json::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (!form) return damaged(label, "header is not JSON");
    Result<MemoryHeader> header = read(*form);
    if (!header) return damaged(label, header.error().message());
    header->block.label = label;
    return header;
}

Result<void> check_label(std::string_view label) {
    const bool control = std::any_of(label.begin(), label.end(), [](char each) {
        return static_cast<unsigned char>(each) < 0x20 || each == 0x7f;
    });
    if (!label.empty() && label.size() <= kLongestLabel && utf8::is_valid(label) && !control)
        return {};
    return invalid(
        "invalid_label",
        cat("a label has 1 to ", kLongestLabel, " bytes of text without control characters"),
        {{"limit", kLongestLabel}});
}

}  // namespace quire::kernel
