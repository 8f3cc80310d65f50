// A pin is stored as JSON: {server: {name, version, revision}, at, tools: [definition]}. A
// definition is written as the server gave it, and its digest is computed again when it is read, so
// the two cannot differ.
#include "mounts/pin.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/concat.h"
#include "json/fields.h"

namespace quire::mounts {

const Definition* Pin::find(std::string_view name) const {
    const auto at = std::ranges::find(tools, name, &Definition::name);
    return at == tools.end() ? nullptr : &*at;
}

void Pin::set(Definition tool) {
    const auto at = std::ranges::find(tools, tool.name, &Definition::name);
    if (at == tools.end()) {
        tools.push_back(std::move(tool));
    } else {
        *at = std::move(tool);
    }
}

}  // namespace quire::mounts

namespace quire::json {

template <>
struct Codec<mounts::Definition> {
    static Map schema() { return {{"type", "object"}}; }
    static Read<mounts::Definition> read(const Value& value) {
        std::optional<mounts::Definition> definition = mounts::definition_of(value);
        if (!definition) return bad_value("must define a tool");
        return std::move(*definition);
    }
    static Value encode(const mounts::Definition& definition) { return definition.value; }
};

template <>
struct FieldsOf<mounts::ServerInfo> {
    static Fields<mounts::ServerInfo> fields() {
        using mounts::ServerInfo;
        return Fields<ServerInfo>()
            .defaulted("name", &ServerInfo::name)
            .defaulted("version", &ServerInfo::version)
            .defaulted("revision", &ServerInfo::revision);
    }
};

template <>
struct FieldsOf<mounts::Pin> {
    static Fields<mounts::Pin> fields() {
        using mounts::Pin;
        return Fields<Pin>()
            .required("server", &Pin::server)
            .required("at", &Pin::at_ms)
            .required("tools", &Pin::tools);
    }
};

}  // namespace quire::json

namespace quire::mounts {

Value to_value(const Pin& pin) {
    return json::Codec<Pin>::encode(pin);
}

Result<Pin> pin_of(const Value& body) {
    json::Read<Pin> pin = json::read<Pin>(body);
    if (pin) return std::move(*pin);
    return corrupt(
        cat("what was approved of a mounted server is damaged: ", pin.error().message()));
}

std::vector<Change> changes(const Pin& pin, const Listing& offered) {
    std::vector<Change> out;
    for (const Definition& each : pin.tools) {
        const Definition* const now = offered.find(each.name);
        // The digest decides. difference() only says in words what a person should look at.
        if (now == nullptr) {
            out.push_back({Change::Kind::gone, each.name});
        } else if (now->digest != each.digest) {
            out.push_back({Change::Kind::changed, each.name, difference(each, *now)});
        }
    }
    for (const Definition& each : offered.tools) {
        if (pin.find(each.name) == nullptr) out.push_back({Change::Kind::added, each.name});
    }
    return out;
}

}  // namespace quire::mounts
