// BlockFeed: a kernel's hub for the events of blocks. Documents ask it whether anybody listens, and
// give it what became durable; it turns that into events on a strand of its own.
//
//   DocumentFeed ──publish(steps)──► strand: project() ──► hub ──► those who may see the event
//
// A document that nobody listens to has no DocumentFeed, and captures nothing.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "kernel/core/block_event.h"
#include "kernel/core/parts.h"
#include "sched/guarded.h"
#include "sched/scheduler.h"

namespace quire::kernel {

class Oversight;

// Any thread.
class BlockFeed : public std::enable_shared_from_this<BlockFeed> {
public:
    BlockFeed(const Parts& parts, std::shared_ptr<Oversight> oversight);

    // Documents somebody listens to, while the token lives; no set means all. Every subscription
    // holds such a token, so that the counts follow the subscriptions by themselves.
    std::shared_ptr<void> watch(const std::optional<std::set<store::DocumentKey>>& documents,
                                bool wants_updates);
    // Returns true if the document's changes are to be captured. One look under a lock.
    bool is_watched(store::DocumentKey document) const;
    // Returns true if somebody wants BlockEvent::updates.
    bool wants_updates() const;
    // Tells of steps that are durable, in the order of their document.
    void publish(std::vector<BlockStep> steps);

    BlockHub& hub() { return hub_; }
    Oversight& oversight() { return *oversight_; }
    Gate* gate() const { return gate_; }

private:
    // The number of those who listen to all documents, and to each of some.
    struct Listeners {
        std::size_t to_all = 0;
        std::map<store::DocumentKey, std::size_t> to_some;
        std::size_t wanting_updates = 0;
    };
    using Watched = sched::Guarded<Listeners>;
    struct Token;

    const std::shared_ptr<Oversight> oversight_;
    Gate* const gate_;
    const std::shared_ptr<Watched> watched_;
    sched::Strand strand_;
    BlockHub hub_;
};

}  // namespace quire::kernel
