// Rules for tools in few words, and what a workspace lists under them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/flows/workspace.h"

namespace quire {

using policy::Per;
using policy::RuleType;
using policy::ToolRule;

inline ToolRule only(std::string tool, std::vector<std::string> operations) {
    ToolRule out{.tool = std::move(tool), .type = RuleType::allowed_operations};
    out.operations = std::move(operations);
    return out;
}
inline ToolRule at_most(std::string tool, std::int64_t calls, Per per = Per::session) {
    ToolRule out{.tool = std::move(tool), .type = RuleType::max_calls};
    out.number = calls;
    out.per = per;
    return out;
}
inline ToolRule consent(std::string tool, std::string scope = "") {
    ToolRule out{.tool = std::move(tool), .type = RuleType::requires_consent};
    out.scope = std::move(scope);
    return out;
}
inline ToolRule of(RuleType type, std::string tool, std::vector<std::string> tools = {}) {
    ToolRule out{.tool = std::move(tool), .type = type};
    out.tools = std::move(tools);
    return out;
}
inline policy::WrittenRules common(std::vector<ToolRule> rules) {
    policy::WrittenRules out;
    out.common = std::move(rules);
    return out;
}

inline const policy::Actor kAda{policy::ActorKind::agent, "ada"};

// "name: operation operation; …" of what is listed; a name alone declares none.
inline std::string listed(const Workspace& workspace, const policy::Actor& to = kAda) {
    std::string out;
    for (const tools::ToolInfo& info : *workspace.registry().list(Profile::full, to)) {
        out += cat(info.name, info.operations.empty() ? "" : ":");
        for (const tools::Operation& each : info.operations.all) out += cat(" ", each.name);
        out += "; ";
    }
    return out;
}

inline const tools::ToolInfo* info_of(const Workspace& workspace, std::string_view tool,
                               const policy::Actor& to = kAda) {
    for (const tools::ToolInfo& info : *workspace.registry().list(Profile::full, to)) {
        if (info.name == tool) return &info;
    }
    return nullptr;
}

}  // namespace quire
