// Answers of the commands' protocol: how a reply of the kernel becomes one.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "base/function.h"
#include "base/value.h"
#include "policy/actor.h"
#include "rpc/in_flight.h"
#include "rpc/jsonrpc.h"

namespace quire::server {

// A kernel's error as a JSON-RPC error: its message as the message, and {code, reason, message,
// details} as data, from which rpc::response_error() makes the same Error again.
inline void answer_error(const rpc::Answer& answer, const Error& error) {
    const Value body = rpc::error_value(error);
    answer.error({rpc::Code::internal_error, error.message(), body.as_map()});
}

// The reply to a call: its error, or what `map_of` makes of its value. For a call without a value
// map_of() takes nothing. It keeps a copy of the answer, so it may be called after the session is
// gone; it is called once, on the thread of the kernel that has the result.
template <class T, class MapOf>
Reply<T> replying(const rpc::Answer& answer, MapOf map_of) {
    return [answer, map_of = std::move(map_of)](Result<T> done) mutable {
        if (!done) return answer_error(answer, done.error());
        if constexpr (std::is_void_v<T>) {
            answer.result(map_of());
        } else {
            answer.result(map_of(std::move(*done)));
        }
    };
}

// An actor by name; "" is none. Errors: those of Actor::parse().
inline Result<std::optional<policy::Actor>> actor_named(const std::string& name) {
    if (name.empty()) return std::nullopt;
    return TRY(policy::Actor::parse(name));
}

}  // namespace quire::server
