#include "mcp/mcp_session.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "json/json.h"
#include "mcp/fakes_for_test.h"

namespace quire::mcp {
namespace {

class SessionClient {
public:
    SessionClient()
        : session_(std::make_unique<FakeService>(pending), connection,
                   Implementation{"quire", "Quire", "0.0.0"}) {}

    // The session's answers to one line.
    std::vector<Value> say(const std::string& line) {
        session_.on_line(line);
        return heard();
    }
    std::vector<Value> heard() {
        std::vector<Value> messages;
        for (const std::string& line : connection->take()) {
            EXPECT_EQ(line.find('\n'), std::string::npos);
            auto message = json::parse(line);
            EXPECT_TRUE(message) << line;
            if (message) messages.push_back(std::move(*message));
        }
        return messages;
    }
    Value only(const std::string& line) {
        auto messages = say(line);
        EXPECT_EQ(messages.size(), 1U) << line;
        return messages.empty() ? Value() : messages.front();
    }
    void open(std::string_view version = "2025-11-25") {
        only(cat(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")",
                 version, R"(","capabilities":{},"clientInfo":{"name":"t","version":"1"}}})"));
    }

    std::shared_ptr<Pending> pending = std::make_shared<Pending>();
    std::shared_ptr<RecordingConnection> connection = std::make_shared<RecordingConnection>();

    McpSession& session() { return session_; }

private:
    McpSession session_;
};

std::int64_t code(const Value& message) {
    const Value* error = message.get("error");
    return error != nullptr ? error->get("code")->as_int() : 0;
}

// A transcript: one JSON object a line. {"note"} says what comes; {"in"} is a message and {"raw"} a
// line as it is;
// {"release"} answers the waiting calls. "expect" is what the session sends. QUIRE_REGEN=1 writes
// it anew.
void replay(const std::filesystem::path& path) {
    SCOPED_TRACE(path.string());
    const bool regen = std::getenv("QUIRE_REGEN") != nullptr;
    std::ifstream file(path);
    ASSERT_TRUE(file);
    std::ostringstream written;
    SessionClient client;
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
        auto step = json::parse(line);
        ASSERT_TRUE(step) << "line " << number;
        std::vector<Value> heard;
        if (const Value* in = step->get("in")) {
            heard = client.say(json::write(*in));
        } else if (const Value* raw = step->get("raw")) {
            heard = client.say(raw->as_string());
        } else if (const Value* text = step->get("release")) {
            client.pending->release(text->as_string());
            heard = client.heard();
        }
        const Value answer = List(heard.begin(), heard.end());
        if (regen) {
            if (step->get("note") == nullptr) step->as_map().set("expect", answer);
            written << json::write(*step) << '\n';
        } else if (step->get("note") == nullptr) {
            const Value* expected = step->get("expect");
            ASSERT_NE(expected, nullptr) << "line " << number;
            EXPECT_EQ(json::write(answer), json::write(*expected)) << "line " << number;
        }
    }
    file.close();
    if (regen) std::ofstream(path) << written.str();
}

TEST(McpTranscripts, AreAnsweredToTheLetter) {
    int replayed = 0;
    for (const auto& entry : std::filesystem::directory_iterator(QUIRE_GOLDEN_DIR "/mcp")) {
        if (entry.path().extension() != ".jsonl") continue;
        replay(entry.path());
        ++replayed;
    }
    EXPECT_GE(replayed, 5);
}

TEST(McpSession, EchoesIdsAsTheyCame) {
    SessionClient client;
    for (const char* id : {"0", "-7", "9223372036854775807", R"("")", R"("a b")", R"("7")"}) {
        const Value answer = client.only(cat(R"({"jsonrpc":"2.0","method":"ping","id":)", id, "}"));
        EXPECT_EQ(json::write(*answer.get("id")), id);
    }
}

