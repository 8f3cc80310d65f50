// The real program and a store that was damaged, removed or cannot be written. No wrong text is
// shown, and nothing disappears without a message. $SEED repeats the places of the damage.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/file_text.h"
#include "base/share_for_test.h"
#include "json/json.h"
#include "tests/crash/program.h"
#include "tests/crash/small_disk.h"

namespace quire::crash {
namespace {

namespace fs = std::filesystem;

constexpr int kDamages = 30 / kRoundsShare;
constexpr int kBlocks = 20;

std::string content_of(const fs::path& path) {
    return file_text(path.string());
}

// The end of what was written; behind it are the zeros of the room ahead.
std::size_t written_end(const std::string& bytes) {
    return bytes.find_last_not_of('\0') + 1;
}

// A workspace with blocks whose texts are known, and a copy of its state to damage.
class Damage : public ::testing::Test {
protected:
    void SetUp() override {
        if (program().empty()) GTEST_SKIP() << "$QUIRE is not the program";
        std::printf("SEED=%u\n", seed_);
    }

    // Fills the workspace and ends its kernel by the signal.
    void fill(int signal) {
        McpClient client(workspace_, "agent:a");
        ASSERT_TRUE(client.initialize());
        for (int i = 0; i < kBlocks; ++i) {
            const std::string text = cat("block ", i, " ", std::string(400, 'x'), "\n");
            const Value made =
                client.ask("block_create", {{"role", "user"}, {"kind", "text"}, {"content", text}});
            ASSERT_NE(made.get("block_id"), nullptr) << json::write(made);
            texts_[made.get("block_id")->as_string()] = text;
        }
        ASSERT_TRUE(workspace_.kill_kernel(signal));
        client.end();
        workspace_.kill_kernel(SIGKILL);
        fs::create_directory(whole());
        copy_files(state(), whole());
    }

    static void copy_files(const fs::path& from, const fs::path& to) {
        for (const char* name : {"quire.db", "quire.db-wal", "last-commit"})
            fs::copy_file(from / name, to / name);
    }

    // The state as it was.
    void mend() const {
        for (const pid_t pid : workspace_.kernels()) ::kill(pid, SIGKILL);
        EXPECT_TRUE(comes_true([&] { return workspace_.kernels().empty(); }));
        fs::remove_all(state());
        fs::create_directory(state());
        copy_files(whole(), state());
    }

    // The state as it was, with one bit of a file flipped, somewhere in what was written.
    std::string flip_a_bit(const std::string& file) {
        mend();
        std::string bytes = content_of(state() / file);
        const std::size_t at = random_() % written_end(bytes);
        bytes[at] = static_cast<char>(bytes[at] ^ (1U << random_() % 8));
        std::ofstream(state() / file, std::ios::binary) << bytes;
        return cat(file, " byte ", at);
    }

    // Reads every block, and holds each against what was written: the same, or an error. Returns
    // how many are gone as if they had never been.
    int read_all(McpClient& client, const std::string& where) {
        int gone = 0;
        for (const auto& [id, text] : texts_) {
            const Value read =
                client.ask("block_read", {{"block_id", id}, {"line_numbers", false}});
            if (const Value* content = read.get("content")) {
                EXPECT_EQ(content->as_string(), text) << where;
            } else if (reason(read) == "invalid_reference") {
                ++gone;
            } else {
                EXPECT_FALSE(reason(read).empty()) << where << ": " << json::write(read);
                ++refused_;
            }
        }
        return gone;
    }

    std::int64_t commits_said_missing() const {
        const Ended status = run({program(), "status", "--workspace", workspace_.path(), "--json"});
        const Result<Value> answer = json::parse(status.output);
        std::int64_t count = 0;
        if (!answer || answer->get("lost_commits") == nullptr) return count;
        for (const Value& lost : answer->get("lost_commits")->as_list())
            count += lost.get("count")->as_int();
        return count;
    }

    fs::path state() const { return workspace_.path() + "/.quire"; }
    fs::path whole() const { return kept_ / "whole"; }

