#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "sched/guarded.h"
#include "sched/manual_for_test.h"
#include "sched/watched.h"

namespace quire::sched {
namespace {

// Runs `count` labelled tasks and gives the order in which they came.
std::string order_of(std::uint64_t seed, int count) {
    ManualScheduler scheduler(seed);
    std::string order;
    for (int i = 0; i < count; ++i)
        scheduler.post([&order, i] { order += static_cast<char>('a' + i); });
    scheduler.run_all();
    return order;
}

TEST(ManualScheduler, WithoutASeedItIsFirstInFirstOut) {
    EXPECT_EQ(order_of(0, 6), "abcdef");
}

TEST(ManualScheduler, ASeedGivesOneOrderAndSeedsGiveMany) {
    EXPECT_EQ(order_of(7, 10), order_of(7, 10));
    std::vector<std::string> orders;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) orders.push_back(order_of(seed, 10));
    std::sort(orders.begin(), orders.end());
    EXPECT_GT(std::unique(orders.begin(), orders.end()) - orders.begin(), 15);
}

TEST(ManualScheduler, TimeStandsStillUntilItIsMoved) {
    ManualScheduler scheduler;
    std::string order;
    scheduler.post_after(20, [&] { order += 'b'; });
    scheduler.post_after(10, [&] { order += 'a'; });

    scheduler.run_all();
    EXPECT_EQ(order, "");
    scheduler.advance(19);
    EXPECT_EQ(order, "a");
    scheduler.advance(1);
    EXPECT_EQ(order, "ab");
}

TEST(ManualScheduler, ATaskDelayedByADueTaskRunsInTheSameMove) {
    ManualScheduler scheduler;
    int runs = 0;
    scheduler.post_after(10, [&] {
        ++runs;
        scheduler.post_after(10, [&] { ++runs; });
    });
    scheduler.advance(20);
    EXPECT_EQ(runs, 2);
}

TEST(Strand, KeepsItsOrderUnderEveryInterleaving) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        ManualScheduler scheduler(seed);
        Strand one(scheduler), two(scheduler);
        std::vector<int> first, second;
        for (int i = 0; i < 10; ++i) {
            one.post([&, i] { first.push_back(i); });
            two.post([&, i] { second.push_back(i); });
        }
        scheduler.run_all();
        EXPECT_TRUE(std::is_sorted(first.begin(), first.end())) << "seed " << seed;
        EXPECT_TRUE(std::is_sorted(second.begin(), second.end())) << "seed " << seed;
        EXPECT_EQ(first.size() + second.size(), 20U) << "seed " << seed;
    }
}

TEST(Strand, StrandsInterleaveWithEachOther) {
    ManualScheduler scheduler;
    Strand one(scheduler), two(scheduler);
    std::string order;
    for (int i = 0; i < 3; ++i) one.post([&] { order += '1'; });
    for (int i = 0; i < 3; ++i) two.post([&] { order += '2'; });
    scheduler.run_all();
    EXPECT_EQ(order, "121212");
}

TEST(Strand, PostingFromItselfIsQueuedNotNested) {
    ManualScheduler scheduler;
    Strand strand(scheduler);
    std::string order;
    strand.post([&] {
        order += '(';
        strand.post([&] { order += 'x'; });
        order += ')';
    });
    scheduler.run_all();
    EXPECT_EQ(order, "()x");
}

TEST(Strand, IsCurrentOnlyInsideItsOwnTasks) {
    ManualScheduler scheduler;
    Strand strand(scheduler), other(scheduler);
    bool inside = false, inside_other = true;
    strand.post([&] {
        inside = strand.is_current();
        inside_other = other.is_current();
    });
    scheduler.run_all();
    EXPECT_TRUE(inside);
    EXPECT_FALSE(inside_other);
    EXPECT_FALSE(strand.is_current());
}

TEST(Strand, PendingTasksRunAfterTheLastCopyIsGone) {
    ManualScheduler scheduler;
    int runs = 0;
    {
        Strand strand(scheduler);
        for (int i = 0; i < 3; ++i) strand.post([&] { ++runs; });
        strand.post_after(5, [&] { ++runs; });
    }
    scheduler.advance(5);
    EXPECT_EQ(runs, 4);
}

TEST(Strand, DelayedTasksJoinTheStrandsOrder) {
    ManualScheduler scheduler;
    Strand strand(scheduler);
    bool on_strand = false;
    strand.post_after(5, [&] { on_strand = strand.is_current(); });
    scheduler.advance(4);
    EXPECT_FALSE(on_strand);
    scheduler.advance(1);
    EXPECT_TRUE(on_strand);
}

TEST(Pool, RunsEveryTaskBeforeItGoes) {
    std::atomic<int> runs{0};
    {
        Pool pool(2);
        for (int i = 0; i < 1000; ++i) {
            pool.post([&] {
                ++runs;
                pool.post([&] { ++runs; });
            });
        }
    }
    EXPECT_EQ(runs, 2000);
}

TEST(Pool, DropsDelayedTasksAtItsEnd) {
    const auto began = std::chrono::steady_clock::now();
    auto held = std::make_shared<int>(1);
    bool ran = false;
    {
        Pool pool(1);
        pool.post_after(60'000, [&ran, held] { ran = true; });
        EXPECT_EQ(held.use_count(), 2);
    }
    EXPECT_FALSE(ran);
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30));
}

TEST(Pool, DelayedTasksComeInTheirOrderAndNotEarly) {
    std::promise<void> finished;
    std::string order;
    const auto began = std::chrono::steady_clock::now();
    Pool pool(1);
    pool.post_after(30, [&] {
        order += 'c';
        finished.set_value();
    });
    pool.post_after(20, [&] { order += 'b'; });
    pool.post_after(10, [&] { order += 'a'; });
    finished.get_future().wait();
    EXPECT_EQ(order, "abc");
    EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(30));
}

