// LocalClient: one request at a time to a workspace's kernel, for our own commands (quire call,
// status, log).
#pragma once

#include <cstdint>
#include <string>

#include "rpc/line_splitter.h"
#include "server/attach.h"

namespace quire::server {

class LocalClient {
public:
    static Result<LocalClient> attach(const AttachOptions& options);

    // The `result` of a JSON-RPC request. Errors: what the kernel answered (its `data`, where that
    // is an error of ours); unavailable "fate_unknown" when the kernel was lost or has not answered
    // in time.
    Result<Value> request(const std::string& method, Value params, int timeout_ms = 30'000);
    void notify(const std::string& method, Value params);

    const std::string& kernel_version() const { return attached_.version; }
    int kernel_pid() const { return attached_.pid; }

private:
    explicit LocalClient(Attached attached) : attached_(std::move(attached)) {}
    Result<void> send(const Value& message);
    Result<Value> answer_to(std::int64_t id, int timeout_ms);

    Attached attached_;
    rpc::LineSplitter lines_{256U << 20};
    std::int64_t last_id_ = 0;
};

}  // namespace quire::server
