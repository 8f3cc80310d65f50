// Function<R(A...)>: a callable that can own objects that cannot be copied, like
// std::move_only_function, which C++20 lacks. Reply<T>: the receiver of a call's answer, called
// exactly once.
#pragma once

#include <memory>
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
    Function(std::nullptr_t) {}  // NOLINT(google-explicit-constructor)

    template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, Function> &&
             std::is_invocable_r_v<R, std::remove_cvref_t<F>&, A...>)
        Function(F&& callable)  // NOLINT(google-explicit-constructor)
        : body_(new Holder<std::remove_cvref_t<F>>(std::forward<F>(callable))) {}

    // Calls the callable. Requires that there is one.
    R operator()(A... args) { return body_->call(std::forward<A>(args)...); }
    explicit operator bool() const { return body_ != nullptr; }

private:
    struct Body {
        virtual ~Body() = default;
        virtual R call(A... args) = 0;
    };
    // The program has hundreds of closures, and each has a Holder of its own. So a Holder needs no
    // other template: std::make_unique and std::invoke would add some twenty functions to each.
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
    std::unique_ptr<Body> body_;
};

// The receiver of an answer. Whoever holds it must call it, with the result or an error.
template <class T>
using Reply = Function<void(Result<T>)>;

}  // namespace quire