TEST(McpSession, AnswersARequestWithoutAUsableIdUnderNull) {
    SessionClient client;
    for (const char* id : {"null", "1.5", "[1]", "{}", "true", "1e30"}) {
        const Value answer = client.only(cat(R"({"jsonrpc":"2.0","method":"ping","id":)", id, "}"));
        EXPECT_EQ(code(answer), -32600) << id;
        EXPECT_TRUE(answer.get("id")->is_null()) << id;
    }
}

TEST(McpSession, KnowsWhichEraEachRequestIsOf) {
    SessionClient client;
    client.open();
    const char* modern = R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{
        "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";

    EXPECT_EQ(client.only(modern).get("result")->get("resultType")->as_string(), "complete");
    EXPECT_EQ(client.only(R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})")
                  .get("result")
                  ->get("resultType"),
              nullptr);
    EXPECT_NE(client.only(modern).get("result")->get("ttlMs"), nullptr);
}

TEST(McpSession, DoesNotAnswerARequestThatWasCancelled) {
    SessionClient client;
    client.open();
    EXPECT_TRUE(
        client.say(R"({"jsonrpc":"2.0","id":"w","method":"tools/call","params":{"name":"wait"}})")
            .empty());
    ASSERT_EQ(client.pending->calls.size(), 1U);
    EXPECT_FALSE(client.pending->calls[0].first.stop_requested());

    client.say(
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w"}})");

    EXPECT_TRUE(client.pending->calls[0].first.stop_requested());
    client.pending->release("late");
    EXPECT_TRUE(client.heard().empty());
}

TEST(McpSession, DoesNotTakeALateAnswerForThatOfALaterRequest) {
    SessionClient client;
    client.open();
    client.say(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}})");
    auto late = std::move(client.pending->calls);
    client.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
    client.pending->calls.clear();
    client.say(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}})");

    late[0].second(tools::ToolResult{tools::ToolAnswer{Map{}, "first"}});
    EXPECT_TRUE(client.heard().empty());
    client.pending->release("second");
    EXPECT_EQ(client.heard().size(), 1U);
}

TEST(McpSession, IgnoresCancellationsOfNothing) {
    SessionClient client;
    client.open();
    for (const char* params :
         {R"({"requestId":99})", R"({})", R"({"requestId":null})", R"({"requestId":[1]})"}) {
        EXPECT_TRUE(client
                        .say(cat(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":)",
                                 params, "}"))
                        .empty());
    }
    EXPECT_EQ(code(client.only(R"({"jsonrpc":"2.0","id":1,"method":"ping"})")), 0);
}

TEST(McpSession, CancelsWhatIsUnderWayWhenTheClientGoes) {
    SessionClient client;
    client.open();
    client.say(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}})");

    client.session().on_close();

    EXPECT_TRUE(client.pending->calls[0].first.stop_requested());
    client.pending->release("late");
    EXPECT_TRUE(client.heard().empty());
}

TEST(McpSession, IsBusyWithCallsAndNotWithSubscriptions) {
    SessionClient client;
    client.say(
        R"({"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{},"_meta":{
        "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})");
    EXPECT_FALSE(client.session().is_busy());
    client.open();
    client.say(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait"}})");
    EXPECT_TRUE(client.session().is_busy());
    client.pending->release("x");
    EXPECT_FALSE(client.session().is_busy());
}

std::vector<Value> methods_heard(SessionClient& client) {
    std::vector<Value> methods;
    for (const Value& message : client.heard())
        methods.push_back(message.get("method") != nullptr ? *message.get("method") : Value());
    return methods;
}

TEST(McpSession, AClientWhoseListDiffersIsTold) {
    SessionClient client;
    client.open();
    client.session().on_settings_change();
    EXPECT_TRUE(client.heard().empty());

    client.pending->hidden = 1;
    client.session().on_settings_change();
    client.session().on_settings_change();

    EXPECT_EQ(methods_heard(client), std::vector<Value>{"notifications/tools/list_changed"});
}

TEST(McpSession, WhereToolsMayChangeTheNextCallTellsAndNoListIsKept) {
    SessionClient client;
    client.open();
    const std::string call =
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}})";
    client.pending->hidden = 1;
    EXPECT_EQ(client.say(call).size(), 1U);
    client.pending->changing = true;
    const auto said = client.say(call);
    ASSERT_EQ(said.size(), 2U);
    EXPECT_EQ(*said[0].get("method"), Value("notifications/tools/list_changed"));
    EXPECT_EQ(client.say(call).size(), 1U);

    const Value listed = client.only(
        R"({"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{
        "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})");
    EXPECT_EQ(*listed.get("result")->get("ttlMs"), Value(0));
}

