// Elicitation: the question to the person in front of a client, made from an approval, and the
// decision read from the answer, both in MCP's forms. tool_calls.h decides when to ask. Pure.
//
// A question says in our own words who asks for what. The agent's call, or another program's new
// definition of its tool, is a stranger's text: it stands on one line at the end, cut, with its
// invisible characters written out.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/value.h"
#include "policy/approval.h"
#include "tools/tool.h"

namespace quire::mcp::elicitation {

inline constexpr std::string_view kMethod = "elicitation/create";

// The id of the approval that a refused call waits for, from the details of an
// "escalation_required"; none when it was refused for another reason, or was not refused.
std::optional<std::string> approval_of(const tools::ToolResult& result);

// The params of elicitation/create: {message, requestedSchema}, and the mode when the revision has
// one. The message names the asker, the operation, the target and the approval; then come the call
// and the diff, each cut at 1200 code points.
Map question(const policy::Approval& approval, std::string_view version);

// The decision in an ElicitResult to the question about `target`. None when nobody decided: the
// dialog was closed, or the answer does not have the form that was requested for such a target.
// Clients that answer without a person mostly answer like this.
std::optional<policy::Resolution> decision(const Value& answer, const policy::Target& target);

}  // namespace quire::mcp::elicitation
