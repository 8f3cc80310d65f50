// Sources start side by side, each in its own time. One that cannot feed its blocks says why in a
// sentence, and the others go on.
#include "kernel/core/sources.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "base/concat.h"
#include "sched/guarded.h"

namespace quire::kernel {

void Sources::start(Reply<std::vector<std::string>> reply) {
    struct Starting {
        sched::Guarded<std::pair<std::size_t, std::vector<std::string>>> left;
        Reply<std::vector<std::string>> reply;
    };
    const auto starting = std::make_shared<Starting>();
    starting->reply = std::move(reply);
    // One more than there are sources: none that answers at once can end the count before all are
    // started.
    starting->left.with([&](auto& left) { left.first = all_.size() + 1; });
    const auto one_started = [starting](Result<std::string> why) {
        const auto all = starting->left.with([&](auto& left) {
            std::string sentence = why ? std::move(*why) : why.error().message();
            if (!sentence.empty()) left.second.push_back(std::move(sentence));
            return std::pair(--left.first == 0, left.second);
        });
        if (all.first) starting->reply(all.second);
    };
    for (Source* const source : all_) source->start_watch(one_started);
    one_started(std::string());
}

void Sources::stop() {
    for (Source* const source : all_) source->stop_watch();
}

Source* Sources::of(const std::string& address) const {
    const auto it =
        std::ranges::find_if(all_, [&](const Source* source) { return source->matches(address); });
    return it != all_.end() ? *it : nullptr;
}

void Sources::run(const Caller& by, const std::string& name, Reply<std::string> reply) const {
    for (Source* const source : all_) {
        // The name may be an id or an address: the first source that it fits either way is taken.
        std::string id = source->spec().source_id;
        if (id != name && !source->matches(name)) continue;
        return source->reconcile(
            by, [id = std::move(id), reply = std::move(reply)](Result<void> done) mutable {
                if (!done) return reply(Failure(std::move(done).error()));
                reply(std::move(id));
            });
    }
    reply(fail(Errc::not_found, "unknown_source",
               cat("there is no source '", name,
                   "' here; quire sources lists those there are, and quire.toml has a "
                   "[sources.NAME] for each that feeds memory")));
}

}  // namespace quire::kernel
