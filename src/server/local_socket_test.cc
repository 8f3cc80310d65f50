#include "server/local_socket.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"
#include "server/attach.h"
#include "server/settings_watch.h"
#include "server/test_workspace.h"

namespace quire::server {
namespace {

using Workspace = TestWorkspace;

// The request "hold" waits for this.
struct Gate {
    std::promise<void> promise;
    std::shared_future<void> opened = promise.get_future().share();
};

// Says every line back. "big N" sends N bytes, "close" ends the connection, "pause" takes no more
// lines; "later X" says X from a task, "hold" does so once the gate is open, and "open N" keeps a
// request of N bytes open until then.
class Echo final : public rpc::Session {
public:
    Echo(std::shared_ptr<rpc::Connection> connection, sched::Scheduler& scheduler, const Gate& gate,
         std::atomic<int>& closed)
        : connection_(std::move(connection)), strand_(scheduler), gate_(gate), closed_(closed) {}
    void on_line(std::string line) override {
        if (line.rfind("big ", 0) == 0) {
            connection_->send(std::string(std::stoul(line.substr(4)), 'x'));
        } else if (line == "close") {
            connection_->send("bye");
            connection_->close();
        } else if (line.rfind("later ", 0) == 0) {
            strand_.post([to = connection_, text = line.substr(6)] { to->send(text); });
        } else if (line == "pause") {
            connection_->hold_input(true);
        } else if (line.rfind("open ", 0) == 0) {
            strand_.post(
                [to = connection_, bytes = std::stoul(line.substr(5)), opened = gate_.opened] {
                    to->open_request(bytes);
                    to->send("open");
                    opened.wait();
                    to->end_request(bytes);
                });
        } else if (line == "hold") {
            strand_.post([to = connection_, opened = gate_.opened] {
                opened.wait();
                to->send("held");
            });
        } else {
            connection_->send(std::move(line));
        }
    }
    void on_oversize(std::size_t bound, const std::string& id) override {
        connection_->send(cat("oversize ", bound, " ", id));
    }
    void on_settings_change() override { connection_->send("the settings are others"); }
    void on_close() override { ++closed_; }

private:
    std::shared_ptr<rpc::Connection> connection_;
    sched::Strand strand_;
    const Gate& gate_;
    std::atomic<int>& closed_;
};

// With two threads, as the kernel has it, unless it is told otherwise.
class Server {
public:
    enum class Threads { one, two };
    Server(const Workspace& workspace, LocalServerOptions options, Threads threads = Threads::two) {
        if (threads == Threads::two) options.pool = &pool_;
        rpc::SessionFactory factory = [this](const rpc::Hello& hello,
                                             std::shared_ptr<rpc::Connection> connection)
            -> Result<std::unique_ptr<rpc::Session>> {
            if (hello.actor == "nobody") return invalid("invalid_actor", "there is no such actor");
            return std::make_unique<Echo>(std::move(connection), pool_, gate, closed);
        };
        Result<StateDirectory> directory = StateDirectory::open(workspace.path());
        Result<std::unique_ptr<LocalServer>> opened =
            LocalServer::open(std::move(*directory), options, std::move(factory), log_);
        if (!opened) throw std::runtime_error(opened.error().message());
        server_ = std::move(*opened);
        thread_ = std::thread([this] {
            server_->run();
            ended = true;
        });
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server() {
        server_->stop();
        thread_.join();
    }
    void wait() {
        thread_.join();
        thread_ = std::thread([] {});
    }
    LocalServer& operator*() { return *server_; }

    std::atomic<int> closed{0};
    std::atomic<bool> ended{false};
    Gate gate;

private:
    sched::Pool pool_{1};
    NoLog log_;
    std::unique_ptr<LocalServer> server_;
    std::thread thread_;
};

LocalServerOptions patient() {
    LocalServerOptions options;
    options.linger_ms = -1;
    options.version = "test";
    return options;
}

// A client that is written to and read from as it comes.
class Client {
public:
    explicit Client(const Workspace& workspace, const std::string& actor = "agent:a") {
        Result<Attached> attached = attach({.workspace = workspace.path(),
                                            .hello = {.actor = actor},
                                            .start = false,
                                            .launch = {}});
        if (!attached) {
            refused = attached.error().reason();
            return;
        }
        version = attached->version;
        socket_ = std::move(attached->socket);
        const timeval timeout = {.tv_sec = 20, .tv_usec = 0};
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    }
    bool say(const std::string& text) {
        for (std::size_t sent = 0; sent < text.size();) {
            const ssize_t length =
                ::send(socket_.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
            if (length <= 0) return false;
            sent += static_cast<std::size_t>(length);
        }
        return true;
    }
    // "" at the end.
    std::string hear() {
        while (true) {
            if (const std::size_t newline = heard_.find('\n'); newline != std::string::npos) {
                std::string line = heard_.substr(0, newline);
                heard_.erase(0, newline + 1);
                return line;
            }
            char part[65536];
            const ssize_t length = ::recv(socket_.get(), part, sizeof part, 0);
            if (length <= 0) return "";
            heard_.append(part, static_cast<std::size_t>(length));
        }
    }
    void leave() { socket_.reset(); }

    std::string refused, version;

private:
    Fd socket_;
    std::string heard_;
};

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
