#include "cli/command_client.h"

#include <array>
#include <cerrno>
#include <utility>

#include <sys/socket.h>

#include "json/json.h"
#include "server/attach.h"
#include "server/jsonrpc.h"
#include "server/launch.h"

namespace quire::cli {
namespace {

// What a kernel answers may be a whole block.
constexpr std::size_t kAnswerBytes = std::size_t{1} << 30;

Failure gone() {
    return fail(Errc::unavailable, "fate_unknown",
                "the kernel ended before it answered: whether the call was carried out is unknown; "
                "look before you repeat it");
}

}  // namespace

Result<CommandClient> CommandClient::attach(const Globals& globals, bool start) {
    server::AttachOptions options;
    options.workspace = globals.workspace;
    options.hello = {globals.actor, globals.profile, "cli"};
    options.start = start;
    auto attached = TRY(server::attach(options));
    return CommandClient(std::move(attached.socket), attached.pid);
}

Result<std::string> CommandClient::read_line() {
    for (;;) {
        const std::size_t end = unread_.find('\n');
        if (end != std::string::npos) {
            std::string line = unread_.substr(0, end);
            unread_.erase(0, end + 1);
            return line;
        }
        std::array<char, 65536> part;
        const ssize_t length = ::recv(socket_.get(), part.data(), part.size(), 0);
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0) return gone();
        unread_.append(part.data(), static_cast<std::size_t>(length));
    }
}

Result<Value> CommandClient::request(std::string_view method, Map params) {
    const std::string line =
        json::write(
            Map{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", std::move(params)}}) +
        "\n";
    std::string_view unsent = line;
    while (!unsent.empty()) {
        const ssize_t sent = ::send(socket_.get(), unsent.data(), unsent.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return gone();
        unsent.remove_prefix(static_cast<std::size_t>(sent));
    }
    const std::string text = TRY(read_line());
    Value answer = TRY(json::parse(text, {.bytes = kAnswerBytes}));
    if (const Value* error = answer.get("error")) {
        const Value* data = error->get("data");
        return Failure(server::error_from(data != nullptr ? *data : *error));
    }
    if (!answer.is_map() || !answer.as_map().contains("result")) return gone();
    return std::move(*answer.as_map().find("result"));
}

Result<Value> CommandClient::call(std::string_view tool, Value arguments) {
    Value answer = TRY(request("call", Map{{"tool", tool}, {"arguments", std::move(arguments)}}));
    const Value* is_error = answer.get("is_error");
    const Value* structured = answer.get("structured");
    if (is_error == nullptr || structured == nullptr) return gone();
    if (*is_error == Value(true)) {
        const Value* error = structured->get("error");
        return Failure(server::error_from(error != nullptr ? *error : *structured));
    }
    return *structured;
}

}  // namespace quire::cli
