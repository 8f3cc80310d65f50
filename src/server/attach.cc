#include "server/attach.h"

#include <array>
#include <cerrno>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/concat.h"
#include "json/json.h"

namespace quire::server {

namespace {

constexpr int kAttempts = 100;
constexpr int kLockedPauseMs = 50;
constexpr int kHelloSeconds = 10;

// "going" is what a kernel does whose last client left just before this one came.
Failure going() {
    return fail(Errc::unavailable, "no_kernel", "the kernel ended while it was being attached to");
}

bool is_gone(const Error& error) {
    return error.reason() == "no_kernel";
}

void set_timeout(const Fd& socket, int seconds) {
    const timeval timeout = {.tv_sec = seconds, .tv_usec = 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
}

Result<std::string> read_answer(const Fd& socket) {
    // Nothing follows the answer until something is asked, so reading more than the line cannot
    // take what is not its own.
    std::string line;
    while (line.find('\n') == std::string::npos) {
        std::array<char, 4096> part = {};
        const ssize_t length = ::recv(socket.get(), part.data(), part.size(), 0);
        if (length < 0 && errno == EINTR) continue;
        if (length < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            return fail(Errc::unavailable, "kernel_silent",
                        cat("the kernel has not answered for ", kHelloSeconds, " seconds"));
        }
        if (length <= 0) return going();
        line.append(part.data(), static_cast<std::size_t>(length));
    }
    return line;
}

Result<Attached> greet(Fd socket, const rpc::Hello& hello) {
    set_timeout(socket, kHelloSeconds);
    const std::string line = json::write(Map{{"quire", 1},
                                             {"actor", hello.actor},
                                             {"profile", hello.profile},
                                             {"kind", hello.kind}}) +
                             "\n";
    if (::send(socket.get(), line.data(), line.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(line.size()))
        return going();
    const std::string said = TRY(read_answer(socket));
    const Value answer = TRY(json::parse(said));
    if (const Value* error = answer.get("error"); error != nullptr)
        return Failure(error_from(*error));
    Attached attached;
    if (const Value* ok = answer.get("ok"); ok != nullptr) {
        if (const Value* version = ok->get("version"); version != nullptr && version->is_string()) {
            attached.version = version->as_string();
        }
        if (const Value* pid = ok->get("pid"); pid != nullptr && pid->is_int())
            attached.pid = static_cast<int>(pid->as_int());
        if (const Value* reads = ok->get("reads"); reads != nullptr && reads->is_map())
            attached.reads = reads->as_map();
    }
    set_timeout(socket, 0);
    attached.socket = std::move(socket);
    return attached;
}

Result<Attached> connect(const StateDirectory& directory, const rpc::Hello& hello) {
    return greet(TRY(directory.connect()), hello);
}

}  // namespace

Result<Attached> attach(const AttachOptions& options) {
    const StateDirectory directory = TRY(StateDirectory::open(options.workspace));
    for (int attempt = 0;; ++attempt) {
        Result<Attached> attached = connect(directory, options.hello);
        if (attached || !is_gone(attached.error())) return attached;
        if (!options.start || attempt == kAttempts) return attached;

        const Fd claim = TRY(directory.claim_start(options.launch.timeout_ms));
        // Who held the claim before has started one.
        attached = connect(directory, options.hello);
        if (attached || !is_gone(attached.error())) return attached;
        const Result<void> launched = launch_kernel(directory, options.launch);
        if (launched) continue;
        // The kernel before it has left its socket and is still closing the store.
        if (launched.error().reason() != "workspace_locked" || attempt == kAttempts)
            return Failure(launched.error());
        ::poll(nullptr, 0, kLockedPauseMs);
    }
}

}  // namespace quire::server
