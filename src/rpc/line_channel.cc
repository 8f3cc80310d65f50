// Reads wait in poll() for the rest of the given time, so that neither a silent nor a slow peer
// holds the caller for longer. Writes wait without a limit: the line is out as a whole, or the peer
// is gone. Both cost one system call per 64 KiB besides the wait.
#include "rpc/line_channel.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/concat.h"

namespace quire::rpc {
namespace {

constexpr std::size_t kChannelPart = std::size_t{64} << 10;

Failure closed(std::string_view why) {
    return fail(Errc::unavailable, "closed", std::string(why));
}

// Returns true if `fd` got ready for `events` in time. An interruption by a signal counts as not
// yet.
bool is_ready(int fd, short events, int timeout_ms) {
    pollfd wanted = {.fd = fd, .events = events, .revents = 0};
    return ::poll(&wanted, 1, timeout_ms) > 0;
}

}  // namespace

Result<void> LineChannel::write(LineQueue& lines) const {
    while (true) {
        switch (lines.write(output_, [](std::string) {})) {
            case LineQueue::Flow::drained:
                return {};
            case LineQueue::Flow::blocked:
                is_ready(output_, POLLOUT, -1);
                break;
            case LineQueue::Flow::broken:
                return closed(std::strerror(errno));
        }
    }
}

Result<std::optional<std::string>> LineChannel::read(int timeout_ms) {
    const SystemClock clock;
    const std::int64_t until = clock.steady_ms() + timeout_ms;
    buffer_.resize(kChannelPart);
    while (lines_.empty()) {
        if (has_overrun_) return closed(cat("a line of more than ", bound_, " bytes"));
        const std::int64_t left = until - clock.steady_ms();
        // With no time left the descriptor is still looked at once.
        if (!is_ready(input_, POLLIN, static_cast<int>(left > 0 ? left : 0))) {
            if (clock.steady_ms() >= until) return std::optional<std::string>();
            continue;
        }
        const ssize_t length = ::read(input_, buffer_.data(), buffer_.size());
        if (length < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (length <= 0) return closed("the end of the input");
        splitter_.feed(
            std::string_view(buffer_.data(), static_cast<std::size_t>(length)),
            [&](std::string line) { lines_.push_back(std::move(line)); },
            [&](const std::string&) { has_overrun_ = true; });
        has_overrun_ = has_overrun_ || splitter_.is_skipping();
    }
    std::string line = std::move(lines_.front());
    lines_.pop_front();
    return std::optional(std::move(line));
}

}  // namespace quire::rpc
