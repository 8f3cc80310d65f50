// ResourceNews: the resources that one client follows, in both eras of the protocol, and the
// notifications about them.
#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/function.h"
#include "base/value.h"
#include "mcp/service.h"
#include "rpc/connection.h"
#include "sched/guarded.h"

namespace quire::mcp {

// The _meta of what is sent to the subscription of a modern client: the id of its request.
Map subscription_meta(const Value& id);

// Any thread.
class ResourceNews : public std::enable_shared_from_this<ResourceNews> {
public:
    ResourceNews(std::shared_ptr<Service> service, std::shared_ptr<rpc::Connection> connection)
        : service_(std::move(service)), connection_(std::move(connection)) {}

    // `id` is the request that listens; null for a legacy client, which has one subscription.
    // Following twice under one id is following once. Errors: those of Service::follow_resource();
    // then it does not follow.
    void follow(Value id, std::string uri, std::stop_token cancelled, Reply<void> reply);
    // Follows one after another. `done` gets the URIs that could be followed, in the given order;
    // the errors of the others are dropped, since the protocol has no place for them.
    void follow_all(Value id, std::vector<std::string> uris, std::stop_token cancelled,
                    Function<void(List followed)> done);
    void unfollow(const Value& id, const std::string& uri);
    // The request listens no more.
    void unfollow(const Value& id);

private:
    struct Following;
    void follow_next(std::shared_ptr<Following> all);
    // Makes the service tell of the resource. Errors: those of Service::follow_resource().
    void ask_service(const std::string& uri, std::stop_token cancelled, Reply<void> reply);
    // Called when the service tells of the resource from now on, or does not any more: makes it agree
    // with the table, which may have changed meanwhile.
    void settle(const std::string& uri, bool is_told);
    void tell(const std::string& uri) const;

    const std::shared_ptr<Service> service_;
    const std::shared_ptr<rpc::Connection> connection_;
    // Those who follow each resource.
    sched::Guarded<std::map<std::string, std::vector<Value>>> followers_;
};

}  // namespace quire::mcp
