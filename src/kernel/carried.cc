#include "kernel/carried.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "base/utf8.h"
#include "json/json.h"
#include "policy/call_digest.h"

namespace quire::kernel {
namespace {

bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

std::string text_in(const Bytes& bytes) {
    return json::base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// The members of one block, each of its type.
class Form {
public:
    explicit Form(const Value& form) : form_(form) {
        if (const Value* label = form.get("label"); label != nullptr && label->is_string())
            label_ = label->as_string();
    }
    const std::string& label() const { return label_; }
    Result<const Value*> any(const Value& of, std::string_view name) const {
        const Value* value = of.get(name);
        if (value == nullptr) return damaged(label_, cat("it has no ", name));
        return value;
    }
    Result<std::string> text(const Value& of, std::string_view name) const {
        const Value* value = TRY(any(of, name));
        if (!value->is_string()) return damaged(label_, cat(name, " is not a text"));
        return value->as_string();
    }
    Result<std::int64_t> number(const Value& of, std::string_view name) const {
        const Value* value = TRY(any(of, name));
        // As many milliseconds as there will be, and more versions.
        constexpr std::int64_t kMost = std::int64_t{1} << 48;
        if (!value->is_int() || value->as_int() < 0 || value->as_int() > kMost)
            return damaged(label_, cat(name, " is not a number from 0 to ", kMost));
        return value->as_int();
    }
    Result<Bytes> bytes(const Value& of, std::string_view name) const {
        const std::string text = TRY(this->text(of, name));
        Result<Bytes> bytes = json::from_base64(text);
        if (!bytes) return damaged(label_, cat(name, " is not base64"));
        return bytes;
    }
    Result<store::UnitRecord> unit(const Value& entry) const {
        store::UnitRecord unit;
        unit.version = static_cast<std::uint64_t>(TRY(number(entry, "version")));
        unit.actor = TRY(text(entry, "actor"));
        unit.at_ms = TRY(number(entry, "timestamp"));
        unit.description = TRY(text(entry, "description"));
        unit.state = TRY(text(entry, "state"));
        unit.body = TRY(bytes(entry, "body"));
        return unit;
    }

private:
    const Value& form_;
    std::string label_ = "?";
};

// A line of history as people are shown it: no control characters, and not longer than what a
// write of ours makes of the longest names there are.
bool is_line(std::string_view description) {
    constexpr std::size_t kLongest = 8192;
    return description.size() <= kLongest &&
           std::none_of(description.begin(), description.end(), is_control);
}

}  // namespace

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
    const Bytes header = encode(block.header);
    Map form{{"label", block.header.block.label},
             {"header",
              json::parse({reinterpret_cast<const char*>(header.data()), header.size()}).value()},
             {"value", block.value},
             {"content_sha256", content_digest(block.value)}};
    if (block.units.empty()) return form;
    List history;
    for (const store::UnitRecord& each : block.units) {
        history.push_back(Map{{"version", each.version},
                              {"actor", each.actor},
                              {"timestamp", each.at_ms},
                              {"description", each.description},
                              {"state", each.state},
                              {"body", text_in(each.body)}});
    }
    form.append("version", block.version);
    form.append("history", std::move(history));
    form.append("updates", text_in(block.updates));
    return form;
}

Result<CarriedBlock> carried_of(const Value& value) {
    const Form form(value);
    const std::string label = TRY(form.text(value, "label"));
    if (const auto named = check_label(label); !named)
        return damaged(label, named.error().message());
    const std::string header = json::write(*TRY(form.any(value, "header")));
    CarriedBlock block;
    Result<MemoryHeader> read = decode_memory_header(label, {header.begin(), header.end()});
    if (!read) return damaged(label, read.error().message());
    block.header = std::move(*read);
    block.value = *TRY(form.any(value, "value"));
    if (TRY(form.text(value, "content_sha256")) != content_digest(block.value))
        return damaged(label, "its value is not the one that its digest is of");
    const Value* history = value.get("history");
    if (history == nullptr) {
        if (value.get("updates") == nullptr) return block;
        return damaged(label, "it has changes and no history of them");
    }
    if (!history->is_list() || history->as_list().empty())
        return damaged(label, "its history is none");
    for (const Value& each : history->as_list()) {
        store::UnitRecord unit = TRY(form.unit(each));
        const std::uint64_t before = block.units.empty() ? 0 : block.units.back().version;
        if (unit.version <= before) return damaged(label, "its history is not in order");
        if (!is_line(unit.description))
            return damaged(label, cat("the description of version ", unit.version, " is not one"));
        block.units.push_back(std::move(unit));
    }
    block.version = static_cast<std::uint64_t>(TRY(form.number(value, "version")));
    if (block.version < block.units.back().version)
        return damaged(label, "its history is ahead of its version");
    block.updates = TRY(form.bytes(value, "updates"));
    return block;
}

}  // namespace quire::kernel