    const unsigned seed_ = seed();
    std::mt19937 random_{seed_};
    const Workspace workspace_;
    const TestDirectory kept_;
    std::map<std::string, std::string> texts_;  // Keyed by block.
    int refused_ = 0;
};

TEST_F(Damage, InTheLogOfAKilledKernelIsCountedWhereverItIs) {
    fill(SIGKILL);
    int losses = 0;
    for (int i = 0; i < kDamages; ++i) {
        const std::string where = flip_a_bit("quire.db-wal");
        McpClient client(workspace_, "agent:a");
        ASSERT_TRUE(client.initialize()) << where;
        const int gone = read_all(client, where);
        const std::int64_t missing = commits_said_missing();
        EXPECT_GE(missing, gone) << where;
        if (missing == 0) continue;
        ++losses;
        const std::string log = content_of(state() / "kernel.log");
        EXPECT_NE(log.find(cat(missing, missing == 1 ? " commit that was" : " commits that were")),
                  std::string::npos)
            << where << ": " << log;
    }
    EXPECT_EQ(refused_, 0);
    EXPECT_GT(losses, kDamages / 2);
}

TEST_F(Damage, InTheLogMakesDoctorFailUntilTheKeptLogIsTakenAway) {
    fill(SIGKILL);
    mend();
    std::fstream(state() / "quire.db-wal", std::ios::in | std::ios::out | std::ios::binary)
        .seekp(5000)
        .put('!');
    const std::vector<std::string> doctor = {program(), "doctor", "--workspace", workspace_.path()};

    const Ended broken = run(doctor);

    EXPECT_EQ(broken.exit_code, 1);
    EXPECT_NE(broken.output.find("commits that were acknowledged are missing"), std::string::npos)
        << broken.output;
    for (const auto& entry : fs::directory_iterator(state())) {
        if (entry.path().filename().string().starts_with("lost-commits-"))
            fs::remove_all(entry.path());
    }
    const Ended mended = run(doctor);
    EXPECT_EQ(mended.output.find("acknowledged"), std::string::npos) << mended.output;
}

TEST_F(Damage, InTheLogMakesTheAuditLogFailToVerifyUntilTheKeptLogIsTakenAway) {
    fill(SIGKILL);
    mend();
    std::fstream(state() / "quire.db-wal", std::ios::in | std::ios::out | std::ios::binary)
        .seekp(5000)
        .put('!');
    const std::vector<std::string> verify = {program(), "audit",       "verify",
                                             "--json",  "--workspace", workspace_.path()};

    ASSERT_EQ(
        run({program(), "call", "block_list", "{}", "--workspace", workspace_.path()}).exit_code,
        0);
    const Ended broken = run(verify);

    EXPECT_EQ(broken.exit_code, 1);
    EXPECT_NE(broken.output.find(R"("lost":[{"seq":)"), std::string::npos)
        << broken.output;
    for (const auto& entry : fs::directory_iterator(state())) {
        if (entry.path().filename().string().starts_with("lost-commits-"))
            fs::remove_all(entry.path());
    }
    const Ended mended = run(verify);
    EXPECT_EQ(mended.exit_code, 0) << mended.output;
}

TEST_F(Damage, InTheDatabaseIsAnErrorOrHarmsNothing) {
    fill(SIGTERM);
    for (int i = 0; i < kDamages; ++i) {
        const std::string where = flip_a_bit("quire.db");
        McpClient client(workspace_, "agent:a");
        if (!client.initialize()) {
            ++refused_;
            continue;
        }
        EXPECT_EQ(read_all(client, where), 0) << where;
    }
    // One damage in several stops the start. Where a share of them is made, there may be none.
    EXPECT_TRUE(refused_ > 0 || kDamages < 30);
}

// A client whose state directory goes while it works.
class Removal : public Damage {
protected:
    void SetUp() override {
        Damage::SetUp();
        if (IsSkipped()) return;
        ASSERT_TRUE(client_.initialize());
        const Value made = client_.ask(
            "block_create", {{"role", "user"}, {"kind", "text"}, {"content", "acknowledged\n"}});
        ASSERT_NE(made.get("block_id"), nullptr);
        block_ = made.get("block_id")->as_string();
        kernel_ = workspace_.kernel();
        ASSERT_GT(kernel_, 0);
    }

    Value append(const std::string& text) {
        return client_.ask("block_append", {{"block_id", block_}, {"text", text}});
    }

    // Holds what must follow: the refusal, a kernel that ends, and all of the text where it says.
    void expect_a_rescue() {
        const Value refused = append("too late\n");
        ASSERT_EQ(reason(refused), "workspace_removed") << json::write(refused);
        const Value* details = refused.get("error")->get("details");
        const std::string directory = details->get("directory")->as_string();
        EXPECT_TRUE(directory.starts_with(workspace_.path() + "/quire-salvage-")) << directory;
        EXPECT_NE(refused.get("error")->get("message")->as_string().find(directory),
                  std::string::npos);
        EXPECT_TRUE(comes_true([&] { return ::kill(kernel_, 0) != 0; }));
        std::string saved;
        for (const auto& file : fs::directory_iterator(directory + "/conversations")) {
            if (file.path().extension() == ".txt") saved += content_of(file.path());
        }
        EXPECT_NE(saved.find("acknowledged\n"), std::string::npos) << saved;
    }

