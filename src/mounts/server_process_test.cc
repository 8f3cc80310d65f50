#include "mounts/server_process.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/file_text.h"
#include "base/test_directory.h"
#include "sched/scheduler.h"

namespace quire::mounts {
namespace {

constexpr auto kLong = std::chrono::seconds(60);

// The beginning of a server as a shell script: it opens, and lists a tool `a`.
constexpr std::string_view kOpens = R"(
say() { printf '%s\n' "$1"; }
read -r line
say '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}}'
read -r line; read -r line
say '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a"}]}}'
)";
std::string digest_of_a() {
    return definition_of(Map{{"name", "a"}})->digest;
}

class ServerProcessTest : public testing::Test {
protected:
    ServerProcessTest() {
        std::signal(SIGPIPE, SIG_IGN);
        options.name = "m";
        options.directory = directory.path();
        options.version = "1";
        options.environment = {"PATH=/usr/bin:/bin"};
        options.first_pause_ms = 1;
    }
    ServerProcessTest(const ServerProcessTest&) = delete;
    ServerProcessTest& operator=(const ServerProcessTest&) = delete;
    ~ServerProcessTest() override { end(); }

    // A server that goes on so once it has listed its tool.
    void serve(std::string_view script, bool opens = true) {
        options.command = {"/bin/sh", "-c", cat(opens ? kOpens : "", script)};
        process = std::make_unique<ServerProcess>(
            options, workers, clock, [this](const ServerInfo&, const Listing& listing) {
                ++live_listings;
                ++listings;
                last_listing = listing.tools.size();
            });
    }
    // A server that has listed its tool, however long its start took: what follows may ask for a
    // quick answer.
    void serve_ready(std::string_view script) {
        serve(script);
        auto promise = std::make_shared<std::promise<Result<Listing>>>();
        process->contact(60'000,
                         [promise](Result<Listing> list) { promise->set_value(std::move(list)); });
        auto listed = promise->get_future();
        ASSERT_EQ(listed.wait_for(kLong), std::future_status::ready);
        ASSERT_TRUE(listed.get());
    }
    void end() {
        if (process != nullptr) process->stop();
    }
    Result<Value> call(std::int64_t timeout_ms = 60'000, std::stop_token cancelled = {}) {
        auto answer = begin(timeout_ms, std::move(cancelled));
        if (answer.wait_for(kLong) != std::future_status::ready)
            return fail(Errc::unavailable, "no_answer", "there was no answer");
        return answer.get();
    }
    std::future<Result<Value>> begin(std::int64_t timeout_ms = 60'000,
                                     std::stop_token cancelled = {}) {
        auto promise = std::make_shared<std::promise<Result<Value>>>();
        auto future = promise->get_future();
        process->call({"a", digest_of_a(), Map{}, timeout_ms, std::move(cancelled)},
                      [promise](Result<Value> result) { promise->set_value(std::move(result)); });
        return future;
    }
    std::string reason(const Result<Value>& result) {
        return result ? "answered" : result.error().reason();
    }

    TestDirectory directory;
    SystemClock clock;
    ServerOptions options;
    int listings = 0;
    std::atomic<int> live_listings = 0;  // Counted while it runs.
    std::size_t last_listing = 0;
    std::unique_ptr<ServerProcess> process;
    sched::Pool workers{1};  // Joins before what its tasks use goes.
};

TEST_F(ServerProcessTest, ACallIsAnswered) {
    serve(R"(read -r line; say '{"jsonrpc":"2.0","id":3,"result":{"content":[]}}'; read -r line)");
    const auto result = call();
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_TRUE(result->get("content")->is_list());
    EXPECT_TRUE(process->state().runs);
    EXPECT_EQ(process->state().server.name, "fake");
}

TEST_F(ServerProcessTest, OutputWrittenBeforeTheEndIsRead) {
    serve(R"(read -r line; say '{"jsonrpc":"2.0","id":3,"result":{"content":[]}}')");
    EXPECT_EQ(reason(call()), "answered");
}

TEST_F(ServerProcessTest, OneThatDiesInACallLeavesItsFateUnknownAndIsStartedAgain) {
    serve(R"(read -r line; echo 'I am gone' >&2; exit 3)");
    const auto lost = call();
    EXPECT_EQ(reason(lost), "fate_unknown");
    EXPECT_NE(lost.error().message().find("exit code 3"), std::string::npos)
        << lost.error().message();
    EXPECT_NE(lost.error().message().find("I am gone"), std::string::npos)
        << lost.error().message();
    // For a millisecond after its end a call is refused at once.
    std::string again = reason(call());
    for (int look = 0; look < 3000 && again == "mount_unavailable"; ++look) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        again = reason(call());
    }
    EXPECT_EQ(again, "fate_unknown");
    EXPECT_EQ(listings, 2);
}

