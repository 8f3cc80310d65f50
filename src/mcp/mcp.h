// The Model Context Protocol, server side, without I/O: the forms of requests and results in both
// eras of the protocol.
//
// Two eras are served at once, and each request says to which it belongs. Revisions up to
// 2025-11-25 (legacy) open with an `initialize` handshake; 2026-07-28 (modern) carries version and
// capabilities in the `_meta` of every request. The differences are in the functions of this file.
// One Service serves both.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "base/value.h"
#include "mcp/service.h"
#include "rpc/jsonrpc.h"

namespace quire::mcp {

inline constexpr std::array<std::string_view, 4> kLegacyVersions = {"2025-11-25", "2025-06-18",
                                                                    "2025-03-26", "2024-11-05"};
inline constexpr std::array<std::string_view, 1> kModernVersions = {"2026-07-28"};

enum class Era { legacy, modern };

// Name and version, as the server introduces itself.
struct Implementation {
    std::string name = "quire";
    std::string title = "Quire";
    std::string version;
};

// Returns true if `_meta` has any of the members by which a modern request is known.
bool has_modern_meta(const Map& params);
// The fault in the `_meta` of a modern request, if any: members missing or mistyped (-32602), or a
// revision that is not served (-32022, with data.supported and data.requested).
std::optional<rpc::Fault> check_modern_meta(const Map& params);

// Returns true if a client with these capabilities can show forms to its user. Null, and anything
// that is no object, cannot.
bool takes_forms(const Value* capabilities);
// The capabilities in the `_meta` of a modern request; null when it declares none.
const Value* client_capabilities(const Map& meta);

// The revision for a client that asks for `requested`: the same, or our latest legacy one.
std::string_view negotiate(std::string_view requested);

// How long a client may cache a result. All results are private to the caller. `none`: the result
// has no member for it; `never`: 0; `minutes`: five; `hour`: one.
enum class Caching { none, never, minutes, hour };

// Adds the members of every modern result: resultType ("complete" unless it has another),
// serverInfo, and ttlMs and cacheScope when it may be cached. Other members of `_meta` stay.
Map modern_result(Map result, Caching caching, const Implementation& server);

Map capabilities();
Value implementation(const Implementation& server);
std::string instructions(const Guidance& guidance);

// The results, without the members that modern_result() adds. `version` is the client's revision:
// members that it does not know are left out.
Map initialize_result(std::string_view version, const Implementation& server,
                      const Guidance& guidance);
Map discover_result(const Guidance& guidance);
Map tools_result(const std::vector<tools::ToolInfo>& tools, std::string_view version);
Map call_result(tools::ToolResult result, std::string_view version);
// Modern: the call is to be made again with `state` and the answer to the elicitation `question`.
Map input_required_result(Map question, std::string state);
// That answer among the client's inputResponses; null when there is none.
const Value* answer_in(const Map& input_responses);
Map templates_result(const std::vector<ResourceTemplate>& templates);
Map resources_result(ResourcePage page);
Map read_result(ResourceText text);
Map prompts_result(const std::vector<Prompt>& prompts, std::string_view version);
Map prompt_result(PromptText text);
Map completion_result(Completions found);

// The value that the params of completion/complete are about: an argument of a prompt or a variable
// of a template. Nothing checks here that there is such a one. Errors: -32602 where a member is
// missing or is no string.
tl::expected<Typing, rpc::Fault> typing_in(const Map& ref, const Map& argument);
// The fault in the arguments of prompts/get, if any: -32602 for one that the prompt has not, or
// that is no string. A missing argument is no fault, since each may be left out.
std::optional<rpc::Fault> check_prompt_arguments(const Prompt& prompt, const Map& arguments);

// A Service's error as the fault of resources/read: not found is -32002 for legacy clients, -32602
// for modern ones.
rpc::Fault resource_fault(const Error& error, std::string_view uri, Era era);

}  // namespace quire::mcp
