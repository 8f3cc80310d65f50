#include "mounts/protocol.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/concat.h"

namespace quire::mounts {
namespace {

constexpr std::string_view kWelcome =
    R"({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},)"
    R"("serverInfo":{"name":"fake","version":"3"}}})";

// The events, a word for each.
std::string words_of(const std::vector<Event>& events) {
    std::string out;
    for (const Event& each : events) {
        const std::string word = std::holds_alternative<Opened>(each) ? "opened"
                                 : std::holds_alternative<Listed>(each)
                                     ? cat("listed ", std::get<Listed>(each).tools.size())
                                 : std::holds_alternative<Answered>(each)
                                     ? cat("answered ", std::get<Answered>(each).id,
                                           std::get<Answered>(each).result ? "" : " badly")
                                 : std::holds_alternative<Broken>(each)
                                     ? cat("broken: ", std::get<Broken>(each).why)
                                 : std::holds_alternative<Changed>(each) ? "changed"
                                                                         : "noise";
        cat_to(out, cat(out.empty() ? "" : ", ", word));
    }
    return out;
}

class Talk {
public:
    Talk() { protocol.open(); }
    // One that has listed a tool.
    static Talk opened() {
        Talk talk;
        talk.say(kWelcome);
        talk.say(R"({"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a"}]}})");
        talk.sent();
        return talk;
    }
    std::string say(std::string_view line) { return words_of(protocol.take(line)); }
    std::string sent() {
        std::string out;
        while (!protocol.output().empty()) out += protocol.output().pop() + "\n";
        return out;
    }

    Protocol protocol{"1.0"};
};

TEST(MountProtocol, TheClientOpensListsAndCalls) {
    Talk talk;
    EXPECT_EQ(
        talk.sent(),
        R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
        R"("capabilities":{},"clientInfo":{"name":"quire","version":"1.0"}}})"
        "\n");
    EXPECT_EQ(talk.say(kWelcome), "opened");
    EXPECT_EQ(talk.sent(),
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
              "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{}}\n");
    EXPECT_EQ(talk.say(R"({"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a"}]}})"),
              "listed 1");
    EXPECT_EQ(talk.protocol.call("a", Map{{"x", 1}}), 3);
    EXPECT_EQ(talk.sent(),
              "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"a\","
              "\"arguments\":{\"x\":1}}}\n");
    EXPECT_EQ(talk.say(R"({"jsonrpc":"2.0","id":3,"result":{"content":[]}})"), "answered 3");
}

TEST(MountProtocol, AListComesInPages) {
    Talk talk;
    talk.say(kWelcome);
    talk.sent();
    EXPECT_EQ(talk.say(R"({"jsonrpc":"2.0","id":2,"result":{"tools":[{}],"nextCursor":"p"}})"), "");
    EXPECT_EQ(
        talk.sent(),
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\",\"params\":{\"cursor\":\"p\"}}\n");
    EXPECT_EQ(talk.say(R"({"jsonrpc":"2.0","id":3,"result":{"tools":[{},{}]}})"), "listed 3");
}

TEST(MountProtocol, PagesWithoutEndAreBroken) {
    Talk talk;
    talk.say(kWelcome);
    std::string last;
    for (std::size_t id = 2; last.empty() && id < 100; ++id) {
        last = talk.say(cat(R"({"jsonrpc":"2.0","id":)", id,
                            R"(,"result":{"tools":[],"nextCursor":"again"}})"));
    }
    EXPECT_EQ(last, "broken: its list of tools has more than 64 pages");
}

TEST(MountProtocol, TooManyToolsAreBroken) {
    Talk talk;
    talk.say(kWelcome);
    std::string tools;
    for (std::size_t i = 0; i <= kMostTools; ++i) cat_to(tools, i == 0 ? "{}" : ",{}");
    EXPECT_EQ(talk.say(cat(R"({"jsonrpc":"2.0","id":2,"result":{"tools":[)", tools, "]}}")),
              "broken: it has more than 256 tools");
}

TEST(MountProtocol, TheBytesOfAListAreBounded) {
    Talk talk;
    talk.say(kWelcome);
    const std::string long_text((4U << 20U) + 1, 'x');
    std::string last;
    std::size_t pages = 0;
    for (; last.empty() && pages < 20; ++pages) {
        last = talk.say(cat(R"({"jsonrpc":"2.0","id":)", pages + 2,
                            R"(,"result":{"tools":[{"name":"a","description":")", long_text,
                            R"("}],"nextCursor":"more"}})"));
    }
    EXPECT_EQ(last, "broken: its list of tools has more than 33554432 bytes");
    EXPECT_EQ(pages, 8U);
}

TEST(MountProtocol, AChangedListIsListedAgain) {
    Talk talk = Talk::opened();
    EXPECT_EQ(talk.say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})"),
              "changed");
    EXPECT_EQ(talk.sent(), "");
    talk.protocol.list_anew();
    EXPECT_EQ(talk.sent(),
              "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\",\"params\":{}}\n");
    // While it lists it is told once more, and lists once more after.
    talk.protocol.list_anew();
    talk.protocol.list_anew();
    EXPECT_EQ(talk.sent(), "");
    EXPECT_EQ(talk.say(R"({"jsonrpc":"2.0","id":3,"result":{"tools":[]}})"), "listed 0");
    EXPECT_EQ(talk.sent(),
              "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/list\",\"params\":{}}\n");
    EXPECT_EQ(talk.say(R"({"jsonrpc":"2.0","id":4,"result":{"tools":[{}]}})"), "listed 1");
    EXPECT_EQ(talk.sent(), "");
}

