#include "base/clock.h"

#include <chrono>

#include <sys/random.h>

#include "base/check.h"

namespace quire {

std::int64_t SystemClock::wall_ms() const {
    using namespace std::chrono;
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::int64_t SystemClock::steady_ms() const {
    using namespace std::chrono;
    return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

// Eight bytes come whole or not at all: getrandom() does not cut a request this short. Without
// entropy no peer id would be safe to use, so a failure stops the process.
std::uint64_t SystemRng::next() {
    std::uint64_t value = 0;
    CHECK(getrandom(&value, sizeof value, 0) == sizeof value);
    return value;
}

}  // namespace quire
