// The program's log. Standard output carries protocols only, so logs go to stderr or, in a
// background kernel, to .quire/kernel.log.
#pragma once

#include <string_view>

namespace quire {

enum class LogLevel { debug, info, warning, error };

// The place where log lines go.
class LogSink {
public:
    virtual ~LogSink() = default;
    // Writes one line. Any thread.
    virtual void write(LogLevel level, std::string_view line) = 0;
};

}  // namespace quire
