// The kernel process's door: many clients on one Unix socket.
//
// A kernel process goes through these steps: block_end_signals(), before any thread is made; open
// the store (who holds it holds the workspace), trying for some seconds while it is
// "workspace_locked", for the kernel before may still be closing it; LocalServer::open();
// report_ready() (server/launch.h; report_failure() for whatever failed); run(). Then the server
// goes before the kernel, and the kernel before the store.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "rpc/connection.h"
#include "sched/scheduler.h"
#include "server/state_directory.h"

namespace quire::server {

struct LocalServerOptions {
    std::string version;
    std::size_t line_bytes = 64U << 20;    // The longest line that a client may send.
    std::size_t output_bytes = 64U << 20;  // A client that leaves more than this unread is cut off;
    std::size_t hold_bytes = 1U << 20;  // of one that leaves this much unread nothing more is read.
    int linger_ms = 5000;   // Ends itself so long after the last client has left; -1: never.
    int hello_ms = 10'000;  // For a client to say hello.
    int drain_ms = 2000;    // For the answers to come once it is told to end.
    // Where the sessions' work is posted, if anywhere; it outlives the server. With it two threads
    // serve, and one may do at once what a request asks for while the other listens.
    sched::Pool* pool = nullptr;
};

class LocalServer {
public:
    // Errors: as of StateDirectory::listen().
    static Result<std::unique_ptr<LocalServer>> open(StateDirectory directory,
                                                     LocalServerOptions options,
                                                     rpc::SessionFactory factory, LogSink& log);
    LocalServer(const LocalServer&) = delete;
    LocalServer& operator=(const LocalServer&) = delete;
    ~LocalServer();  // Takes the socket away and lets the sessions go.

    // SIGTERM and SIGINT end run() instead of the process: in this thread and those it makes from
    // now on.
    static void block_end_signals();

    // Serves until stop(), SIGTERM, SIGINT, or until the last client has been gone for `linger_ms`.
    void run();
    void stop();                      // From any thread.
    std::size_t connections() const;  // From any thread.

private:
    class Body;
    explicit LocalServer(std::unique_ptr<Body> body);
    std::unique_ptr<Body> body_;
};

}  // namespace quire::server
