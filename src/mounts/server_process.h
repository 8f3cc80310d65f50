// ServerProcess: another program's server, started when something is wanted of it, and spoken with.
//
// It runs as long as it wants to and this does: one that ends is started again by the next call,
// after a pause that grows with each run that came to nothing. What it writes is bounded: the
// length of a line, how much comes that nobody asked for, what of its complaints is kept, and how
// long an answer may take. A run of it holds one worker; nothing else waits for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
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

namespace quire::sched {
class Scheduler;
}

namespace quire::mounts {

struct ServerOptions {
    std::string name;                      // The mount's.
    std::vector<std::string> command;      // The program, and its arguments.
    std::vector<std::string> environment;  // NAME=value; all of it.
    std::string directory;
    std::string version;  // Of this program.

    std::size_t line_bytes = std::size_t{32} << 20;  // The longest message, either way.
    std::size_t noise_lines = 10'000;                // In kNoiseMs.
    std::size_t noise_bytes = std::size_t{64} << 20;
    std::int64_t start_ms = 60'000;  // Until it has listed its tools.
    std::int64_t first_pause_ms = 1'000;
    std::int64_t longest_pause_ms = 60'000;
};
inline constexpr std::int64_t kNoiseMs = 10'000;
// How far apart listings are that it has us ask for by saying that they changed.
inline constexpr std::int64_t kListAgainMs = 1'000;
inline constexpr std::size_t kMostCalls = 64;      // At once.
inline constexpr std::size_t kTimeoutsInARow = 3;  // Then the run is ended.

class ServerProcess {
public:
    // `listed` is told, on a worker, of every listing. Workers and clock outlive the tasks that it
    // posts; after stop() each of these ends soon.
    ServerProcess(ServerOptions options, sched::Scheduler& workers, const Clock& clock,
                  std::function<void(const ServerInfo&, const Listing&)> listed);
    ServerProcess(const ServerProcess&) = delete;
    ServerProcess& operator=(const ServerProcess&) = delete;
    ~ServerProcess();  // stop().

    // What it lists in its present run, which is begun where there is none. Errors: unavailable
    // "mount_unavailable" {mount, retry_after_ms?}, with its last words.
    void contact(std::int64_t timeout_ms, Reply<Listing> reply);

    struct Call {
        std::string tool;
        std::string digest;  // Of the definition that is meant.
        Value arguments;
        std::int64_t timeout_ms = 60'000;
        std::stop_token cancelled = {};
    };
    // The result object. Nothing is sent where its present run defines the tool otherwise, or the
    // call cannot begin in time.
    //
    // Errors: those of contact(); conflict "definition_differs" {mount, tool}; unavailable
    // "cancelled", "mount_busy"; out_of_range "too_large"; what the server refused
    // (protocol.h); unavailable "fate_unknown" {mount} where it has been sent and there is no
    // answer.
    void call(Call what, Reply<Value> reply);

    // What is under way ends, and it itself, in a second at most. It returns at once.
    void stop();

    struct State {
        bool runs = false;
        bool starts = false;  // It runs, and has not said what it has.
        ServerInfo server = {};
        std::string failed = {};  // Why it does not run; "" where nothing went wrong.
    };
    State state() const;

private:
    class Body;
    std::shared_ptr<Body> body_;
};

}  // namespace quire::mounts