TEST(Pool, StrandTasksFromManyThreadsNeverOverlapAndKeepEachThreadsOrder) {
    constexpr int kThreads = 4, kEach = 5000;
    struct Seen {
        std::vector<int> last = std::vector<int>(kThreads, -1);
        int count = 0;
        bool ordered = true;
    };
    Seen seen;  // No lock: the strand is what keeps it whole, and the thread sanitizer watches.
    {
        Pool pool(4);
        Strand strand(pool);
        std::vector<std::thread> threads;
        threads.reserve(kThreads);
        for (int t = 0; t < kThreads; ++t) {
            threads.emplace_back([&, t] {
                for (int i = 0; i < kEach; ++i) {
                    strand.post([&seen, t, i] {
                        int& last = seen.last[static_cast<std::size_t>(t)];
                        seen.ordered = seen.ordered && last == i - 1;
                        last = i;
                        ++seen.count;
                    });
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
    }
    EXPECT_EQ(seen.count, kThreads * kEach);
    EXPECT_TRUE(seen.ordered);
}

TEST(Pool, ABusyStrandLeavesRoomForOthers) {
    std::atomic<bool> stop{false};
    std::promise<void> other_ran;
    Pool pool(1);
    Strand busy(pool), other(pool);
    struct Loop {
        Strand strand;
        std::atomic<bool>& stop;
        void again() {
            if (!stop) strand.post([this] { again(); });
        }
    } loop{busy, stop};
    loop.again();
    other.post([&] { other_ran.set_value(); });
    EXPECT_EQ(other_ran.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
    stop = true;
}

TEST(Errand, ItsThreadRunsItsFirstTaskAndTheFollowingOnes) {
    Pool pool(1);
    const auto here = std::this_thread::get_id();
    int here_too = 0;
    std::promise<bool> second;
    Pool::Errand errand(pool);
    pool.post([&] {
        here_too += std::this_thread::get_id() == here;
        pool.post([&] { here_too += std::this_thread::get_id() == here; });
    });
    pool.post([&] { second.set_value(std::this_thread::get_id() == here); });
    EXPECT_FALSE(second.get_future().get());
    EXPECT_EQ(here_too, 0);
    errand.run();
    EXPECT_EQ(here_too, 2);
}

TEST(Errand, TasksItDoesNotRunGoToTheWorkers) {
    Pool pool(1);
    for (const bool in_words : {true, false}) {
        std::promise<std::thread::id> ran;
        {
            Pool::Errand errand(pool);
            pool.post([&] { ran.set_value(std::this_thread::get_id()); });
            if (in_words) errand.give();
        }
        EXPECT_NE(ran.get_future().get(), std::this_thread::get_id());
    }
}

// Rounds that begin when it is rung.
class Bell final : public Watched {
public:
    using Round = std::function<Next(Pool::Errand*)>;
    explicit Bell(Round round) : round_(std::move(round)) {}
    void ring() {
        const std::lock_guard lock(mutex_);
        ++rings_;
        rung_.notify_one();
    }
    void wait(int thread, int) override {
        std::unique_lock lock(mutex_);
        rung_.wait(lock, [&] { return rings_ > 0 || woken_; });
        found_[static_cast<std::size_t>(thread)] = rings_ > 0;
        if (rings_ > 0) --rings_;
    }
    void wake() override {
        const std::lock_guard lock(mutex_);
        woken_ = true;
        rung_.notify_all();
    }
    Next tend(int thread, Pool::Errand* errand) override {
        return found_[static_cast<std::size_t>(thread)] ? round_(errand) : Next();
    }

private:
    Round round_;
    std::mutex mutex_;
    std::condition_variable rung_;
    int rings_ = 0;
    bool woken_ = false;
    std::array<bool, 2> found_ = {};
};

TEST(ServeWatched, OneThreadTendsWhileTheOtherRunsATask) {
    std::optional<Pool> pool(std::in_place, 1);
    std::promise<void> second_round;
    int rounds = 0;
    std::thread::id ran;
    Bell bell([&](Pool::Errand*) {
        if (++rounds == 1) {
            pool->post([&] {
                ran = std::this_thread::get_id();
                // Comes only if somebody tends meanwhile.
                second_round.get_future().wait();
                bell.ring();
            });
        } else if (rounds == 2) {
            second_round.set_value();
        }
        return Watched::Next{.over = rounds == 3};
    });
    std::thread server([&] { serve_watched(bell, &*pool); });
    bell.ring();
    bell.ring();
    server.join();
    pool.reset();  // Its worker may still be about to leave the bell.
    EXPECT_EQ(rounds, 3);
    EXPECT_NE(ran, std::thread::id());
}

TEST(ServeWatched, ARoundWithADeadlineGivesItsTaskAway) {
    std::optional<Pool> pool(std::in_place, 1);
    std::promise<std::thread::id> ran;
    std::thread::id tended;
    Bell bell([&](Pool::Errand*) {
        tended = std::this_thread::get_id();
        pool->post([&] { ran.set_value(std::this_thread::get_id()); });
        return Watched::Next{.over = true, .ms = 1000};
    });
    bell.ring();
    serve_watched(bell, &*pool);
    EXPECT_NE(ran.get_future().get(), tended);
}

TEST(Guarded, CountsFromManyThreads) {
    Guarded<int> count(0);
    {
        Pool pool(4);
        for (int i = 0; i < 1000; ++i) pool.post([&] { count.with([](int& n) { ++n; }); });
    }
    EXPECT_EQ(count.with([](const int& n) { return n; }), 1000);
}

}  // namespace
}  // namespace quire::sched
