// Subscribers: who asked to be told what, and what they have yet to be told.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "crdt/doc/events.h"
#include "crdt/history/oplog.h"

namespace quire::crdt {

class Subscribers {
public:
    struct EventCallback {
        std::optional<ContainerIndex> only;  // It and what is below it.
        OnEvent call;
    };
    using Callback = std::variant<EventCallback, OnLocalUpdate, OnPreCommit>;

    std::uint64_t add(Callback callback);
    void remove(std::uint64_t token) { callbacks_.erase(token); }
    template <class Kind>
    bool any() const {
        for (const auto& [token, callback] : callbacks_) {
            if (std::holds_alternative<Kind>(*callback)) return true;
        }
        return false;
    }

    using News = std::variant<Event, std::vector<Change>>;
    void tell(PreCommit& commit);
    // Tells everybody, or, while somebody is being told something, remembers it for afterwards.
    // `is_below(container, only)` tells whether a container is `only` or below it.
    template <class IsBelow>
    void tell(News news, IsBelow is_below);

private:
    template <class Kind, class Call>
    void for_each(Call call);

    // Oldest first. Shared, so that one may unsubscribe itself while it runs.
    std::map<std::uint64_t, std::shared_ptr<Callback>> callbacks_;
    std::uint64_t next_ = 1;
    std::deque<News> queue_;
    bool telling_ = false;
};

// Those who subscribe meanwhile are not called, nor those who unsubscribed.
template <class Kind, class Call>
void Subscribers::for_each(Call call) {
    std::vector<std::uint64_t> tokens;
    for (const auto& [token, callback] : callbacks_) {
        if (std::holds_alternative<Kind>(*callback)) tokens.push_back(token);
    }
    for (const std::uint64_t token : tokens) {
        const auto at = callbacks_.find(token);
        if (at == callbacks_.end()) continue;
        const std::shared_ptr<Callback> callback = at->second;
        call(std::get<Kind>(*callback));
    }
}

template <class IsBelow>
void Subscribers::tell(News news, IsBelow is_below) {
    queue_.push_back(std::move(news));
    if (telling_) return;
    // The next act is told again, whatever a callback throws.
    struct Telling {
        bool& flag;
        explicit Telling(bool& f) : flag(f) { flag = true; }
        Telling(const Telling&) = delete;
        Telling& operator=(const Telling&) = delete;
        ~Telling() { flag = false; }
    } telling(telling_);
    while (!queue_.empty()) {
        const News next = std::move(queue_.front());
        queue_.pop_front();
        if (const auto* changes = std::get_if<std::vector<Change>>(&next)) {
            for_each<OnLocalUpdate>([&](OnLocalUpdate& callback) { callback(*changes); });
            continue;
        }
        const Event& event = std::get<Event>(next);
        for_each<EventCallback>([&](EventCallback& callback) {
            if (!callback.only) return callback.call(event);
            Event part = event;
            std::erase_if(part.diffs, [&](const ContainerDiff& diff) {
                return !is_below(diff.container, *callback.only);
            });
            if (!part.diffs.empty()) callback.call(part);
        });
    }
}

}  // namespace quire::crdt