TEST(McpSession, AClientThatHasSeenNoListIsNotTold) {
    SessionClient client;
    client.pending->hidden = 1;
    client.session().on_settings_change();
    EXPECT_TRUE(client.heard().empty());
}

TEST(McpSession, ASubscriptionToTheListIsToldUnderItsIdUntilItIsCancelled) {
    SessionClient client;
    const auto acknowledged = client.say(
        R"({"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":
        {"toolsListChanged":true,"resourcesListChanged":true},"_meta":{
        "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})");
    ASSERT_EQ(acknowledged.size(), 1U);
    EXPECT_EQ(json::write(*acknowledged[0].get("params")->get("notifications")),
              R"({"toolsListChanged":true})");

    client.pending->hidden = 1;
    client.session().on_settings_change();
    const auto heard = client.heard();
    ASSERT_EQ(heard.size(), 1U);
    EXPECT_EQ(*heard[0].get("method"), Value("notifications/tools/list_changed"));
    EXPECT_EQ(json::write(*heard[0].get("params")),
              R"({"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}})");

    client.say(
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s"}})");
    client.pending->hidden = 0;
    client.session().on_settings_change();
    EXPECT_TRUE(client.heard().empty());
}

TEST(McpSession, AClientIsToldOfTheResourcesThatItFollows) {
    SessionClient client;
    client.open();
    const auto line = [](std::string_view method, std::string_view uri) {
        return cat(R"({"jsonrpc":"2.0","id":1,"method":"resources/)", method,
                   R"(","params":{"uri":")", uri, "\"}}");
    };
    EXPECT_EQ(json::write(*client.only(line("subscribe", "block://b1")).get("result")), "{}");
    EXPECT_EQ(code(client.only(line("subscribe", "block://b9"))), -32002);

    client.pending->followed.at("block://b1")("block://b1");

    const auto heard = client.heard();
    ASSERT_EQ(heard.size(), 1U);
    EXPECT_EQ(*heard[0].get("method"), Value("notifications/resources/updated"));
    EXPECT_EQ(json::write(*heard[0].get("params")), R"({"uri":"block://b1"})");
    client.say(line("unsubscribe", "block://b1"));
    EXPECT_TRUE(client.pending->followed.empty());
}

TEST(McpSession, AModernClientFollowsResourcesAsItListens) {
    SessionClient client;
    const auto listen = [](std::string_view id, std::string_view uris) {
        return cat(
            R"({"jsonrpc":"2.0","id":")", id,
            R"(","method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":[)",
            uris, R"(]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)",
            R"("io.modelcontextprotocol/clientCapabilities":{}}}})");
    };
    const Value acknowledged =
        client.only(listen("s", R"("block://b1","block://b9","block://b2")"));
    EXPECT_EQ(json::write(*acknowledged.get("params")->get("notifications")),
              R"({"resourceSubscriptions":["block://b1","block://b2"]})");
    client.only(listen("t", R"("block://b1")"));

    client.pending->followed.at("block://b1")("block://b1");

    std::string told;
    for (const Value& message : client.heard()) told += json::write(*message.get("params"));
    EXPECT_EQ(told,
              R"({"uri":"block://b1","_meta":{"io.modelcontextprotocol/subscriptionId":"s"}})"
              R"({"uri":"block://b1","_meta":{"io.modelcontextprotocol/subscriptionId":"t"}})");
    client.say(
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s"}})");
    EXPECT_EQ(client.pending->followed.size(), 1U);
    EXPECT_TRUE(client.pending->followed.contains("block://b1"));
}

TEST(McpSession, AnswersABatchAsOneArray) {
    SessionClient client;
    client.open("2025-03-26");
    EXPECT_TRUE(client
                    .say(R"([{"jsonrpc":"2.0","id":1,"method":"ping"},
        {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait"}},
        {"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":3}])")
                    .empty());
    client.pending->release("done");
    const auto heard = client.heard();
    ASSERT_EQ(heard.size(), 1U);
    ASSERT_TRUE(heard[0].is_list());
    EXPECT_EQ(heard[0].as_list().size(), 3U);
}

TEST(McpSession, EndsABatchWithoutTheRequestsThatWereCancelled) {
    SessionClient client;
    client.open("2025-03-26");
    client.say(R"([{"jsonrpc":"2.0","id":1,"method":"ping"},
        {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait"}}])");
    const auto heard = client.say(
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})");
    ASSERT_EQ(heard.size(), 1U);
    EXPECT_EQ(heard[0].as_list().size(), 1U);
}

TEST(McpSession, SurvivesMalformedMessages) {
    SessionClient client;
    client.open();
    EXPECT_EQ(code(client.only("{")), -32700);
    EXPECT_EQ(code(client.only("\"\xff\"")), -32700);
    EXPECT_EQ(code(client.only(std::string(100'000, '['))), -32700);
    EXPECT_EQ(code(client.only("[]")), -32600);
    EXPECT_EQ(code(client.only("7")), -32600);
    EXPECT_EQ(code(client.only(R"({"jsonrpc":"1.0","id":1,"method":"ping"})")), -32600);
    EXPECT_EQ(code(client.only(R"({"jsonrpc":"2.0","id":1,"method":7})")), -32600);
    EXPECT_EQ(code(client.only(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[1]})")),
              -32602);
    for (const char* id : {"", "7", "[]", "1.5"}) client.session().on_oversize(64U << 20, id);
    const auto refusals = client.heard();
    ASSERT_EQ(refusals.size(), 4U);
    EXPECT_EQ(*refusals[1].get("id"), Value(7));
    for (const std::size_t other : {0, 2, 3}) EXPECT_TRUE(refusals[other].get("id")->is_null());
    EXPECT_EQ(code(client.only(R"({"jsonrpc":"2.0","id":1,"method":"ping"})")), 0);
}

TEST(McpSession, ACallWhoseIntegersWouldBecomeOthersIsRefused) {
    SessionClient client;
    client.open();
    const auto call = [&](std::string_view number) {
        return client.only(cat(R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":)",
                               R"({"name":"echo","arguments":{"text":"x","n":)", number, "}}}"));
    };

    for (const char* number :
         {"9223372036854775809", "-9223372036854775809", "123456789012345678901234567890"}) {
        const Value answer = call(number);
        EXPECT_EQ(*answer.get("id"), Value(3));
        const Value& result = *answer.get("result");
        EXPECT_TRUE(result.get("isError")->as_bool());
        EXPECT_EQ(*result.get("structuredContent")->get("error")->get("reason"),
                  Value("inexact_number"));
    }
    for (const char* number :
         {"9223372036854775807", "9223372036854775808", "9007199254740993", "1e300", "1.5"})
        EXPECT_FALSE(call(number).get("result")->get("isError")->as_bool()) << number;
}

TEST(McpSession, HoldsItsInputWhileTooMuchIsUnanswered) {
    SessionClient client;
    client.open();
    for (int i = 0; i < 2049; ++i) {
        EXPECT_FALSE(client.connection->held());
        client.say(cat(R"({"jsonrpc":"2.0","id":)", i,
                       R"(,"method":"tools/call","params":{"name":"wait"}})"));
    }
    EXPECT_TRUE(client.connection->held());
    client.pending->release("x");
    EXPECT_FALSE(client.connection->held());
    EXPECT_EQ(client.heard().size(), 2049U);
}

}  // namespace
}  // namespace quire::mcp
