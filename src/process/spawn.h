// Spawn: one program run to its end, bounded in time and in what is kept of its output. Nothing of
// it is interpreted by a shell. It has no input, an environment of its own, and its own process
// group: when it ends, or is ended, everything in the group is killed; it itself also when the
// thread that runs it ends with its process.
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

struct Program {
    std::vector<std::string> arguments;    // The program first, looked for in PATH without a '/'.
    std::string directory;                 // Where it runs.
    std::vector<std::string> environment;  // NAME=value; all of it.
    std::optional<Confinement> confinement = {};
};

struct Bounds {
    std::int64_t timeout_ms = 60'000;
    std::size_t output_bytes = std::size_t{1} << 20;  // What comes beyond is read, and dropped.
};

struct Ended {
    std::string output;  // What it wrote to standard output and standard error, as it came.
    int exit_code = -1;  // -1 where a signal ended it.
    bool timed_out = false;
    bool stopped = false;    // The token asked for it.
    bool truncated = false;  // Some of its output was dropped.
};

// Where a program that is named without a '/' stands: the first of PATH, whose relative parts begin
// at `directory`, that may be run; `name` where there is none, or where it has a '/'.
std::string found_in_path(const std::string& name, const std::string& directory);

// Blocks until it has ended. Errors: not_found "program_not_found" {program}; unavailable
// "cannot_run" {program} for any other reason why it did not begin; those of Cage::make().
Result<Ended> run_program(const Program& program, const Bounds& bounds, Clock& clock,
                          const std::stop_token& stop);

}  // namespace quire::process
