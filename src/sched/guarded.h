// Guarded<T>: a T that can be reached only with its lock held, for the few objects that no strand
// owns.
//
// The value is never handed out: a caller passes a function, so no reference to it is left when the
// lock is released. Objects that belong to a strand need none of this.
#pragma once

#include <mutex>
#include <utility>

namespace quire::sched {

template <class T>
class Guarded {
public:
    Guarded() = default;
    explicit Guarded(T value) : value_(std::move(value)) {}

    // Calls use(T&) under the lock. `use` must not call code that may take other locks. Returns
    // what `use` returns, which must not refer to the value.
    template <class F>
    auto with(F&& use) {
        const std::lock_guard lock(mutex_);
        return std::forward<F>(use)(value_);
    }
    template <class F>
    auto with(F&& use) const {
        const std::lock_guard lock(mutex_);
        return std::forward<F>(use)(value_);
    }

private:
    mutable std::mutex mutex_;
    T value_{};
};

}  // namespace quire::sched
