// LocalConnection: the output side of one client of the LocalServer. Any thread writes to it.
// Attention: how other threads wake the server for a connection. Lock order: a connection's lock is
// taken alone. Traffic and Attention are told after it is released.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "rpc/connection.h"
#include "rpc/line_queue.h"
#include "sched/guarded.h"
#include "server/traffic.h"

namespace quire::server {

// Outlives the server, because connections may. The server's threads wait on its descriptor; many
// calls between two take() cost one write.
class Attention {
public:
    Attention();
    int wake_fd() const { return wake_.get(); }  // Readable after call_for() or wake().
    // Wakes the server for one connection. Any thread.
    void call_for(std::uint64_t connection);
    // Wakes the server for no connection in particular. Any thread.
    void wake() const;
    // The connections since the last take(). Ends the wake.
    std::vector<std::uint64_t> take();

private:
    Fd wake_;
    sched::Guarded<std::vector<std::uint64_t>> wanted_;
};

class LocalConnection final : public rpc::Connection {
public:
    // `socket` is non-blocking. A client that leaves more than `output_bytes` unread is cut off.
    // Requests and unread answers count in `traffic`.
    LocalConnection(std::uint64_t id, Fd socket, std::size_t output_bytes,
                    std::shared_ptr<Attention> attention, std::shared_ptr<Traffic> traffic);

    // See rpc::Connection.
    bool send(std::string line) override;
    void hold_input(bool held) override;
    void close() override;
    void open_request(std::size_t bytes) override { traffic_->add(bytes); }
    void end_request(std::size_t bytes) override { leave(bytes); }

    // The members below are for the server only.
    // The state that decides what the server waits for.
    struct Wants {
        bool output = false;     // It waits for room to write.
        bool held = false;       // The session wants no input.
        bool over = false;       // It is broken, cut off, or closed with nothing left to write.
        bool closing = false;    // It will be over when its output is written.
        std::size_t unread = 0;  // Bytes queued.
    };
    void flush();  // Writes as much as the socket takes.
    Wants wants() const;
    void abandon();  // Closes the socket; nothing is sent from now on.

private:
    // The output, under the lock. `held` and `closing` are the session's wishes; `broken` is set by
    // an error of the socket, by a client that reads too slowly, and by abandon(). After that
    // nothing is sent.
    struct Output {
        Fd socket;
        rpc::LineQueue lines;
        bool held = false;
        bool closing = false;
        bool broken = false;
    };
    // Writes what the socket takes, with the lock held. Does not block. Lines stay queued when the
    // socket is full; a broken socket sets `broken`.
    static void write_some(Output& output);
    // Calls use(Output&) under the lock, and counts what it changes of the unread bytes.
    template <class F>
    auto with_output(F use);
    // Bytes are no longer under way.
    void leave(std::size_t bytes);

    const std::uint64_t id_;
    const std::size_t output_bytes_;
    const std::shared_ptr<Attention> attention_;
    const std::shared_ptr<Traffic> traffic_;
    sched::Guarded<Output> output_;
};

}  // namespace quire::server
