// The stored form of a block's properties, by one list of fields. A header that does not parse
// makes the block unusable and is otherwise left as it is: its bytes stay in the store, and a later
// program may read them. Members that are not known are passed over.

#include "kernel/memory/memory_header.h"

#include "base/bytes.h"
#include "base/concat.h"
#include "base/utf8.h"
#include "conversation/block.h"
#include "json/fields.h"
#include "json/json.h"
#include "memory/schema_form.h"
#include "text/escape_hidden.h"

namespace quire::kernel {
namespace {

constexpr std::int64_t kFormat = 1;
constexpr std::size_t kLongestLabel = 200;
// An actor's begin OWNER/LABEL, the others name blocks of other tools.
constexpr std::string_view kReservedPrefixes[] = {
    "agent:", "human:", "source:", "system:", "file:", "memory:"};

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
        .optional("char_limit", block(&MemoryBlock::char_limit))
        .optional("former_label", &MemoryHeader::former_label);
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

// Calls name blocks by ids, labels and addresses in one argument, so no label may look like one of
// the others. The limit is in bytes, for stores and messages.
Result<void> check_label(std::string_view label) {
    const auto refuse = [](std::string_view why) -> Failure {
        return invalid("invalid_label", cat("a label ", why), {{"limit", kLongestLabel}});
    };
    if (label.empty() || label.size() > kLongestLabel || !utf8::is_valid(label))
        return refuse(cat("has 1 to ", kLongestLabel, " bytes of text"));
    if (text::has_forbidden_in_name(label))
        return refuse("has no control, direction or line-separating characters");
    if (conversation::BlockId::parse(label))
        return refuse("does not have the form of a block's id, as b1 has");
    for (const std::string_view prefix : kReservedPrefixes) {
        if (label.starts_with(prefix)) return refuse(cat("does not begin with \"", prefix, "\""));
    }
    return {};
}

}  // namespace quire::kernel
