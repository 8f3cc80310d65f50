// LocalServer: many clients on one Unix socket; the door of a kernel process.
//
// A kernel process takes these steps: block_end_signals(), before it makes a thread; open the
// store, which locks the workspace, and retry for some seconds while that is "workspace_locked",
// because the previous kernel may still be closing it; LocalServer::open(); report_ready(), or
// report_failure() for a step that failed (server/launch.h); run(). Then the server is destroyed
// before the kernel, and the kernel before the store.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "rpc/connection.h"
#include "sched/scheduler.h"
#include "server/state_directory.h"

namespace quire::server {

class SettingsWatch;

struct LocalServerOptions {
    std::string version;
    std::size_t line_bytes = 8U << 20;     // The longest line that a client may send.
    std::string store = {};                // Greeting::store.
    std::size_t output_bytes = 64U << 20;  // A client with more unread answers is cut off.
    std::size_t hold_bytes = 1U << 20;     // A client with more unread answers is not read from.
    // Above so many bytes of open requests and unread answers of all clients, new requests wait, but
    // no longer than that: then they are refused as unavailable "in_flight_limit".
    std::size_t in_flight_bytes = 64U << 20;
    int in_flight_wait_ms = 10'000;
    int linger_ms = 5000;  // run() returns this long after the last client has left; -1: never.
    // run() asks it when that time has passed, and goes on while it returns true. May be empty.
    std::function<bool()> is_needed = {};
    int hello_ms = 10'000;  // The time a client has to say hello.
    int drain_ms = 2000;    // The time that open requests have once the server is told to end.
    // The pool that the sessions post their work to, or null; it outlives the server. With a pool
    // two threads serve: one runs a request's work at once while the other waits.
    sched::Pool* pool = nullptr;
    // Null where the settings never change; outlives the server.
    SettingsWatch* settings = nullptr;
};

class LocalServer {
public:
    // Errors: those of StateDirectory::listen().
    static Result<std::unique_ptr<LocalServer>> open(StateDirectory directory,
                                                     LocalServerOptions options,
                                                     rpc::SessionFactory factory, LogSink& log);
    LocalServer(const LocalServer&) = delete;
    LocalServer& operator=(const LocalServer&) = delete;
    ~LocalServer();  // Removes the socket and ends the sessions.

    // From now on SIGTERM and SIGINT end run() instead of the process. Holds for this thread and
    // those that it makes later. Without it they end the process at once, and open requests get no
    // answer.
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
