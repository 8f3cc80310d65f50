// Guarded<T>: a T that is only reached with its lock held, for the few things no strand owns.
#pragma once

#include <mutex>
#include <utility>

namespace quire::sched {

template <class T>
class Guarded {
public:
    Guarded() = default;
    explicit Guarded(T value) : value_(std::move(value)) {}

    // use(T&) under the lock; do not call out of the house from inside.
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
