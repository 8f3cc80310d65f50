// Connect, or else start a kernel and connect. Starting is claimed by a lock, so that one of many
// processes does it; the others connect to the kernel that it started. A kernel that is just ending
// may refuse a connection or still hold the store, so both are tried again, kAttempts times. With a
// kernel that runs, attaching costs one round trip.
#include "server/attach.h"

#include <cstddef>
#include <optional>
#include <utility>

#include <poll.h>
#include <sys/socket.h>

#include "base/concat.h"
#include "json/json.h"
#include "rpc/jsonrpc.h"
#include "rpc/line_channel.h"
#include "server/process_state.h"

namespace quire::server {

namespace {

// Together five seconds for a kernel that is closing its store: a pause follows each attempt that
// finds the workspace locked.
constexpr int kAttempts = 100;
constexpr int kLockedPauseMs = 50;
constexpr int kHelloSeconds = 10;
constexpr std::size_t kHelloAnswerBytes = std::size_t{16} << 20;

// A kernel ends when its last client has left, maybe just before this one came.
Failure going() {
    return fail(Errc::unavailable, "no_kernel", "the kernel ended while it was being attached to");
}

bool is_gone(const Error& error) {
    return error.reason() == "no_kernel";
}

// The process that listens on the other end; 0 where the system does not say.
int peer_of(const Fd& socket) {
    ucred peer = {};
    socklen_t size = sizeof peer;
    return ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

Failure silent(int pid, int seconds) {
    return fail(Errc::unavailable, "kernel_silent",
                cat("the workspace's kernel, process ", pid, ", has not answered for ", seconds,
                    seconds == 1 ? " second. " : " seconds. ", advice_about(pid)),
                {{"pid", pid}});
}

// The kernel's answer to the hello. Nothing follows it until something is asked, so the channel
// reads nothing that belongs to whoever uses the socket next.
Result<Value> say_hello(const Fd& socket, const rpc::Hello& hello) {
    rpc::LineChannel channel(socket.get(), socket.get(), kHelloAnswerBytes);
    rpc::LineQueue line;
    line.push(json::write(Map{
        {"quire", 1}, {"actor", hello.actor}, {"profile", hello.profile}, {"kind", hello.kind}}));
    if (!channel.write(line)) return going();
    const int pid = peer_of(socket);
    // Looked at each second: a stopped kernel will never answer, and its client can be told so at
    // once.
    for (int seconds = 1;; ++seconds) {
        const Result<std::optional<std::string>> answer = channel.read(1000);
        if (!answer) return going();
        if (*answer) return json::parse(**answer);
        if (seconds == kHelloSeconds || is_stopped(pid)) return silent(pid, seconds);
    }
}

// A member that is missing keeps its default: the kernel may be older than this client.
Result<Attached> greet(Fd socket, const rpc::Hello& hello) {
    const Value answer = TRY(say_hello(socket, hello));
    if (const Value* error = answer.get("error"); error != nullptr)
        return Failure(rpc::error_from(*error));
    Attached attached;
    if (const Value* ok = answer.get("ok"); ok != nullptr) {
        if (const Value* version = ok->get("version"); version != nullptr && version->is_string()) {
            attached.version = version->as_string();
        }
        if (const Value* store = ok->get("store"); store != nullptr && store->is_string())
            attached.store = store->as_string();
        if (const Value* pid = ok->get("pid"); pid != nullptr && pid->is_int())
            attached.pid = static_cast<int>(pid->as_int());
        if (const Value* most = ok->get("message_bytes"); most != nullptr && most->is_int())
            attached.message_bytes = static_cast<std::size_t>(most->as_int());
        if (const Value* reads = ok->get("reads"); reads != nullptr && reads->is_map())
            attached.reads = reads->as_map();
    }
    attached.socket = std::move(socket);
    return attached;
}

Result<Attached> connect(const StateDirectory& directory, const rpc::Hello& hello) {
    return greet(TRY(directory.connect()), hello);
}

}  // namespace

Result<Attached> attach(const AttachOptions& options) {
    const StateDirectory directory =
        TRY(options.state.empty() ? StateDirectory::open(options.workspace)
                                  : StateDirectory::at(options.workspace, options.state));
    for (int attempt = 0;; ++attempt) {
        Result<Attached> attached = connect(directory, options.hello);
        if (attached || !is_gone(attached.error())) return attached;
        if (!options.start || attempt == kAttempts) return attached;

        const Fd claim = TRY(directory.claim_start(options.launch.timeout_ms));
        // The process that held the claim before has started one.
        attached = connect(directory, options.hello);
        if (attached || !is_gone(attached.error())) return attached;
        const Result<void> launched = launch_kernel(directory, options.launch);
        if (launched) continue;
        // The previous kernel has removed its socket and is still closing the store.
        if (launched.error().reason() != "workspace_locked") return Failure(launched.error());
        if (attempt == kAttempts) return directory.unreachable();
        ::poll(nullptr, 0, kLockedPauseMs);
    }
}

}  // namespace quire::server
