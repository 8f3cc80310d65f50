// Result and Error: how anything that comes from outside fails.
//
// An Error says what its caller can do (`code`), what happened, as a stable word for programs to
// compare (`reason`), what a reader should do next (`message`), and the facts behind it (`details`,
// a map that doors pass on verbatim). It is one pointer wide, so a Result<int> stays small. The
// words of the codes are printed by name_of() of base/enum_words.h.
//
//     Result<Block> find(const BlockId& id);             // declared with its codes and reasons
//     const Block block = TRY(find(id));                 // pass an error on to our caller
//     if (const auto found = find(id)) show(*found);     // or look at it here
//     return fail(Errc::not_found, "no_such_block", "it does not exist");
//
// A function that can fail for a reason outside of the program says so in its type. A broken
// promise of our own is no error but a CHECK (base/check.h).
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

#include "base/value.h"

namespace quire {

// The kinds of errors, by what a caller can do about them. Their words reach clients and never
// change. The codes are few and general; the reason tells the case.
enum class Errc {
    invalid_argument,     // The call cannot succeed as it stands, whatever the state.
    not_found,            // The named thing does not exist.
    conflict,             // The state is not what the caller believed; read and try again.
    denied,               // This actor may not do this.
    escalation_required,  // It may, once a person has approved.
    out_of_range,         // A position or size beyond what is there or allowed.
    corrupt,              // Bytes that are not what they claim to be; nothing was changed.
    unsupported,          // Not something this program does.
    unavailable,          // Not now: try again, or see the message.
};

constexpr auto words_of(Errc) {
    return std::to_array<std::string_view>({"invalid_argument", "not_found", "conflict", "denied",
                                            "escalation_required", "out_of_range", "corrupt",
                                            "unsupported", "unavailable"});
}

// One error. Moving is cheap; copying copies all its parts. An Error that was moved from has no
// parts: it can only be assigned to or destroyed.
class [[nodiscard]] Error {
public:
    // `reason` is one word in snake_case, stable as long as programs compare it. `message` is a
    // sentence for people and models, and may change.
    Error(Errc code, std::string reason, std::string message, Map details = {});
    Error(const Error& other);
    Error(Error&&) noexcept = default;
    Error& operator=(const Error& other);
    Error& operator=(Error&&) noexcept = default;
    ~Error() = default;

    Errc code() const { return body_->code; }
    const std::string& reason() const { return body_->reason; }
    const std::string& message() const { return body_->message; }
    // Facts that the message speaks of, such as {path} or {line}.
    const Map& details() const { return body_->details; }
    Map& details() { return body_->details; }
    // A copy of the error with `context` and ": " before its message. Code, reason and details
    // stay, so that callers go on to see the same error.
    Error within(std::string_view context) &&;

private:
    // On the heap, so that a Result costs a pointer beside its value; errors are rare and may
    // allocate.
    struct Body {
        Errc code;
        std::string reason;
        std::string message;
        Map details;
    };
    std::unique_ptr<Body> body_;
};

// The value, or the Error. A Failure is the failed half, as a function returns it.
template <class T>
using Result = tl::expected<T, Error>;

using Failure = tl::unexpected<Error>;

// fail(Errc::not_found, "no_such_block", "…") is what a failing function returns. `details` become
// the error's, as they are.
Failure fail(Errc code, std::string reason, std::string message, Map details = {});

// The two most frequent codes. The reason of corrupt() is the code's own name. Bytes that came from
// outside give corrupt(); a state that only a fault of ours explains is a CHECK.
Failure invalid(std::string reason, std::string message, Map details = {});
Failure corrupt(std::string message, Map details = {});

}  // namespace quire

// TRY(expr): the value of a Result, or return its error from this function. Any tl::expected will
// do whose error converts to an Error. It is a statement expression: for g++ and clang alone. The
// expression is evaluated once. Its value is moved out, so TRY(f()) gives an object and not a
// reference; a Result<void> gives nothing. The function that uses it must return a Result.
#define TRY(...)                                                          \
    __extension__({                                                       \
        auto quire_try_result = (__VA_ARGS__);                            \
        if (!quire_try_result) [[unlikely]]                               \
            return ::quire::Failure(std::move(quire_try_result).error()); \
        ::quire::detail::take(quire_try_result);                          \
    })

namespace quire::detail {
template <class T, class E>
T take(tl::expected<T, E>& result) {
    if constexpr (!std::is_void_v<T>) return std::move(*result);
}
}  // namespace quire::detail
