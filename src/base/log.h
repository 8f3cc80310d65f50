// The program's log. Standard output carries protocols only, so logs go to stderr or, in a
// background kernel, to .quire/kernel.log.
#pragma once

#include <string_view>

namespace quire {

// In ascending weight.
enum class LogLevel { debug, info, warning, error };

// The place where log lines go.
class LogSink {
public:
    virtual ~LogSink() = default;
    // Writes one line. Any thread. `line` has no newline; the sink adds the time and the level as
    // its place wants them. It has no newline at its end: the sink ends the line, and shows the
    // level as its place does.
    virtual void write(LogLevel level, std::string_view line) = 0;
};

}  // namespace quire
