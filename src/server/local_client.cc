#include "server/local_client.h"

#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/socket.h>

#include "base/concat.h"
#include "json/json.h"

namespace quire::server {

namespace {

using Clock = std::chrono::steady_clock;

Failure fate_unknown(const std::string& why) {
    return fail(Errc::unavailable, "fate_unknown",
                cat("it is not known whether this was done: ", why,
                    ". Read the current state before you repeat it"));
}

// An error of the kernel's own where it sent one, else the words of the protocol.
Error error_of(const Value& error) {
    if (const Value* data = error.get("data");
        data != nullptr && data->get("code") != nullptr && data->get("message") != nullptr) {
        return error_from(*data);
    }
    const Value* message = error.get("message");
    const Value* data = error.get("data");
    const Value* reason = data == nullptr ? nullptr : data->get("reason");
    return Error(
        Errc::unsupported,
        reason != nullptr && reason->is_string() ? reason->as_string() : "protocol_error",
        message != nullptr && message->is_string() ? message->as_string() : json::write(error),
        data != nullptr && data->is_map() ? data->as_map() : Map());
}

}  // namespace

Result<LocalClient> LocalClient::attach(const AttachOptions& options) {
    return LocalClient(TRY(server::attach(options)));
}

Result<Value> LocalClient::request(const std::string& method, Value params, int timeout_ms) {
    const std::int64_t id = ++last_id_;
    TRY(send(
        Map{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}}));
    const Value answer = TRY(answer_to(id, timeout_ms));
    if (const Value* error = answer.get("error"); error != nullptr)
        return Failure(error_of(*error));
    const Value* result = answer.get("result");
    return result == nullptr ? Value() : *result;
}

void LocalClient::notify(const std::string& method, Value params) {
    // Nobody waits for an answer; a kernel that is gone is met by the next request.
    static_cast<void>(
        send(Map{{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}}));
}

Result<void> LocalClient::send(const Value& message) {
    const std::string line = json::write(message) + "\n";
    for (std::size_t sent = 0; sent < line.size();) {
        const ssize_t length =
            ::send(attached_.socket.get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
        if (length < 0 && errno == EINTR) continue;
        // A line that is not out whole is never acted on.
        if (length <= 0) {
            return fail(Errc::unavailable, "no_kernel",
                        "nothing was done: the kernel is gone. Try again");
        }
        sent += static_cast<std::size_t>(length);
    }
    return {};
}

Result<Value> LocalClient::answer_to(std::int64_t id, int timeout_ms) {
    const Clock::time_point until = Clock::now() + std::chrono::milliseconds(timeout_ms);
    std::vector<char> buffer(64U << 10);
    std::optional<Value> found;
    while (!found) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
        if (left <= 0)
            return fate_unknown(cat("the kernel has not answered for ", timeout_ms, " ms"));
        pollfd wanted = {.fd = attached_.socket.get(), .events = POLLIN, .revents = 0};
        if (::poll(&wanted, 1, static_cast<int>(left)) <= 0) continue;
        const ssize_t length = ::recv(attached_.socket.get(), buffer.data(), buffer.size(), 0);
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0) return fate_unknown("the kernel was lost before it answered");
        lines_.feed(
            std::string_view(buffer.data(), static_cast<std::size_t>(length)),
            [&](const std::string& line) {
                Result<Value> message = json::parse(line, {.depth = 128, .bytes = 256U << 20});
                if (!message || message->get("method") != nullptr) return;
                const Value* answers = message->get("id");
                if (answers != nullptr && *answers == Value(id)) found = std::move(*message);
            },
            [](const std::string&) {});
    }
    return std::move(*found);
}

}  // namespace quire::server
