// A block as one JSON object: reading and writing follow one list of fields (CarriedForm). The file
// may come from anybody, so all that can be checked without replaying the history is checked here:
// types, bounds, order, printable descriptions, and the digest, which catches a value that was cut
// or edited by hand. The digest proves no origin.

#include "kernel/memory/carried.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/concat.h"
#include "base/utf8.h"
#include "json/fields.h"
#include "policy/call_digest.h"

namespace quire::kernel {
namespace {

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// A line of history as people are shown it: no control characters, and not longer than what a
// write of ours makes of the longest names there are.
bool is_line(std::string_view description) {
    constexpr std::size_t kLongest = 8192;
    return description.size() <= kLongest &&
           std::none_of(description.begin(), description.end(), is_control);
}

Result<void> check_entries(std::string_view label, const std::vector<store::UnitRecord>& units) {
    if (units.empty()) return damaged(label, "its history is empty");
    std::uint64_t before = 0;
    for (const store::UnitRecord& each : units) {
        if (each.version <= before) return damaged(label, "its history is not in order");
        if (!is_line(each.description))
            return damaged(label, cat("the description of version ", each.version, " is not one"));
        before = each.version;
    }
    return {};
}

// A block as the file has it.
struct CarriedForm {
    std::string label;
    MemoryHeader header;
    Value value;
    std::string content_sha256;
    std::optional<std::uint64_t> version = {};
    std::optional<std::vector<store::UnitRecord>> history = {};
    std::optional<Bytes> updates = {};
    static json::Fields<CarriedForm> fields();
};

// A bound above every timestamp in milliseconds and every version.
Map count_rules() {
    return {{"minimum", 0}, {"maximum", std::int64_t{1} << 48}};
}

}  // namespace
}  // namespace quire::kernel

namespace quire::json {

template <>
struct FieldsOf<store::UnitRecord> {
    static Fields<store::UnitRecord> fields() {
        using store::UnitRecord;
        return Fields<UnitRecord>()
            .required("version", &UnitRecord::version, "", kernel::count_rules())
            .required("actor", &UnitRecord::actor)
            .required("timestamp", &UnitRecord::at_ms, "", kernel::count_rules())
            .required("description", &UnitRecord::description)
            .required("state", &UnitRecord::state)
            .required("body", &UnitRecord::body);
    }
};

}  // namespace quire::json

namespace quire::kernel {

json::Fields<CarriedForm> CarriedForm::fields() {
    return json::Fields<CarriedForm>()
        .required("label", &CarriedForm::label)
        .required("header", &CarriedForm::header)
        .required("value", &CarriedForm::value)
        .required("content_sha256", &CarriedForm::content_sha256)
        .optional("version", &CarriedForm::version, "", count_rules())
        .optional("history", &CarriedForm::history)
        .optional("updates", &CarriedForm::updates);
}

Failure damaged(std::string_view label, std::string_view what) {
    constexpr std::size_t kShown = 200;
    std::string clean(utf8::prefix(label, kShown));
    std::replace_if(clean.begin(), clean.end(), is_control, ' ');
    return corrupt(cat("the block '", clean, "' is damaged: ", what), {{"label", clean}});
}

std::string content_digest(const Value& value) {
    return policy::value_digest(value);
}

Value to_value(const CarriedBlock& block) {
    CarriedForm form{.label = block.header.block.label,
                     .header = block.header,
                     .value = block.value,
                     .content_sha256 = content_digest(block.value)};
    if (!block.units.empty()) {
        form.version = block.version;
        form.history = block.units;
        form.updates = block.updates;
    }
    return json::Codec<CarriedForm>::encode(form);
}

// The label is read first, and by hand, so that every later error can name the block. History,
// version and updates come together or not at all.
Result<CarriedBlock> carried_of(const Value& value) {
    const Value* const named = value.get("label");
    const std::string label = named != nullptr && named->is_string() ? named->as_string() : "?";
    json::Read<CarriedForm> form = json::read<CarriedForm>(value);
    if (!form) return damaged(label, form.error().message());
    if (form->content_sha256 != content_digest(form->value))
        return damaged(label, "its value is not the one that its digest is of");
    CarriedBlock block{.header = std::move(form->header), .value = std::move(form->value)};
    block.header.block.label = label;
    if (!form->history) {
        if (!form->updates) return block;
        return damaged(label, "it has changes and no history of them");
    }
    TRY(check_entries(label, *form->history));
    if (!form->version) return damaged(label, "it has no version");
    if (!form->updates) return damaged(label, "it has no updates");
    if (*form->version < form->history->back().version)
        return damaged(label, "its history is ahead of its version");
    block.version = *form->version;
    block.units = std::move(*form->history);
    block.updates = std::move(*form->updates);
    return block;
}

}  // namespace quire::kernel
