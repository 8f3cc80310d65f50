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
#include "base/write_all.h"
#include "json/json.h"
#include "server/launch.h"

namespace quire::cli {
namespace {

constexpr int kAnswerMs = 30'000;
constexpr int kEndMs = 5'000;
constexpr std::size_t kAnswerBytes = std::size_t{1} << 30;

Failure child_failed(std::string_view what) {
    return fail(Errc::unavailable, "child_failed", cat("quire mcp: ", what));
}

// Waits for a process of ours, but not for ever.
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
        ::posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return child_failed(std::strerror(error));
    return McpChild(pid, std::move(write_end), std::move(answers));
}

McpChild::McpChild(McpChild&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      to_(std::move(other.to_)),
      from_(std::move(other.from_)),
      unread_(std::move(other.unread_)),
      scanned_(other.scanned_),
      last_id_(other.last_id_) {}

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

Result<void> McpChild::write_line(const Value& message) {
    const std::string line = json::write(message) + "\n";
    // SIGPIPE is ignored (program.cc), so that a child that is gone is an error here.
    const Result<void> sent = write_all(to_.get(), line);
    return sent ? sent : child_failed(cat("it takes no input: ", sent.error().message()));
}

Result<std::int64_t> McpChild::send(std::string_view method, Map params) {
    TRY(write_line(Map{{"jsonrpc", "2.0"},
                       {"id", ++last_id_},
                       {"method", method},
                       {"params", std::move(params)}}));
    return last_id_;
}

Result<std::int64_t> McpChild::send_call(std::string_view tool, Map arguments) {
    return send("tools/call", Map{{"name", tool}, {"arguments", std::move(arguments)}});
}

Result<std::optional<Value>> McpChild::next_answer(int timeout_ms) {
    const SystemClock clock;
    const std::int64_t until = clock.steady_ms() + timeout_ms;
    for (;;) {
        const std::size_t end = unread_.find('\n', scanned_);
        if (end != std::string::npos) {
            Value message =
                TRY(json::parse(std::string_view(unread_).substr(0, end), {.bytes = kAnswerBytes}));
            unread_.erase(0, end + 1);
            scanned_ = 0;
            if (message.get("id") != nullptr) return std::optional<Value>(std::move(message));
            continue;  // A notification.
        }
        scanned_ = unread_.size();
        const std::int64_t left = until - clock.steady_ms();
        pollfd wanted = {.fd = from_.get(), .events = POLLIN, .revents = 0};
        const int ready = ::poll(&wanted, 1, static_cast<int>(left > 0 ? left : 0));
        if (ready < 0 && errno == EINTR) continue;
        if (ready == 0) return std::optional<Value>();
        std::array<char, 65536> part;
        const ssize_t length = ::read(from_.get(), part.data(), part.size());
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0) return child_failed("it ended before it answered");
        unread_.append(part.data(), static_cast<std::size_t>(length));
    }
}

Result<Value> McpChild::request(std::string_view method, Map params) {
    const std::int64_t id = TRY(send(method, std::move(params)));
    auto answer = TRY(next_answer(kAnswerMs));
    if (!answer)
        return child_failed(cat("no answer to ", method, " within ", kAnswerMs / 1000, " s"));
    if (*answer->get("id") != Value(id)) return child_failed("it answered what was not asked");
    if (const Value* error = answer->get("error")) {
        return fail(Errc::unavailable, "protocol_error",
                    cat(method, " was answered with ", json::write(*error)), {{"error", *error}});
    }
    const Value* result = answer->get("result");
    if (result == nullptr) return child_failed("it answered with neither a result nor an error");
    return *result;
}

Result<Value> McpChild::initialize() {
    Value answer =
        TRY(request("initialize", Map{{"protocolVersion", "2025-11-25"},
                                      {"capabilities", Map{}},
                                      {"clientInfo", Map{{"name", "quire"}, {"version", "1"}}}}));
    TRY(write_line(Map{{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}}));
    return answer;
}

Result<Value> McpChild::call(std::string_view tool, Map arguments) {
    const std::int64_t id = TRY(send_call(tool, std::move(arguments)));
    auto answer = TRY(next_answer(kAnswerMs));
    if (!answer || *answer->get("id") != Value(id)) {
        return child_failed(cat("no answer to ", tool, " within ", kAnswerMs / 1000, " s"));
    }
    return structured_of(*answer);
}

Result<Value> structured_of(const Value& answer) {
    if (const Value* error = answer.get("error")) {
        return fail(Errc::unavailable, "protocol_error", json::write(*error), {{"error", *error}});
    }
    const Value* result = answer.get("result");
    const Value* structured = result != nullptr ? result->get("structuredContent") : nullptr;
    if (structured == nullptr) return child_failed("a tool gave no structured content");
    const Value* is_error = result->get("isError");
    if (is_error != nullptr && *is_error == Value(true)) {
        const Value* error = structured->get("error");
        return Failure(server::error_from(error != nullptr ? *error : *structured));
    }
    return *structured;
}

}  // namespace quire::cli
