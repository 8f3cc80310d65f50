#include "tests/crash/program.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/file_text.h"
#include "json/json.h"

namespace quire::crash {

namespace {

constexpr int kAnswerMs = 60'000;

bool is_alive(pid_t pid) {
    // One that has ended but was not waited for is still listed; it does nothing any more.
    const std::string status = file_text("/proc/" + std::to_string(pid) + "/stat");
    const std::size_t name_end = status.rfind(')');
    return name_end != std::string::npos && status.size() > name_end + 2 &&
           status[name_end + 2] != 'Z';
}

std::vector<char*> arguments_of(std::vector<std::string>& words) {
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    return arguments;
}

int exit_code_of(pid_t pid) {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::string program() {
    const char* const path = std::getenv("QUIRE");
    return path != nullptr && ::access(path, X_OK) == 0 ? path : "";
}

unsigned seed() {
    const char* const chosen = std::getenv("SEED");
    return chosen != nullptr ? static_cast<unsigned>(std::strtoul(chosen, nullptr, 10))
                             : std::random_device{}();
}

bool comes_true(const std::function<bool()>& condition, int within_ms) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(within_ms);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > until) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

std::string reason(const Value& structured) {
    const Value* const error = structured.get("error");
    const Value* const word = error == nullptr ? nullptr : error->get("reason");
    return word == nullptr ? "" : word->as_string();
}

Workspace::Workspace(const std::string& parent) : directory_(parent) {
    directory_.put("quire.toml",
                   "[[files.rules]]\npattern = \"**\"\npermission = \"read_write\"\n");
}

Workspace::~Workspace() {
    for (int tries = 0; tries < 3; ++tries) {
        for (const pid_t pid : kernels()) ::kill(pid, SIGKILL);
        if (comes_true([&] { return kernels().empty(); }, 2000)) break;
    }
}

pid_t Workspace::kernel() const {
    const pid_t pid = std::atoi(file_text(state("lock")).c_str());
    return pid > 0 && is_alive(pid) ? pid : 0;
}

bool Workspace::kill_kernel(int signal) const {
    const pid_t pid = kernel();
    if (pid == 0 || ::kill(pid, signal) != 0) return false;
    return comes_true([&] { return !is_alive(pid); });
}

std::vector<pid_t> Workspace::kernels() const {
    std::vector<pid_t> found;
    const std::string wanted = std::string("\0kernel\0--workspace\0", 20) + path();
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const pid_t pid = std::atoi(entry.path().filename().c_str());
        if (pid > 0 &&
            file_text(entry.path().string() + "/cmdline").find(wanted) != std::string::npos &&
            is_alive(pid)) {
            found.push_back(pid);
        }
    }
    return found;
}

Ended run(const std::vector<std::string>& words, bool as_nobody) {
    int output[2], errors[2];
    CHECK(::pipe2(output, O_CLOEXEC) == 0 && ::pipe2(errors, O_CLOEXEC) == 0);
    std::vector<std::string> all = words;
    std::vector<char*> arguments = arguments_of(all);
    const pid_t pid = ::fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        const int null = ::open("/dev/null", O_RDONLY);
        ::dup2(null, 0);
        ::dup2(output[1], 1);
        ::dup2(errors[1], 2);
        // Opened while it can be reached: a clone may lie in root's own home.
        const int opened = ::open(arguments[0], O_RDONLY | O_CLOEXEC);
        if (as_nobody && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(126);
        ::fexecve(opened, arguments.data(), environ);
        ::_exit(127);
    }
    ::close(output[1]);
    ::close(errors[1]);
    Ended ended;
    std::thread errors_reader([&] {
        std::array<char, 4096> part = {};
        for (ssize_t n = 0; (n = ::read(errors[0], part.data(), part.size())) > 0;) {
            ended.errors.append(part.data(), static_cast<std::size_t>(n));
        }
    });
    std::array<char, 4096> part = {};
    for (ssize_t n = 0; (n = ::read(output[0], part.data(), part.size())) > 0;) {
        ended.output.append(part.data(), static_cast<std::size_t>(n));
    }
    errors_reader.join();
    ::close(output[0]);
    ::close(errors[0]);
    ended.exit_code = exit_code_of(pid);
    return ended;
}

McpClient::McpClient(const Workspace& workspace, const std::string& actor) {
    int to[2], from[2];
    CHECK(::pipe2(to, O_CLOEXEC) == 0 && ::pipe2(from, O_CLOEXEC) == 0);
    std::vector<std::string> words = {program(),   "mcp",  "--workspace", workspace.path(),
                                      "--profile", "full", "--actor",     actor};
    std::vector<char*> arguments = arguments_of(words);
    std::signal(SIGPIPE, SIG_IGN);
    pid_ = ::fork();
    CHECK(pid_ >= 0);
    if (pid_ == 0) {
        ::dup2(to[0], 0);
        ::dup2(from[1], 1);
        ::execv(arguments[0], arguments.data());
        ::_exit(127);
    }
    ::close(to[0]);
    ::close(from[1]);
    to_ = to[1];
    from_ = from[0];
}

McpClient::~McpClient() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    end();
}

