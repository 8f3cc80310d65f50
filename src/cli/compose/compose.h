// KernelProcess: every object of a running kernel, built and destroyed in order. The only place
// that knows them all.
#pragma once

#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"

namespace quire::cli {

struct KernelProcessOptions {
    std::string workspace = ".";
    std::string version;
    // How long the process stays after its last client has left; -1: until it is told to end.
    int linger_ms = 5000;
    // For looking at a workspace that cannot be written: an empty directory, to which the store is
    // copied and in which the process listens. It runs no mounted servers and no sources, and
    // leaves the workspace as it is. "" for work in the workspace itself.
    std::string copy_in = {};
};

// One per workspace: the store's lock keeps a second one out. A copy (copy_in) has its own store,
// so several of those may be open.
class KernelProcess {
public:
    // Reads quire.toml, opens the store and the kernel, and listens on .quire/kernel.sock. Logs a
    // warning for each setting without effect. Call LocalServer::block_end_signals() first. Errors:
    // invalid_argument "invalid_config"; those of the store (unavailable "workspace_locked"), of
    // the kernel and of the socket; for a copy those of store::copy_store().
    static Result<std::unique_ptr<KernelProcess>> open(const KernelProcessOptions& options,
                                                       LogSink& log);
    KernelProcess(const KernelProcess&) = delete;
    KernelProcess& operator=(const KernelProcess&) = delete;
    // Waits until everything that was accepted is durable. It stops searches, commands and mounted
    // servers first.
    ~KernelProcess();

    // Serves until SIGINT or SIGTERM, or until its clients have left. It runs on the calling
    // thread.
    void run();
    // Returns true if it ends because .quire was removed under it. It has said so in its log.
    bool was_removed() const;
    // Serves on a thread of its own, from now to the end of this object.
    void start();
    const std::string& socket() const;  // Its path.

private:
    struct Body;
    explicit KernelProcess(std::unique_ptr<Body> body);
    std::unique_ptr<Body> body_;
};

}  // namespace quire::cli
