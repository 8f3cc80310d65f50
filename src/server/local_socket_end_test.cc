// How a socket and its requests end: after its last client, when it is told to, for want of room, and
// when its file or its settings are others.
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "server/local_socket_for_test.h"
#include "server/settings_watch.h"

namespace quire::server {
namespace {

TEST(LocalSocket, TheSocketEndsSomeTimeAfterItsLastClientHasLeft) {
    const Workspace workspace;
    LocalServerOptions options = patient();
    options.linger_ms = 50;
    Server server(workspace, options);
    Client first(workspace), second(workspace);
    first.leave();
    EXPECT_TRUE(comes_true([&] { return (*server).connections() == 1; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_FALSE(server.ended);
    second.leave();
    EXPECT_TRUE(comes_true([&] { return server.ended.load(); }));
}

TEST(LocalSocket, RequestsThatWereNotBegunAreAnsweredWhenItEnds) {
    const Workspace workspace;
    Server server(workspace, patient());
    Client client(workspace);
    ASSERT_TRUE(
        client.say("pause\n{\"id\":7,\"method\":\"tools/call\"}\n{\"method\":\"notice\"}\n"));
    ASSERT_TRUE(client.say("{\"id\":\"a\",\"method\":\"tools/list\"}\n{\"id\":8,\"met"));

    (*server).stop();

    const std::string called = client.hear(), listed = client.hear();
    EXPECT_NE(called.find("\"id\":7,\"result\""), std::string::npos) << called;
    EXPECT_NE(called.find("kernel_ending"), std::string::npos) << called;
    EXPECT_NE(listed.find("\"id\":\"a\",\"error\""), std::string::npos) << listed;
    EXPECT_NE(listed.find("kernel_ending"), std::string::npos) << listed;
    EXPECT_TRUE(comes_true([&] { return server.ended.load(); }));
}

TEST(LocalSocket, ARequestThatFindsNoRoomIsRefusedAfterAWhile) {
    const Workspace workspace;
    LocalServerOptions options = patient();
    options.in_flight_bytes = 1000;
    options.in_flight_wait_ms = 50;
    Server server(workspace, options);
    Client large(workspace), small(workspace);
    ASSERT_TRUE(large.say("open 1000\n"));
    ASSERT_EQ(large.hear(), "open");

    ASSERT_TRUE(small.say("{\"id\":7,\"method\":\"tools/list\"}\n"));

    const std::string answer = small.hear();
    EXPECT_NE(answer.find("\"id\":7,\"error\""), std::string::npos) << answer;
    EXPECT_NE(answer.find("in_flight_limit"), std::string::npos) << answer;
    server.gate.promise.set_value();
}

TEST(LocalSocket, ARequestThatFindsNoRoomBeginsOnceThereIsSome) {
    const Workspace workspace;
    LocalServerOptions options = patient();
    options.in_flight_bytes = 1000;
    Server server(workspace, options);
    Client large(workspace), small(workspace);
    ASSERT_TRUE(large.say("open 1000\n"));
    ASSERT_EQ(large.hear(), "open");
    ASSERT_TRUE(small.say("waits\n"));

    server.gate.promise.set_value();

    EXPECT_EQ(small.hear(), "waits");
}

TEST(LocalSocket, ASocketThatWasRemovedIsMadeAnew) {
    const Workspace workspace;
    Server server(workspace, patient());
    const std::string socket = workspace.path() + "/.quire/kernel.sock";
    Client before(workspace);

    ASSERT_EQ(::unlink(socket.c_str()), 0);

    EXPECT_TRUE(comes_true([&] { return std::filesystem::exists(socket); }));
    Client after(workspace);
    ASSERT_TRUE(before.say("before\n") && after.say("after\n"));
    EXPECT_EQ(before.hear(), "before");
    EXPECT_EQ(after.hear(), "after");
}

// Says that the settings have changed whenever it is looked at.
class AlwaysNew final : public SettingsWatch {
public:
    int fd() const override { return -1; }
    void take_events() override {}
    bool look() override { return ++looks > 0; }
    Map report() const override { return {}; }
    std::atomic<int> looks{0};
};

TEST(LocalSocket, TheSettingsAreLookedAtBeforeEachLine) {
    const Workspace workspace;
    AlwaysNew settings;
    LocalServerOptions options = patient();
    options.settings = &settings;
    Server server(workspace, options);
    Client client(workspace);
    ASSERT_TRUE(client.say("one\ntwo\n"));
    EXPECT_EQ(client.hear(), "the settings are others");
    EXPECT_EQ(client.hear(), "one");
    EXPECT_EQ(client.hear(), "the settings are others");
    EXPECT_EQ(client.hear(), "two");
    EXPECT_EQ(settings.looks, 2);
}

TEST(LocalSocket, ASocketToldToEndStillSendsTheQueuedLines) {
    const Workspace workspace;
    Server server(workspace, patient());
    Client client(workspace);
    ASSERT_TRUE(client.say("big 5000000\n"));
    EXPECT_TRUE(comes_true([&] { return (*server).connections() == 1; }));
    std::string first = client.hear();
    (*server).stop();
    EXPECT_EQ(first.size(), 5'000'000U);
    EXPECT_TRUE(comes_true([&] { return server.ended.load(); }));
    EXPECT_EQ(Client(workspace).refused, "no_kernel");
}

}  // namespace
}  // namespace quire::server
