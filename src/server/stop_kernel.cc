// The process is held by a descriptor before it is asked to end, and its end is what is waited for:
// the answer to `stop` comes when the kernel begins to end, and until its process is gone it may
// hold the store.

#include "server/stop_kernel.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/concat.h"
#include "server/local_client.h"
#include "server/process_state.h"

namespace quire::server {

namespace {

// The time for a kernel that was ending before it could be asked.
constexpr int kEndingMs = 5000;

// A process by a descriptor, so that no later process of that number is meant.
struct Process {
    explicit Process(int pid) : fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U))) {}
    Fd fd;  // None for a process that is gone.
};

// Waits until it has ended, at most `ms`.
bool has_ended(const Process& process, int ms) {
    pollfd ended = {.fd = process.fd.get(), .events = POLLIN, .revents = 0};
    return !process.fd || ::poll(&ended, 1, ms) > 0;
}

}  // namespace

Result<int> stop_kernel(const AttachOptions& options, int timeout_ms) {
    AttachOptions quietly = options;
    quietly.start = false;
    Result<LocalClient> client = LocalClient::attach(quietly);
    if (!client && client.error().reason() != "no_kernel")
        return Failure(std::move(client).error());
    if (!client) {
        // One that is about to end holds the workspace for a moment longer.
        const Value* const holder = client.error().details().find("pid");
        if (holder == nullptr) return 0;
        const int pid = static_cast<int>(holder->as_int());
        if (!has_ended(Process(pid), kEndingMs)) return Failure(std::move(client).error());
        return pid;
    }
    const int pid = client->kernel_pid();
    const Process process(pid);
    const Result<Value> asked = client->request("stop", Map{}, timeout_ms);
    // It may be gone before its answer is read.
    if (!asked && asked.error().code() != Errc::unavailable) return Failure(asked.error());
    if (!has_ended(process, timeout_ms)) {
        return fail(Errc::unavailable, "kernel_silent",
                    cat("the kernel, process ", pid, ", was asked to end and is still there after ",
                        timeout_ms / 1000, " s. ", advice_about(pid)),
                    {{"pid", pid}});
    }
    return pid;
}

}  // namespace quire::server
