#include "kernel/core/doorway.h"

#include "base/check.h"

namespace quire::kernel {

void Doorway::hold() {
    CHECK(!held_);
    held_ = true;
}

void Doorway::release() {
    CHECK(held_);
    held_ = false;
    // A call that is let in may hold the document at once. The rest then stays in the queue, in its
    // order, until the next release.
    while (!held_ && !entering_.empty()) {
        Function<void()> task = std::move(entering_.front());
        entering_.pop_front();
        task();
    }
}

}  // namespace quire::kernel
