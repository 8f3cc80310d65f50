#include "server/process_state.h"

#include <fstream>

#include "base/concat.h"

namespace quire::server {

// The state follows the program's name, which is in brackets and may hold any character.
bool is_stopped(int pid) {
    std::ifstream in(cat("/proc/", pid, "/stat"));
    std::string text;
    if (!std::getline(in, text)) return false;
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos || name_end + 2 >= text.size()) return false;
    const char state = text[name_end + 2];
    return state == 'T' || state == 't';
}

std::string advice_about(int pid) {
    if (pid <= 0) return "End it, then try again";
    if (is_stopped(pid)) return cat("It is stopped: kill -CONT ", pid, " lets it go on");
    return cat("If that lasts, kill ", pid, " ends it, and kill -KILL ", pid,
               " without waiting for it; nothing that was acknowledged is lost");
}

}  // namespace quire::server
