#include "server/shim.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/concat.h"
#include "json/json.h"
#include "mcp/repeatable.h"
#include "rpc/message_scan.h"
#include "sched/guarded.h"
#include "server/kernel_questions.h"
#include "server/local_client.h"
#include "server/local_socket.h"
#include "server/open_requests.h"
#include "server/test_workspace.h"

namespace quire::server {
namespace {

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
    explicit McpClient(const TestWorkspace& workspace) {
        int input[2], output[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM, 0, input) != 0 ||
            ::socketpair(AF_UNIX, SOCK_STREAM, 0, output) != 0)
            std::abort();
        to_ = Fd(input[0]);
        from_ = Fd(output[0]);
        const timeval timeout = {.tv_sec = 20, .tv_usec = 0};
        ::setsockopt(from_.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
        ShimOptions options;
        options.attach.workspace = workspace.path();
        options.attach.start = false;
        options.input = input[1];
        options.output = output[1];
        options.line_bytes = 1U << 20;
        options.drain_ms = 500;
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

std::string request(int id, const std::string& method, const std::string& params = "{}") {
    return cat("{\"jsonrpc\":\"2.0\",\"id\":", id, ",\"method\":\"", method,
               "\",\"params\":", params, "}");
}

std::string method_of(const Value& answer) {
    const Value* result = answer.get("result");
    const Value* method = result == nullptr ? nullptr : result->get("method");
    return method == nullptr ? json::write(answer) : method->as_string();
}

std::size_t count_of(const std::vector<std::string>& lines, const std::string& word) {
    std::size_t count = 0;
    for (const std::string& line : lines) count += line.find(word) != std::string::npos;
    return count;
}

TEST(Shim, RelaysBothWaysAndEndsWithItsInput) {
    const TestWorkspace workspace;
    Heard heard;
    const FakeKernel kernel(workspace, heard);
    McpClient client(workspace);
    for (int i = 0; i < 100; ++i) client.say(request(i, cat("m/", i)));
    client.end_input();
    for (int i = 0; i < 100; ++i) EXPECT_EQ(method_of(client.hear()), cat("m/", i));
    client.wait();
    EXPECT_EQ(client.error, "");
    EXPECT_TRUE(client.hear().is_null());
}

TEST(Shim, WithoutAKernelItSaysSoAtOnce) {
    const TestWorkspace workspace;
    McpClient client(workspace);
    client.wait();
    EXPECT_EQ(client.error, "no_kernel");
}

TEST(Shim, AfterTheEndOfItsInputItWaitsForAnswersOnlySoLong) {
    const TestWorkspace workspace;
    Heard heard;
    const FakeKernel kernel(workspace, heard);
    McpClient client(workspace);
    client.say(request(1, "silent/x"));
    client.end_input();
    client.wait();
    EXPECT_TRUE(client.hear().is_null());
}

TEST(Shim, ARequestRefusedWithoutItsIdIsNotWaitedFor) {
    OpenRequests open;
    const auto ask = [&](const std::string& line) {
        open.add(rpc::scan_messages(line), line.starts_with('['));
    };
    ask(R"([{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":2,"method":"a"}])");
    ask(R"([{"jsonrpc":"2.0","id":3,"method":"a"}])");
    ask(R"({"jsonrpc":"2.0","id":4,"method":"a"})");
    for (const char* id : {"1.5", "{}", "99999999999999999999", "null"})
        ask(cat(R"({"jsonrpc":"2.0","id":)", id, R"(,"method":"a"})"));

    open.remove("null");
    open.remove("4");
    EXPECT_TRUE(open.any_awaited());
    open.remove("3");
    EXPECT_FALSE(open.any_awaited());
}

TEST(Shim, ACancelledRequestIsNotWaitedFor) {
    const TestWorkspace workspace;
    Heard heard;
    const FakeKernel kernel(workspace, heard);
    McpClient client(workspace);
    client.say(request(1, "silent/x"));
    client.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
    const auto began = std::chrono::steady_clock::now();
    client.end_input();
    client.wait();
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(450));
}

TEST(Shim, ASubscriptionDoesNotKeepItAfterTheEndOfItsInput) {
    const TestWorkspace workspace;
    Heard heard;
    const FakeKernel kernel(workspace, heard);
    McpClient client(workspace);
    client.say(request(1, "subscriptions/listen", R"({"notifications":{"x":"silent"}})"));
    client.say(request(2, "m/2"));
    EXPECT_EQ(method_of(client.hear()), "m/2");
    const auto begin = std::chrono::steady_clock::now();
    client.end_input();
    client.wait();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(400));
    EXPECT_EQ(client.error, "");
}

