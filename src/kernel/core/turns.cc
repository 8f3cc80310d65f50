// An entry of the map is a turn that is taken. Calls run outside the lock, because they may end at
// once and thereby run the next one, on the same thread.
#include "kernel/core/turns.h"

namespace quire::kernel {

void Turns::take(const Token& token, Function<void()> call) {
    const bool mine = waiting_.with([&](Waiting& waiting) {
        const auto [at, free] = waiting.try_emplace(token);
        if (!free) at->second.push_back(std::move(call));
        return free;
    });
    if (mine) call();
}

void Turns::end(const Token& token) {
    Function<void()> next = waiting_.with([&](Waiting& waiting) -> Function<void()> {
        const auto at = waiting.find(token);
        if (!at->second.empty()) {
            Function<void()> call = std::move(at->second.front());
            at->second.pop_front();
            return call;
        }
        waiting.erase(at);
        return {};
    });
    if (next) next();
}

}  // namespace quire::kernel
