// The real program on a bad day: a full disk, a damaged database, a second kernel, a folder that
// cannot be written, many clients at once.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file_text.h"
#include "base/share_for_test.h"
#include "base/test_directory.h"
#include "json/json.h"
#include "tests/crash/program.h"
#include "tests/crash/small_disk.h"

namespace quire::crash {
namespace {

class Faults : public ::testing::Test {
protected:
    void SetUp() override {
        if (program().empty()) GTEST_SKIP() << "$QUIRE is not the program";
    }
};

constexpr const char* kStrace = "/usr/bin/strace";

void overwrite(const std::string& path, std::size_t at, std::size_t length) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(at));
    file << std::string(length, '\xa5');
}

std::string make_block(McpClient& client) {
    const Value made = client.ask("block_create", {{"role", "user"}, {"kind", "text"}});
    const Value* const id = made.get("block_id");
    return id == nullptr ? "" : id->as_string();
}

Value append(McpClient& client, const std::string& block_id, const std::string& text) {
    return client.ask("block_append", {{"block_id", block_id}, {"text", text}});
}

// A workspace whose kernel has ended, with some blocks in it.
void leave_some_history(const Workspace& workspace) {
    McpClient client(workspace, "agent:a");
    ASSERT_TRUE(client.initialize());
    const std::string block = make_block(client);
    for (int i = 0; i < 50; ++i)
        ASSERT_EQ(reason(append(client, block, std::string(500, 'x') + "\n")), "");
    EXPECT_EQ(client.end(), 0);
    ASSERT_TRUE(workspace.kill_kernel(SIGTERM));
}

TEST_F(Faults, ManyClientsAtOnceStartOneKernel) {
    for (int round = 0; round < 5; ++round) {
        const Workspace workspace;
        std::vector<McpClient> clients;
        clients.reserve(12);
        for (int i = 0; i < 12; ++i) clients.emplace_back(workspace, "agent:c" + std::to_string(i));
        for (McpClient& client : clients) EXPECT_TRUE(client.initialize());
        EXPECT_EQ(workspace.kernels().size(), 1U);
        for (McpClient& client : clients) EXPECT_EQ(client.end(), 0);
    }
}

TEST_F(Faults, TheKernelEndsAfterItsLastClientAndItsDocumentsRemain) {
    ::setenv("QUIRE_LINGER_MS", "100", 1);
    const Workspace workspace;
    std::string block;
    {
        McpClient client(workspace, "agent:a");
        ASSERT_TRUE(client.initialize());
        block = make_block(client);
        ASSERT_EQ(reason(append(client, block, "kept\n")), "");
        EXPECT_EQ(client.end(), 0);
    }
    EXPECT_TRUE(comes_true([&] { return workspace.kernels().empty(); }));
    EXPECT_FALSE(std::filesystem::exists(workspace.state("kernel.sock")));
    McpClient again(workspace, "agent:a");
    ASSERT_TRUE(again.initialize());
    EXPECT_EQ(again.ask("block_read", {{"block_id", block}, {"line_numbers", false}})
                  .get("content")
                  ->as_string(),
              "kept\n");
    ::unsetenv("QUIRE_LINGER_MS");
}

// Clients that come just when the last one has left: each is served, by the kernel that ends or by
// the next.
TEST_F(Faults, AClientThatComesWhileTheKernelEndsIsServed) {
    ::setenv("QUIRE_LINGER_MS", "0", 1);
    const Workspace workspace;
    for (int i = 0; i < 30; ++i) {
        McpClient client(workspace, "agent:a");
        EXPECT_TRUE(client.initialize()) << "client " << i;
        EXPECT_EQ(client.end(), 0);
    }
    ::unsetenv("QUIRE_LINGER_MS");
}

TEST_F(Faults, ASecondKernelSaysWhichOneHoldsTheWorkspaceAndLeavesItAlone) {
    const Workspace workspace;
    McpClient client(workspace, "agent:a");
    ASSERT_TRUE(client.initialize());
    const Ended second = run({program(), "serve", "--workspace", workspace.path()});
    EXPECT_EQ(second.exit_code, 0);
    EXPECT_NE((second.output + second.errors).find(std::to_string(workspace.kernel())),
              std::string::npos)
        << second.output << second.errors;
    EXPECT_FALSE(make_block(client).empty());
}

