#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace quire {

// Standard error may be a pipe or a file with a buffer of its own, so it is flushed before the
// abort.
void check_failed(const char* file, int line, const char* what) {
    std::fprintf(stderr, "%s:%d: CHECK failed: %s\n", file, line, what);
    std::fflush(stderr);
    std::abort();
}

}  // namespace quire
