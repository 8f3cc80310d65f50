// McpChild: a `quire mcp` process driven over its pipes, so that demo and doctor see what a real
// client sees.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/fd.h"
#include "base/result.h"
#include "base/value.h"
#include "rpc/client.h"

namespace quire::cli {

// One thread at a time. Its end may take some seconds, while the child ends.
class McpChild {
public:
    struct Options {
        std::string workspace;
        std::string actor = "agent:local";
        std::string profile = "full";
    };
    // Runs this program again. Its standard error is ours. Errors: unavailable "child_failed".
    static Result<McpChild> start(const Options& options);
    McpChild(McpChild&&) noexcept;
    McpChild& operator=(McpChild&&) = delete;
    McpChild(const McpChild&) = delete;
    McpChild& operator=(const McpChild&) = delete;
    // Closes its input and waits until it has ended; kills it when it does not within a few
    // seconds.
    ~McpChild();

    // The handshake of 2025-11-25; returns the server's answer.
    Result<Value> initialize();
    // A request and its result. Errors: unavailable "protocol_error" for a JSON-RPC error,
    // "child_failed" when no answer comes. Requires that no other request is open.
    Result<Value> request(std::string_view method, Map params);
    // A tool's structured result, or the error of a refusal.
    Result<Value> call(std::string_view tool, Map arguments);

    // For several requests at once: send() returns the id of the response that next_answer() gives
    // later, in any order.
    Result<std::int64_t> send(std::string_view method, Map params);
    Result<std::int64_t> send_call(std::string_view tool, Map arguments);
    // The next response; none when none came in `timeout_ms`.
    Result<std::optional<rpc::Client::Response>> next_answer(int timeout_ms);
    // The descriptor to wait on for the next answer.
    int output_fd() const { return from_.get(); }

    // Closes its input. Its exit code, or none when it had to be killed.
    std::optional<int> finish();

private:
    McpChild(pid_t pid, Fd to, Fd from);

    pid_t pid_ = -1;
    Fd to_;
    Fd from_;
    rpc::BlockingClient client_;
};

// The structured result in the response to a tools/call, or the error of a refusal or of the
// protocol.
Result<Value> structured_of(const rpc::Client::Response& answer);

}  // namespace quire::cli
