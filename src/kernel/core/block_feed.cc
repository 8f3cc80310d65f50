#include "kernel/core/block_feed.h"

#include <utility>

#include "kernel/core/oversight.h"

namespace quire::kernel {

struct BlockFeed::Token {
    Token(std::shared_ptr<Watched> of, std::optional<std::set<store::DocumentKey>> keys,
          bool updates)
        : watched(std::move(of)), documents(std::move(keys)), wants_updates(updates) {
        watched->documents.with([&](Documents& now) {
            if (!documents) ++now.all;
            for (const store::DocumentKey key : documents.value_or(std::set<store::DocumentKey>()))
                ++now.some[key];
        });
        if (wants_updates) ++watched->wanting_updates;
        ++watched->any;
    }
    Token(const Token&) = delete;
    Token& operator=(const Token&) = delete;
    ~Token() {
        --watched->any;
        if (wants_updates) --watched->wanting_updates;
        watched->documents.with([&](Documents& now) {
            if (!documents) --now.all;
            for (const store::DocumentKey key :
                 documents.value_or(std::set<store::DocumentKey>())) {
                const auto at = now.some.find(key);
                if (--at->second == 0) now.some.erase(at);
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
    if (watched_->any == 0) return false;
    return watched_->documents.with(
        [&](const Documents& now) { return now.all > 0 || now.some.contains(document); });
}

void BlockFeed::publish(std::vector<BlockStep> steps) {
    strand_.post([hub = hub_, steps = std::move(steps)]() mutable {
        BlockHub::Events events;
        for (BlockStep& step : steps)
            events.push_back(std::make_shared<const BlockEvent>(project(std::move(step))));
        hub.publish(std::move(events), [](const BlockEvent& event) { return bytes_of(event); });
    });
}

}  // namespace quire::kernel
