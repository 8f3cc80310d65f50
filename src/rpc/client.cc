// The set of open ids decides what an incoming message means: a response matches once, and whatever
// else comes is for the caller to count or to pass over. O(log open requests) for each message. Ids
// count up and are never used twice, so a response that comes after forget() matches nothing, and
// no later request by mistake.
#include "rpc/client.h"

#include <string>
#include <utility>

#include "base/clock.h"
#include "json/json.h"
#include "rpc/jsonrpc.h"

namespace quire::rpc {
namespace {

// The answers of our own kernel: deep and large ones are its right.
constexpr json::ParseLimits kAnswerLimits = {.depth = 128, .bytes = std::size_t{1} << 30};

}  // namespace

std::int64_t Client::request(std::string_view method, Map params) {
    open_.insert(++last_id_);
    send(rpc::request(last_id_, method, std::move(params)));
    return last_id_;
}

void Client::notify(std::string_view method, Map params) {
    send(notification(method, std::move(params)));
}

void Client::send(const Value& message) {
    output_.push(json::write(message));
}

std::optional<Client::Response> Client::match(Value message) {
    if (!message.is_map() || message.get("method") != nullptr) return std::nullopt;
    const Value* const id = message.get("id");
    if (id == nullptr || !id->is_int() || !forget(id->as_int())) return std::nullopt;
    Response out{.id = id->as_int()};
    if (Value* const result = message.as_map().find("result")) out.result = std::move(*result);
    if (Value* const error = message.as_map().find("error")) out.error = std::move(*error);
    return out;
}

Result<void> BlockingClient::send() {
    Result<void> sent = channel_.write(client_.output());
    // A line that is not out whole is never acted on.
    if (!sent) client_.output().clear();
    return sent;
}

Result<std::int64_t> BlockingClient::request(std::string_view method, Map params) {
    const std::int64_t id = client_.request(method, std::move(params));
    TRY(send());
    return id;
}

Result<void> BlockingClient::notify(std::string_view method, Map params) {
    client_.notify(method, std::move(params));
    return send();
}

Result<std::optional<Client::Response>> BlockingClient::next(int timeout_ms) {
    const SystemClock clock;
    const std::int64_t until = clock.steady_ms() + timeout_ms;
    for (std::int64_t left = timeout_ms; left >= 0; left = until - clock.steady_ms()) {
        const std::optional<std::string> line = TRY(channel_.read(static_cast<int>(left)));
        if (!line) break;
        Result<Value> message = json::parse(*line, kAnswerLimits);
        if (!message) continue;
        if (auto response = client_.match(std::move(*message))) return response;
    }
    return std::optional<Client::Response>();
}

}  // namespace quire::rpc
