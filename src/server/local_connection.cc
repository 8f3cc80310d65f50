// Whichever thread has an answer writes it straight into the socket, under the connection's lock;
// only the rest that the socket does not take waits for the server's thread. So an answer usually
// costs one sendmsg() and no wake. The eventfd is written for the first of several calls only.
#include "server/local_connection.h"

#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"

namespace quire::server {

Attention::Attention() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    CHECK(wake_);
}

void Attention::call_for(std::uint64_t connection) {
    const bool first = wanted_.with([&](std::vector<std::uint64_t>& wanted) {
        wanted.push_back(connection);
        return wanted.size() == 1;
    });
    if (first) wake();
}

void Attention::wake() const {
    const std::uint64_t one = 1;
    // The write fails only when the counter is full, and then it is readable anyway.
    static_cast<void>(::write(wake_.get(), &one, sizeof one) == 0);
}

std::vector<std::uint64_t> Attention::take() {
    std::uint64_t count = 0;
    static_cast<void>(::read(wake_.get(), &count, sizeof count) == 0);
    return wanted_.with(
        [](std::vector<std::uint64_t>& wanted) { return std::exchange(wanted, {}); });
}

LocalConnection::LocalConnection(std::uint64_t id, Fd socket, std::size_t output_bytes,
                                 std::shared_ptr<Attention> attention,
                                 std::shared_ptr<Traffic> traffic)
    : id_(id),
      output_bytes_(output_bytes),
      attention_(std::move(attention)),
      traffic_(std::move(traffic)) {
    output_.with([&](Output& output) { output.socket = std::move(socket); });
}

// Bytes have left the traffic, maybe those that another client's request waits for: then the
// server's threads are woken to look.
void LocalConnection::leave(std::size_t bytes) {
    if (traffic_->remove(bytes)) attention_->wake();
}

// The traffic is told after the lock is released, since that may write to the eventfd.
template <class F>
auto LocalConnection::with_output(F use) {
    std::size_t before = 0, after = 0;
    const auto result = output_.with([&](Output& output) {
        before = output.lines.bytes();
        const auto used = use(output);
        after = output.lines.bytes();
        return used;
    });
    if (after > before) traffic_->add(after - before);
    if (after < before) leave(before - after);
    return result;
}

bool LocalConnection::send(std::string line) {
    bool call = false;
    const bool taken = with_output([&](Output& output) {
        if (output.closing || output.broken || !output.socket) return false;
        // The line that passes the bound is the last: the client is cut off rather than served in
        // part.
        if (output.lines.bytes() > output_bytes_) {
            output.broken = call = true;
            return false;
        }
        const bool idle = output.lines.empty();
        output.lines.push(std::move(line));
        // The caller writes the line itself where it can: that saves a wake of the server's thread.
        if (idle) write_some(output);
        call = output.broken || (idle && !output.lines.empty());
        return true;
    });
    if (call) attention_->call_for(id_);
    return taken;
}

void LocalConnection::hold_input(bool held) {
    const bool changed =
        output_.with([&](Output& output) { return std::exchange(output.held, held) != held; });
    if (changed) attention_->call_for(id_);
}

void LocalConnection::close() {
    const bool changed =
        output_.with([&](Output& output) { return !std::exchange(output.closing, true); });
    if (changed) attention_->call_for(id_);
}

void LocalConnection::flush() {
    with_output([](Output& output) {
        write_some(output);
        return output.broken;
    });
}

LocalConnection::Wants LocalConnection::wants() const {
    return output_.with([](const Output& output) {
        return Wants{.output = !output.lines.empty(),
                     .held = output.held,
                     .over = output.broken || (output.closing && output.lines.empty()),
                     .closing = output.closing,
                     .unread = output.lines.bytes()};
    });
}

// After this send() returns false. The socket is closed here and not in the destructor, because
// replies that are still to come hold the connection.
void LocalConnection::abandon() {
    with_output([](Output& output) {
        output.socket.reset();
        output.lines.clear();
        return output.broken = true;
    });
}

void LocalConnection::write_some(Output& output) {
    if (output.broken) return;
    const auto flow = output.lines.write(output.socket.get(), [](std::string) {});
    output.broken = flow == rpc::LineQueue::Flow::broken;
}

}  // namespace quire::server
