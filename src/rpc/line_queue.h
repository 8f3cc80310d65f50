// LineQueue: lines on their way out. The first may have been written in part.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <utility>

#include <sys/types.h>

namespace quire::rpc {

class LineQueue {
public:
    bool empty() const { return lines_.empty(); }
    // The bytes that are still to be written.
    std::size_t bytes() const { return bytes_; }

    // Appends `line`, which holds no newline and gets one.
    void push(std::string line) {
        line.push_back('\n');
        bytes_ += line.size();
        lines_.push_back(std::move(line));
    }
    // Puts a line before all others. Requires that none is out in part.
    void push_front(std::string line);
    // Drops all lines, one that is out in part as well. The other side then waits for its end, so
    // only a connection that is given up may be treated so.
    void clear();
    // The first line is to be written from its beginning again.
    void rewind();
    // Takes the first line out whole, without its newline, also where a part of it is out. Requires
    // that there is one.
    std::string pop();

    enum class Flow { drained, blocked, broken };
    // Writes as much as `fd` takes now, without waiting (a pipe must be non-blocking for that), and
    // calls `done(std::string)` with each line that is out whole, with its newline. `drained`: all
    // is out; `blocked`: `fd` takes no more for now; `broken`: it takes nothing any more, see
    // errno. One queue writes either to sockets or to other files. O(written).
    template <class Done>
    Flow write(int fd, Done&& done) {
        while (!empty()) {
            const ssize_t written = write_some(fd);
            if (written < 0) return would_block() ? Flow::blocked : Flow::broken;
            consume(static_cast<std::size_t>(written), done);
        }
        return Flow::drained;
    }

private:
    // One system call, repeated after an interruption. -1 with errno, as writev().
    ssize_t write_some(int fd);
    static bool would_block();
    // Removes the lines that are out after another `written` bytes.
    template <class Done>
    void consume(std::size_t written, Done&& done) {
        bytes_ -= written;
        while (written > 0) {
            const std::size_t rest = lines_.front().size() - first_sent_;
            if (written < rest) {
                first_sent_ += written;
                return;
            }
            written -= rest;
            first_sent_ = 0;
            std::string line = std::move(lines_.front());
            lines_.pop_front();
            done(std::move(line));
        }
    }

    std::deque<std::string> lines_;
    bool to_socket_ = true;       // Until the first write finds out.
    std::size_t first_sent_ = 0;  // Bytes of the first line that are out.
    std::size_t bytes_ = 0;
};

}  // namespace quire::rpc
