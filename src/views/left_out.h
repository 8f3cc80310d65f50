// LeftOut: a file that a survey or a sync could not take.
#pragma once

#include <string>

namespace quire::views {

// A file that is left out. A land stops where one of them is busy; any other is reported, and the
// rest is brought.
struct LeftOut {
    std::string path;
    std::string why;
    bool is_busy = false;  // It is being written.
};

}  // namespace quire::views
