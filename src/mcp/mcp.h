// The Model Context Protocol, server side, without I/O: lines in, lines out.
//
// Two eras of the protocol are served at once, and each request says to which it belongs: revisions
// up to 2025-11-25 open with an `initialize` handshake, and 2026-07-28 carries version and
// capabilities in the
// `_meta` of every request. What differs between them is in this file's functions; what is served
// is the Service's, one for both.
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

// What a request says about its era, by its `_meta`: nothing for a legacy one.
bool has_modern_meta(const Map& params);
// What is wrong with the `_meta` of a modern request: fields missing or mistyped (-32602), or a
// revision that is not served (-32022, with data.supported and data.requested).
std::optional<rpc::Fault> check_modern_meta(const Map& params);

// Whether a client with these capabilities puts forms to its user.
bool takes_forms(const Value* capabilities);
// Those that a modern request declares; null where it declares none.
const Value* client_capabilities(const Map& params);

// The revision to serve to a client that asks for `requested`: that one, or our latest legacy one.
std::string_view negotiate(std::string_view requested);

// How long a client may keep a result. All are private to the caller.
enum class Caching { none, never, minutes, hour };

// What every modern result carries: resultType ("complete" where it says no other), serverInfo,
// ttlMs and cacheScope where it can be cached.
Map modern_result(Map result, Caching caching, const Implementation& server);

Map capabilities();
Value implementation(const Implementation& server);
std::string_view instructions();

// The results, without what modern_result() adds. `version` is the revision the client speaks: what
// it does not know is left out.
// With `rules`, sentences of the service, among the instructions.
Map initialize_result(std::string_view version, const Implementation& server,
                      const std::vector<std::string>& rules);
Map discover_result(const std::vector<std::string>& rules);
Map tools_result(const std::vector<tools::ToolInfo>& tools, std::string_view version);
Map call_result(tools::ToolResult result, std::string_view version);
// Modern: the call is to be made again with `state` and the answer to the elicitation `question`,
// which answer_in() finds in the inputResponses. Null where there is none.
Map input_required_result(Map question, std::string state);
const Value* answer_in(const Map& input_responses);
Map templates_result(const std::vector<ResourceTemplate>& templates);
Map resources_result(ResourcePage page);
Map read_result(ResourceText text);

// A Service's error as the fault of resources/read: not found is -32002 for legacy clients, -32602
// for modern ones.
rpc::Fault resource_fault(const Error& error, std::string_view uri, Era era);

}  // namespace quire::mcp