TEST(Shim, WhenTheKernelIsLostEachOpenRequestIsAnsweredAndNoneRepeated) {
    const TestWorkspace workspace;
    Heard heard;
    auto kernel = std::make_unique<FakeKernel>(workspace, heard);
    McpClient client(workspace);
    client.say(request(1, "initialize"));
    EXPECT_EQ(method_of(client.hear()), "initialize");
    client.say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    client.say(request(2, "tools/call", R"({"name":"silent"})"));
    client.say(request(
        3, "tools/call",
        R"({"name":"silent","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}})"));
    client.say(request(4, "silent/other"));
    ASSERT_TRUE(comes_true([&] { return heard.all().size() == 5; }));

    kernel.reset();
    const Value call = client.hear(), stateless = client.hear(), other = client.hear();
    EXPECT_EQ(call.get("id")->as_int(), 2);
    EXPECT_TRUE(call.get("result")->get("isError")->as_bool());
    EXPECT_EQ(call.get("result")->get("resultType"), nullptr);
    const Value& error = *call.get("result")->get("structuredContent")->get("error");
    EXPECT_EQ(error.get("code")->as_string(), "unavailable");
    EXPECT_EQ(error.get("reason")->as_string(), "fate_unknown");
    EXPECT_TRUE(error.get("details")->as_map().empty());
    EXPECT_EQ(stateless.get("result")->get("resultType")->as_string(), "complete");
    EXPECT_EQ(other.get("id")->as_int(), 4);
    EXPECT_EQ(other.get("error")->get("data")->get("reason")->as_string(), "fate_unknown");

    kernel = std::make_unique<FakeKernel>(workspace, heard);
    client.say(request(5, "ping"));
    EXPECT_EQ(method_of(client.hear()),
              "ping");  // The second answer to initialize was not for the client.
    const std::vector<std::string> lines = heard.all();
    EXPECT_EQ(count_of(lines, "\"initialize\""), 2U);
    EXPECT_EQ(count_of(lines, "notifications/initialized"), 2U);
    EXPECT_EQ(count_of(lines, "tools/call"), 2U);
    EXPECT_EQ(count_of(lines, "silent/other"), 1U);
}

std::string reason_of(const Value& answer) {
    const Value* result = answer.get("result");
    const Value& error = result == nullptr ? *answer.get("error")->get("data")
                                           : *result->get("structuredContent")->get("error");
    return error.get("reason")->as_string();
}

TEST(Shim, ReadingRequestsAreSentAgainWhenTheKernelIsLost) {
    const TestWorkspace workspace;
    Heard heard;
    const FakeKernel kernel(workspace, heard);
    McpClient client(workspace);
    client.say(request(1, "initialize"));
    EXPECT_EQ(method_of(client.hear()), "initialize");
    client.say(request(5, "tools/call", R"({"name":"look","arguments":{"late":1}})"));
    client.say(
        request(4, "tools/call", R"({"name":"file","arguments":{"operation":"read","late":1}})"));
    client.say(
        request(3, "tools/call", R"({"name":"file","arguments":{"operation":"save","late":1}})"));
    client.say(request(2, "tools/list", R"({"late":1})"));

    client.say(request(6, "closing"));

    for (const int id : {3, 6}) {
        const Value lost = client.hear();
        EXPECT_EQ(lost.get("id")->as_int(), id);
        EXPECT_EQ(reason_of(lost), "fate_unknown");
    }
    for (const int id : {5, 4, 2}) {
        const Value answer = client.hear();
        EXPECT_EQ(answer.get("id")->as_int(), id);
        EXPECT_NE(answer.get("result")->get("method"), nullptr);
    }
    EXPECT_EQ(count_of(heard.all(), "\"save\""), 1U);
}

TEST(Shim, AReadThatEveryKernelDiesOfIsGivenUp) {
    const TestWorkspace workspace;
    Heard heard;
    const FakeKernel kernel(workspace, heard);
    McpClient client(workspace);

    client.say(request(1, "tools/call", R"({"name":"look","arguments":{"closing":1}})"));

    EXPECT_EQ(reason_of(client.hear()), "fate_unknown");
    EXPECT_EQ(count_of(heard.all(), "closing"), 4U);
}

