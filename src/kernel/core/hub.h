// Hub: hands events to subscribers. Publishing never waits: each subscriber has a queue with bounds,
// and one that does not read in time loses its oldest events and is told that it lags.
//
// Everything runs on the hub's strand, so all subscribers see the events in one order, and a
// subscription sees every event that is published after its reply.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/concat.h"
#include "base/function.h"
#include "sched/scheduler.h"

namespace quire::kernel {

// The bounds of a hub.
struct HubLimits {
    std::size_t events = 1000;  // Waiting for one subscriber,
    std::size_t bytes = std::size_t{1} << 20;
    std::size_t subscriptions = 64;   // of one owner.
    std::int64_t idle_ms = 600'000;  // An owner that may come back and does not is forgotten.
};

// Its copies are the same hub, which lives until the last task on its strand has run. Any thread.
template <class Event>
class Hub {
public:
    using Events = std::vector<std::shared_ptr<const Event>>;
    // The events that have come since the last pull. `lagged`: others came before and were dropped.
    struct Pulled {
        std::string subscription_id;
        Events events;
        bool lagged = false;
    };
    struct Subscriber {
        std::string owner;  // Only its owner pulls.
        // It ends once this is true, asked from time to time; null: after HubLimits::idle_ms
        // without a pull.
        std::function<bool()> has_ended = {};
        std::function<bool(const Event&)> sees = {};  // True for events that it may see.
        // Gets each batch of events as it comes, on the strand; null for none.
        std::function<void(const std::string& id, const Events&)> push = {};
    };

    Hub(sched::Scheduler& scheduler, Clock& clock, Rng& rng, HubLimits limits = {})
        : body_(std::make_shared<Body>(scheduler, clock, rng, limits)) {}

    // Opens a subscription, and answers with its id and no events. Errors: denied
    // "too_many_subscriptions".
    void open(Subscriber subscriber, Reply<Pulled> reply) {
        on_strand([subscriber = std::move(subscriber), reply = std::move(reply)](
                      Body& body) mutable { body.open(std::move(subscriber), std::move(reply)); });
    }
    // The events of a subscription; where there are none it waits for some, at most `wait_ms`.
    // Errors: not_found "invalid_reference" {subscription_id} for one that is not the owner's.
    void pull(std::string owner, std::string id, std::int64_t wait_ms, Reply<Pulled> reply) {
        on_strand([owner = std::move(owner), id = std::move(id), wait_ms,
                   reply = std::move(reply)](Body& body) mutable {
            body.pull(owner, id, wait_ms, std::move(reply));
        });
    }
    // Hands the events to everyone who may see them. `bytes_of(event)` is its weight.
    template <class BytesOf>
    void publish(Events events, BytesOf bytes_of) {
        on_strand([events = std::move(events), bytes_of](Body& body) {
            body.publish(events, bytes_of);
        });
    }
    // Answers all waiting pulls and ends every subscription.
    void end() {
        on_strand([](Body& body) {
            while (!body.all.empty()) body.drop(body.all.begin());
        });
    }

private:
    struct Waiting {
        Reply<Pulled> reply;
        std::uint64_t number = 0;
    };
    struct Queue {
        Subscriber subscriber;
        std::deque<std::pair<std::shared_ptr<const Event>, std::size_t>> waiting;
        std::size_t bytes = 0;
        bool lagged = false;
        std::int64_t pulled_ms = 0;
        std::vector<Waiting> pulls;
    };
    struct Body : std::enable_shared_from_this<Body> {
        Body(sched::Scheduler& scheduler, Clock& with, Rng& random, HubLimits bounds)
            : strand(scheduler), clock(with), rng(random), limits(bounds) {}

        using All = std::map<std::string, Queue>;

