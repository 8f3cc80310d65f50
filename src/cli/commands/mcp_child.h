// McpChild: a `quire mcp` process driven over its pipes. A real client's view, for demo and doctor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/fd.h"
#include "base/result.h"
#include "base/value.h"

namespace quire::cli {

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

    // The handshake of 2025-11-25; what the server answered to it.
    Result<Value> initialize();
    // A request and its result. Errors: unavailable "protocol_error" for a JSON-RPC error,
    // "child_failed" for an answer that does not come. Requires that no other answer is
    // outstanding.
    Result<Value> request(std::string_view method, Map params);
    // A tool's structured result, or the error of a refusal.
    Result<Value> call(std::string_view tool, Map arguments);

    // For several requests under way at once: send() gives the id under which next_answer() comes,
    // in any order.
    Result<std::int64_t> send(std::string_view method, Map params);
    Result<std::int64_t> send_call(std::string_view tool, Map arguments);
    // The next message that is an answer; waits at most `timeout_ms`, none when none came.
    Result<std::optional<Value>> next_answer(int timeout_ms);
    int output_fd() const { return from_.get(); }
    bool has_buffered_line() const { return unread_.find('\n', scanned_) != std::string::npos; }

    // Ends its input; its exit code, or none when it had to be killed.
    std::optional<int> finish();

private:
    McpChild(pid_t pid, Fd to, Fd from) : pid_(pid), to_(std::move(to)), from_(std::move(from)) {}
    Result<void> write_line(const Value& message);

    pid_t pid_ = -1;
    Fd to_;
    Fd from_;
    std::string unread_;
    std::size_t scanned_ = 0;  // Bytes of unread_ without a newline.
    std::int64_t last_id_ = 0;
};

// Of a tools/call answer: its structured result, or the error of a refusal or of the protocol.
Result<Value> structured_of(const Value& answer);

}  // namespace quire::cli
