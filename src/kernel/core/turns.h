// Turns: calls with one token run one after another, whatever else they name. A turn is in memory
// only. It keeps a retry from running beside the first call; what a token made is known from the
// store (Core::once()).
#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>

#include "base/function.h"
#include "sched/guarded.h"

namespace quire::kernel {

// Any thread. A token is an actor and what that actor made up, so that actors never wait for each
// other.
class Turns {
public:
    using Token = std::pair<std::string, std::string>;

    // Runs `call` once no other call with the token is under way. end() ends its turn.
    void take(const Token& token, Function<void()> call);
    // Runs the next call that waits, on this thread.
    void end(const Token& token);

private:
    // Each entry is a call under way, with those that wait for it.
    using Waiting = std::map<Token, std::deque<Function<void()>>>;
    sched::Guarded<Waiting> waiting_;
};

}  // namespace quire::kernel
