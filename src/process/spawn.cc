#include "process/spawn.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/start.h"

namespace quire::process {
namespace {

// The longest wait for output, and so the delay with which a stop or an end is noticed.
constexpr int kSliceMs = 50;
// The shorter delay once the program has closed its output, as it does when it ends.
constexpr int kAfterEndMs = 2;

// Reads the available output. False once there will be no more.
bool read_some(int fd, std::size_t limit, Ended& ended) {
    char buffer[16384];
    for (;;) {
        const ssize_t count = ::read(fd, buffer, sizeof buffer);
        if (count < 0) return errno == EINTR || errno == EAGAIN;
        if (count == 0) return false;
        const auto size = static_cast<std::size_t>(count);
        const std::size_t kept = std::min(size, limit - std::min(limit, ended.output.size()));
        ended.output.append(buffer, kept);
        ended.truncated |= kept < size;
    }
}

}  // namespace

// Follows execvp, except that relative parts of PATH begin at the program's own directory.
std::string found_in_path(const std::string& name, const std::string& directory) {
    if (name.find('/') != std::string::npos) return name;
    const char* const path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): never set here.
    std::string_view rest = path == nullptr ? "/usr/bin:/bin" : path;
    for (bool more = true; more;) {
        const std::size_t end = rest.find(':');
        more = end != std::string_view::npos;
        std::string at = std::filesystem::path(directory) / rest.substr(0, end) / name;
        if (::access(at.c_str(), X_OK) == 0) return at;
        if (more) rest.remove_prefix(end + 1);
    }
    return name;
}

// One loop reads output, looks for the end, and watches the clock and the stop token.
Result<Ended> run_program(const Program& program, const Bounds& bounds, Clock& clock,
                          const std::stop_token& stop) {
    int ends[2];
    if (program.arguments.empty() || ::pipe2(ends, O_CLOEXEC) != 0)
        return fail(Errc::unavailable, "cannot_run", "there is nothing to run, or no pipe for it");
    Descriptor reading(ends[0]);
    Descriptor writing(ends[1]);
    static_cast<void>(::fcntl(reading.get(), F_SETFL, O_NONBLOCK));
    std::optional<Cage> cage;
    if (program.confinement) cage = TRY(Cage::make(*program.confinement));
    pid_t child = -1;
    const Start start(program, {-1, writing.get(), writing.get()}, cage ? &*cage : nullptr);
    if (const int error = start.spawn(child); error != 0) return cannot_run(program, error);
    writing.close();

    Ended ended;
    bool more = true;
    const std::int64_t deadline = clock.steady_ms() + bounds.timeout_ms;
    while (!has_ended(child)) {
        pollfd ready{reading.get(), POLLIN, 0};
        if (::poll(&ready, more ? 1 : 0, more ? kSliceMs : kAfterEndMs) > 0)
            more = read_some(reading.get(), bounds.output_bytes, ended);
        ended.stopped = stop.stop_requested();
        ended.timed_out = !ended.stopped && clock.steady_ms() >= deadline;
        if (ended.stopped || ended.timed_out) break;
    }
    const int status = kill_group(child);
    if (more) read_some(reading.get(), bounds.output_bytes, ended);
    ended.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ended;
}

}  // namespace quire::process
