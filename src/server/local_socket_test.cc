#include "server/local_socket.h"

#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"
#include "server/local_socket_for_test.h"

namespace quire::server {
namespace {

TEST(LocalSocket, AHelloIsAnsweredAndLinesGoBothWays) {
    const Workspace workspace;
    Server server(workspace, patient());
    Client client(workspace);
    EXPECT_EQ(client.version, "test");
    ASSERT_TRUE(client.say("one\ntwo\n"));
    EXPECT_EQ(client.hear(), "one");
    EXPECT_EQ(client.hear(), "two");
}

TEST(LocalSocket, OnlyItsOwnerCanOpenTheSocketAndItsDirectory) {
    const Workspace workspace;
    Server server(workspace, patient());
    struct stat status = {};
    ASSERT_EQ(::stat((workspace.path() + "/.quire/kernel.sock").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
    ASSERT_EQ(::stat((workspace.path() + "/.quire").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST(LocalSocket, APathBeyondASocketAddressWorks) {
    const Workspace workspace("/" + std::string(100, 'a') + "/" + std::string(100, 'b'));
    Server server(workspace, patient());
    Client client(workspace);
    ASSERT_TRUE(client.say("deep\n"));
    EXPECT_EQ(client.hear(), "deep");
}

TEST(LocalSocket, ASocketThatADeadKernelLeftIsReplaced) {
    const Workspace workspace;
    const StateDirectory directory = StateDirectory::open(workspace.path()).value();
    directory.listen().value().reset();
    EXPECT_EQ(Client(workspace).refused, "no_kernel");
    Server server(workspace, patient());
    EXPECT_EQ(Client(workspace).refused, "");
}

TEST(LocalSocket, ARefusedHelloSaysWhy) {
    const Workspace workspace;
    Server server(workspace, patient());
    EXPECT_EQ(Client(workspace, "nobody").refused, "invalid_actor");
    EXPECT_TRUE(comes_true([&] { return (*server).connections() == 0; }));
}

TEST(LocalSocket, AFirstLineThatIsNoHelloIsRefused) {
    const Workspace workspace;
    Server server(workspace, patient());
    const Fd socket = StateDirectory::open(workspace.path()).value().connect().value();
    ASSERT_EQ(::send(socket.get(), "{\"jsonrpc\":\"2.0\"}\n", 18, MSG_NOSIGNAL), 18);
    char answer[1000] = {};
    ASSERT_GT(::recv(socket.get(), answer, sizeof answer, 0), 0);
    EXPECT_NE(std::string(answer).find("unknown_hello"), std::string::npos) << answer;
    EXPECT_EQ(::recv(socket.get(), answer, sizeof answer, 0), 0);
}

TEST(LocalSocket, ASilentClientIsDisconnected) {
    const Workspace workspace;
    LocalServerOptions options = patient();
    options.hello_ms = 20;
    Server server(workspace, options);
    const Fd socket = StateDirectory::open(workspace.path()).value().connect().value();
    char nothing[1];
    EXPECT_EQ(::recv(socket.get(), nothing, 1, 0), 0);
}

TEST(LocalSocket, ALineBeyondTheBoundIsReportedAndTheNextOneFollows) {
    const Workspace workspace;
    LocalServerOptions options = patient();
    options.line_bytes = 1000;
    Server server(workspace, options);
    Client client(workspace);
    ASSERT_TRUE(client.say(cat("{\"x\":\"", std::string(500'000, 'x'), "\",\"id\":7}\nafter\n")));
    EXPECT_EQ(client.hear(), "oversize 1000 7");
    EXPECT_EQ(client.hear(), "after");
}

// talk(client, number) of so many clients at once, and how many answers were right in all.
template <class Talk>
int right_answers(const Workspace& workspace, int clients, Talk talk) {
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(clients));
    for (int number = 0; number < clients; ++number) {
        threads.emplace_back([&, number] {
            Client client(workspace);
            right += talk(client, number);
        });
    }
    for (std::thread& thread : threads) thread.join();
    return right;
}

TEST(LocalSocket, ManyClientsEachGetTheirOwnAnswersInOrder) {
    constexpr int kClients = 16, kLines = 500;
    const Workspace workspace;
    Server server(workspace, patient());
    const int right = right_answers(workspace, kClients, [](Client& client, int number) {
        std::string all;
        for (int i = 0; i < kLines; ++i) all += cat(number, '-', i, '\n');
        client.say(all);
        int heard = 0;
        for (int i = 0; i < kLines; ++i) heard += client.hear() == cat(number, '-', i);
        return heard;
    });
    EXPECT_EQ(right, kClients * kLines);
    EXPECT_TRUE(comes_true([&] { return server.closed == kClients; }));
}

TEST(LocalSocket, OneThreadIsEnoughToServe) {
    const Workspace workspace;
    Server server(workspace, patient(), Server::Threads::one);
    Client client(workspace);
    ASSERT_TRUE(client.say("later one\ntwo\n"));
    std::string heard = client.hear() + " " + client.hear();
    EXPECT_TRUE(heard == "one two" || heard == "two one") << heard;
}

// More requests that take long than there are workers and threads to run them: what does not need
// them is still answered.
TEST(LocalSocket, ALongCallHoldsUpNoOtherClient) {
    const Workspace workspace;
    Server server(workspace, patient());
    std::vector<std::unique_ptr<Client>> slow;
    for (int i = 0; i < 4; ++i) {
        slow.push_back(std::make_unique<Client>(workspace));
        ASSERT_TRUE(slow.back()->say("hold\n"));
    }
    Client quick(workspace);
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(quick.say(cat(i, "\n")));
        EXPECT_EQ(quick.hear(), cat(i));
    }
    server.gate.promise.set_value();
    for (const auto& client : slow) EXPECT_EQ(client->hear(), "held");
}

TEST(LocalSocket, TasksOfManyClientsAnswerEachInItsOrder) {
    constexpr int kClients = 8, kLines = 300;
    const Workspace workspace;
    Server server(workspace, patient());
    const int right = right_answers(workspace, kClients, [](Client& client, int) {
        int heard = 0;
        for (int i = 0; i < kLines; ++i) {
            // Now one by one, now two at once.
            if (i % 3 == 0 && i + 1 < kLines) {
                client.say(cat("later ", i, "\nlater ", i + 1, "\n"));
                heard += client.hear() == cat(i);
                ++i;
            } else {
                client.say(cat("later ", i, "\n"));
            }
            heard += client.hear() == cat(i);
        }
        return heard;
    });
    EXPECT_EQ(right, kClients * kLines);
}

TEST(LocalSocket, AnAnswerLargerThanAnyBufferArrivesWhole) {
    const Workspace workspace;
    Server server(workspace, patient());
    Client client(workspace);
    ASSERT_TRUE(client.say("big 30000000\n"));
    EXPECT_EQ(client.hear().size(), 30'000'000U);
}

TEST(LocalSocket, AClientThatDoesNotReadIsCutOffAndOthersGoOn) {
    const Workspace workspace;
    LocalServerOptions options = patient();
    options.output_bytes = 1U << 20;
    options.hold_bytes = 64U << 20;  // Or its requests would be left unread first.
    Server server(workspace, options);
    Client deaf(workspace), other(workspace);
    std::string requests;
    for (int i = 0; i < 40; ++i) requests += "big 1000000\n";
    deaf.say(requests);
    EXPECT_TRUE(comes_true([&] { return server.closed == 1; }));
    ASSERT_TRUE(other.say("still here\n"));
    EXPECT_EQ(other.hear(), "still here");
}

TEST(LocalSocket, AClientThatDoesNotReadIsNotReadFromUntilItDoes) {
    const Workspace workspace;
    LocalServerOptions options = patient();
    options.hold_bytes = 1U << 16;
    Server server(workspace, options);
    Client client(workspace);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(client.say("big 1000000\n"));
    for (int i = 0; i < 100; ++i) EXPECT_EQ(client.hear().size(), 1'000'000U);
}

TEST(LocalSocket, ClosingWritesWhatIsQueuedFirst) {
    const Workspace workspace;
    Server server(workspace, patient());
    Client client(workspace);
    ASSERT_TRUE(client.say("big 5000000\nclose\n"));
    EXPECT_EQ(client.hear().size(), 5'000'000U);
    EXPECT_EQ(client.hear(), "bye");
    EXPECT_EQ(client.hear(), "");
}

}  // namespace
}  // namespace quire::server
