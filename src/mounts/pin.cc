#include "mounts/pin.h"

#include <algorithm>
#include <utility>

namespace quire::mounts {

const Definition* Pin::find(std::string_view name) const {
    const auto at = std::find_if(tools.begin(), tools.end(),
                                 [&](const Definition& each) { return each.name == name; });
    return at == tools.end() ? nullptr : &*at;
}

void Pin::set(Definition tool) {
    const auto at = std::find_if(tools.begin(), tools.end(),
                                 [&](const Definition& each) { return each.name == tool.name; });
    if (at == tools.end()) {
        tools.push_back(std::move(tool));
    } else {
        *at = std::move(tool);
    }
}

Value to_value(const Pin& pin) {
    List tools;
    for (const Definition& each : pin.tools) tools.push_back(each.value);
    return Map{{"server", Map{{"name", pin.server.name},
                              {"version", pin.server.version},
                              {"revision", pin.server.revision}}},
               {"at", pin.at_ms},
               {"tools", std::move(tools)}};
}

Result<Pin> pin_of(const Value& body) {
    const auto damaged = [] { return corrupt("what was approved of a mounted server is damaged"); };
    const Value* const tools = body.get("tools");
    const Value* const at = body.get("at");
    const Value* const server = body.get("server");
    if (tools == nullptr || !tools->is_list() || at == nullptr || !at->is_int() ||
        server == nullptr)
        return damaged();
    Pin out;
    out.at_ms = at->as_int();
    const auto text = [&](std::string_view member) {
        const Value* const value = server->get(member);
        return value != nullptr && value->is_string() ? value->as_string() : std::string();
    };
    out.server = {text("name"), text("version"), text("revision")};
    for (const Value& each : tools->as_list()) {
        auto definition = definition_of(each);
        if (!definition) return damaged();
        out.tools.push_back(std::move(*definition));
    }
    return out;
}

std::vector<Change> changes(const Pin& pin, const Listing& offered) {
    std::vector<Change> out;
    for (const Definition& each : pin.tools) {
        const Definition* const now = offered.find(each.name);
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
