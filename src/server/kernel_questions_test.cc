// Questions of the kernel to the client: how the shim passes, cancels and declines them.
#include "server/kernel_questions.h"

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "rpc/message_scan.h"
#include "server/shim_client_for_test.h"

namespace quire::server {
namespace {

constexpr const char* kYes = R"({"jsonrpc":"2.0","id":"q","result":{"action":"accept"}})";

TEST(Shim, AQuestionOfTheKernelAndItsAnswerPass) {
    const TestWorkspace workspace;
    Heard heard;
    const FakeKernel kernel(workspace, heard);
    McpClient client(workspace, McpClient::kLongDrainMs);
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
    EXPECT_LT(std::chrono::steady_clock::now() - began,
              std::chrono::milliseconds(McpClient::kLongDrainMs / 2));
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

TEST(Shim, WhenTheClientLeavesTheKernelsQuestionIsAnsweredWithAnError) {
    const TestWorkspace workspace;
    Heard heard;
    const FakeKernel kernel(workspace, heard);
    McpClient client(workspace, McpClient::kLongDrainMs);
    client.say(request(1, "asking"));
    EXPECT_EQ(client.hear().get("method")->as_string(), "elicitation/create");
    const auto began = std::chrono::steady_clock::now();
    client.end_input();
    EXPECT_EQ(method_of(client.hear()), "nobody");
    client.wait();
    EXPECT_LT(std::chrono::steady_clock::now() - began,
              std::chrono::milliseconds(McpClient::kLongDrainMs / 2));
}

TEST(Shim, AQuestionAfterTheClientHasLeftIsAnsweredWithAnError) {
    const TestWorkspace workspace;
    Heard heard;
    const FakeKernel kernel(workspace, heard);
    McpClient client(workspace);
    client.say(request(1, "asking"));
    client.end_input();
    EXPECT_EQ(client.hear().get("method")->as_string(), "elicitation/create");
    EXPECT_EQ(method_of(client.hear()), "nobody");
}

TEST(KernelQuestions, OnlyAnswersToSettledQuestionsAreLate) {
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

}  // namespace
}  // namespace quire::server