TEST_F(Faults, ADamagedHeaderIsReportedWithTheFilesNameAndChangesNothing) {
    const Workspace workspace;
    leave_some_history(workspace);
    overwrite(workspace.state("quire.db"), 0, 100);
    const std::string before = file_text(workspace.state("quire.db"));
    const Ended ended = run({program(), "mcp", "--workspace", workspace.path()});
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_NE(ended.errors.find(workspace.state("quire.db")), std::string::npos) << ended.errors;
    EXPECT_NE(ended.errors.find("backup"), std::string::npos) << ended.errors;
    EXPECT_EQ(ended.output, "");
    EXPECT_TRUE(file_text(workspace.state("quire.db")) == before);
}

TEST_F(Faults, ADamagedPageIsAnErrorAndNeverWrongText) {
    const Workspace workspace;
    leave_some_history(workspace);
    const std::string whole = file_text(workspace.state("quire.db"));
    ASSERT_GT(whole.size(), 5U * 4096);
    for (std::size_t page = 1; page < whole.size() / 4096; page += kRoundsShare) {
        std::ofstream(workspace.state("quire.db"), std::ios::binary) << whole;
        overwrite(workspace.state("quire.db"), page * 4096 + 2048, 2048);
        McpClient client(workspace, "agent:a");
        if (!client.initialize()) continue;  // It said so at the start.
        const Value listed = client.ask("block_list", {{"depth", 0}});
        if (reason(listed).empty() && listed.get("blocks") != nullptr) {
            for (const Value& block : listed.get("blocks")->as_list()) {
                const Value read = client.ask(
                    "block_read", {{"block_id", *block.get("block_id")}, {"line_numbers", false}});
                if (!reason(read).empty()) continue;
                std::string expected;
                for (int i = 0; i < 50; ++i) expected += std::string(500, 'x') + "\n";
                EXPECT_TRUE(read.get("content")->as_string() == expected) << "page " << page;
            }
        } else {
            EXPECT_EQ(listed.get("error")->get("code")->as_string(), "corrupt") << "page " << page;
        }
        EXPECT_EQ(client.end(), 0);
        workspace.kill_kernel(SIGKILL);
        std::filesystem::remove(workspace.state("quire.db-wal"));
    }
}

TEST_F(Faults, AFolderThatCannotBeWrittenIsNamed) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "only root can make a folder that it cannot write as another user";
    const Workspace workspace;
    ASSERT_EQ(::chmod(workspace.path().c_str(), 0755), 0);
    const Ended ended = run({program(), "mcp", "--workspace", workspace.path()}, true);
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_NE(ended.errors.find(workspace.path()), std::string::npos) << ended.errors;
    EXPECT_FALSE(std::filesystem::exists(workspace.path() + "/.quire"));
}

// The block's text, or why it is not to be had. A question that a dying kernel swallowed is asked
// again.
std::string text_of(McpClient& client, const std::string& block) {
    Value answer = client.ask("block_read", {{"block_id", block}, {"line_numbers", false}});
    if (reason(answer) == "fate_unknown")
        answer = client.ask("block_read", {{"block_id", block}, {"line_numbers", false}});
    const Value* content = answer.get("content");
    return content != nullptr ? content->as_string() : json::write(answer);
}

