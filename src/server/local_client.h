// LocalClient: one request at a time to a workspace's kernel, for our own commands (quire call,
// status, log). One thread. The connection ends with it, and the kernel cancels what is still open.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "rpc/client.h"
#include "server/attach.h"

namespace quire::server {

class LocalClient {
public:
    // Attaches to the workspace's kernel. Errors: those of server::attach().
    static Result<LocalClient> attach(const AttachOptions& options);

    // The `result` of a JSON-RPC request. A request without an answer in time goes on in the
    // kernel; its late answer is dropped. Errors: the kernel's (rpc::response_error()); unavailable
    // "no_kernel" when the request could not be sent, and "fate_unknown" when the kernel was lost,
    // or did not answer in time.
    Result<Value> request(std::string_view method, Map params, int timeout_ms = 30'000);

    const std::string& kernel_version() const { return attached_.version; }
    int kernel_pid() const { return attached_.pid; }
    // The longest request that the kernel takes, as a line.
    std::size_t message_bytes() const { return attached_.message_bytes; }

private:
    static constexpr std::size_t kLongestAnswer = std::size_t{256} << 20;

    explicit LocalClient(Attached attached)
        : attached_(std::move(attached)),
          client_(attached_.socket.get(), attached_.socket.get(), kLongestAnswer) {}

    Attached attached_;
    rpc::BlockingClient client_;
};

}  // namespace quire::server