    McpClient client_{workspace_, "agent:a"};
    std::string block_;
    pid_t kernel_ = 0;
};

TEST_F(Removal, TheFolderIsRemoved) {
    fs::remove_all(state());
    expect_a_rescue();
}

TEST_F(Removal, AnotherClientIsToldOnceThatTheStoreIsAnother) {
    McpClient other(workspace_, "agent:b");
    ASSERT_TRUE(other.initialize());
    ASSERT_NE(other.ask("block_list", {}).get("blocks"), nullptr);
    fs::remove_all(state());
    expect_a_rescue();

    const Value told = other.ask("block_list", {});
    EXPECT_EQ(reason(told), "workspace_removed") << json::write(told);
    EXPECT_NE(other.ask("block_list", {}).get("blocks"), nullptr);
    // The client that met the removal was told by the kernel that ended.
    EXPECT_NE(client_.ask("block_list", {}).get("blocks"), nullptr);
}

TEST_F(Removal, TheFolderIsMovedAway) {
    fs::rename(state(), kept_ / "elsewhere");
    expect_a_rescue();
}

TEST_F(Removal, GitCleansTheWorkTree) {
    if (run({"/usr/bin/git", "-C", workspace_.path(), "init", "-q"}).exit_code != 0)
        GTEST_SKIP() << "git is not installed";
    ASSERT_EQ(run({"/usr/bin/git", "-C", workspace_.path(), "clean", "-xfdq"}).exit_code, 0);
    ASSERT_FALSE(fs::exists(state()));
    expect_a_rescue();
}

TEST_F(Removal, NoneOfManyCallsIsAcknowledgedAfterwards) {
    fs::remove_all(state());
    std::vector<int> calls;
    for (int i = 0; i < 50; ++i)
        calls.push_back(client_.call("block_append", {{"block_id", block_}, {"text", "x\n"}}));
    int answers = 0;
    for (; answers < 50; ++answers) {
        const auto answer = client_.answer();
        if (!answer) break;
        const Value* result = answer->get("result");
        ASSERT_TRUE(result == nullptr || *result->get("isError") == Value(true))
            << json::write(*answer);
    }
    EXPECT_EQ(answers, 50);
}

TEST_F(Damage, AStoreThatCannotBeWrittenIsLookedAtAndStaysAsItIs) {
    const SmallDisk disk;
    if (!disk.is_there()) GTEST_SKIP() << "no small disk can be mounted here";
    const Workspace workspace(disk.path());
    std::string block;
    {
        McpClient client(workspace, "agent:a");
        ASSERT_TRUE(client.initialize());
        const Value made = client.ask(
            "block_create", {{"role", "user"}, {"kind", "text"}, {"content", "in the log\n"}});
        ASSERT_NE(made.get("block_id"), nullptr);
        block = made.get("block_id")->as_string();
        ASSERT_TRUE(workspace.kill_kernel(SIGKILL));
    }
    // The client may have started another kernel before it ended: the disk stays busy until that
    // one is gone, too.
    bool is_read_only = false;
    for (int i = 0; i < 100 && !is_read_only; ++i) {
        if (i > 0) ::poll(nullptr, 0, 50);
        workspace.kill_kernel(SIGKILL);
        is_read_only = disk.remount(MS_RDONLY, "size=24m");
    }
    ASSERT_TRUE(is_read_only);
    const std::string log = content_of(workspace.state("quire.db-wal"));
    const auto look = [&](std::vector<std::string> words) {
        words.insert(words.begin(), program());
        words.insert(words.end(), {"--workspace", workspace.path()});
        return run(words);
    };

    EXPECT_EQ(look({"cat", block}).output, "in the log\n");
    EXPECT_NE(look({"log"}).output.find("create"), std::string::npos);
    EXPECT_NE(look({"audit"}).output.find("block_create"), std::string::npos);
    EXPECT_EQ(look({"audit", "verify"}).exit_code, 0);
    EXPECT_EQ(look({"call", "block_list", "{}"}).exit_code, 1);
    EXPECT_TRUE(content_of(workspace.state("quire.db-wal")) == log);
    EXPECT_TRUE(disk.remount(0, "size=24m"));
}

}  // namespace
}  // namespace quire::crash
