// kill -9 at random moments: what was acknowledged is there, and nothing is there twice. $SEED
// repeats the moments.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/share_for_test.h"
#include "json/json.h"
#include "tests/crash/program.h"

namespace quire::crash {
namespace {

constexpr int kLoops = 200 / kRoundsShare;
constexpr int kCalls = 24;  // That each writer sends in a loop.

// The lines that were sent to one block, and those that were acknowledged.
struct Ledger {
    std::string block_id;
    std::set<std::string> sent, acknowledged;
};

// One client: appends to a block that all share, and edits one of its own, many calls under way at
// once.
class Writer {
public:
    Writer(const Workspace& workspace, int number)
        : client_(workspace, "agent:w" + std::to_string(number)), number_(number) {}

    bool begin(const std::string& shared) {
        shared_.block_id = shared;
        if (!client_.initialize()) return false;
        const Value made = client_.ask("block_create", {{"role", "user"}, {"kind", "text"}});
        const Value* const id = made.get("block_id");
        if (id != nullptr) own_.block_id = id->as_string();
        return id != nullptr;
    }

    // Sends `count` calls and takes every answer. False when one stayed out.
    bool work(int loop, int count) {
        std::map<int, std::pair<Ledger*, std::string>> under_way;
        for (int i = 0; i < count; ++i) {
            const std::string line = "writer " + std::to_string(number_) + " loop " +
                                     std::to_string(loop) + " line " + std::to_string(i);
            Ledger& ledger = i % 2 == 0 ? shared_ : own_;
            ledger.sent.insert(line);
            under_way[i % 2 == 0 ? append(line) : insert(line)] = {&ledger, line};
        }
        while (!under_way.empty()) {
            const auto answer = client_.answer();
            if (!answer) return false;
            ++*answered_;
            const Value* const id = answer->get("id");
            if (id == nullptr || !id->is_int()) {
                ADD_FAILURE() << "no answer to anything: " << json::write(*answer);
                return false;
            }
            const auto found = under_way.find(static_cast<int>(id->as_int()));
            if (found == under_way.end()) return false;  // Answered twice, or never asked.
            const Value* const result = answer->get("result");
            const Value* const is_error = result == nullptr ? nullptr : result->get("isError");
            if (result != nullptr && (is_error == nullptr || !is_error->as_bool())) {
                found->second.first->acknowledged.insert(found->second.second);
            } else {
                ++unknown_;
                last_refusal_ = result == nullptr ? "" : reason(*result->get("structuredContent"));
            }
            under_way.erase(found);
        }
        return true;
    }

    McpClient& client() { return client_; }
    const Ledger& shared() const { return shared_; }
    const Ledger& own() const { return own_; }
    int unknown() const { return unknown_; }
    // How many answers work() has taken; may be asked while it runs.
    int answered() const { return *answered_; }
    const std::string& last_refusal() const { return last_refusal_; }

private:
    int append(const std::string& line) {
        return client_.call("block_append",
                            {{"block_id", shared_.block_id}, {"text", line + "\n"}});
    }
    int insert(const std::string& line) {
        const Map operation{{"op", "insert"}, {"line", 0}, {"content", line + "\n"}};
        return client_.call("block_edit",
                            {{"block_id", own_.block_id}, {"operations", List{operation}}});
    }

