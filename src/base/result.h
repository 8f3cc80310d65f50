// Result and Error: how anything that comes from outside fails.
//
// An Error says what its caller can do (`code`), what happened as a stable word that programs
// compare
// (`reason`), what a reader should do next (`message`), and the facts behind it (`details`, a map
// that doors pass on verbatim). It is one pointer wide, so a Result<int> stays small.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

#include "base/value.h"

namespace quire {

enum class Errc {
    invalid_argument,     // The call cannot succeed as it stands, whatever the state.
    not_found,            // What it names is not there.
    conflict,             // The state is not what the caller believed; read and try again.
    denied,               // This actor may not do this.
    escalation_required,  // It may, once a person has approved.
    out_of_range,         // A position or size beyond what is there or allowed.
    corrupt,              // Bytes that are not what they claim to be; nothing was changed.
    unsupported,          // Not something this program does.
    unavailable,          // Not now: try again, or see the message.
};

std::string_view errc_name(Errc code);

class [[nodiscard]] Error {
public:
    Error(Errc code, std::string reason, std::string message, Map details = {});
    Error(const Error& other);
    Error(Error&&) noexcept = default;
    Error& operator=(const Error& other);
    Error& operator=(Error&&) noexcept = default;
    ~Error() = default;

    Errc code() const { return body_->code; }
    const std::string& reason() const { return body_->reason; }
    const std::string& message() const { return body_->message; }
    const Map& details() const { return body_->details; }
    Map& details() { return body_->details; }
    // The same error with `context` and ": " before its message.
    Error within(std::string_view context) &&;

private:
    struct Body {
        Errc code;
        std::string reason;
        std::string message;
        Map details;
    };
    std::unique_ptr<Body> body_;
};

template <class T>
using Result = tl::expected<T, Error>;

using Failure = tl::unexpected<Error>;

// fail(Errc::not_found, "no_such_block", "…") is what a function that returns a Result returns.
Failure fail(Errc code, std::string reason, std::string message, Map details = {});

// The shapes met most often; the reason defaults to the code's own name.
Failure invalid(std::string reason, std::string message, Map details = {});
Failure corrupt(std::string message, Map details = {});

}  // namespace quire

// TRY(expr): the value of a Result, or return its error from this function.
#define TRY(...)                                                          \
    __extension__({                                                       \
        auto quire_try_result = (__VA_ARGS__);                            \
        if (!quire_try_result) [[unlikely]]                               \
            return ::quire::Failure(std::move(quire_try_result).error()); \
        ::quire::detail::take(quire_try_result);                          \
    })

namespace quire::detail {
template <class T>
T take(tl::expected<T, Error>& result) {
    if constexpr (!std::is_void_v<T>) return std::move(*result);
}
}  // namespace quire::detail
