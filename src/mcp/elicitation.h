// Elicitation: an escalation as a question to the person in front of a client, and the answer as a
// decision. What is asked and understood, in the words of MCP; when, is tool_calls.h. Pure.
//
// A question says in the house's own words who asks for what, and shows the agent's call, or what
// another program says of its tool now, on a line of its own at the end: with nothing hidden in it,
// cut, and without a way to begin another line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/value.h"
#include "policy/approval.h"
#include "tools/tool.h"

namespace quire::mcp::elicitation {

inline constexpr std::string_view kMethod = "elicitation/create";

// The approval that a call waits for, if that is why it was refused.
std::optional<std::string> approval_of(const tools::ToolResult& result);

// The params of elicitation/create: {message, requestedSchema}, and the mode where the revision
// has one. At most some 2 KB.
Map question(const policy::Approval& approval, std::string_view version);

// What an ElicitResult says. None where nobody decided: a dialog that was closed, an answer of
// another form than was asked for. A client that answers without a person, as some do, mostly
// answers so.
std::optional<policy::Resolution> decision(const Value& answer);

}  // namespace quire::mcp::elicitation
