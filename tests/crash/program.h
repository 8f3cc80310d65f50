// The real program as a child, spoken to as an MCP client speaks: for tests that kill it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/test_directory.h"
#include "base/value.h"

namespace quire::crash {

// The path of the program: $QUIRE, as the build sets it; "" if no program is there, and then a test
// skips.
std::string program();

class Workspace {
public:
    // With rules that let agents write anywhere. In `parent`, or the temporary directory.
    explicit Workspace(const std::string& parent = TestDirectory::usual_parent());
    // Ends the kernel that may still run there.
    ~Workspace();
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;

    const std::string& path() const { return directory_.path(); }
    std::string state(const std::string& name) const { return directory_ / ".quire/" + name; }
    pid_t kernel() const;                // From the lock file; 0 when that process is no more.
    bool kill_kernel(int signal) const;  // Waits until it is gone; false when there was none.
    std::vector<pid_t> kernels() const;  // Every process that runs as a kernel of this workspace.

private:
    const TestDirectory directory_;
};

struct Ended {
    int exit_code = -1;  // 128 + the signal that ended it.
    std::string output;
    std::string errors;
};

// Runs the program to its end. As the user nobody when `as_nobody`, which only root can ask for.
Ended run(const std::vector<std::string>& words, bool as_nobody = false);

class McpClient {
public:
    McpClient(const Workspace& workspace, const std::string& actor);
    McpClient(const McpClient&) = delete;
    McpClient& operator=(const McpClient&) = delete;
    ~McpClient();
    McpClient(McpClient&& other) noexcept;
    McpClient& operator=(McpClient&&) = delete;

    // Sends a tools/call; its id.
    int call(const std::string& tool, Map arguments);
    // The next answer, within a minute; none when the program has ended.
    std::optional<Value> answer();
    // call() and its own answer, passing over others: its structured result.
    Value ask(const std::string& tool, Map arguments);
    Value list_tools();
    bool initialize();

    pid_t pid() const { return pid_; }
    void kill(int signal);
    int end();  // Closes its input; the exit code.

private:
    int request(const std::string& method, Value params);
    std::optional<Value> answer_to(int id);

    pid_t pid_ = -1;
    int to_ = -1, from_ = -1;
    std::string unread_;
    std::size_t taken_ = 0;
    int last_id_ = 0;
};

// The error's reason of a structured result, or "".
std::string reason(const Value& structured);
// The number that seeds this run's moments: $SEED, or one of its own.
unsigned seed();
bool comes_true(const std::function<bool()>& condition, int within_ms = 60'000);

}  // namespace quire::crash
