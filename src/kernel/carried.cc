#include "kernel/carried.h"

#include <utility>

#include "base/cat.h"
#include "json/json.h"
#include "policy/call_digest.h"

namespace quire::kernel {
namespace {

std::string text_in(const Bytes& bytes) {
    return json::base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Failure damaged(const std::string& label, std::string_view what) {
    return corrupt(cat("the block '", label, "' is damaged: ", what), {{"label", label}});
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

}  // namespace

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
    const std::string header = json::write(*TRY(form.any(value, "header")));
    CarriedBlock block;
    Result<MemoryHeader> read = decode_memory_header(label, {header.begin(), header.end()});
    if (!read) return damaged(label, read.error().message());
    block.header = std::move(*read);
    block.value = *TRY(form.any(value, "value"));
    if (TRY(form.text(value, "content_sha256")) != content_digest(block.value))
        return damaged(label, "its value is not the one that its digest is of");
    const Value* history = value.get("history");
    if (history == nullptr) return block;
    if (!history->is_list() || history->as_list().empty())
        return damaged(label, "its history is none");
    for (const Value& each : history->as_list()) {
        store::UnitRecord unit = TRY(form.unit(each));
        const std::uint64_t before = block.units.empty() ? 0 : block.units.back().version;
        if (unit.version <= before) return damaged(label, "its history is not in order");
        block.units.push_back(std::move(unit));
    }
    block.version = static_cast<std::uint64_t>(TRY(form.number(value, "version")));
    if (block.version < block.units.back().version)
        return damaged(label, "its history is ahead of its version");
    block.updates = TRY(form.bytes(value, "updates"));
    return block;
}

}  // namespace quire::kernel
