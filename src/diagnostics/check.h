// One check: a unit given to the tool, and what came of it.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "diagnostics/compile_commands.h"
#include "diagnostics/findings.h"

namespace quire {
class Clock;
}

namespace quire::diagnostics {

// The state of a file at one look. Equal stamps are taken for equal bytes.
struct InputStamp {
    std::int64_t modified_ns = -1;
    std::int64_t size = -1;  // -1: there was none.
    friend bool operator==(const InputStamp&, const InputStamp&) = default;
};
// Follows links. One system call.
InputStamp stamp_of(const std::string& path);

// The outcome of one check. It is kept as long as its inputs are as they were, so it holds no more
// than the feed shows.
struct Checked {
    std::vector<Finding> findings;
    // The files of the project that it read, and those that it looked for, by path.
    std::vector<std::pair<std::string, InputStamp>> inputs;
    std::string problem;  // Why it could not be checked; "" where it was.
};

struct CheckTool {
    std::string root;      // Absolute.
    std::string program;   // "" for the compiler of each unit.
    std::string database;  // The directory of compile_commands.json, for clang-tidy.
    std::int64_t timeout_ms = 0;
    // Paths that the tool may write beside the output file of the check. It can write nothing
    // else, and cannot read .quire/ (process/confine.h).
    std::vector<std::string> writable = {};
    std::string tidy_config = {};  // The file that clang-tidy goes by; "" for none.
    bool is_tidy() const;
};

// Returns none where it was stopped. Blocks as long as the tool runs. `scratch`: the name of a file that is
// this check's alone; it is there as long as this runs.
std::optional<Checked> check_unit(const CompileUnit& unit, const CheckTool& tool,
                                  const std::string& scratch, Clock& clock,
                                  const std::stop_token& stop);

}  // namespace quire::diagnostics
