// The program's log. Standard output carries protocols only, so logs go to stderr or, in a
// background kernel, to .quire/kernel.log.
#pragma once

#include <string_view>

namespace quire {

enum class LogLevel { debug, info, warning, error };

class LogSink {
public:
    virtual ~LogSink() = default;
    // May be called from any thread; one line a call.
    virtual void write(LogLevel level, std::string_view line) = 0;
};

}  // namespace quire
