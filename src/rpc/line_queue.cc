#include "rpc/line_queue.h"

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

std::size_t LineQueue::fill(iovec* parts, std::size_t count) const {
    std::size_t used = 0;
    for (auto line = lines_.begin(); line != lines_.end() && used < count; ++line, ++used) {
        const std::size_t sent = used == 0 ? first_sent_ : 0;
        parts[used] = {const_cast<char*>(line->data()) + sent, line->size() - sent};
    }
    return used;
}

}  // namespace quire::rpc
