// ServerChannel: one run of a mounted server's program: its process, the protocol spoken with it,
// and the bounds on what it writes. Bell: wakes the thread that waits for it.
//
// One thread at a time, but for Bell::ring().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "mounts/protocol.h"
#include "process/piped.h"
#include "rpc/line_splitter.h"

namespace quire::mounts {

struct ServerOptions;

// An eventfd. It can be rung before anybody waits: the next wait then returns at once.
class Bell {
public:
    Bell();
    void ring() const;     // Any thread.
    void silence() const;  // Until the next ring().
    int fd() const { return fd_.get(); }

private:
    Fd fd_;
};

class ServerChannel {
public:
    // Begins the handshake. `options` and `clock` outlive this.
    ServerChannel(process::PipedProgram program, const ServerOptions& options, const Clock& clock);

    Protocol& protocol() { return protocol_; }
    // Sends what the protocol has queued, waits at most `wait_ms` for the program, the bell or room
    // to write, and returns what came. Afterwards `fault()` may be set. O(bytes).
    std::vector<Event> exchange(const Bell& bell, int wait_ms);

    // Why the run must end; "" while it may go on. The first reason stays.
    const std::string& fault() const { return fault_; }
    // Ends the run for this reason, unless there is one already.
    void fail(std::string why);
    // "; it said: …", the end of what the program wrote to its standard error; "" for nothing.
    std::string last_words() const;
    // Ends the program in `patience_ms`, and returns the whole reason for its end. Once.
    std::string end(std::int64_t patience_ms);

private:
    // Returns false when too much came in the last kNoiseMs that nothing asked for.
    bool allows_noise(std::size_t lines, std::size_t bytes);
    // Each reads one piece that is ready.
    void read_output(std::vector<Event>& events);
    void read_errors();
    void take(std::string_view line, std::vector<Event>& events);

    const ServerOptions& options_;
    const Clock& clock_;
    process::PipedProgram program_;
    Protocol protocol_;
    rpc::LineSplitter lines_;
    std::string errors_;  // The end of its standard error.
    std::string fault_;
    // The current stretch of kNoiseMs, and what came in it.
    std::int64_t noise_since_ms_ = 0;
    std::size_t noise_lines_ = 0;
    std::size_t noise_bytes_ = 0;
};

}  // namespace quire::mounts