TEST(Shim, OnlyWhatIsPlainlyAReadIsAskedAgain) {
    const mcp::Repeatable repeatable(Map{{"block_view", true}, {"file", List{"read"}}});
    const auto covers = [&](const std::string& method, const std::string& params) {
        return repeatable.covers(rpc::scan_messages(request(1, method, params)).front());
    };
    EXPECT_TRUE(covers("tools/call", R"({"name":"block.view","arguments":{}})"));
    EXPECT_TRUE(covers("tools/call", R"({"arguments":{"operation":"read"},"name":"file"})"));
    EXPECT_TRUE(covers("resources/read", R"({"uri":"block://b1"})"));
    for (const char* params :
         {"{}", R"({"name":"block_append"})", R"({"name":"file"})",
          R"({"name":"file","arguments":{"operation":"delete"}})",
          R"({"name":"file","arguments":"{\"operation\":\"read\"}"})",
          R"({"name":"file","arguments":{"operation":"read","operation":"delete"}})",
          R"({"name":"file","arguments":{"operation":"read","\u006fperation":"delete"}})",
          R"({"name":"file","arguments":{"operation":"read"},"arguments":{"operation":"delete"}})",
          R"({"name":"block_view","name":"block_append"})",
          R"({"name":"block_view","n\u0061me":"block_append"})"}) {
        EXPECT_FALSE(covers("tools/call", params)) << params;
    }
    EXPECT_FALSE(covers("initialize", "{}"));
    EXPECT_FALSE(covers("tools/call", R"({"name":"block_view"},"params":{"name":"block_append"})"));
}

TEST(Shim, WhileNoKernelCanBeHadACallIsRefusedAsNotDone) {
    const TestWorkspace workspace;
    Heard heard;
    auto kernel = std::make_unique<FakeKernel>(workspace, heard);
    McpClient client(workspace);
    client.say(request(1, "ping"));
    EXPECT_EQ(method_of(client.hear()), "ping");
    kernel.reset();
    client.say(request(2, "tools/call"));
    const Value refused = client.hear();
    const Value& error = *refused.get("result")->get("structuredContent")->get("error");
    // The loss may be noticed only by the writing of this call; then nobody knows.
    EXPECT_TRUE(error.get("reason")->as_string() == "no_kernel" ||
                error.get("reason")->as_string() == "fate_unknown");
    kernel = std::make_unique<FakeKernel>(workspace, heard);
    client.say(request(3, "ping"));
    EXPECT_EQ(method_of(client.hear()), "ping");
}

TEST(Shim, AnInitializeWithoutAnAnswerIsSaidAgain) {
    const TestWorkspace workspace;
    Heard first_heard, heard;
    auto kernel = std::make_unique<FakeKernel>(workspace, first_heard);
    McpClient client(workspace);
    client.say(request(1, "initialize", R"({"first":"silent"})"));
    ASSERT_TRUE(comes_true([&] { return first_heard.all().size() == 1; }));
    kernel.reset();
    // No kernel may be started here, so that one has to be there before the loss is noticed: it
    // answers, or refuses.
    const Value answer = client.hear();
    EXPECT_EQ(answer.get("id")->as_int(), 1);
    EXPECT_EQ(answer.get("error")->get("data")->get("reason")->as_string(), "no_kernel");
}

TEST(Shim, AMessageBeyondTheBoundIsRefusedAndTheNextOneFollows) {
    const TestWorkspace workspace;
    Heard heard;
    const FakeKernel kernel(workspace, heard);
    McpClient client(workspace);
    std::thread talker([&] {
        client.say(std::string(3'000'000, 'x'));
        client.say(cat(R"({"params":{"text":")", std::string(3'000'000, 'x'), R"("},"id":"a"})"));
        client.say(request(1, "ping"));
    });
    for (const Value& id : {Value(), Value("a")}) {
        const Value refusal = client.hear();
        EXPECT_EQ(*refusal.get("id"), id);
        EXPECT_EQ(refusal.get("error")->get("data")->get("reason")->as_string(), "too_large");
    }
    EXPECT_EQ(method_of(client.hear()), "ping");
    talker.join();
}

TEST(Shim, AClientThatWritesMuchBeforeItReadsIsNotStuck) {
    const TestWorkspace workspace;
    Heard heard;
    const FakeKernel kernel(workspace, heard);
    McpClient client(workspace);
    std::thread talker([&] {
        for (int i = 0; i < 20'000; ++i) client.say(request(i, "m"));
    });
    for (int i = 0; i < 20'000; ++i) ASSERT_EQ(method_of(client.hear()), "m");
    talker.join();
}

constexpr const char* kYes = R"({"jsonrpc":"2.0","id":"q","result":{"action":"accept"}})";

TEST(Shim, AQuestionOfTheKernelAndItsAnswerPass) {
    const TestWorkspace workspace;
    Heard heard;
    const FakeKernel kernel(workspace, heard);
    McpClient client(workspace);
    client.say(request(1, "asking"));
    // Our ids and the client's are two spaces: an answer to neither is one to the other.
    client.say(R"({"jsonrpc":"2.0","id":"q","method":"silent/x"})");
    const Value question = client.hear();
    EXPECT_EQ(question.get("method")->as_string(), "elicitation/create");

    client.say(kYes);
    const Value answer = client.hear();
    EXPECT_EQ(answer.get("id")->as_int(), 1);
    EXPECT_EQ(method_of(answer), "yes");
    client.say(
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}})");
    const auto began = std::chrono::steady_clock::now();
    client.end_input();
    client.wait();
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(450));
}

