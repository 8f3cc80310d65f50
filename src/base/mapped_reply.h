// mapped(): a receiver of one kind of answer that passes on another, which a function makes of it.
// Errors pass unchanged.
#pragma once

#include <utility>

#include "base/function.h"

namespace quire {

// `map` is a plain function and not a closure, which keeps the number of closure types small. It
// runs on the thread that answers.
template <class To, class From>
Reply<From> mapped(Reply<To> reply, To (*map)(From&&)) {
    return [reply = std::move(reply), map](Result<From> from) mutable {
        if (!from) return reply(Failure(std::move(from).error()));
        reply(map(std::move(*from)));
    };
}

}  // namespace quire
