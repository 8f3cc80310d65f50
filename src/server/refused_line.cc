// A refusal must have the form of the answer that the client waits for, or it waits on. Only the
// heads of the messages are known here: the line may be long, and it was never parsed.

#include "server/refused_line.h"

#include <utility>

#include "base/concat.h"
#include "json/json.h"
#include "rpc/jsonrpc.h"

namespace quire::server {

namespace {

// JSON-RPC's "internal error".
constexpr int kInternalError = -32603;

}  // namespace

std::string refusal_of(const rpc::MessageHead& request, const Error& error) {
    // The id is JSON text already, and goes back as it came.
    if (request.method != "tools/call") {
        const Map body{{"code", kInternalError},
                       {"message", error.message()},
                       {"data", rpc::error_value(error)}};
        return cat("{\"jsonrpc\":\"2.0\",\"id\":", request.id, ",\"error\":", json::write(body),
                   "}");
    }
    Map result{{"content", List{Map{{"type", "text"},
                                    {"text", cat(error.reason(), ": ", error.message(), ".")}}}},
               {"structuredContent", Map{{"error", rpc::error_value(error)}}},
               {"isError", true}};
    if (request.stateless) result.set("resultType", "complete");
    return cat("{\"jsonrpc\":\"2.0\",\"id\":", request.id, ",\"result\":", json::write(result),
               "}");
}

// Notifications and answers in the line get nothing. Answers to a batch go into one array.
std::string refused_line(std::string_view line, const Error& error) {
    std::string answers;
    for (const rpc::MessageHead& head : rpc::scan_messages(line)) {
        if (head.id.empty() || head.id == "null" || head.method.empty()) continue;
        cat_to(answers, cat(answers.empty() ? "" : ",", refusal_of(head, error)));
    }
    const std::size_t first = line.find_first_not_of(" \t\r");
    const bool is_batch = first != std::string_view::npos && line[first] == '[';
    return is_batch && !answers.empty() ? cat("[", answers, "]") : answers;
}

}  // namespace quire::server
