// ResourceWatch: tells one client's session when what it reads as a resource may have changed. It rides
// on one subscription to blocks, which is open while a resource is followed.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/function.h"
#include "kernel/core/caller.h"
#include "kernel/core/feed_calls.h"
#include "mcp/service.h"
#include "sched/guarded.h"

namespace quire::server {

// Any thread. The kernel outlives it.
class ResourceWatch : public std::enable_shared_from_this<ResourceWatch> {
public:
    using Told = mcp::Service::ResourceTold;

    ResourceWatch(std::shared_ptr<kernel::Core> kernel, kernel::Caller by)
        : kernel_(std::move(kernel)), by_(std::move(by)) {}

    // The resource is there, and the caller may read it. Errors: those of watch_blocks().
    void follow(const std::string& uri, Told told, Reply<void> reply);
    void unfollow(const std::string& uri);
    // Follows nothing any more.
    void end();

private:
    struct Followed {
        std::string uri;
        Told told;
    };
    struct State {
        std::multimap<std::string, Followed> resources;  // Keyed by resource_key().
        std::string subscription_id;                     // "" for none.
        bool is_opening = false;
        std::vector<Reply<void>> opening;  // Those who wait for it.
    };
    void open();
    void opened(Result<std::string> id);
    void tell(const kernel::BlockHub::Events& events) const;

    const std::shared_ptr<kernel::Core> kernel_;
    const kernel::Caller by_;
    sched::Guarded<State> state_;
};

// The resource that a URI names, in one spelling; "" for none. And those that an event may change.
std::string resource_key(std::string_view uri);
std::vector<std::string> resource_keys(const kernel::BlockEvent& event);

}  // namespace quire::server
