// The loop of `quire engine`: read a chunk, answer the whole lines in it, and write the replies
// when no more input is waiting.
//
// The replies to a burst share a write, which matters for tests that send thousands of small
// requests. A client that waits for its reply gets it at once, because poll() then finds nothing to
// read. The replies are written as well when they reach kMostHeld, so memory stays bounded while
// input keeps coming. Each byte of input is searched for a newline once, however many reads a line
// takes.
#include "cli/driver/pipe.h"

#include <array>
#include <cerrno>
#include <string>
#include <string_view>

#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/write_all.h"
#include "cli/driver/session.h"

namespace quire::cli {
namespace {

constexpr std::size_t kChunk = std::size_t{64} << 10;
constexpr std::size_t kLongestLine = std::size_t{256} << 20;
// The most bytes of replies that are held back while requests keep coming.
constexpr std::size_t kMostHeld = std::size_t{1} << 20;

// Splits what was read into lines. A line that is too long is dropped up to its end.
class RequestLines {
public:
    void add(std::string_view bytes) { held_.append(bytes); }

    // Calls `take(line, too_long)` for each whole line. A line that grows beyond kLongestLine
    // before its end is seen is forgotten, and the rest of it too; its end then gives one call with
    // `too_long`, so that each line still has one reply.
    template <class Take>
    void take_all(const Take& take) {
        std::size_t begin = 0;
        // The bytes before searched_ hold no newline: an earlier call looked there.
        for (std::size_t end; (end = held_.find('\n', searched_ > begin ? searched_ : begin)) !=
                              std::string::npos;) {
            take(std::string_view(held_).substr(begin, end - begin), dropping_);
            dropping_ = false;
            begin = end + 1;
        }
        held_.erase(0, begin);
        if (held_.size() > kLongestLine) {
            held_.clear();
            dropping_ = true;
        }
        searched_ = held_.size();
    }

    // The last line, if no newline ends it.
    template <class Take>
    void take_rest(const Take& take) {
        if (!held_.empty() || dropping_) take(std::string_view(held_), dropping_);
    }

private:
    std::string held_;
    // The bytes that were searched and begin a line without an end.
    std::size_t searched_ = 0;
    bool dropping_ = false;
};

}  // namespace

int run_engine(int in, int out) {
    const SystemClock clock;
    SystemRng rng;
    EngineSession session(clock, rng);
    RequestLines lines;
    std::string replies;
    const auto answer = [&](std::string_view line, bool too_long) {
        replies += too_long ? session.refuse_too_long() : session.answer(line);
        replies += '\n';
        if (replies.size() < kMostHeld) return;
        // The loop below notices a reader that is gone.
        if (write_all(out, replies)) replies.clear();
    };
    std::array<char, kChunk> chunk;
    while (true) {
        const ssize_t size = ::read(in, chunk.data(), chunk.size());
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) break;
        lines.add({chunk.data(), static_cast<std::size_t>(size)});
        lines.take_all(answer);
        // More replies than kMostHeld are here only if the write in `answer` failed. Then the write
        // below fails too and ends the program, whatever the client still sends.
        pollfd waiting{in, POLLIN, 0};
        if (::poll(&waiting, 1, 0) == 1 && (waiting.revents & POLLIN) != 0 &&
            replies.size() < kMostHeld)
            continue;
        if (!write_all(out, replies)) return 1;
        replies.clear();
    }
    lines.take_rest(answer);
    return write_all(out, replies) ? 0 : 1;
}

}  // namespace quire::cli
