// Following: callbacks for a caller that watches a running program and may send it signals.
#pragma once

#include <string_view>

#include "base/function.h"

namespace quire::process {

// The thread that runs the program calls them. All must be set, and each must return quickly.
struct Following {
    // Called once, when the program has begun, before the other two.
    Function<void()> began;
    // Called with the bytes that the program wrote to either stream.
    Function<void(std::string_view)> wrote;
    // Called about 10 times a second. Returns a signal for the program and everything it started, or 0.
    Function<int()> turn;
};

}  // namespace quire::process
