// One thread runs the whole conversation with the program, in slices of kSliceMs: it feeds the
// input, drains the outputs, and looks for the end, the deadline and the stop token. Output beyond
// the limit is read and dropped, since a full pipe would stop the program. However the run ends,
// its process group is killed before the function returns; what the program left running does not
// outlive it.
#include "process/spawn.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/following.h"
#include "process/start.h"

namespace quire::process {
namespace {

// The longest wait for output, and so the delay with which a stop or an end is noticed.
constexpr int kSliceMs = 50;
// The shorter delay once the program has closed its output, as it does when it ends.
constexpr int kAfterEndMs = 2;

// An output stream of the program, and what was read from it.
struct Stream {
    Descriptor ours = Descriptor(-1);
    std::string* kept = nullptr;
    Following* following = nullptr;

    // Reads what is available, and closes the stream once there will be no more.
    void read_some(std::size_t limit, bool& truncated) {
        char buffer[16384];
        for (;;) {
            const ssize_t count = ::read(ours.get(), buffer, sizeof buffer);
            if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
            if (count <= 0) return ours.close();
            const auto size = static_cast<std::size_t>(count);
            if (following != nullptr) {
                following->wrote({buffer, size});
                continue;
            }
            const std::size_t part = std::min(size, limit - std::min(limit, kept->size()));
            kept->append(buffer, part);
            truncated |= part < size;
        }
    }
};

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

// One loop writes input, reads output, looks for the end, and watches the clock and the stop token.
Result<Ended> run_program(const Program& program, const Bounds& bounds, Clock& clock,
                          const std::stop_token& stop, Following* following) {
    // A pipe that is not needed is a Pipe of -1, one that the system refused is none.
    std::optional<Pipe> input = program.input.empty() ? Pipe() : make_pipe(false);
    std::optional<Pipe> output = make_pipe(true);
    std::optional<Pipe> errors = bounds.errors_apart ? make_pipe(true) : Pipe();
    if (program.arguments.empty() || !input || !output || !errors)
        return fail(Errc::unavailable, "cannot_run", "there is nothing to run, or no pipe for it");
    std::optional<Cage> cage;
    if (program.confinement) cage = TRY(Cage::make(*program.confinement));
    pid_t child = -1;
    const int complaints = (bounds.errors_apart ? errors : output)->theirs.get();
    const Start start(program, {input->theirs.get(), output->theirs.get(), complaints},
                      cage ? &*cage : nullptr);
    if (const int error = start.spawn(child); error != 0) return cannot_run(program, error);
    for (auto* const pipe : {&input, &output, &errors}) (*pipe)->theirs.close();

    Ended ended;
    Stream streams[] = {{std::move(output->ours), &ended.output, following},
                        {std::move(errors->ours), &ended.errors, following}};
    if (following != nullptr) following->began();
    std::string_view rest = program.input;
    const auto is_open = [&] { return streams[0].ours.get() >= 0 || streams[1].ours.get() >= 0; };
    const auto read_all = [&] {
        for (Stream& stream : streams) {
            if (stream.ours.get() >= 0) stream.read_some(bounds.output_bytes, ended.truncated);
        }
    };
    const std::int64_t deadline = clock.steady_ms() + bounds.timeout_ms;
    while (!has_ended(child)) {
        // A closed descriptor is -1, which poll() passes over.
        pollfd ready_now[] = {{streams[0].ours.get(), POLLIN, 0},
                              {streams[1].ours.get(), POLLIN, 0},
                              {input->ours.get(), POLLOUT, 0}};
        if (::poll(ready_now, 3, is_open() ? kSliceMs : kAfterEndMs) > 0) {
            read_all();
            if (ready_now[2].revents != 0) write_some(input->ours, rest);
        }
        ended.stopped = stop.stop_requested();
        ended.timed_out = !ended.stopped && clock.steady_ms() >= deadline;
        if (ended.stopped || ended.timed_out) break;
        const int signal = following == nullptr ? 0 : following->turn();
        if (signal != 0) ::kill(-child, signal);
    }
    // The pipes may still hold what was written right before the end.
    const int status = kill_group(child);
    read_all();
    ended.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ended;
}

}  // namespace quire::process
