#include "kernel/memory/memory_header.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/concat.h"
#include "base/utf8.h"
#include "json/json.h"
#include "memory/schema_form.h"

namespace quire::kernel {
namespace {

constexpr std::int64_t kFormat = 1;
constexpr std::size_t kLongestLabel = 200;

Failure damaged(const std::string& label, std::string_view what) {
    return corrupt(cat("memory block '", label, "' cannot be used: its stored header is damaged: ",
                       what, ". Its bytes are kept as they are"));
}

}  // namespace
}  // namespace quire::kernel

namespace quire::json {

template <>
struct FieldsOf<policy::Share> {
    static Fields<policy::Share> fields() {
        return Fields<policy::Share>()
            .required("with", &policy::Share::with)
            .required("permission", &policy::Share::permission);
    }
};

}  // namespace quire::json

namespace quire::kernel {

json::Fields<MemoryHeader> MemoryHeader::fields() {
    const auto block = [](auto member) {
        return [member](auto& it) -> auto& {
            return it.block.*member;
        };
    };
    using memory::MemoryBlock;
    return json::Fields<MemoryHeader>()
        .constant("format", kFormat)
        .required("type", &MemoryHeader::type)
        .required("owner", &MemoryHeader::owner)
        .required("permission", block(&MemoryBlock::permission))
        .required("pinned", &MemoryHeader::pinned)
        .required("description", block(&MemoryBlock::description))
        .required("shares", &MemoryHeader::shares)
        .required("schema", block(&MemoryBlock::schema))
        .optional("char_limit", block(&MemoryBlock::char_limit));
}

Bytes encode(const MemoryHeader& header) {
    const std::string text = json::write(json::Codec<MemoryHeader>::encode(header));
    return {text.begin(), text.end()};
}

Result<MemoryHeader> decode_memory_header(const std::string& label, const Bytes& bytes) {
    const Result<Value> form = json::parse(as_text(bytes));
    if (!form) return damaged(label, "it is not JSON");
    json::Read<MemoryHeader> header = json::read<MemoryHeader>(*form);
    if (!header) return damaged(label, header.error().message());
    header->block.label = label;
    return std::move(*header);
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
