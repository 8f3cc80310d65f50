// Spawn: runs one program to its end, with limits on its time and its kept output. No shell
// interprets anything. The program has an environment of its own, and its own process group: when
// it ends or is ended, everything in the group is killed. The program is also killed when the
// thread that runs it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "process/confine.h"

namespace quire::process {

struct Following;

// A program to run.
struct Program {
    // The program first; without a '/' it is searched in PATH.
    std::vector<std::string> arguments;
    std::string directory;                 // The working directory.
    std::vector<std::string> environment;  // NAME=value; complete.
    std::optional<Confinement> confinement = {};
    // All that the program can read from its standard input. SIGPIPE is ignored where it is not empty.
    std::string input = {};
};

// The limits of one run.
struct Bounds {
    std::int64_t timeout_ms = 60'000;
    std::size_t output_bytes = std::size_t{1} << 20;  // Output beyond this is read and dropped.
    bool errors_apart = false;  // Standard error goes to Ended::errors, within the same limit.
};

// The outcome of a run.
struct Ended {
    std::string output;  // Standard output and standard error in order of arrival.
    std::string errors;  // Standard error, where it is kept apart.
    int exit_code = -1;  // -1 if a signal ended it.
    bool timed_out = false;
    bool stopped = false;    // The stop token requested the end.
    bool truncated = false;  // Some output was dropped.
};

// The path of a program named without '/': the first executable of that name in PATH, whose
// relative parts begin at `directory`; `name` itself if there is none, or if it has a '/'.
std::string found_in_path(const std::string& name, const std::string& directory);

// Blocks until the program has ended. `following` may be null: it gets the output, of which nothing is
// kept. Errors: not_found "program_not_found"
// {program}; unavailable "cannot_run" {program} if it could not begin for another reason; those of
// Cage::make().
Result<Ended> run_program(const Program& program, const Bounds& bounds, Clock& clock,
                          const std::stop_token& stop, Following* following = nullptr);

}  // namespace quire::process
