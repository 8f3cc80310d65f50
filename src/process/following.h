// Following: somebody looks at a program while it runs, and may send it signals.
#pragma once

#include <string_view>

#include "base/function.h"

namespace quire::process {

// Called by the thread that runs the program. Each of them is set, and returns soon.
struct Following {
    // The program has begun. Once, before the others.
    Function<void()> began;
    // It wrote these bytes, to either stream.
    Function<void(std::string_view)> wrote;
    // Some 10 times a second. Returns a signal to send to the program and to all that it started, or 0.
    Function<int()> turn;
};

}  // namespace quire::process
