// How much a container holds, and the refusals that several kinds of container share.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/concat.h"
#include "base/result.h"

namespace quire::crdt {

inline constexpr std::uint32_t kMaxSize = 1'073'741'822;  // Loro's bound on positions.

inline Failure too_large() {
    return fail(Errc::out_of_range, "too_large",
                cat("a container holds at most ", kMaxSize, " entities; nothing was changed"));
}

inline Failure beyond(std::size_t position, std::size_t size) {
    return fail(Errc::out_of_range, "out_of_bound",
                cat("position ", position, " lies beyond the end, which is ", size,
                    "; nothing was changed"));
}

inline Failure before_start(std::string_view what) {
    return fail(Errc::unsupported, "shallow_snapshot",
                cat(what,
                    " lies before the start of this shallow document's history, or beside it; "
                    "nothing was changed"));
}

inline Failure unknown_style(std::string_view key) {
    return invalid("unknown_style_key",
                   cat("no style `", key,
                       "` is configured, and there is no default for styles that are not; "
                       "nothing was changed"));
}

}  // namespace quire::crdt
