// Client: the client's side of JSON-RPC, without I/O. It numbers the requests, queues the lines to
// be sent, and matches each response to its request. BlockingClient: the same over two descriptors,
// for a thread that may wait.
//
// The other side is not trusted: a response that no open request waits for matches nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include "base/result.h"
#include "base/value.h"
#include "rpc/line_channel.h"
#include "rpc/line_queue.h"

namespace quire::rpc {

class Client {
public:
    struct Response {
        std::int64_t id = 0;
        Value result = {};                // Null when there is none.
        std::optional<Value> error = {};  // The error object.
    };

    // Queues a request, and returns the id of its response: 1, 2, and so on. It is open until
    // match() or forget() closes it; nothing here times out.
    std::int64_t request(std::string_view method, Map params);
    void notify(std::string_view method, Map params);
    // Queues a message that is none of these: a response to a request of the other side.
    void send(const Value& message);
    // No response is wanted any more. False when the request is not open.
    bool forget(std::int64_t id) { return open_.erase(id) != 0; }

    // The response that `message` is; none when it answers no open request. O(log open).
    std::optional<Response> match(Value message);
    // The lines to be sent. The caller writes them to wherever the other side reads, and may do so
    // at any later time.
    LineQueue& output() { return output_; }

private:
    std::set<std::int64_t> open_;
    LineQueue output_;
    std::int64_t last_id_ = 0;
};

class BlockingClient {
public:
    // The descriptors must outlive this, like those of a LineChannel.
    BlockingClient(int input, int output, std::size_t bound) : channel_(input, output, bound) {}

    // Sends a request, and returns the id of its response. Waits until all of it is written.
    // Errors: those of LineChannel::write(); then the line is dropped, and the connection is of no
    // further use.
    Result<std::int64_t> request(std::string_view method, Map params);
    Result<void> notify(std::string_view method, Map params);
    void forget(std::int64_t id) { client_.forget(id); }
    // The next response to an open request, in the order of arrival; none when none came in
    // `timeout_ms`. Whatever else comes is passed over. Errors: those of LineChannel::read().
    Result<std::optional<Client::Response>> next(int timeout_ms);

private:
    Result<void> send();

    Client client_;
    LineChannel channel_;
};

}  // namespace quire::rpc