        void open(Subscriber subscriber, Reply<Pulled> reply) {
            drop_ended();
            const auto own = static_cast<std::size_t>(
                std::count_if(all.begin(), all.end(), [&](const auto& each) {
                    return each.second.subscriber.owner == subscriber.owner;
                }));
            if (own >= limits.subscriptions) {
                return reply(fail(Errc::denied, "too_many_subscriptions",
                                  cat("you have ", own, " subscriptions; go on with one of them")));
            }
            std::string id = cat("sub_", rng.next(), rng.next());
            Queue& queue = all[id];
            queue.subscriber = std::move(subscriber);
            queue.pulled_ms = clock.steady_ms();
            reply(Pulled{std::move(id), {}, false});
        }

        void pull(const std::string& owner, const std::string& id, std::int64_t wait_ms,
                  Reply<Pulled> reply) {
            const auto found = all.find(id);
            if (found == all.end() || found->second.subscriber.owner != owner) {
                return reply(fail(Errc::not_found, "invalid_reference",
                                  cat("you have no subscription ", id,
                                      "; a call without subscription_id opens one"),
                                  {{"subscription_id", id}}));
            }
            Queue& queue = found->second;
            queue.pulled_ms = clock.steady_ms();
            if (wait_ms <= 0 || !queue.waiting.empty() || queue.lagged)
                return reply(take(id, queue));
            queue.pulls.push_back({std::move(reply), ++last_pull});
            strand.post_after(wait_ms, [self = this->shared_from_this(), id, number = last_pull] {
                self->give_up(id, number);
            });
        }

        void give_up(const std::string& id, std::uint64_t number) {
            const auto found = all.find(id);
            if (found == all.end()) return;
            auto& pulls = found->second.pulls;
            const auto at = std::find_if(pulls.begin(), pulls.end(),
                                         [&](const Waiting& each) { return each.number == number; });
            if (at == pulls.end()) return;
            Reply<Pulled> reply = std::move(at->reply);
            pulls.erase(at);
            reply(take(id, found->second));
        }

        Pulled take(const std::string& id, Queue& queue) {
            Pulled out{id, {}, std::exchange(queue.lagged, false)};
            for (auto& [event, bytes] : queue.waiting) out.events.push_back(std::move(event));
            queue.waiting.clear();
            queue.bytes = 0;
            queue.pulled_ms = clock.steady_ms();
            return out;
        }

        template <class BytesOf>
        void publish(const Events& events, BytesOf bytes_of) {
            drop_ended();
            for (auto& [id, queue] : all) {
                Events seen;
                for (const auto& event : events) {
                    if (queue.subscriber.sees(*event)) seen.push_back(event);
                }
                if (seen.empty()) continue;
                for (const auto& event : seen) {
                    const std::size_t bytes = bytes_of(*event);
                    queue.waiting.emplace_back(event, bytes);
                    queue.bytes += bytes;
                }
                while (queue.waiting.size() > limits.events ||
                       (queue.bytes > limits.bytes && !queue.waiting.empty())) {
                    queue.bytes -= queue.waiting.front().second;
                    queue.waiting.pop_front();
                    queue.lagged = true;
                }
                if (queue.subscriber.push) queue.subscriber.push(id, seen);
                if (queue.pulls.empty()) continue;
                Reply<Pulled> reply = std::move(queue.pulls.front().reply);
                queue.pulls.erase(queue.pulls.begin());
                reply(take(id, queue));
            }
        }

        bool has_ended(const Queue& queue) const {
            if (queue.subscriber.has_ended) return queue.subscriber.has_ended();
            return queue.pulls.empty() && clock.steady_ms() - queue.pulled_ms > limits.idle_ms;
        }
        void drop_ended() {
            for (auto at = all.begin(); at != all.end();)
                at = has_ended(at->second) ? drop(at) : std::next(at);
        }

        typename All::iterator drop(typename All::iterator at) {
            for (Waiting& each : at->second.pulls) each.reply(Pulled{at->first, {}, false});
            return all.erase(at);
        }

        sched::Strand strand;
        Clock& clock;
        Rng& rng;
        const HubLimits limits;
        All all;
        std::uint64_t last_pull = 0;
    };

    template <class Work>
    void on_strand(Work work) {
        body_->strand.post(
            [body = body_, work = std::move(work)]() mutable { work(*body); });
    }

    std::shared_ptr<Body> body_;
};

}  // namespace quire::kernel
