// Many writers on real threads, with a store on the disk. Under ThreadSanitizer these runs show that the
// strands keep them apart; QUIRE_LONG makes the first one a minute long.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/concat.h"
#include "base/share_for_test.h"
#include "base/test_directory.h"
#include "kernel/core/block_reads.h"
#include "kernel/core/kernel.h"
#include "kernel/oversight/overseer.h"
#include "sched/scheduler.h"
#include "store/store.h"

namespace quire::kernel {
namespace {

using Time = std::chrono::steady_clock;

// A kernel on a store in a directory; another can be opened on it.
class Workshop {
public:
    Workshop() { open(); }
    ~Workshop() { close(); }
    Workshop(const Workshop&) = delete;
    Workshop& operator=(const Workshop&) = delete;

    void restart() {
        close();
        open();
    }
    // Any thread.
    template <class T, class Call>
    static Result<T> ask(Call call) {
        std::promise<Result<T>> answer;
        call(Reply<T>([&](Result<T> result) { answer.set_value(std::move(result)); }));
        return answer.get_future().get();
    }
    static Caller as(const std::string& name) { return {{policy::ActorKind::agent, name}, 0, {}}; }
    std::string new_block(const std::string& content) {
        BlockCreate what;
        what.role = conversation::Role::model;
        what.content = content;
        return ask<BlockVersion>(
                   [&](auto reply) { kernel->create(as("maker"), what, std::move(reply)); })
            ->block_id;
    }
    WholeText text(const std::string& block) {
        return *ask<WholeText>(
            [&](auto reply) { kernel->text(as("reader"), block, std::move(reply)); });
    }

    std::unique_ptr<Kernel> kernel;

private:
    void open() {
        store_ = std::move(store::open_sqlite(directory_ / "quire.db")->store);
        pool_ = std::make_unique<sched::Pool>(4U);
        kernel = std::move(*open_kernel({*store_, *pool_, clock_, rng_, {}, nullptr}));
    }
    void close() {
        std::promise<void> closed;
        kernel->close([&](Result<void>) { closed.set_value(); });
        closed.get_future().wait();
        kernel.reset();
        pool_.reset();
        store_.reset();
    }

    TestDirectory directory_;
    SystemClock clock_;
    SystemRng rng_;
    std::unique_ptr<store::Store> store_;
    std::unique_ptr<sched::Pool> pool_;
};

// A writer's random calls until the time is up, and one that changes the block in any case, however slow
// the machine is. Returns how many changed it.
int write(Workshop& shop, const std::string& block, unsigned number, Time::time_point until) {
    std::mt19937 random(number);
    const Caller by = Workshop::as(cat("w", number));
    int made = 0;
    for (int i = 0; Time::now() < until || (made == 0 && i < 1000); ++i) {
        const std::string words = cat("w", number, " ", made, random() % 5 == 0 ? "\n" : " ");
        bool is_done = false;
        switch (random() % 5) {
            case 0:
            case 1: {
                const Ack ack = random() % 2 == 0 ? Ack::accepted : Ack::durable;
                is_done = Workshop::ask<Appended>([&](auto reply) {
                              shop.kernel->append(by, block, words, ack, std::move(reply));
                          }).has_value();
                break;
            }
            case 2:
            case 3: {
                const auto plan = [&](const seq::Rope& text, std::uint64_t) {
                    const std::size_t at = text.bytes().n == 0 ? 0 : random() % text.bytes().n;
                    const std::size_t cut =
                        std::min<std::size_t>(random() % 12, text.bytes().n - at);
                    return Result<edits::Planned>(edits::Planned{{{{at}, {cut}, words}}, {}});
                };
                is_done = Workshop::ask<Edited>([&](auto reply) {
                              shop.kernel->edit(by, block, "edit", plan, std::move(reply));
                          }).has_value();
                break;
            }
            default:
                is_done = Workshop::ask<Undone>([&](auto reply) {
                              shop.kernel->undo(by, block, UndoScope::own, random() % 2 == 0,
                                                std::move(reply));
                          }).has_value();
        }
        made += is_done ? 1 : 0;
    }
    return made;
}

TEST(ManyWriters, TheStoredHistoryOfEightReplaysToTheirText) {
    const auto span = std::chrono::seconds(std::getenv("QUIRE_LONG") == nullptr ? 1 : 60);
    Workshop shop;
    const std::string block = shop.new_block("begun\n");
    std::vector<std::future<int>> writers;
    const auto until = Time::now() + span;
    for (unsigned i = 0; i < 8; ++i)
        writers.push_back(std::async(std::launch::async, [&shop, &block, i, until] {
            return write(shop, block, i, until);
        }));
    int made = 0;
    for (auto& writer : writers) {
        const int own = writer.get();
        EXPECT_GT(own, 0);
        made += own;
    }
    const WholeText live = shop.text(block);
    std::printf("  %d changes, %zu bytes\n", made, live.text.size());

    shop.restart();

    EXPECT_EQ(shop.text(block).text, live.text);
}

TEST(ManyWriters, OneOfTwoWinsEachRace) {
    Workshop shop;
    const std::string block = shop.new_block("0");
    for (int round = 0; round < 1000 / kRoundsShare; ++round) {
        const std::string expected = cat(round);
        const auto race = [&](const char* name) {
            const auto plan = [&](const seq::Rope& text, std::uint64_t) -> Result<edits::Planned> {
                if (text.str() != expected) return fail(Errc::conflict, "content_mismatch", "late");
                return edits::Planned{{{{0}, text.bytes(), cat(round + 1)}}, {}};
            };
            return Workshop::ask<Edited>([&](auto reply) {
                shop.kernel->edit(Workshop::as(name), block, "edit", plan, std::move(reply));
            });
        };
        auto other = std::async(std::launch::async, race, "ada");
        const Result<Edited> bob = race("bob");
        const Result<Edited> ada = other.get();
        ASSERT_NE(ada.has_value(), bob.has_value()) << "round " << round;
        ASSERT_EQ((ada ? bob : ada).error().reason(), "content_mismatch");
        ASSERT_EQ(shop.text(block).text, cat(round + 1));
    }
}

}  // namespace
}  // namespace quire::kernel
