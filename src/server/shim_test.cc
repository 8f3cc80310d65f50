#include "server/shim.h"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/share_for_test.h"
#include "json/json.h"
#include "mcp/repeatable.h"
#include "server/local_client.h"
#include "server/open_requests.h"
#include "server/shim_client_for_test.h"

namespace quire::server {
namespace {

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

TEST(Shim, WithoutAKernelTheShimReportsItAtOnce) {
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
    McpClient client(workspace, McpClient::kLongDrainMs);
    client.say(request(1, "silent/x"));
    client.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
    const auto began = std::chrono::steady_clock::now();
    client.end_input();
    client.wait();
    EXPECT_LT(std::chrono::steady_clock::now() - began,
              std::chrono::milliseconds(McpClient::kLongDrainMs / 2));
}

TEST(Shim, ASubscriptionDoesNotKeepItAfterTheEndOfItsInput) {
    const TestWorkspace workspace;
    Heard heard;
    const FakeKernel kernel(workspace, heard);
    McpClient client(workspace, McpClient::kLongDrainMs);
    client.say(request(1, "subscriptions/listen", R"({"notifications":{"x":"silent"}})"));
    client.say(request(2, "m/2"));
    EXPECT_EQ(method_of(client.hear()), "m/2");
    const auto begin = std::chrono::steady_clock::now();
    client.end_input();
    client.wait();
    EXPECT_LT(std::chrono::steady_clock::now() - begin,
              std::chrono::milliseconds(McpClient::kLongDrainMs / 2));
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

TEST(Shim, OnlyClearReadsMayBeSentAgain) {
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

TEST(Shim, AnUnansweredInitializeIsSentAgain) {
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
    constexpr int kMessages = 20'000 / kRoundsShare;
    std::thread talker([&] {
        for (int i = 0; i < kMessages; ++i) client.say(request(i, "m"));
    });
    for (int i = 0; i < kMessages; ++i) ASSERT_EQ(method_of(client.hear()), "m");
    talker.join();
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

}  // namespace
}  // namespace quire::server
