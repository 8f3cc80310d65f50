// Lines stay as they were pushed until they are out as a whole: a line that the other side got in
// part was never executed, so it can be sent again from its beginning (rewind()) or be taken back
// (pop()). One system call writes up to 64 lines; nothing is copied together.
#include "rpc/line_queue.h"

#include <array>
#include <cerrno>

#include <sys/socket.h>
#include <sys/uio.h>

#include "base/check.h"

namespace quire::rpc {

void LineQueue::push_front(std::string line) {
    CHECK(first_sent_ == 0);
    line.push_back('\n');
    bytes_ += line.size();
    lines_.push_front(std::move(line));
}

void LineQueue::clear() {
    lines_.clear();
    first_sent_ = bytes_ = 0;
}

// For a new connection to the same peer: the part that the old one took is lost with it.
void LineQueue::rewind() {
    bytes_ += first_sent_;
    first_sent_ = 0;
}

std::string LineQueue::pop() {
    rewind();
    std::string line = std::move(lines_.front());
    lines_.pop_front();
    bytes_ -= line.size();
    line.pop_back();
    return line;
}

bool LineQueue::would_block() {
    return errno == EAGAIN || errno == EWOULDBLOCK;
}

ssize_t LineQueue::write_some(int fd) {
    std::array<iovec, 64> parts = {};
    std::size_t used = 0;
    for (auto line = lines_.begin(); line != lines_.end() && used < parts.size(); ++line, ++used) {
        const std::size_t sent = used == 0 ? first_sent_ : 0;
        parts[used] = {line->data() + sent, line->size() - sent};
    }
    while (true) {
        // A socket is written without SIGPIPE, and without waiting whatever its mode is.
        msghdr message = {};
        message.msg_iov = parts.data();
        message.msg_iovlen = used;
        const ssize_t written = to_socket_ ? ::sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL)
                                           : ::writev(fd, parts.data(), static_cast<int>(used));
        if (written >= 0) return written;
        if (errno == ENOTSOCK && to_socket_) {
            to_socket_ = false;
        } else if (errno != EINTR) {
            return written;
        }
    }
}

}  // namespace quire::rpc