TEST(Shim, ALostKernelsQuestionIsCancelledAndItsAnswerDropped) {
    const TestWorkspace workspace;
    Heard heard;
    auto kernel = std::make_unique<FakeKernel>(workspace, heard);
    McpClient client(workspace);
    client.say(request(1, "tools/call", R"({"name":"asking"})"));
    EXPECT_EQ(client.hear().get("method")->as_string(), "elicitation/create");

    kernel.reset();
    const Value taken_back = client.hear(), lost = client.hear();
    EXPECT_EQ(taken_back.get("method")->as_string(), "notifications/cancelled");
    EXPECT_EQ(*taken_back.get("params")->get("requestId"), Value("q"));
    EXPECT_EQ(lost.get("id")->as_int(), 1);
    EXPECT_EQ(reason_of(lost), "fate_unknown");

    // No kernel is looked for because of it: none is there, and nobody hears of that.
    client.say(kYes);
    client.say(request(2, "ping"));
    const Value refused = client.hear();
    EXPECT_EQ(refused.get("id")->as_int(), 2);
    kernel = std::make_unique<FakeKernel>(workspace, heard);
    client.say(request(3, "ping"));
    EXPECT_EQ(client.hear().get("id")->as_int(), 3);
    EXPECT_EQ(count_of(heard.all(), "accept"), 0U);
}

TEST(Shim, WhenTheClientHasGoneTheKernelsQuestionIsAnsweredSo) {
    const TestWorkspace workspace;
    Heard heard;
    const FakeKernel kernel(workspace, heard);
    McpClient client(workspace);
    client.say(request(1, "asking"));
    EXPECT_EQ(client.hear().get("method")->as_string(), "elicitation/create");
    const auto began = std::chrono::steady_clock::now();
    client.end_input();
    EXPECT_EQ(method_of(client.hear()), "nobody");
    client.wait();
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(450));
}

TEST(Shim, AQuestionThatComesAfterTheClientHasGoneIsAnsweredSo) {
    const TestWorkspace workspace;
    Heard heard;
    const FakeKernel kernel(workspace, heard);
    McpClient client(workspace);
    client.say(request(1, "asking"));
    client.end_input();
    EXPECT_EQ(client.hear().get("method")->as_string(), "elicitation/create");
    EXPECT_EQ(method_of(client.hear()), "nobody");
}

TEST(KernelQuestions, OnlyAnswersToWhatIsSettledAreLate) {
    KernelQuestions questions;
    const auto late = [&](std::string_view line) {
        return questions.are_late(rpc::scan_messages(line));
    };
    const auto asked = [](std::string_view id) {
        return rpc::scan_messages(cat(R"({"jsonrpc":"2.0","id":)", id, R"(,"method":"m"})"))
            .front();
    };
    for (const char* id : {R"("a")", R"("b")", R"("c")", R"("d")"}) questions.add(asked(id));
    questions.remove(rpc::scan_messages(R"({"jsonrpc":"2.0","id":"a","result":{}})").front());
    questions.add(rpc::scan_messages(R"({"jsonrpc":"2.0","method":"notifications/cancelled",)"
                                     R"("params":{"requestId":"b"}})")
                      .front());
    EXPECT_FALSE(late(R"({"jsonrpc":"2.0","id":"c","result":{}})"));

    EXPECT_EQ(questions.cancel().size(), 2U);
    EXPECT_TRUE(late(R"({"jsonrpc":"2.0","id":"c","result":{}})"));
    EXPECT_TRUE(late(R"({"jsonrpc":"2.0","id":"d","error":{}})"));
    for (const char* line :
         {R"({"jsonrpc":"2.0","id":"a","result":{}})", R"({"jsonrpc":"2.0","id":"c","method":"x"})",
          R"({"jsonrpc":"2.0","id":1,"method":"x"})", R"({"jsonrpc":"2.0","method":"x"})",
          R"([{"jsonrpc":"2.0","id":"c","result":{}},{"jsonrpc":"2.0","id":1,"method":"x"}])", "7",
          "{"})
        EXPECT_FALSE(late(line)) << line;
    questions.remove(rpc::scan_messages(R"({"jsonrpc":"2.0","id":"c","result":{}})").front());
    EXPECT_FALSE(late(R"({"jsonrpc":"2.0","id":"c","result":{}})"));
    EXPECT_TRUE(questions.cancel().empty());
    EXPECT_TRUE(questions.decline().empty());
}

