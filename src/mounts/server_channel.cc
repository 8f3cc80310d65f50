// The I/O of one run. The program is a stranger's, so each direction has a bound: a line in, the
// bytes that wait to be read by it, how much comes that nothing asked for, and how much of its
// complaints is kept. Its standard error is read before its output, because it says why a program
// ends; output that it wrote before its end is still read. Costs one poll and one read for each
// piece of at most 64 KiB, and the parse of each line.
#include "mounts/server_channel.h"

#include <algorithm>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/utf8.h"
#include "mounts/server_process.h"

namespace quire::mounts {
namespace {

// How often, and how far apart, a program that is about to be ended is checked once more: one that
// has closed its output is probably ending by itself.
constexpr int kEndChecks = 25;
constexpr int kEndCheckMs = 2;
constexpr std::size_t kPart = std::size_t{64} << 10;
// The bytes of its standard error that are kept, and those that a message quotes.
constexpr std::size_t kKeptErrors = 2048;
constexpr std::size_t kQuotedErrors = 600;

bool is_readable(int fd) {
    pollfd ready{fd, POLLIN, 0};
    return ::poll(&ready, 1, 0) > 0;
}

}  // namespace

Bell::Bell() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Bell::ring() const {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(fd(), &one, sizeof one));
}

void Bell::silence() const {
    std::uint64_t count = 0;
    static_cast<void>(!::read(fd(), &count, sizeof count));
}

ServerChannel::ServerChannel(process::PipedProgram program, const ServerOptions& options,
                             const Clock& clock)
    : options_(options),
      clock_(clock),
      program_(std::move(program)),
      protocol_(options.version),
      lines_(options.line_bytes) {
    protocol_.open();
}

void ServerChannel::fail(std::string why) {
    if (fault_.empty()) fault_ = std::move(why);
}

bool ServerChannel::allows_noise(std::size_t lines, std::size_t bytes) {
    const std::int64_t now = clock_.steady_ms();
    if (now - noise_since_ms_ >= kNoiseMs) {
        noise_since_ms_ = now;
        noise_lines_ = noise_bytes_ = 0;
    }
    noise_lines_ += lines;
    noise_bytes_ += bytes;
    return noise_lines_ <= options_.noise_lines && noise_bytes_ <= options_.noise_bytes;
}

std::vector<Event> ServerChannel::exchange(const Bell& bell, int wait_ms) {
    std::vector<Event> events;
    rpc::LineQueue& output = protocol_.output();
    // One message may wait while another is being written; more means that the program has stopped
    // reading.
    if (output.bytes() > 2 * options_.line_bytes) {
        fail("it does not read what it is sent");
        return events;
    }
    pollfd ready[] = {
        {bell.fd(), POLLIN, 0},
        {program_.output(), POLLIN, 0},
        {program_.errors(), POLLIN, 0},
        {output.empty() ? -1 : program_.input(), POLLOUT, 0},
    };
    if (::poll(ready, std::size(ready), wait_ms) > 0) {
        if (ready[0].revents != 0) bell.silence();
        if (ready[2].revents != 0) read_errors();
        if (ready[1].revents != 0) read_output(events);
        if (ready[3].revents != 0 &&
            output.write(program_.input(), [](std::string) {}) == rpc::LineQueue::Flow::broken)
            fail("it closed its input");
    }
    // An answer that it wrote before it ended still counts.
    if (program_.has_ended() && !is_readable(program_.output())) fail("it ended");
    return events;
}

void ServerChannel::read_output(std::vector<Event>& events) {
    std::string part(kPart, '\0');
    const ssize_t count = ::read(program_.output(), part.data(), part.size());
    if (count < 0) return;
    if (count == 0) return fail("it closed its output");
    const std::string too_long =
        cat("it wrote a line of more than ", options_.line_bytes, " bytes");
    lines_.feed(
        std::string_view(part).substr(0, static_cast<std::size_t>(count)),
        [&](const std::string& line) { take(line, events); },
        [&](const std::string&) { fail(too_long); });
    if (lines_.is_skipping()) fail(too_long);
}

void ServerChannel::take(std::string_view line, std::vector<Event>& events) {
    // Lines behind a fault are not looked at: the run is over, and its calls are refused as lost.
    if (!fault_.empty()) return;
    for (Event& event : protocol_.take(line)) {
        const bool is_noise =
            std::holds_alternative<Noise>(event) || std::holds_alternative<Changed>(event);
        if (is_noise && !allows_noise(1, line.size()))
            return fail("it floods its output with what nobody asked for");
        if (const auto* broken = std::get_if<Broken>(&event)) fail(broken->why);
        events.push_back(std::move(event));
    }
}

void ServerChannel::read_errors() {
    std::string part(kPart, '\0');
    const ssize_t count = ::read(program_.errors(), part.data(), part.size());
    if (count == 0) program_.close_errors();
    if (count <= 0) return;
    errors_.append(part, 0, static_cast<std::size_t>(count));
    if (errors_.size() > kKeptErrors) errors_.erase(0, errors_.size() - kKeptErrors);
    if (!allows_noise(0, static_cast<std::size_t>(count))) fail("it floods its standard error");
}

std::string ServerChannel::last_words() const {
    std::string_view text = errors_;
    text.remove_prefix(text.size() - std::min(text.size(), kQuotedErrors));
    // The cut may be within a character.
    while (!text.empty() && !utf8::is_boundary(text.front())) text.remove_prefix(1);
    while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    return text.empty() ? "" : cat("; it said: ", visible(text, kQuotedErrors));
}

std::string ServerChannel::end(std::int64_t patience_ms) {
    // Its last complaints may still be in the pipe.
    while (program_.errors() >= 0 && errors_.size() < kKeptErrors && is_readable(program_.errors()))
        read_errors();
    for (int check = 0; check < kEndChecks && !program_.has_ended(); ++check)
        ::poll(nullptr, 0, kEndCheckMs);
    // How it ended says something only if it did so by itself.
    const bool ended = program_.has_ended();
    const std::string how = program_.end(patience_ms, clock_);
    return cat(fault_, ended ? cat(" (", how, ")") : std::string(), last_words());
}

}  // namespace quire::mounts
