// LineQueue: lines on their way out, of which the first may be out in part.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <utility>

#include <sys/uio.h>

namespace quire::rpc {

class LineQueue {
public:
    bool empty() const { return lines_.empty(); }
    std::size_t bytes() const { return bytes_; }  // Still to be written.

    // `line` holds no newline; it gets one.
    void push(std::string line) {
        line.push_back('\n');
        bytes_ += line.size();
        lines_.push_back(std::move(line));
    }
    void push_front(std::string line);  // Before all others; none may be out in part.
    void clear();
    // The first line is to be written from its beginning again.
    void rewind();
    // The first line whole, without its newline.
    std::string pop();

    // Describes what is to be written next; how many of `parts` were used.
    std::size_t fill(iovec* parts, std::size_t count) const;
    // `written` bytes of it are out. Calls `done(std::string)` with each line that is out whole,
    // with its newline.
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

private:
    std::deque<std::string> lines_;
    std::size_t first_sent_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace quire::rpc
