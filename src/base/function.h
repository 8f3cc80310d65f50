// Function<R(A...)>: a callable that can own objects that cannot be copied, like
// std::move_only_function, which C++20 lacks. Reply<T>: the receiver of a call's answer, called
// exactly once.
//
// Unlike std::function it is moved and never copied, so a lambda may own a file, a lock or another
// Function. One allocation for each callable, none for an empty one.
#pragma once

#include <type_traits>
#include <utility>

#include "base/result.h"

namespace quire {

template <class Signature>
class Function;

template <class R, class... A>
class Function<R(A...)> {
public:
    Function() = default;
    // Empty, as is a Function that was moved from. Assigning nullptr destroys the callable.
    Function(std::nullptr_t) {}  // NOLINT(google-explicit-constructor)

    template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, Function> &&
             requires(std::remove_cvref_t<F> & f, A... args) { f(std::forward<A>(args)...); })
        Function(F&& callable)  // NOLINT(google-explicit-constructor)
        : body_(new Holder<std::remove_cvref_t<F>>(std::forward<F>(callable))) {}
    Function(Function&& from) noexcept : body_(std::exchange(from.body_, nullptr)) {}
    // Swapped first, then cleared: the old callable is destroyed while this object already is the
    // new one, so destroying it may use this Function. Assigning to itself keeps the callable.
    Function& operator=(Function&& from) noexcept {
        std::swap(body_, from.body_);
        if (this != &from) from.clear();
        return *this;
    }
    ~Function() { clear(); }

    // Calls the callable. Requires that there is one. It is not const, because the callable may
    // change what it owns. The callable may be called again, unless it says otherwise.
    R operator()(A... args) { return body_->call(std::forward<A>(args)...); }
    explicit operator bool() const { return body_ != nullptr; }

private:
    struct Body {
        virtual ~Body() = default;
        virtual R call(A... args) = 0;
    };
    // The program has hundreds of closures, and each has a Holder of its own. So a Holder needs no
    // other template: std::unique_ptr and std::invoke would add some twenty functions to each. The
    // virtual destructor is how the callable's own type is found again when it ends.
    template <class F>
    struct Holder final : Body {
        explicit Holder(F&& f) : callable(std::move(f)) {}
        explicit Holder(const F& f) : callable(f) {}
        R call(A... args) override {
            if constexpr (std::is_void_v<R>) {
                callable(std::forward<A>(args)...);
            } else {
                return callable(std::forward<A>(args)...);
            }
        }
        F callable;
    };
    void clear() { delete std::exchange(body_, nullptr); }

    Body* body_ = nullptr;
};

// The receiver of an answer. Whoever holds it must call it, with the result or an error. A receiver
// that is destroyed uncalled leaves its caller waiting.
template <class T>
using Reply = Function<void(Result<T>)>;

}  // namespace quire
