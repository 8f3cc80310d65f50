// ServerProcess: another program's server, started by the first call and called over its pipes.
//
// It runs until it ends by itself or this is stopped. A program that has ended is started again by
// the next call, after a pause that grows with each run in which no call was answered. What it
// writes is bounded (server_channel.h), and so is the time for an answer. A run occupies one
// worker; nothing else waits for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/function.h"
#include "base/result.h"
#include "base/value.h"
#include "mounts/definition.h"
#include "mounts/protocol.h"
#include "sched/scheduler.h"

namespace quire::sched {
class Scheduler;
}

namespace quire::mounts {

struct ServerOptions {
    std::string name;                      // The mount's name.
    std::vector<std::string> command;      // The program and its arguments.
    std::vector<std::string> environment;  // NAME=value, all of it.
    std::string directory;                 // The directory in which it runs.
    std::string version;                   // Our own, for the handshake.

    std::size_t line_bytes = std::size_t{32} << 20;  // The longest message, either way.
    std::size_t noise_lines = 10'000;                // Unrequested messages in kNoiseMs.
    std::size_t noise_bytes = std::size_t{64} << 20;
    std::int64_t start_ms = 60'000;  // Until it has listed its tools.
    std::int64_t first_pause_ms = 1'000;
    std::int64_t longest_pause_ms = 60'000;
};
inline constexpr std::int64_t kNoiseMs = 10'000;
// The least time between two listings that are made because the server says that its list changed.
inline constexpr std::int64_t kListAgainMs = 1'000;
inline constexpr std::size_t kMostCalls = 64;      // Open at once.
inline constexpr std::size_t kTimeoutsInARow = 3;  // Then the run is ended.

class ServerProcess {
public:
    // Calls `listed` on a worker for every listing. Workers and clock outlive the tasks that this
    // posts; after stop() each task ends soon.
    ServerProcess(ServerOptions options, sched::Scheduler& workers, const Clock& clock,
                  std::function<void(const ServerInfo&, const Listing&)> listed);
    ServerProcess(const ServerProcess&) = delete;
    ServerProcess& operator=(const ServerProcess&) = delete;
    ~ServerProcess();  // stop().

    // Asks for its list of tools; starts the program when it does not run. Errors: unavailable
    // "mount_unavailable" {mount, retry_after_ms?}, with its last words.
    void contact(std::int64_t timeout_ms, Reply<Listing> reply);

    struct Call {
        std::string tool;
        std::string digest;  // The digest of the definition that was approved.
        Value arguments;
        std::int64_t timeout_ms = 60'000;
        std::stop_token cancelled = {};
    };
    // Replies with the result object. Nothing is sent when the present run defines the tool
    // otherwise, or when the call cannot begin in time.
    //
    // Errors: those of contact(); conflict "definition_differs" {mount, tool}; unavailable
    // "cancelled", "mount_busy"; out_of_range "too_large"; what the server refused
    // (protocol.h); unavailable "fate_unknown" {mount} when it was sent and no answer came.
    void call(Call what, Reply<Value> reply);

    // Ends the program and all open calls within a second. Returns at once.
    void stop();

    // The state for people, as it was told last.
    struct State {
        bool runs = false;
        bool starts = false;  // It runs, and has not listed its tools yet.
        ServerInfo server = {};
        std::string failed = {};  // Why it does not run; "" when nothing went wrong.
    };
    State state() const;

private:
    class Body;
    std::shared_ptr<Body> body_;
};

}  // namespace quire::mounts
