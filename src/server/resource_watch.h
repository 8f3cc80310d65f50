// ResourceWatch: tells one client's session when what it reads as a resource may have changed. It
// rides on one subscription to blocks, which is open while a resource is followed. A notification
// says only that something may have changed, never what: the client reads the resource again, and
// its rights are asked about then.
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

// Any thread. The kernel outlives it. Replies and `told` are called outside its lock, so they may
// call back in.
class ResourceWatch : public std::enable_shared_from_this<ResourceWatch> {
public:
    using Told = mcp::Service::ResourceTold;

    ResourceWatch(std::shared_ptr<kernel::Core> kernel, kernel::Caller by)
        : kernel_(std::move(kernel)), by_(std::move(by)) {}

    // The resource is there, and the caller may read it; the caller of this has seen to that. After
    // the reply no later change is missed. A URI that is followed already keeps its first `told`.
    // Errors: those of watch_blocks(); the URI then counts as followed until unfollow().
    void follow(const std::string& uri, Told told, Reply<void> reply);
    // Ends the subscription with the last URI. A notification that is under way may still come.
    void unfollow(const std::string& uri);
    // Follows nothing any more, for the end of the session.
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
    // Asks the kernel for the subscription, and takes its id or its error.
    void open();
    void opened(Result<std::string> id);
    // Calls `told` for what the events may have changed. O(events log followed).
    void tell(const kernel::BlockHub::Events& events) const;

    const std::shared_ptr<kernel::Core> kernel_;
    const kernel::Caller by_;
    sched::Guarded<State> state_;
};

// The resource that a URI names, in one spelling; "" for a URI of none of these forms. It is not
// asked whether the resource exists. And the resources that an event may change: a block's, its
// file's, its memory block's under its label and the one before, and all contexts for memory.
std::string resource_key(std::string_view uri);
std::vector<std::string> resource_keys(const kernel::BlockEvent& event);

}  // namespace quire::server