TEST(LocalClient, AsksAndGetsItsAnswer) {
    const TestWorkspace workspace;
    Heard heard;
    const FakeKernel kernel(workspace, heard);
    LocalClient client =
        LocalClient::attach(
            {.workspace = workspace.path(), .hello = {}, .start = false, .launch = {}})
            .value();
    EXPECT_EQ(client.request("status", Map{}).value().get("method")->as_string(), "status");
    EXPECT_EQ(client.request("silent", Map{}, 20).error().reason(), "fate_unknown");
    EXPECT_EQ(client.request("again", Map{}).value().get("method")->as_string(), "again");
}

// A stand-in for the program: a script that is started as a kernel would be.
std::string script(const TestWorkspace& workspace, const std::string& body) {
    std::string path = workspace.path() + "/program.sh";
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    ::chmod(path.c_str(), 0700);
    return path;
}

Result<void> launch(const TestWorkspace& workspace, const std::string& body,
                    int timeout_ms = 20'000) {
    return launch_kernel(StateDirectory::open(workspace.path()).value(),
                         {.program = script(workspace, body), .timeout_ms = timeout_ms});
}

TEST(Launch, AKernelSaysWhenItIsReady) {
    const TestWorkspace workspace;
    EXPECT_TRUE(launch(workspace, "echo '{\"ok\":true}' >&3"));
}

TEST(Launch, AKernelSaysWhyItWillNotStart) {
    const TestWorkspace workspace;
    const Result<void> launched = launch(workspace,
                                         "echo "
                                         "'{\"error\":{\"code\":\"corrupt\",\"reason\":\"corrupt\","
                                         "\"message\":\"bad\",\"details\":{\"n\":1}}}' >&3");
    ASSERT_FALSE(launched);
    EXPECT_EQ(launched.error().code(), Errc::corrupt);
    EXPECT_EQ(launched.error().message(), "bad");
    EXPECT_EQ(launched.error().details().find("n")->as_int(), 1);
}

TEST(Launch, AKernelThatDiesIsNoticedAtOnceAndItsWordsAreKept) {
    const TestWorkspace workspace;
    const Result<void> launched = launch(workspace, "echo last words >&2; exit 3");
    ASSERT_FALSE(launched);
    EXPECT_EQ(launched.error().reason(), "kernel_failed");
    std::ifstream log(workspace.path() + "/.quire/kernel.log");
    std::string line;
    std::getline(log, line);
    EXPECT_EQ(line, "last words");
}

TEST(Launch, AKernelThatTakesTooLongIsNotWaitedFor) {
    const TestWorkspace workspace;
    const Result<void> launched = launch(workspace, "exec sleep 2", 50);
    ASSERT_FALSE(launched);
    EXPECT_EQ(launched.error().reason(), "kernel_failed");
}

TEST(Launch, AKernelIsToldItsWorkspaceAndInheritsNothing) {
    const TestWorkspace workspace;
    const std::string secret = workspace.path() + "/secret";
    const Fd leaked(::open(secret.c_str(), O_RDWR | O_CREAT, 0600));  // Without O_CLOEXEC.
    const Result<void> launched = launch(
        workspace, "echo \"$@\"; ls -l /proc/self/fd | grep secret; echo '{\"ok\":true}' >&3");
    EXPECT_TRUE(launched);
    std::ifstream log(workspace.path() + "/.quire/kernel.log");
    std::string line;
    std::getline(log, line);
    EXPECT_EQ(line, cat("kernel --workspace ", StateDirectory::open(workspace.path())->workspace(),
                        " --ready-fd 3"));
    EXPECT_FALSE(std::getline(log, line)) << line;
}

// Files that agents make are for the same readers as their person's own files.
TEST(Launch, AKernelMakesFilesWithTheModeThatItsStarterWould) {
    const TestWorkspace workspace;
    const mode_t before = ::umask(0027);
    const Result<void> launched = launch(workspace, "umask; echo '{\"ok\":true}' >&3");
    ::umask(before);
    EXPECT_TRUE(launched);
    std::ifstream log(workspace.path() + "/.quire/kernel.log");
    std::string mask;
    std::getline(log, mask);
    EXPECT_EQ(mask, "0027");
}

}  // namespace
}  // namespace quire::server
