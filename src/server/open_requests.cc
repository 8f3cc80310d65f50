#include "server/open_requests.h"

#include <utility>

#include "base/cat.h"
#include "json/json.h"
#include "server/launch.h"

namespace quire::server {

namespace {

constexpr int kInternalError = -32603;

Error fate_unknown() {
    return Error(Errc::unavailable, "fate_unknown",
                 "it is not known whether this was done: the kernel was lost before it answered. "
                 "Read the current state before "
                 "you repeat it; it was not repeated for you");
}

}  // namespace

void OpenRequests::asked(const MessageHead& head) {
    if (!head.cancels.empty()) requests_.erase(head.cancels);
    if (head.id.empty() || head.id == "null" || head.method.empty()) return;
    requests_.insert_or_assign(head.id, head);
}

std::vector<std::string> OpenRequests::give_up() {
    std::vector<std::string> answers;
    for (const auto& [id, head] : std::exchange(requests_, {}))
        answers.push_back(answer(head, fate_unknown()));
    return answers;
}

std::string OpenRequests::answer(const MessageHead& head, const Error& error) {
    // The id goes back in the text it came in: it is JSON already.
    if (head.method != "tools/call") {
        const Map body{
            {"code", kInternalError}, {"message", error.message()}, {"data", error_value(error)}};
        return cat("{\"jsonrpc\":\"2.0\",\"id\":", head.id, ",\"error\":", json::write(body), "}");
    }
    Map result{{"content", List{Map{{"type", "text"},
                                    {"text", cat(error.reason(), ": ", error.message(), ".")}}}},
               {"structuredContent", Map{{"error", error_value(error)}}},
               {"isError", true}};
    if (head.stateless) result.set("resultType", "complete");
    return cat("{\"jsonrpc\":\"2.0\",\"id\":", head.id, ",\"result\":", json::write(result), "}");
}

}  // namespace quire::server
