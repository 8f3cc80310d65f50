// Documents ask is_watched() before they capture anything, so a workspace without subscribers pays
// one look under a lock for each change. Steps of all documents pass through one strand, which
// keeps those of one document in their order; comparing their texts there keeps that work off the
// documents' strands.
#include "kernel/core/block_feed.h"

#include <utility>

#include "kernel/core/oversight.h"

namespace quire::kernel {

// A listener's share in the counts. It owns the counts together with the feed, because a subscriber
// in the hub holds it, and the hub may outlive the feed.
struct BlockFeed::Token {
    Token(std::shared_ptr<Watched> of, std::optional<std::set<store::DocumentKey>> keys,
          bool updates)
        : watched(std::move(of)), documents(std::move(keys)), wants_updates(updates) {
        watched->with([&](Listeners& now) {
            now.wanting_updates += wants_updates ? 1 : 0;
            if (!documents) ++now.to_all;
            for (const store::DocumentKey key : documents.value_or(std::set<store::DocumentKey>()))
                ++now.to_some[key];
        });
    }
    Token(const Token&) = delete;
    Token& operator=(const Token&) = delete;
    ~Token() {
        watched->with([&](Listeners& now) {
            now.wanting_updates -= wants_updates ? 1 : 0;
            if (!documents) --now.to_all;
            for (const store::DocumentKey key :
                 documents.value_or(std::set<store::DocumentKey>())) {
                const auto at = now.to_some.find(key);
                if (--at->second == 0) now.to_some.erase(at);
            }
        });
    }

    const std::shared_ptr<Watched> watched;
    const std::optional<std::set<store::DocumentKey>> documents;
    const bool wants_updates;
};

BlockFeed::BlockFeed(const Parts& parts, std::shared_ptr<Oversight> oversight)
    : oversight_(std::move(oversight)),
      gate_(parts.gate),
      watched_(std::make_shared<Watched>()),
      strand_(parts.scheduler),
      hub_(parts.scheduler, parts.clock, parts.rng) {}

std::shared_ptr<void> BlockFeed::watch(const std::optional<std::set<store::DocumentKey>>& documents,
                                       bool wants_updates) {
    return std::make_shared<Token>(watched_, documents, wants_updates);
}

bool BlockFeed::is_watched(store::DocumentKey document) const {
    return watched_->with([&](const Listeners& now) {
        return now.to_all > 0 || (!now.to_some.empty() && now.to_some.contains(document));
    });
}

bool BlockFeed::wants_updates() const {
    return watched_->with([](const Listeners& now) { return now.wanting_updates > 0; });
}

void BlockFeed::publish(std::vector<BlockStep> steps) {
    // The copy of the hub is the same hub, and keeps it alive until these events are handed on.
    strand_.post([hub = hub_, steps = std::move(steps)]() mutable {
        BlockHub::Events events;
        for (BlockStep& step : steps)
            events.push_back(std::make_shared<const BlockEvent>(project(std::move(step))));
        hub.publish(std::move(events), [](const BlockEvent& event) { return bytes_of(event); });
    });
}

}  // namespace quire::kernel
