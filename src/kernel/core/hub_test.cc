#include "kernel/core/hub.h"

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "base/check.h"
#include "sched/manual_for_test.h"

namespace quire::kernel {
namespace {

struct Bell {
    ManualClock clock;
    SeededRng rng{3};
    sched::ManualScheduler scheduler;
    Hub<int> hub{scheduler, clock, rng, {.events = 4, .bytes = 100, .subscriptions = 2,
                                         .idle_ms = 1000}};

    using Pulled = Hub<int>::Pulled;
    template <class Call>
    Result<Pulled> ask(Call call) {
        std::optional<Result<Pulled>> answer;
        call(Reply<Pulled>([&](Result<Pulled> result) { answer = std::move(result); }));
        scheduler.run_all();
        CHECK(answer.has_value());
        return std::move(*answer);
    }
    Result<Pulled> open(Hub<int>::Subscriber subscriber) {
        return ask([&](auto reply) { hub.open(std::move(subscriber), std::move(reply)); });
    }
    std::string open(std::string owner, std::function<bool(const int&)> sees = all) {
        return open({.owner = std::move(owner), .sees = std::move(sees)}).value().subscription_id;
    }
    Result<Pulled> pull(const std::string& owner, const std::string& id) {
        return ask([&](auto reply) { hub.pull(owner, id, 0, std::move(reply)); });
    }
    void ring(std::vector<int> numbers) {
        Hub<int>::Events events;
        for (const int number : numbers) events.push_back(std::make_shared<const int>(number));
        hub.publish(std::move(events), [](const int&) { return std::size_t{10}; });
        scheduler.run_all();
    }
    static std::string text(const Result<Pulled>& pulled) {
        if (!pulled) return pulled.error().reason();
        std::string out = pulled->lagged ? "lagged" : "";
        for (const auto& event : pulled->events) out += cat(out.empty() ? "" : " ", *event);
        return out;
    }
    static bool all(const int&) { return true; }
};

TEST(Hub, EachSubscriberGetsWhatItMaySeeOnce) {
    Bell bell;
    const std::string all = bell.open("ada");
    const std::string even = bell.open("bob", [](const int& n) { return n % 2 == 0; });

    bell.ring({1, 2});
    bell.ring({3, 4});

    EXPECT_EQ(Bell::text(bell.pull("ada", all)), "1 2 3 4");
    EXPECT_EQ(Bell::text(bell.pull("ada", all)), "");
    EXPECT_EQ(Bell::text(bell.pull("bob", even)), "2 4");
}

TEST(Hub, ASlowReaderLosesTheOldestAndIsTold) {
    Bell bell;
    const std::string slow = bell.open("ada");
    const std::string quick = bell.open("bob");

    for (int i = 1; i <= 6; ++i) {
        bell.ring({i});
        EXPECT_EQ(Bell::text(bell.pull("bob", quick)), std::to_string(i));
    }

    EXPECT_EQ(Bell::text(bell.pull("ada", slow)), "lagged 3 4 5 6");
    bell.ring({7});
    EXPECT_EQ(Bell::text(bell.pull("ada", slow)), "7");
}

TEST(Hub, APullWaitsForAnEventOrItsTime) {
    Bell bell;
    const std::string id = bell.open("ada");
    std::vector<std::string> told;
    const auto wait = [&] {
        bell.hub.pull("ada", id, 500, [&](Result<Bell::Pulled> pulled) {
            told.push_back(Bell::text(pulled));
        });
        bell.scheduler.run_all();
    };

    wait();
    EXPECT_TRUE(told.empty());
    bell.ring({1});
    EXPECT_EQ(told, std::vector<std::string>{"1"});
    wait();
    bell.scheduler.advance(499);
    EXPECT_EQ(told.size(), 1U);
    bell.scheduler.advance(2);
    EXPECT_EQ(told, (std::vector<std::string>{"1", ""}));
}

TEST(Hub, ASubscriptionIsItsOwnersAndEndsWithThem) {
    Bell bell;
    bool is_over = false;
    const std::string left = bell.open("ada");
    const auto session = bell.open(
        {.owner = "bob", .has_ended = [&] { return is_over; }, .sees = Bell::all});

    EXPECT_EQ(Bell::text(bell.pull("bob", left)), "invalid_reference");
    bell.clock.advance(5000);
    bell.ring({1});
    EXPECT_EQ(Bell::text(bell.pull("ada", left)), "invalid_reference");
    EXPECT_EQ(Bell::text(bell.pull("bob", session->subscription_id)), "1");
    is_over = true;
    bell.ring({2});
    EXPECT_EQ(Bell::text(bell.pull("bob", session->subscription_id)), "invalid_reference");
}

TEST(Hub, AnOwnerHasAFewSubscriptions) {
    Bell bell;
    bell.open("ada");
    bell.open("ada");

    EXPECT_EQ(Bell::text(bell.open({.owner = "ada", .sees = Bell::all})), "too_many_subscriptions");
    EXPECT_NE(bell.open("bob"), "");
}

TEST(Hub, EventsArePushedInTheirOrder) {
    Bell bell;
    std::string pushed;
    const auto session = bell.open(
        {.owner = "ada", .has_ended = [] { return false; }, .sees = Bell::all,
         .push = [&](const std::string&, const Hub<int>::Events& events) {
             for (const auto& event : events) pushed += cat(*event, " ");
             pushed += "| ";
         }});

    bell.ring({1, 2});
    bell.ring({3});

    EXPECT_EQ(pushed, "1 2 | 3 | ");
    EXPECT_EQ(Bell::text(bell.pull("ada", session->subscription_id)), "1 2 3");
}

TEST(Hub, AHeldSubscriptionGathersAndGoesOnAfterWhatCameEarlier) {
    Bell bell;
    std::vector<int> pushed;
    const std::string id = bell.open({.owner = "ada",
                                      .sees = Bell::all,
                                      .push =
                                          [&](const std::string&, const Hub<int>::Events& events) {
                                              for (const auto& event : events)
                                                  pushed.push_back(*event);
                                          },
                                      .is_held = true})
                               .value()
                               .subscription_id;
    bell.ring({3});
    EXPECT_TRUE(pushed.empty());
    Hub<int>::Events earlier = {std::make_shared<const int>(1), std::make_shared<const int>(2)};

    static_cast<void>(bell.ask([&](auto reply) {
        bell.hub.release(
            "ada", id, earlier, [] {}, [](const int&) { return std::size_t{10}; },
            std::move(reply));
    }));
    bell.ring({4});

    EXPECT_EQ(pushed, (std::vector<int>{1, 2, 3, 4}));
    EXPECT_EQ(Bell::text(bell.pull("ada", id)), "1 2 3 4");
}

TEST(Hub, WhatIsOnlyPushedIsNotKept) {
    Bell bell;
    std::size_t pushed = 0;
    const std::string id =
        bell.open({.owner = "ada",
                   .sees = Bell::all,
                   .push = [&](const std::string&, const auto& events) { pushed += events.size(); },
                   .is_pulled = false})
            .value()
            .subscription_id;

    bell.ring({1, 2, 3, 4, 5, 6});

    EXPECT_EQ(pushed, 6U);
    EXPECT_EQ(Bell::text(bell.pull("ada", id)), "");
}

TEST(Hub, AClosedSubscriptionIsGone) {
    Bell bell;
    const std::string id = bell.open("ada");

    bell.hub.close("bob", id);
    EXPECT_TRUE(bell.pull("ada", id));
    bell.hub.close("ada", id);

    EXPECT_EQ(Bell::text(bell.pull("ada", id)), "invalid_reference");
}

}  // namespace
}  // namespace quire::kernel
