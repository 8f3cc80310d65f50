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

inline void answer_error(const rpc::Answer& answer, const Error& error) {
    const Value body = rpc::error_value(error);
    answer.error({rpc::Code::internal_error, error.message(), body.as_map()});
}

// The reply to a call: its error, or what `map_of` makes of its value.
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

// An actor by name; "" is none.
inline Result<std::optional<policy::Actor>> actor_named(const std::string& name) {
    if (name.empty()) return std::nullopt;
    return TRY(policy::Actor::parse(name));
}

}  // namespace quire::server
