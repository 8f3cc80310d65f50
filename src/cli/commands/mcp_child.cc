// A `quire mcp` process of this same program, with pipes for its standard input and output. The
// protocol's lines and ids are rpc::BlockingClient's; here are the process, the handshake and the
// words of what fails.
#include "cli/commands/mcp_child.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/concat.h"
#include "json/json.h"
#include "rpc/jsonrpc.h"

namespace quire::cli {
namespace {

// A kernel may have to be started and a store to be opened before the first answer.
constexpr int kAnswerMs = 30'000;
constexpr int kEndMs = 5'000;
constexpr std::size_t kAnswerBytes = std::size_t{1} << 30;

Failure child_failed(std::string_view what) {
    return fail(Errc::unavailable, "child_failed", cat("quire mcp: ", what));
}

// Waits for a process of ours, but not for ever. Its exit code, or 128 and the signal, as shells
// say it; none if it still runs, or is lost.
std::optional<int> wait_for(pid_t pid, int timeout_ms) {
    const SystemClock clock;
    const std::int64_t until = clock.steady_ms() + timeout_ms;
    for (;;) {
        int status = 0;
        const pid_t ended = ::waitpid(pid, &status, WNOHANG);
        if (ended == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (ended < 0 && errno != EINTR) return std::nullopt;
        if (clock.steady_ms() >= until) return std::nullopt;
        ::poll(nullptr, 0, 2);
    }
}

}  // namespace

Result<McpChild> McpChild::start(const Options& options) {
    int to[2] = {-1, -1};
    int from[2] = {-1, -1};
    // Ends that the child should not have close themselves: otherwise its input would never end.
    if (::pipe2(to, O_CLOEXEC) != 0) return child_failed(std::strerror(errno));
    Fd read_end(to[0]);
    Fd write_end(to[1]);
    if (::pipe2(from, O_CLOEXEC) != 0) return child_failed(std::strerror(errno));
    Fd answers(from[0]);
    Fd answers_in(from[1]);

    std::array<std::string, 8> words = {"quire",   "mcp",         "--workspace", options.workspace,
                                        "--actor", options.actor, "--profile",   options.profile};
    std::array<char*, words.size() + 1> arguments = {};
    for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();

    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, read_end.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, answers_in.get(), STDOUT_FILENO);
    pid_t pid = -1;
    const int error =
        // The running file itself, which may have been replaced under its name.
        ::posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return child_failed(std::strerror(error));
    return McpChild(pid, std::move(write_end), std::move(answers));
}

McpChild::McpChild(pid_t pid, Fd to, Fd from)
    : pid_(pid),
      to_(std::move(to)),
      from_(std::move(from)),
      client_(from_.get(), to_.get(), kAnswerBytes) {}

McpChild::McpChild(McpChild&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      to_(std::move(other.to_)),
      from_(std::move(other.from_)),
      client_(std::move(other.client_)) {}

McpChild::~McpChild() {
    finish();
}

std::optional<int> McpChild::finish() {
    if (pid_ < 0) return std::nullopt;
    to_.reset();
    auto code = wait_for(pid_, kEndMs);
    if (!code) {
        ::kill(pid_, SIGKILL);
        wait_for(pid_, kEndMs);
    }
    pid_ = -1;
    return code;
}

Result<std::int64_t> McpChild::send(std::string_view method, Map params) {
    // SIGPIPE is ignored (program.cc), so that a child that is gone is an error here.
    Result<std::int64_t> id = client_.request(method, std::move(params));
    if (!id) return child_failed(cat("it takes no input: ", id.error().message()));
    return id;
}

Result<std::int64_t> McpChild::send_call(std::string_view tool, Map arguments) {
    return send("tools/call", Map{{"name", tool}, {"arguments", std::move(arguments)}});
}

Result<std::optional<rpc::Client::Response>> McpChild::next_answer(int timeout_ms) {
    auto answer = client_.next(timeout_ms);
    if (!answer)
        return child_failed(cat("it ended before it answered: ", answer.error().message()));
    return answer;
}

// An error of the protocol is a fault of ours here, so it is passed on whole.
Result<Value> McpChild::request(std::string_view method, Map params) {
    TRY(send(method, std::move(params)));
    auto answer = TRY(next_answer(kAnswerMs));
    if (!answer)
        return child_failed(cat("no answer to ", method, " within ", kAnswerMs / 1000, " s"));
    if (const auto& error = answer->error) {
        return fail(Errc::unavailable, "protocol_error",
                    cat(method, " was answered with ", json::write(*error)), {{"error", *error}});
    }
    if (answer->result.is_null())
        return child_failed("it answered with neither a result nor an error");
    return std::move(answer->result);
}

Result<Value> McpChild::initialize() {
    Value answer =
        TRY(request("initialize", Map{{"protocolVersion", "2025-11-25"},
                                      {"capabilities", Map{}},
                                      {"clientInfo", Map{{"name", "quire"}, {"version", "1"}}}}));
    TRY(client_.notify("notifications/initialized", {}));
    return answer;
}

Result<Value> McpChild::call(std::string_view tool, Map arguments) {
    TRY(send_call(tool, std::move(arguments)));
    const auto answer = TRY(next_answer(kAnswerMs));
    if (!answer)
        return child_failed(cat("no answer to ", tool, " within ", kAnswerMs / 1000, " s"));
    return structured_of(*answer);
}

Result<Value> structured_of(const rpc::Client::Response& answer) {
    if (const auto& error = answer.error)
        return fail(Errc::unavailable, "protocol_error", json::write(*error), {{"error", *error}});
    const Value* structured = answer.result.get("structuredContent");
    if (structured == nullptr) return child_failed("a tool gave no structured content");
    const Value* is_error = answer.result.get("isError");
    if (is_error == nullptr || *is_error != Value(true)) return *structured;
    const Value* error = structured->get("error");
    return Failure(rpc::error_from(error != nullptr ? *error : *structured));
}

}  // namespace quire::cli
