// The hello comes from a process that has said nothing yet, so it is parsed within tight bounds,
// and its words are not judged here: the session factory knows which actors and profiles there are.
// An unknown member is ignored, so that a later client can say more; another number under "quire"
// is refused.

#include "server/hello.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "json/json.h"
#include "rpc/jsonrpc.h"

namespace quire::server {

namespace {

constexpr std::size_t kHelloBytes = 16U << 10;

void take_word(const Value& message, std::string_view key, std::string& word) {
    if (const Value* value = message.get(key); value != nullptr && value->is_string())
        word = value->as_string();
}

}  // namespace

Result<rpc::Hello> parse_hello(const std::string& line) {
    const Value message = TRY(json::parse(line, {.depth = 4, .bytes = kHelloBytes}));
    const Value* version = message.get("quire");
    if (version == nullptr || !version->is_int() || version->as_int() != 1) {
        return fail(Errc::unsupported, "unknown_hello",
                    "the first line must be {\"quire\":1,\"actor\":…,\"profile\":…,\"kind\":…}");
    }
    rpc::Hello hello;
    take_word(message, "actor", hello.actor);
    take_word(message, "profile", hello.profile);
    take_word(message, "kind", hello.kind);
    return hello;
}

std::string hello_answer(Greeting greeting) {
    return json::write(Map{{"ok", Map{{"version", std::move(greeting.version)},
                                      {"pid", static_cast<std::int64_t>(::getpid())},
                                      {"store", std::move(greeting.store)},
                                      {"message_bytes", greeting.message_bytes},
                                      {"reads", std::move(greeting.reads)}}}});
}

std::string hello_refusal(const Error& error) {
    return json::write(Map{{"error", rpc::error_value(error)}});
}

}  // namespace quire::server