TEST_F(Faults, AFullDiskRefusesWholeCallsAndRoomMakesThemWorkAgain) {
    const SmallDisk disk;
    if (!disk.is_there()) GTEST_SKIP() << "no small disk can be mounted here";
    const Workspace workspace(disk.path());
    McpClient client(workspace, "agent:a");
    ASSERT_TRUE(client.initialize());
    const std::string block = make_block(client);
    ASSERT_EQ(reason(append(client, block, "first\n")), "");
    // Random text, so that no layer makes it small.
    std::string chunk(500'000, 'x');
    unsigned state = 1;
    for (char& c : chunk)
        c = static_cast<char>('a' + (state = state * 1664525U + 1013904223U) / 65536 % 26);
    std::vector<std::string> kept;
    std::string refused;
    for (int i = 0; i < 100 && refused.empty(); ++i) {
        const std::string other = make_block(client);
        const Value answer = other.empty() ? Value() : append(client, other, chunk);
        refused = other.empty() ? "disk_full" : reason(answer);
        if (refused.empty()) kept.push_back(other);
    }
    EXPECT_EQ(refused, "disk_full");
    EXPECT_GT(kept.size(), 3U);
    EXPECT_EQ(text_of(client, block), "first\n");

    ASSERT_TRUE(disk.remount(0, "size=100m"));
    EXPECT_EQ(reason(append(client, block, "second\n")), "");
    ASSERT_TRUE(workspace.kill_kernel(SIGKILL));
    EXPECT_EQ(text_of(client, block), "first\nsecond\n");
    for (const std::string& id : kept) {
        EXPECT_EQ(client.ask("block_search", {{"block_id", id}, {"query", "^.{10}"}})
                      .get("matches")
                      ->as_list()
                      .size(),
                  1U);
    }
}

// Runs a session against a kernel that is killed at its `n`th writing system call; whether the
// session noticed.
bool lose_kernel_at(int n, bool fresh) {
    const Workspace workspace;
    if (!fresh) leave_some_history(workspace);
    const pid_t tracer = ::fork();
    if (tracer == 0) {
        const std::string inject =
            "inject=write,pwrite64,fdatasync,fsync,rename,unlink,ftruncate:signal=KILL:when=" +
            std::to_string(n);
        ::close(2);
        ::execl(kStrace, "strace", "-f", "-o", "/dev/null", "-e", inject.c_str(), program().c_str(),
                "kernel", "--workspace", workspace.path().c_str(), static_cast<char*>(nullptr));
        ::_exit(127);
    }
    bool ended = false;
    EXPECT_TRUE(comes_true([&] {
        ended = ::waitpid(tracer, nullptr, WNOHANG) == tracer;
        return ended || ::access(workspace.state("kernel.sock").c_str(), F_OK) == 0;
    }));

    McpClient client(workspace, "agent:a");
    EXPECT_TRUE(client.initialize()) << "call " << n;
    bool noticed = ended;
    std::string block = make_block(client);
    if (block.empty()) {
        noticed = true;
        block = make_block(client);
    }
    std::vector<std::string> acknowledged;
    for (int i = 0; i < 3; ++i) {
        const std::string line = "line " + std::to_string(i);
        const std::string refused = reason(append(client, block, line + "\n"));
        noticed = noticed || !refused.empty();
        if (refused.empty()) acknowledged.push_back(line);
    }
    const Value read = client.ask("block_read", {{"block_id", block}, {"line_numbers", false}});
    EXPECT_NE(read.get("content"), nullptr) << "call " << n << ": " << reason(read);
    const std::string text = read.get("content") == nullptr ? "" : read.get("content")->as_string();
    for (const std::string& line : acknowledged) {
        EXPECT_NE(text.find(line + "\n"), std::string::npos) << "call " << n << ": " << line;
        EXPECT_EQ(text.find(line + "\n"), text.rfind(line + "\n"))
            << "call " << n << ": " << line << " twice";
    }
    client.end();
    for (const pid_t pid : workspace.kernels()) ::kill(pid, SIGKILL);
    if (!ended) {
        ::kill(tracer, SIGKILL);
        ::waitpid(tracer, nullptr, 0);
    }
    return noticed;
}

TEST_F(Faults, EverySystemCallThatWritesMayBeTheLast) {
    if (::access(kStrace, X_OK) != 0) GTEST_SKIP() << "strace is not installed";
    // Each takes seconds; the long run takes them all, the short one a few of those where a
    // workspace is made.
    if (std::getenv("QUIRE_LONG") == nullptr) {
        for (const int n : {3, 11, 19}) lose_kernel_at(n, true);
        return;
    }
    for (const bool fresh : {true, false}) {
        int n = 1, passed = 0;
        // Some calls are made on threads of their own, which count for themselves: one pass may
        // still be chance.
        for (; n < 300 && passed < 3 && !HasFailure(); ++n)
            passed = lose_kernel_at(n, fresh) ? 0 : passed + 1;
        std::printf("%s workspace: a kill at each of its first %d writing calls lost nothing\n",
                    fresh ? "new" : "known", n - passed - 1);
        EXPECT_GT(n, 10);
    }
}

}  // namespace
}  // namespace quire::crash