    McpClient client_;
    int number_;
    Ledger shared_, own_;
    int unknown_ = 0;
    std::unique_ptr<std::atomic<int>> answered_ = std::make_unique<std::atomic<int>>(0);
    std::string last_refusal_;
};

std::vector<std::string> lines_of(McpClient& client, const std::string& block_id) {
    std::vector<std::string> lines;
    for (std::int64_t from = 0;; from += 2000) {
        const Value read =
            client.ask("block_read", {{"block_id", block_id},
                                      {"line_numbers", false},
                                      {"range", Map{{"start", from}, {"end", from + 2000}}}});
        if (read.get("content") == nullptr) {
            ADD_FAILURE() << "cannot read " << block_id << ": " << reason(read);
            return lines;
        }
        std::istringstream text(read.get("content")->as_string());
        for (std::string line; std::getline(text, line);) lines.push_back(line);
        if (read.get("line_count")->as_int() <= from + 2000) return lines;
    }
}

void check(McpClient& client, const std::vector<const Ledger*>& ledgers) {
    const std::vector<std::string> lines = lines_of(client, ledgers[0]->block_id);
    std::multiset<std::string> there(lines.begin(), lines.end());
    for (const Ledger* ledger : ledgers) {
        for (const std::string& line : ledger->acknowledged)
            EXPECT_EQ(there.count(line), 1U) << line << ": acknowledged";
    }
    for (const std::string& line : lines) {
        const bool known = std::any_of(ledgers.begin(), ledgers.end(),
                                       [&](const Ledger* l) { return l->sent.contains(line); });
        EXPECT_TRUE(known) << line << ": nobody wrote that";
        EXPECT_EQ(there.count(line), 1U) << line;
    }
}

// The audit log follows from itself, and says of everything acknowledged that it was called.
void check_log(const Workspace& workspace, const std::vector<const Ledger*>& ledgers) {
    const Ended verified =
        run({program(), "audit", "verify", "--json", "--workspace", workspace.path()});
    EXPECT_EQ(verified.exit_code, 0) << verified.output << verified.errors;
    const Ended log = run({program(), "audit", "--all", "--json", "--workspace", workspace.path()});
    EXPECT_EQ(log.exit_code, 0) << log.errors;
    std::set<std::string> called;
    std::istringstream lines(log.output);
    for (std::string line; std::getline(lines, line);) {
        const auto parsed = json::parse(line);
        const Value* const entry = parsed ? parsed->get("entry") : nullptr;
        const Value* const event = entry == nullptr ? nullptr : entry->get("event");
        ASSERT_NE(event, nullptr) << line;
        if (*event != Value("call")) continue;
        // "writer 1 loop 2 line 3\\n" is in the arguments' JSON.
        const std::string& arguments = entry->get("arguments")->as_string();
        const std::size_t begin = arguments.find("writer ");
        if (begin == std::string::npos) continue;
        called.insert(arguments.substr(begin, arguments.find('\\', begin) - begin));
    }
    for (const Ledger* ledger : ledgers) {
        for (const std::string& line : ledger->acknowledged)
            EXPECT_TRUE(called.contains(line)) << line << ": acknowledged, and not in the log";
    }
}

class Kill : public ::testing::Test {
protected:
    void SetUp() override {
        if (program().empty()) GTEST_SKIP() << "$QUIRE is not the program";
    }
};

int loops() {
    const char* const chosen = std::getenv("QUIRE_CRASH_LOOPS");
    return chosen != nullptr ? std::atoi(chosen) : kLoops;
}

TEST_F(Kill, OfTheKernelLosesNothingThatWasAcknowledgedAndDoublesNothing) {
    const unsigned seeded = seed();
    RecordProperty("seed", static_cast<int>(seeded));
    SCOPED_TRACE("SEED=" + std::to_string(seeded));
    std::mt19937 random(seeded);
    const Workspace workspace;
    McpClient first(workspace, "agent:first");
    ASSERT_TRUE(first.initialize());
    const Value made = first.ask("block_create", {{"role", "user"}, {"kind", "text"}});
    ASSERT_NE(made.get("block_id"), nullptr);
    const std::string shared = made.get("block_id")->as_string();
    std::vector<Writer> writers;
    for (int i = 0; i < 3; ++i) {
        writers.emplace_back(workspace, i);
        ASSERT_TRUE(writers.back().begin(shared));
    }

    const auto answered_by_all = [&] {
        int answers = 0;
        for (const Writer& writer : writers) answers += writer.answered();
        return answers;
    };
    int killed = 0;
    for (int loop = 0; killed < loops() && loop < 2 * loops(); ++loop) {
        const int before = answered_by_all();
        std::vector<std::thread> threads;
        std::vector<char> answered(writers.size(), 0);
        for (std::size_t i = 0; i < writers.size(); ++i) {
            threads.emplace_back(
                [&, i, loop] { answered[i] = writers[i].work(loop, kCalls) ? 1 : 0; });
        }
        // Every second kill comes at any moment of a kernel's life, its start too, the others once
        // it has begun to answer. Where the kernel before died of calls it had not read, all of
        // them are answered and none comes: then the next loop starts it.
        const int all = before + static_cast<int>(writers.size()) * kCalls;
        EXPECT_TRUE(comes_true([&] {
            const int answers = answered_by_all();
            return answers == all ||
                   (workspace.kernel() != 0 && (loop % 2 == 0 || answers > before));
        })) << "no kernel came for loop "
            << loop;
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 10'000));
        killed += workspace.kill_kernel(SIGKILL);
        for (std::thread& thread : threads) thread.join();
        for (std::size_t i = 0; i < writers.size(); ++i)
            ASSERT_TRUE(answered[i]) << "writer " << i << ", loop " << loop;
        // All of it each tenth time, and at the end: reading back is most of the time this takes.
        if (loop % 10 != 9 && killed != loops()) continue;
        check(first, {&writers[0].shared(), &writers[1].shared(), &writers[2].shared()});
        std::vector<const Ledger*> ledgers;
        for (const Writer& writer : writers) {
            check(first, {&writer.own()});
            ledgers.insert(ledgers.end(), {&writer.own(), &writer.shared()});
        }
        check_log(workspace, ledgers);
        if (HasFailure()) FAIL() << "after loop " << loop;
    }

    std::size_t acknowledged = 0;
    int unknown = 0;
    for (const Writer& writer : writers) {
        acknowledged += writer.shared().acknowledged.size() + writer.own().acknowledged.size();
        unknown += writer.unknown();
        // A kernel that is killed while it starts has done nothing, and says so in its own word.
        const std::string& last = writer.last_refusal();
        EXPECT_TRUE(last.empty() || last == "fate_unknown" || last == "kernel_failed") << last;
    }
    std::printf(
        "%d kills: %zu acknowledged edits are there, each once; the fate of %d was unknown\n",
        killed, acknowledged, unknown);
    EXPECT_EQ(killed, loops());
    EXPECT_GT(acknowledged, static_cast<std::size_t>(loops()));
    EXPECT_GT(unknown, 0) << "every kill came when nothing was under way";
}

TEST_F(Kill, OfARelayLeavesTheOthersAndItsAnsweredCalls) {
    const unsigned seeded = seed();
    SCOPED_TRACE("SEED=" + std::to_string(seeded));
    std::mt19937 random(seeded);
    const Workspace workspace;
    McpClient first(workspace, "agent:first");
    ASSERT_TRUE(first.initialize());
    const std::string shared = first.ask("block_create", {{"role", "user"}, {"kind", "text"}})
                                   .get("block_id")
                                   ->as_string();
    const pid_t kernel = workspace.kernel();
    for (int loop = 0; loop < 20; ++loop) {
        Writer victim(workspace, loop), other(workspace, 100 + loop);
        ASSERT_TRUE(victim.begin(shared) && other.begin(shared));
        std::thread killer([&, wait = random() % 5000] {
            std::this_thread::sleep_for(std::chrono::microseconds(wait));
            victim.client().kill(SIGKILL);
        });
        std::thread others([&] { EXPECT_TRUE(other.work(loop, 40)); });
        victim.work(loop, 200);
        killer.join();
        others.join();
        EXPECT_EQ(other.unknown(), 0);
        for (const std::string& line : other.own().sent)
            EXPECT_EQ(other.own().acknowledged.count(line), 1U) << line;
        check(first, {&victim.own()});
        check(first, {&other.own()});
    }
    EXPECT_EQ(workspace.kernel(), kernel);
}

TEST_F(Kill, WithSigtermTheKernelFlushesAndTheNextOneGoesOn) {
    const Workspace workspace;
    McpClient first(workspace, "agent:first");
    ASSERT_TRUE(first.initialize());
    const std::string shared = first.ask("block_create", {{"role", "user"}, {"kind", "text"}})
                                   .get("block_id")
                                   ->as_string();
    Writer writer(workspace, 1);
    ASSERT_TRUE(writer.begin(shared));
    int ended = 0;
    for (int loop = 0; loop < 5; ++loop) {
        std::thread work([&] { EXPECT_TRUE(writer.work(loop, 100)); });
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
        ended +=
            workspace.kill_kernel(SIGTERM) ? 1 : 0;  // None where the next one is still starting.
        work.join();
    }
    EXPECT_GT(ended, 0);
    check(first, {&writer.shared()});
    check(first, {&writer.own()});
}

}  // namespace
}  // namespace quire::crash
