// Rescue: what a kernel does when the state of its workspace is removed while it runs: it saves
// what it holds in the workspace, says where, and ends.
#pragma once

#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "sched/guarded.h"

namespace quire {
class Clock;
class LogSink;
namespace server {
class LocalServer;
}
namespace store {
class Store;
}
}  // namespace quire

namespace quire::cli {

class Rescue {
public:
    // Holds on to the directory, which is then found although it was moved. The clock and the log
    // outlive the object.
    Rescue(const std::string& workspace, std::string version, Clock& clock, LogSink& log);

    // Writes `quire-salvage-TIME/` in the workspace, as `quire salvage` would, logs that, and stops
    // the server. Returns the directory's path. Any thread. Errors: those of kernel::salvage(), and
    // unavailable "directory_not_writable" when the workspace is gone, too.
    Result<std::string> run(store::Store& store);
    // The server that run() stops, or null: before there is one, and from before its end on.
    void set_server(server::LocalServer* server);
    bool has_run() const;

private:
    Result<std::string> save(store::Store& store) const;

    struct State {
        server::LocalServer* server = nullptr;
        bool has_run = false;
    };
    Fd workspace_;
    std::string version_;
    Clock& clock_;
    LogSink& log_;
    sched::Guarded<State> state_;
};

}  // namespace quire::cli
