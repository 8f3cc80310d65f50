// Clients follow URIs, and the kernel's events name blocks. Both are turned into keys, and a
// resource may have changed when its key is among an event's keys:
//
//      block://ID            block:ID
//      file:///PATH          file:PATH
//      memory://OWNER/LABEL  memory:OWNER/LABEL   a renamed block has both labels' keys
//      context://AGENT       context:             one key for all contexts
//
// So an event costs O(log followed) for each of its keys, however many resources are followed. A
// context may be announced as changed when it is not; its client reads it and finds it equal.

#include "server/resource_watch.h"

#include <set>
#include <utility>

#include "base/concat.h"
#include "kernel/core/kinds.h"
#include "server/file_uri.h"
#include "server/memory_resources.h"

namespace quire::server {
namespace {

constexpr std::string_view kBlocks = "block://";
// Any context may draw on any memory that its agent sees.
constexpr const char* kContexts = "context:";

}  // namespace

std::string resource_key(std::string_view uri) {
    if (uri.starts_with(kBlocks)) return cat("block:", uri.substr(kBlocks.size()));
    if (const auto path = path_of_uri(uri)) return kernel::file_address(*path);
    if (const auto memory = memory_of_uri(uri))
        return cat("memory:", memory->owner.str(), "/", memory->label);
    return agent_of_uri(uri) ? kContexts : "";
}

std::vector<std::string> resource_keys(const kernel::BlockEvent& event) {
    std::vector<std::string> out = {cat("block:", event.block_id)};
    if (!event.path.empty()) out.push_back(kernel::file_address(event.path));
    if (!event.label.empty()) {
        out.push_back(cat("memory:", event.owner, "/", event.label));
        if (!event.label_before.empty())
            out.push_back(cat("memory:", event.owner, "/", event.label_before));
        out.emplace_back(kContexts);
    }
    return out;
}

// The first follower opens the subscription; those that come while it opens wait for it, because a
// reply promises that no later change is missed. Following a URI again changes nothing: its first
// `told` stays. Neither the reply nor open() is called under the lock.
void ResourceWatch::follow(const std::string& uri, Told told, Reply<void> reply) {
    enum class Then { answer, wait, open };
    Then then = Then::answer;
    state_.with([&](State& state) {
        const std::string key = resource_key(uri);
        const auto [begin, end] = state.resources.equal_range(key);
        bool is_new = true;
        for (auto at = begin; at != end; ++at) is_new = is_new && at->second.uri != uri;
        if (is_new) state.resources.emplace(key, Followed{uri, std::move(told)});
        if (!state.subscription_id.empty()) return;
        then = std::exchange(state.is_opening, true) ? Then::wait : Then::open;
        state.opening.push_back(std::move(reply));
    });
    if (then == Then::answer) return reply({});
    if (then == Then::open) open();
}

// The kernel keeps the push for as long as the subscription lives. It holds the watch weakly, so a
// session that ends is not kept alive by its own subscription.
void ResourceWatch::open() {
    kernel::watch_blocks(
        kernel_, by_, {.is_pulled = false},
        [self = weak_from_this()](const std::string&, const kernel::BlockHub::Events& events) {
            if (const auto alive = self.lock()) alive->tell(events);
        },
        [self = shared_from_this()](Result<std::string> id) { self->opened(std::move(id)); });
}

// Everything may have been unfollowed while the subscription opened. It is ended then, and nobody
// would end it later.
void ResourceWatch::opened(Result<std::string> id) {
    std::vector<Reply<void>> replies;
    bool is_wanted = true;
    state_.with([&](State& state) {
        state.is_opening = false;
        replies = std::exchange(state.opening, {});
        is_wanted = !state.resources.empty();
        if (id && is_wanted) state.subscription_id = *id;
    });
    if (id && !is_wanted) kernel::end_watch(kernel_, by_, *id);
    for (Reply<void>& reply : replies) reply(id ? Result<void>() : Failure(id.error()));
}

void ResourceWatch::unfollow(const std::string& uri) {
    std::string over;
    state_.with([&](State& state) {
        std::erase_if(state.resources, [&](const auto& each) { return each.second.uri == uri; });
        if (state.resources.empty()) over = std::exchange(state.subscription_id, {});
    });
    if (!over.empty()) kernel::end_watch(kernel_, by_, over);
}

void ResourceWatch::end() {
    std::string over;
    state_.with([&](State& state) {
        state.resources.clear();
        over = std::exchange(state.subscription_id, {});
    });
    if (!over.empty()) kernel::end_watch(kernel_, by_, over);
}

// Each resource once for all events that came together.
void ResourceWatch::tell(const kernel::BlockHub::Events& events) const {
    std::set<std::string> keys;
    for (const auto& event : events) {
        for (std::string& key : resource_keys(*event)) keys.insert(std::move(key));
    }
    std::vector<Followed> changed;
    state_.with([&](const State& state) {
        for (const std::string& key : keys) {
            const auto [begin, end] = state.resources.equal_range(key);
            for (auto at = begin; at != end; ++at) changed.push_back(at->second);
        }
    });
    for (const Followed& each : changed) each.told(each.uri);
}

}  // namespace quire::server
