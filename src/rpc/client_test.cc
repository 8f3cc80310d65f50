#include "rpc/client.h"

#include <array>
#include <csignal>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/fd.h"
#include "json/json.h"
#include "rpc/jsonrpc.h"

namespace quire::rpc {
namespace {

Value parsed(std::string_view text) {
    return *json::parse(text);
}

TEST(RpcClient, ARequestIsALineWithItsId) {
    Client client;
    EXPECT_EQ(client.request("ping", {}), 1);
    EXPECT_EQ(client.request("status", {{"a", true}}), 2);
    client.notify("done", {});
    EXPECT_EQ(client.output().pop(), R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{}})");
    EXPECT_EQ(client.output().pop(),
              R"({"jsonrpc":"2.0","id":2,"method":"status","params":{"a":true}})");
    EXPECT_EQ(client.output().pop(), R"({"jsonrpc":"2.0","method":"done"})");
    EXPECT_TRUE(client.output().empty());
}

TEST(RpcClient, AResponseMatchesItsRequestOnce) {
    Client client;
    client.request("a", {});
    client.request("b", {});
    const auto second = client.match(parsed(R"({"id":2,"result":{"x":1}})"));
    ASSERT_TRUE(second);
    EXPECT_EQ(second->id, 2);
    EXPECT_EQ(json::write(second->result), R"({"x":1})");
    EXPECT_FALSE(second->error);
    EXPECT_FALSE(client.match(parsed(R"({"id":2,"result":{}})")));
    const auto first = client.match(parsed(R"({"id":1,"error":{"message":"no"}})"));
    ASSERT_TRUE(first && first->error);
    EXPECT_TRUE(first->result.is_null());
}

TEST(RpcClient, OtherMessagesMatchNothing) {
    Client client;
    client.request("a", {});
    for (const std::string_view text :
         {"7", "[]", "{}", R"({"id":9,"result":{}})", R"({"id":"1","result":{}})",
          R"({"id":null,"error":{}})", R"({"id":1,"method":"a"})"})
        EXPECT_FALSE(client.match(parsed(text))) << text;
    EXPECT_TRUE(client.forget(1));
    EXPECT_FALSE(client.match(parsed(R"({"id":1,"result":{}})")));
}

// Two ends, each a socket or a pair of pipes, for a BlockingClient and its peer.
struct Ends {
    explicit Ends(bool sockets) {
        std::array<int, 2> one = {}, other = {};
        if (sockets) {
            EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, one.data()), 0);
            input = output = one[0];
            peer_input = peer_output = one[1];
        } else {
            EXPECT_EQ(::pipe(one.data()), 0);
            EXPECT_EQ(::pipe(other.data()), 0);
            input = one[0];
            peer_output = one[1];
            peer_input = other[0];
            output = other[1];
        }
    }
    Ends(const Ends&) = delete;
    Ends& operator=(const Ends&) = delete;
    ~Ends() {
        close_peer();
        ::close(input);
        if (output != input) ::close(output);
    }
    void close_peer() {
        if (peer_input < 0) return;
        ::close(peer_input);
        if (peer_output != peer_input) ::close(peer_output);
        peer_input = -1;
    }
    void say(std::string_view text) const {
        EXPECT_EQ(::write(peer_output, text.data(), text.size()),
                  static_cast<ssize_t>(text.size()));
    }
    std::string heard() const {
        std::string text(4096, '\0');
        const ssize_t length = ::read(peer_input, text.data(), text.size());
        text.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
        return text;
    }

    int input = -1, output = -1, peer_input = -1, peer_output = -1;
};

class BlockingClientTest : public testing::TestWithParam<bool> {
protected:
    BlockingClientTest() : ends(GetParam()) { std::signal(SIGPIPE, SIG_IGN); }
    Ends ends;
    BlockingClient client{ends.input, ends.output, 256};
};
INSTANTIATE_TEST_SUITE_P(PipesAndSockets, BlockingClientTest, testing::Bool());

TEST_P(BlockingClientTest, ARequestGetsItsResponseAmongOtherLines) {
    ASSERT_EQ(client.request("ping", {}).value(), 1);
    EXPECT_EQ(ends.heard(), "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{}}\n");
    ends.say("no JSON\n{\"method\":\"note\"}\n{\"id\":1,\"res");
    EXPECT_FALSE(client.next(1).value());
    ends.say("ult\":7}\n");
    EXPECT_EQ(client.next(1000).value()->result, Value(7));
}

TEST_P(BlockingClientTest, SeveralResponsesComeInOnePiece) {
    ASSERT_TRUE(client.request("a", {}) && client.request("b", {}));
    ends.say("{\"id\":2,\"result\":2}\n{\"id\":1,\"result\":1}\n");
    EXPECT_EQ(client.next(1000).value()->id, 2);
    EXPECT_EQ(client.next(0).value()->id, 1);
    EXPECT_FALSE(client.next(0).value());
}

TEST_P(BlockingClientTest, AForgottenRequestGetsNoResponse) {
    const std::int64_t late = client.request("a", {}).value();
    EXPECT_FALSE(client.next(1).value());
    client.forget(late);
    ASSERT_TRUE(client.request("b", {}));
    ends.say("{\"id\":1,\"result\":1}\n{\"id\":2,\"result\":2}\n");
    EXPECT_EQ(client.next(1000).value()->id, 2);
}

TEST_P(BlockingClientTest, APeerThatIsGoneIsClosed) {
    ASSERT_TRUE(client.request("a", {}));
    ends.say("{\"id\":1,\"result\":1}\n");
    ends.close_peer();
    EXPECT_TRUE(client.next(1000).value());
    EXPECT_EQ(client.next(1000).error().reason(), "closed");
    EXPECT_EQ(client.request("b", {}).error().reason(), "closed");
}

TEST_P(BlockingClientTest, ALineThatIsTooLongClosesTheChannel) {
    ASSERT_TRUE(client.request("a", {}));
    ends.say(cat("{\"id\":1,\"result\":1}\n", std::string(300, 'x')));
    EXPECT_TRUE(client.next(1000).value());
    EXPECT_EQ(client.next(1000).error().reason(), "closed");
}

TEST(RpcErrors, AnErrorTravelsAsAValueAndBack) {
    const Error error(Errc::conflict, "content_mismatch", "read it again", {{"line", 3}});
    const Error back = error_from(error_value(error));
    EXPECT_EQ(back.code(), Errc::conflict);
    EXPECT_EQ(back.reason(), "content_mismatch");
    EXPECT_EQ(back.message(), "read it again");
    EXPECT_EQ(*back.details().find("line"), Value(3));
    EXPECT_EQ(error_from(Map{{"code", "conflict"}}).reason(), "kernel_failed");
    EXPECT_EQ(error_from(Map{{"code", "new"}, {"reason", "r"}, {"message", "m"}}).code(),
              Errc::unavailable);
}

TEST(RpcErrors, AResponseCarriesOurErrorOrTheProtocols) {
    const Error ours(Errc::denied, "read_only", "ask for more");
    EXPECT_EQ(response_error(Map{{"code", -32603}, {"data", error_value(ours)}}).reason(),
              "read_only");
    const Error plain = response_error(Map{{"code", -32601}, {"message", "no such method"}});
    EXPECT_EQ(plain.reason(), "protocol_error");
    EXPECT_EQ(plain.message(), "no such method");
    EXPECT_EQ(response_error(parsed(R"({"data":{"reason":"too_large"}})")).reason(), "too_large");
}

}  // namespace
}  // namespace quire::rpc