McpClient::McpClient(McpClient&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      to_(std::exchange(other.to_, -1)),
      from_(std::exchange(other.from_, -1)),
      unread_(std::move(other.unread_)),
      taken_(other.taken_),
      last_id_(other.last_id_) {}

void McpClient::kill(int signal) {
    ::kill(pid_, signal);
}

int McpClient::end() {
    ::close(to_);
    const int code = exit_code_of(std::exchange(pid_, -1));
    ::close(from_);
    return code;
}

int McpClient::request(const std::string& method, Value params) {
    const int id = ++last_id_;
    const std::string line =
        json::write(Map{
            {"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}}) +
        "\n";
    // A program that is gone is met by the reading of the answer.
    for (std::size_t sent = 0; sent < line.size();) {
        const ssize_t n = ::write(to_, line.data() + sent, line.size() - sent);
        if (n <= 0) break;
        sent += static_cast<std::size_t>(n);
    }
    return id;
}

int McpClient::call(const std::string& tool, Map arguments) {
    return request("tools/call", Map{{"name", tool}, {"arguments", std::move(arguments)}});
}

std::optional<Value> McpClient::answer() {
    std::array<char, 65536> part = {};
    while (true) {
        if (const std::size_t newline = unread_.find('\n', taken_); newline != std::string::npos) {
            const std::string line = unread_.substr(taken_, newline - taken_);
            taken_ = newline + 1;
            if (taken_ > part.size()) {
                unread_.erase(0, taken_);
                taken_ = 0;
            }
            Result<Value> message = json::parse(line);
            CHECK(message.has_value());
            if (message->get("id") != nullptr && message->get("method") == nullptr)
                return std::move(*message);
            continue;
        }
        pollfd wanted = {.fd = from_, .events = POLLIN, .revents = 0};
        if (::poll(&wanted, 1, kAnswerMs) <= 0) return std::nullopt;
        const ssize_t n = ::read(from_, part.data(), part.size());
        if (n <= 0) return std::nullopt;
        unread_.append(part.data(), static_cast<std::size_t>(n));
    }
}

std::optional<Value> McpClient::answer_to(int id) {
    while (auto message = answer()) {
        if (*message->get("id") == Value(id)) return message;
    }
    return std::nullopt;
}

Value McpClient::ask(const std::string& tool, Map arguments) {
    const auto message = answer_to(call(tool, std::move(arguments)));
    if (!message) return {};
    const Value* const result = message->get("result");
    const Value* const structured = result == nullptr ? nullptr : result->get("structuredContent");
    return structured == nullptr ? *message : *structured;
}

Value McpClient::list_tools() {
    const auto message = answer_to(request("tools/list", Map{}));
    return message ? *message : Value();
}

bool McpClient::initialize() {
    const Map info{{"name", "crash"}, {"version", "1"}};
    const auto message = answer_to(request(
        "initialize",
        Map{{"protocolVersion", "2025-11-25"}, {"capabilities", Map{}}, {"clientInfo", info}}));
    return message && message->get("result") != nullptr;
}

}  // namespace quire::crash
