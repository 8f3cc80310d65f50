// FakeKernel and McpClient: the two ends that a shim connects, for its tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "base/concat.h"
#include "json/json.h"
#include "rpc/message_scan.h"
#include "sched/guarded.h"
#include "server/local_socket.h"
#include "server/shim.h"
#include "server/test_workspace.h"

namespace quire::server {

struct Heard {
    sched::Guarded<std::vector<std::string>> lines;  // The lines of all sessions of all kernels.
    std::vector<std::string> all() {
        return lines.with([](std::vector<std::string>& heard) { return heard; });
    }
};

// Answers every request with its method, but for what holds "silent", which it never answers, and
// "late", which it answers the second time; at "closing" it hangs up. Of "asking" it asks the
// client first, by the id "q".
class FakeKernelSession final : public rpc::Session {
public:
    FakeKernelSession(std::shared_ptr<rpc::Connection> connection, Heard& heard)
        : connection_(std::move(connection)), heard_(heard) {}
    void on_line(std::string line) override {
        const auto times = heard_.lines.with([&](std::vector<std::string>& lines) {
            lines.push_back(line);
            return std::count(lines.begin(), lines.end(), line);
        });
        if (line.find("closing") != std::string::npos) return connection_->close();
        if (line.find("late") != std::string::npos && times == 1) return;
        for (const rpc::MessageHead& head : rpc::scan_messages(line)) {
            if (line.find("asking") != std::string::npos) {
                asking_ = head;
                connection_->send(
                    R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}})");
                continue;
            }
            if (head.id == "\"q\"" && head.method.empty() && asking_) {
                connection_->send(
                    cat("{\"jsonrpc\":\"2.0\",\"id\":", asking_->id, ",\"result\":{\"method\":\"",
                        line.find("error") == std::string::npos ? "yes" : "nobody", "\"}}"));
                continue;
            }
            if (head.id.empty() || head.method.empty() || line.find("silent") != std::string::npos)
                continue;
            connection_->send(cat("{\"jsonrpc\":\"2.0\",\"id\":", head.id,
                                  ",\"result\":{\"method\":\"", head.method, "\"}}"));
        }
    }
    Map reads() const override { return {{"look", true}, {"file", List{"read"}}}; }
    void on_oversize(std::size_t, const std::string&) override {}
    void on_close() override {}

private:
    std::shared_ptr<rpc::Connection> connection_;
    Heard& heard_;
    std::optional<rpc::MessageHead> asking_;
};

class FakeKernel {
public:
    FakeKernel(const TestWorkspace& workspace, Heard& heard) {
        LocalServerOptions options;
        options.linger_ms = -1;
        options.drain_ms = 0;
        rpc::SessionFactory factory = [&heard](const rpc::Hello&,
                                               std::shared_ptr<rpc::Connection> connection)
            -> Result<std::unique_ptr<rpc::Session>> {
            return std::make_unique<FakeKernelSession>(std::move(connection), heard);
        };
        server_ = std::move(LocalServer::open(StateDirectory::open(workspace.path()).value(),
                                              options, std::move(factory), log_)
                                .value());
        thread_ = std::thread([this] { server_->run(); });
    }
    FakeKernel(const FakeKernel&) = delete;
    FakeKernel& operator=(const FakeKernel&) = delete;
    ~FakeKernel() {
        server_->stop();
        thread_.join();
    }

private:
    NoLog log_;
    std::unique_ptr<LocalServer> server_;
    std::thread thread_;
};

// A client of the shim, on a pair of sockets as node makes them.
class McpClient {
public:
    // So long a drain shows in a test that does not wait for it, however slow the machine is.
    static constexpr int kLongDrainMs = 120'000;

    explicit McpClient(const TestWorkspace& workspace, int drain_ms = 500) {
        int input[2], output[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM, 0, input) != 0 ||
            ::socketpair(AF_UNIX, SOCK_STREAM, 0, output) != 0)
            std::abort();
        to_ = Fd(input[0]);
        from_ = Fd(output[0]);
        const timeval timeout = {.tv_sec = 60, .tv_usec = 0};
        ::setsockopt(from_.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
        ShimOptions options;
        options.attach.workspace = workspace.path();
        options.attach.start = false;
        options.input = input[1];
        options.output = output[1];
        options.line_bytes = 1U << 20;
        options.drain_ms = drain_ms;
        options.ends_on_signals = false;
        thread_ = std::thread([this, options] {
            const Fd own_input(options.input), own_output(options.output);
            const Result<void> ran = run_shim(options);
            if (!ran) error = ran.error().reason();
        });
    }
    McpClient(const McpClient&) = delete;
    McpClient& operator=(const McpClient&) = delete;
    ~McpClient() {
        to_.reset();
        from_.reset();
        if (thread_.joinable()) thread_.join();
    }
    void say(const std::string& line) {
        const std::string text = line + "\n";
        EXPECT_EQ(::send(to_.get(), text.data(), text.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(text.size()));
    }
    Value hear() {
        while (true) {
            std::optional<std::string> line;
            if (const std::size_t newline = heard_.find('\n'); newline != std::string::npos) {
                line = heard_.substr(0, newline);
                heard_.erase(0, newline + 1);
                return json::parse(*line).value();
            }
            char part[65536];
            const ssize_t length = ::recv(from_.get(), part, sizeof part, 0);
            if (length <= 0) return {};
            heard_.append(part, static_cast<std::size_t>(length));
        }
    }
    void end_input() { to_.reset(); }
    void wait() { thread_.join(); }

    std::string error;

private:
    Fd to_, from_;
    std::string heard_;
    std::thread thread_;
};

inline std::string request(int id, const std::string& method, const std::string& params = "{}") {
    return cat("{\"jsonrpc\":\"2.0\",\"id\":", id, ",\"method\":\"", method,
               "\",\"params\":", params, "}");
}

inline std::string method_of(const Value& answer) {
    const Value* result = answer.get("result");
    const Value* method = result == nullptr ? nullptr : result->get("method");
    return method == nullptr ? json::write(answer) : method->as_string();
}

inline std::size_t count_of(const std::vector<std::string>& lines, const std::string& word) {
    std::size_t count = 0;
    for (const std::string& line : lines) count += line.find(word) != std::string::npos;
    return count;
}

inline std::string reason_of(const Value& answer) {
    const Value* result = answer.get("result");
    const Value& error = result == nullptr ? *answer.get("error")->get("data")
                                           : *result->get("structuredContent")->get("error");
    return error.get("reason")->as_string();
}

}  // namespace quire::server