TEST_F(ServerProcessTest, ThePauseAfterARunForNothingGrows) {
    options.first_pause_ms = 60'000;
    serve("exit 1", false);
    EXPECT_EQ(reason(call()), "mount_unavailable");
    const auto paused = call();
    EXPECT_EQ(reason(paused), "mount_unavailable");
    EXPECT_GT(paused.error().details().find("retry_after_ms")->as_int(), 50'000);
    EXPECT_EQ(listings, 0);
}

TEST_F(ServerProcessTest, AProgramThatIsNotThereIsNamed) {
    options.command = {"/no/such/program"};
    process = std::make_unique<ServerProcess>(options, workers, clock,
                                              [](const ServerInfo&, const Listing&) {});
    const auto result = call();
    EXPECT_EQ(reason(result), "mount_unavailable");
    EXPECT_NE(result.error().message().find("/no/such/program"), std::string::npos);
}

TEST_F(ServerProcessTest, ACallWithoutAnAnswerInTimeIsCancelled) {
    serve_ready(R"(read -r line; read -r line; printf '%s' "$line" > cancelled; read -r line)");
    const auto result = call(1000);
    EXPECT_EQ(reason(result), "fate_unknown");
    for (int look = 0; look < 6000 && directory.get("cancelled").empty(); ++look)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_NE(directory.get("cancelled").find("notifications/cancelled"), std::string::npos);
}

TEST_F(ServerProcessTest, OneThatLeavesCallsUnansweredIsEnded) {
    serve_ready("while read -r line; do :; done");
    for (std::size_t i = 0; i < kTimeoutsInARow; ++i) EXPECT_EQ(reason(call(400)), "fate_unknown");
    for (int look = 0; look < 6000 && process->state().runs; ++look)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_FALSE(process->state().runs);
}

TEST_F(ServerProcessTest, ACancelledCallIsAnsweredAtOnce) {
    serve("while read -r line; do :; done");
    std::stop_source stop;
    auto answer = begin(60'000, stop.get_token());
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop.request_stop();
    ASSERT_EQ(answer.wait_for(kLong), std::future_status::ready);
    const std::string why = reason(answer.get());
    EXPECT_TRUE(why == "fate_unknown" || why == "cancelled") << why;
}

TEST_F(ServerProcessTest, ATooLongLineEndsIt) {
    options.line_bytes = 100'000;
    serve(R"(read -r line; head -c 300000 /dev/zero | tr '\0' x; read -r line)");
    const auto result = call();
    EXPECT_EQ(reason(result), "fate_unknown");
    EXPECT_NE(result.error().message().find("a line of more than"), std::string::npos);
}

TEST_F(ServerProcessTest, AFloodEndsIt) {
    options.noise_lines = 500;
    serve(
        R"(read -r line; while say '{"jsonrpc":"2.0","method":"notifications/message"}'; do :; done)");
    const auto result = call();
    EXPECT_EQ(reason(result), "fate_unknown");
    EXPECT_NE(result.error().message().find("floods"), std::string::npos)
        << result.error().message();
}

TEST_F(ServerProcessTest, AFloodOfComplaintsEndsIt) {
    options.noise_bytes = 1'000'000;
    serve("read -r line; yes complaint >&2");
    const auto result = call();
    EXPECT_EQ(reason(result), "fate_unknown");
    EXPECT_NE(result.error().message().find("floods"), std::string::npos)
        << result.error().message();
}

TEST_F(ServerProcessTest, ADirectRequestForTheListIsAnsweredAtOnce) {
    serve(R"(
read -r line; say '{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"a"},{"name":"b"}]}}'; read -r line)");
    const auto listed = [&] {
        auto promise = std::make_shared<std::promise<Result<Listing>>>();
        process->contact(60'000,
                         [promise](Result<Listing> list) { promise->set_value(std::move(list)); });
        auto future = promise->get_future();
        EXPECT_EQ(future.wait_for(kLong), std::future_status::ready);
        return future.get();
    };
    EXPECT_EQ(listed()->tools.size(), 1U);
    EXPECT_EQ(listed()->tools.size(), 2U);
}

TEST_F(ServerProcessTest, AServerThatChangesAllTheTimeIsNotListenedToAllTheTime) {
    // After each listing it says that it has changed.
    serve(R"(
changed() { say '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'; }
changed
for id in 4 5 6 7 8 9; do
  read -r line
  case "$line" in *tools/call*) read -r line;; esac
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"tools\":[{\"name\":\"a\"}]}}"
  changed
done
read -r line)");
    const std::int64_t began = clock.steady_ms();
    begin(60'000);
    for (int look = 0; look < 6000 && live_listings < 2; ++look)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::this_thread::sleep_for(std::chrono::milliseconds(1'200));
    end();
    // The first, one at once and one after each second; another, where this machine is slow.
    EXPECT_GE(live_listings.load(), 2);
    EXPECT_LE(live_listings.load(), 3 + (clock.steady_ms() - began) / 1000);
}

TEST_F(ServerProcessTest, AToolWhoseDefinitionChangedIsNotCalled) {
    serve(R"(read -r line; printf '%s' "$line" > called; read -r line)");
    auto promise = std::make_shared<std::promise<Result<Value>>>();
    process->call({"a", "another digest", Map{}, 60'000, {}},
                  [promise](Result<Value> result) { promise->set_value(std::move(result)); });
    auto answer = promise->get_future();
    ASSERT_EQ(answer.wait_for(kLong), std::future_status::ready);
    EXPECT_EQ(answer.get().error().reason(), "definition_differs");
    EXPECT_FALSE(directory.has("called"));
}

TEST_F(ServerProcessTest, ItsGroupEndsWithIt) {
    // It has read the call once the file is there.
    serve(
        R"(sleep 600 & child=$!; read -r line; echo $child > child; while read -r line; do :; done)");
    auto answer = begin();
    for (int look = 0; look < 6000 && directory.get("child").empty(); ++look)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const int child = std::stoi(directory.get("child"));
    EXPECT_EQ(::kill(child, 0), 0);
    process->stop();
    ASSERT_EQ(answer.wait_for(kLong), std::future_status::ready);
    EXPECT_EQ(reason(answer.get()), "fate_unknown");
    EXPECT_EQ(reason(call()), "mount_unavailable");
    // Its parent is gone with it, so whoever took it in waits for it.
    for (int look = 0; look < 6000 && ::kill(child, 0) == 0; ++look) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        const std::string text = file_text(cat("/proc/", child, "/status"));
        if (text.find("State:\tZ") != std::string::npos) return;
    }
    EXPECT_NE(::kill(child, 0), 0);
}

TEST_F(ServerProcessTest, TheProgramGetsExactlyTheGivenEnvironment) {
    ::setenv("QUIRE_TEST_SECRET", "s", 1);
    options.environment.emplace_back("GIVEN=yes");
    serve(
        R"(env > environment; while read -r line; do say '{"jsonrpc":"2.0","id":3,"result":{"content":[]}}'; done)");
    EXPECT_EQ(reason(call()), "answered");
    const std::string environment = directory.get("environment");
    EXPECT_NE(environment.find("GIVEN=yes"), std::string::npos);
    EXPECT_EQ(environment.find("QUIRE_TEST_SECRET"), std::string::npos);
}

}  // namespace
}  // namespace quire::mounts
