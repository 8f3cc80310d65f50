// LineChannel: lines over two descriptors, for a thread that may wait.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "rpc/line_queue.h"
#include "rpc/line_splitter.h"

namespace quire::rpc {

class LineChannel {
public:
    // The descriptors, pipes or sockets, may be the same and outlive this; -1 for a direction that
    // is not used. No line that comes in may be longer than `bound`.
    LineChannel(int input, int output, std::size_t bound)
        : input_(input), output_(output), bound_(bound), splitter_(bound) {}

    // Sends all of `lines`, and waits for room as long as that takes. Errors: unavailable "closed"
    // when nobody reads them; the message is the system's words. For a pipe SIGPIPE is ignored.
    Result<void> write(LineQueue& lines) const;
    // The next line; none when none was complete after `timeout_ms`, 0 for a look without waiting.
    // The part of an incomplete line is kept for the next call. Errors: unavailable "closed" at
    // the end of the input, or after a line that is too long; lines that were complete before are
    // returned first.
    Result<std::optional<std::string>> read(int timeout_ms);

private:
    int input_;
    int output_;
    std::size_t bound_;
    LineSplitter splitter_;
    std::deque<std::string> lines_;  // Complete, and not returned yet.
    bool has_overrun_ = false;
    std::vector<char> buffer_;
};

}  // namespace quire::rpc