TEST(MountProtocol, UnrequestedMessagesAreIgnored) {
    Talk talk = Talk::opened();
    const std::int64_t id = talk.protocol.call("a", Map{});
    for (const std::string_view line :
         {"no JSON", "[]", "7", R"({"jsonrpc":"2.0","id":99,"result":{}})",
          R"({"jsonrpc":"2.0","id":"3","result":{}})", R"({"jsonrpc":"2.0","id":null,"error":{}})",
          R"({"jsonrpc":"2.0","method":7})",
          R"({"jsonrpc":"2.0","method":"notifications/message","params":{}})"})
        EXPECT_EQ(talk.say(line), "noise") << line;
    const std::string answer = cat(R"({"jsonrpc":"2.0","id":)", id, R"(,"result":{}})");
    EXPECT_EQ(talk.say(answer), "answered 3");
    EXPECT_EQ(talk.say(answer), "noise");
}

TEST(MountProtocol, InvalidTextInAnAnswerIsReplacedAndTheAnswerKept) {
    const auto answered = [](std::string_view text) {
        Talk talk = Talk::opened();
        const std::int64_t id = talk.protocol.call("a", Map{});
        const auto events = talk.protocol.take(
            cat(R"({"jsonrpc":"2.0","id":)", id, R"(,"result":{"text":")", text, R"("}})"));
        const auto* const answer = events.empty() ? nullptr : std::get_if<Answered>(&events[0]);
        return answer != nullptr ? answer->result->get("text")->as_string() : "no answer";
    };
    EXPECT_EQ(answered(R"(a\ud83d)"), "a\uFFFD");
    EXPECT_EQ(answered(R"(\ude00b\ud83d\ude00\ud83dc)"), "\uFFFDb\U0001F600\uFFFDc");
    EXPECT_EQ(answered(R"(\\ud83d\ud83d)"), "\\ud83d\uFFFD");
    EXPECT_EQ(answered("a\xF0\x9F\x98 \xFFz\\ud83d"), "a\uFFFD\uFFFD\uFFFD \uFFFDz\uFFFD");
    EXPECT_EQ(answered(R"(\ud83d\q)"), "no answer");
}

TEST(MountProtocol, APingIsAnsweredAndEveryOtherRequestRefused) {
    Talk talk = Talk::opened();
    talk.say(R"({"jsonrpc":"2.0","id":"p","method":"ping"})");
    EXPECT_EQ(talk.sent(), "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}\n");
    for (const std::string_view method :
         {"sampling/createMessage", "roots/list", "elicitation/create"}) {
        EXPECT_EQ(
            talk.say(cat(R"({"jsonrpc":"2.0","id":5,"method":")", method, R"(","params":{}})")),
            "noise");
        EXPECT_NE(talk.sent().find("\"id\":5,\"error\":{\"code\":-32601"), std::string::npos)
            << method;
    }
}

TEST(MountProtocol, AnErrorIsTheServersOwnWords) {
    Talk talk = Talk::opened();
    const std::int64_t id = talk.protocol.call("a", Map{});
    const auto events =
        talk.protocol.take(cat(R"({"jsonrpc":"2.0","id":)", id,
                               R"(,"error":{"code":-32602,"message":"no\u001b[31m such"}})"));
    const Error& error = std::get<Answered>(events.at(0)).result.error();
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    EXPECT_EQ(error.reason(), "mount_error");
    EXPECT_EQ(error.message(), "no\\u{1b}[31m such");
}

TEST(MountProtocol, ACancelledCallGivesNoEvent) {
    Talk talk = Talk::opened();
    const std::int64_t id = talk.protocol.call("a", Map{});
    talk.sent();
    talk.protocol.cancel(id, "enough");
    EXPECT_EQ(talk.sent(),
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
              "\"requestId\":3,\"reason\":\"enough\"}}\n");
    EXPECT_EQ(talk.say(R"({"jsonrpc":"2.0","id":3,"result":{}})"), "noise");
    talk.protocol.cancel(id, "again");
    EXPECT_EQ(talk.sent(), "");
}

TEST(MountProtocol, AServerThatCannotBeSpokenWithIsBroken) {
    EXPECT_EQ(Talk().say(R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"what?"}})"),
              "broken: it answers initialize with an error: what?");
    EXPECT_EQ(Talk().say(R"({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2031-01-01"}})"),
              "broken: it wants revision '2031-01-01' of the protocol; known are 2024-11-05 to "
              "2025-11-25");
    EXPECT_EQ(Talk().say(R"({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25",)"
                         R"("capabilities":{"prompts":{}}}})"),
              "broken: it says that it has no tools");
    Talk talk;
    talk.say(kWelcome);
    EXPECT_EQ(talk.say(R"({"jsonrpc":"2.0","id":2,"result":{"tools":7}})"),
              "broken: its answer to tools/list has no list of tools");
}

}  // namespace
}  // namespace quire::mounts
