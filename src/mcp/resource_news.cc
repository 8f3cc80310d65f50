// The table has the followers of each resource. The service keeps one callback for a resource,
// however often it is asked, and tells of each change once; the table says to whom that goes. A
// legacy client is one follower, with a null id; a modern one has a follower for each request that
// listens. The callback holds this weakly: it may come while the session ends, and then does
// nothing.
//
// The service is called outside of the table's lock, for it may wait or call back, and follows a
// resource some time after it was asked. So the table may say the contrary by the time that it has
// followed or unfollowed: settle() compares the two after each.
#include "mcp/resource_news.h"

#include <algorithm>
#include <utility>

#include "json/json.h"
#include "rpc/jsonrpc.h"

namespace quire::mcp {

Map subscription_meta(const Value& id) {
    return {{"io.modelcontextprotocol/subscriptionId", id}};
}

// A follower is entered before the service begins to tell, so that it misses nothing.
void ResourceNews::follow(Value id, std::string uri, std::stop_token cancelled, Reply<void> reply) {
    followers_.with([&](auto& followers) {
        std::vector<Value>& ids = followers[uri];
        if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
    });
    ask_service(
        uri, std::move(cancelled),
        [self = shared_from_this(), id, uri, reply = std::move(reply)](Result<void> done) mutable {
            if (!done) self->unfollow(id, uri);
            reply(std::move(done));
        });
}

void ResourceNews::ask_service(const std::string& uri, std::stop_token cancelled,
                               Reply<void> reply) {
    service_->follow_resource(
        uri, std::move(cancelled),
        [news = weak_from_this()](const std::string& changed) {
            if (const auto alive = news.lock()) alive->tell(changed);
        },
        [self = shared_from_this(), uri, reply = std::move(reply)](Result<void> done) mutable {
            if (done) self->settle(uri, true);
            reply(std::move(done));
        });
}

// Each call of the service ends here again, until both agree: whoever changes the table meanwhile
// calls the service after that.
// NOLINTNEXTLINE(misc-no-recursion): one step for each change of the table in between.
void ResourceNews::settle(const std::string& uri, bool is_told) {
    const bool is_followed =
        followers_.with([&](const auto& followers) { return followers.contains(uri); });
    if (is_followed == is_told) return;
    if (is_followed) return ask_service(uri, {}, [](Result<void>) {});
    service_->unfollow_resource(uri);
    settle(uri, false);
}

struct ResourceNews::Following {
    Value id;
    std::vector<std::string> uris;
    std::stop_token cancelled;
    Function<void(List)> done;
    List followed = {};
    std::size_t next = 0;
};

void ResourceNews::follow_all(Value id, std::vector<std::string> uris, std::stop_token cancelled,
                              Function<void(List)> done) {
    // One after another, so that the client gets one acknowledgement with all that it may follow,
    // in its own order.
    follow_next(std::make_shared<Following>(
        Following{std::move(id), std::move(uris), std::move(cancelled), std::move(done)}));
}

// NOLINTNEXTLINE(misc-no-recursion): one step for each resource.
void ResourceNews::follow_next(std::shared_ptr<Following> all) {
    if (all->next == all->uris.size()) return all->done(std::move(all->followed));
    const std::string uri = all->uris[all->next++];
    const Value id = all->id;
    const std::stop_token cancelled = all->cancelled;
    follow(id, uri, cancelled,
           [self = shared_from_this(), all = std::move(all), uri](Result<void> done) mutable {
               if (done) all->followed.emplace_back(uri);
               self->follow_next(std::move(all));
           });
}

void ResourceNews::unfollow(const Value& id, const std::string& uri) {
    // The service tells for nobody once the last follower has gone.
    const bool is_last = followers_.with([&](auto& followers) {
        const auto at = followers.find(uri);
        if (at == followers.end()) return false;
        std::erase(at->second, id);
        if (!at->second.empty()) return false;
        followers.erase(at);
        return true;
    });
    if (!is_last) return;
    service_->unfollow_resource(uri);
    settle(uri, false);
}

void ResourceNews::unfollow(const Value& id) {
    std::vector<std::string> uris;
    followers_.with([&](const auto& followers) {
        for (const auto& [uri, ids] : followers) {
            if (std::ranges::find(ids, id) != ids.end()) uris.push_back(uri);
        }
    });
    for (const std::string& uri : uris) unfollow(id, uri);
}

void ResourceNews::tell(const std::string& uri) const {
    const std::vector<Value> ids = followers_.with([&](const auto& followers) {
        const auto at = followers.find(uri);
        return at == followers.end() ? std::vector<Value>() : at->second;
    });
    for (const Value& id : ids) {
        Map params{{"uri", uri}};
        if (!id.is_null()) params.append("_meta", subscription_meta(id));
        connection_->send(
            json::write(rpc::notification("notifications/resources/updated", std::move(params))));
    }
}

}  // namespace quire::mcp
