// Hub: hands events to subscribers. Publishing never waits: each subscriber has a queue with bounds,
// and one that does not read in time loses its oldest events and is told that it lags.
//
//   publish ──► sees? ──► queue (bounded, oldest fall out) ──► a pull that waits, or the next one
//                    └──► push (every batch, also of those that pull)
//
// Everything runs on the hub's strand, so all subscribers see the events in one order, and a
// subscription sees every event that is published after its reply. A publication costs
// O(subscriptions · events) calls of `sees`. A queue keeps pointers; all subscribers share one copy
// of an event.
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

// The lag that a subscriber is told of: that events were dropped. An event of which more is to be told
// specialises this.
template <class Event>
struct LagOf {
    using Told = bool;
    static void note(Told& told, const Event&) { told = true; }
    static bool is_lag(const Told& told) { return told; }
};

// Its copies are the same hub, which lives until the last task on its strand has run. Any thread.
template <class Event>
class Hub {
public:
    using Events = std::vector<std::shared_ptr<const Event>>;
    using Lag = typename LagOf<Event>::Told;
    // The events that have come since the last pull. `lagged`: others came before and were dropped.
    struct Pulled {
        std::string subscription_id;
        Events events;
        Lag lagged{};
        int kind = 0;  // Subscriber::kind.
    };
    struct Subscriber {
        std::string owner;  // Only its owner pulls.
        // It ends once this is true, asked from time to time; null: after HubLimits::idle_ms
        // without a pull.
        std::function<bool()> has_ended = {};
        std::function<bool(const Event&)> sees = {};  // True for events that it may see.
        // Gets each batch of events as it comes, on the strand; null for none.
        std::function<void(const std::string& id, const Events&)> push = {};
        // Nothing is pushed, and pulls wait, until release().
        bool is_held = false;
        int kind = 0;           // Its owner is told it at each pull.
        bool is_pulled = true;  // False: nothing is kept for pulls.
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
    // Lets a held subscription go on, with `earlier` before what it has gathered since it was opened.
    // `prepare` runs before that; what `sees` refuses from then on is left out, also of what was
    // gathered. Replies like open(), before anything is pushed. Errors: those of pull().
    template <class BytesOf>
    void release(std::string owner, std::string id, Events earlier, Function<void()> prepare,
                 BytesOf bytes_of, Reply<Pulled> reply) {
        on_strand([owner = std::move(owner), id = std::move(id), earlier = std::move(earlier),
                   prepare = std::move(prepare), bytes_of,
                   reply = std::move(reply)](Body& body) mutable {
            prepare();
            body.release(owner, id, std::move(earlier), bytes_of, std::move(reply));
        });
    }
    // Ends a subscription, if it is there.
    void close(std::string owner, std::string id) {
        on_strand([owner = std::move(owner), id = std::move(id)](Body& body) {
            const auto found = body.all.find(id);
            if (found != body.all.end() && found->second.subscriber.owner == owner)
                body.drop(found);
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
    // A subscription: the events that its owner has not pulled yet, each with its weight, and the
    // pulls that wait, first come first served.
    struct Queue {
        Subscriber subscriber;
        std::deque<std::pair<std::shared_ptr<const Event>, std::size_t>> waiting;
        std::size_t bytes = 0;
        Lag lagged{};
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
            reply(Pulled{std::move(id), {}, {}, queue.subscriber.kind});
        }

        template <class BytesOf>
        void release(const std::string& owner, const std::string& id, Events earlier,
                     BytesOf bytes_of, Reply<Pulled> reply) {
            const auto found = all.find(id);
            if (found == all.end() || found->second.subscriber.owner != owner)
                return reply(no_subscription(id));
            Queue& queue = found->second;
            // The gathered events are queued anew behind `earlier`: the bounds count for both
            // together.
            const auto gathered = std::exchange(queue.waiting, {});
            queue.bytes = 0;
            queue.subscriber.is_held = false;
            reply(Pulled{id, {}, {}, queue.subscriber.kind});
            for (const auto& [event, bytes] : gathered) {
                if (queue.subscriber.sees(*event)) earlier.push_back(event);
            }
            if (!earlier.empty()) add(id, queue, earlier, bytes_of);
        }

        void pull(const std::string& owner, const std::string& id, std::int64_t wait_ms,
                  Reply<Pulled> reply) {
            const auto found = all.find(id);
            if (found == all.end() || found->second.subscriber.owner != owner)
                return reply(no_subscription(id));
            Queue& queue = found->second;
            queue.pulled_ms = clock.steady_ms();
            // A lag alone is news too: the owner should look at the things themselves, and not wait
            // for an event.
            const bool is_due = !queue.waiting.empty() || LagOf<Event>::is_lag(queue.lagged);
            if (wait_ms <= 0 || is_due) return reply(take(id, queue));
            queue.pulls.push_back({std::move(reply), ++last_pull});
            strand.post_after(wait_ms, [self = this->shared_from_this(), id, number = last_pull] {
                self->give_up(id, number);
            });
        }

        // The time of a pull is over: it gets what is there, which is nothing. By then it may be
        // answered, or its subscription may be gone.
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
            Pulled out{id, {}, std::exchange(queue.lagged, Lag{}), queue.subscriber.kind};
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
                if (!seen.empty()) add(id, queue, seen, bytes_of);
            }
        }

        // Queues the events, within the bounds, and hands them on.
        template <class BytesOf>
        void add(const std::string& id, Queue& queue, const Events& seen, BytesOf bytes_of) {
            if (!queue.subscriber.is_pulled && !queue.subscriber.is_held)
                return queue.subscriber.push(id, seen);
            for (const auto& event : seen) {
                const std::size_t bytes = bytes_of(*event);
                queue.waiting.emplace_back(event, bytes);
                queue.bytes += bytes;
            }
            while (queue.waiting.size() > limits.events ||
                   (queue.bytes > limits.bytes && !queue.waiting.empty())) {
                queue.bytes -= queue.waiting.front().second;
                LagOf<Event>::note(queue.lagged, *queue.waiting.front().first);
                queue.waiting.pop_front();
            }
            if (queue.subscriber.is_held) return;
            if (queue.subscriber.push) queue.subscriber.push(id, seen);
            if (queue.pulls.empty()) return;
            Reply<Pulled> reply = std::move(queue.pulls.front().reply);
            queue.pulls.erase(queue.pulls.begin());
            reply(take(id, queue));
        }

        static Failure no_subscription(const std::string& id) {
            return fail(
                Errc::not_found, "invalid_reference",
                cat("you have no subscription ", id, "; a call without subscription_id opens one"),
                {{"subscription_id", id}});
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
            for (Waiting& each : at->second.pulls)
                each.reply(Pulled{at->first, {}, {}, at->second.subscriber.kind});
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
