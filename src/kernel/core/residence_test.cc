// Documents leave memory, and nobody can tell but by the time that it takes.
#include "kernel/core/residence.h"

#include <random>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/share_for_test.h"
#include "base/words_for_test.h"
#include "kernel/core/block_feed.h"
#include "kernel/core/core.h"
#include "kernel/core/desk_test.h"
#include "kernel/core/kinds.h"

namespace quire::kernel {
namespace {

constexpr std::size_t kSmall = 200'000;

// A conversation of one block of 4 KB that is done.
std::string create_in(Desk& desk, const std::string& conversation,
                      conversation::Status status = conversation::Status::done) {
    BlockCreate what;
    what.conversation = conversation;
    what.content = cat("block of ", conversation, "\n", std::string(4000, '.'), "\n");
    what.status = status;
    return desk
        .ask<BlockVersion>(
            [&](auto reply) { desk.kernel->create(Desk::as("ada"), what, std::move(reply)); })
        ->block_id;
}

// Uses other documents until memory would be full of them.
void fill(Desk& desk, const std::string& names) {
    for (int i = 0; i < 60; ++i) create_in(desk, cat(names, i));
}

TEST(Residence, WhatWasNotUsedLatelyLeaves) {
    Desk desk({.resident_bytes = kSmall});
    std::vector<std::string> ids;
    for (int i = 0; i < 200; ++i) {
        ids.push_back(create_in(desk, cat("c", i)));
        ASSERT_LE(desk.kernel->status().resident_bytes, kSmall);
    }
    const Status status = desk.kernel->status();
    EXPECT_EQ(status.documents, 200U);
    EXPECT_LT(status.live_documents, 50U);
    EXPECT_GT(status.live_documents, 10U);
    const std::size_t loads = desk.store.loads();
    ASSERT_TRUE(desk.read(ids.back()));
    EXPECT_EQ(desk.store.loads(), loads) << "the newest is there";

    for (std::size_t i = 0; i < ids.size(); ++i) {
        EXPECT_TRUE(desk.text(ids[i]).starts_with(cat("block of c", i, "\n")));
        ASSERT_LE(desk.kernel->status().resident_bytes, kSmall);
    }
    EXPECT_GT(desk.store.loads(), loads + 150);
}

std::size_t size_of_process = 0;

TEST(Residence, DocumentsAreAllowedLessWhereTheProcessGrowsMore) {
    constexpr std::size_t kLimit = 64'000;
    size_of_process = 1'000'000;
    const auto residence = std::make_shared<Residence>(kLimit, [] { return size_of_process; });
    Desk desk;
    const auto held_after = [&](std::size_t size) {
        size_of_process = size;
        for (int i = 0; i < 30; ++i) {
            const std::string name = cat("c", i);
            create_in(desk, name);
            residence->holds(desk.kernel->core()->catalog().find(Name{kConversationKind, name}),
                             4000);
        }
        return residence->allowed();
    };
    EXPECT_EQ(held_after(1'000'000 + kLimit / 2), kLimit);
    // The documents pay once for what is more than seven eighths.
    const std::size_t left = held_after(1'000'000 + kLimit);
    EXPECT_EQ(left, kLimit - kLimit / 8);
    EXPECT_EQ(held_after(1'000'000 + kLimit), left);
    EXPECT_EQ(held_after(1'000'000 + kLimit - 1000), left);
    EXPECT_EQ(held_after(9'000'000), kLimit / 3) << "a third is theirs whatever else there is";
    EXPECT_EQ(held_after(1'000'000), kLimit);
    EXPECT_EQ(held_after(0), kLimit);
}

TEST(Residence, WhatIsUsedAgainAndAgainStays) {
    Desk desk({.resident_bytes = kSmall});
    const std::string id = create_in(desk, "wanted");
    for (int i = 0; i < 100; ++i) {
        create_in(desk, cat("c", i));
        ASSERT_TRUE(desk.read(id));
    }
    EXPECT_EQ(desk.store.loads(), 0U);
}

TEST(Residence, ADocumentThatGrowsIsCounted) {
    Desk desk;
    const std::string id = create_in(desk, "one");
    const std::size_t before = desk.kernel->status().resident_bytes;
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(desk.splice(id, 0, 0, std::string(10'000, 'x')));
    EXPECT_GT(desk.kernel->status().resident_bytes, before + 900'000);
}

TEST(Residence, WhatIsBusyStays) {
    Desk desk({.resident_bytes = kSmall});
    const std::string running = create_in(desk, "running", conversation::Status::running);
    const std::string written = create_in(desk, "written");
    const std::string selected = create_in(desk, "selected");
    ASSERT_TRUE(desk.ask<std::vector<ActorCursors>>([&](auto reply) {
        desk.kernel->set_cursors(Desk::as("ada"), selected, {{0, 5}}, std::move(reply));
    }));
    // Held while its change is on the way to the disk.
    desk.store.hold(true);
    const auto edit = desk.start_call<BlockVersion>([&](auto reply) {
        desk.kernel->set_status(Desk::as("ada"), written, conversation::Status::error,
                                std::move(reply));
    });
    for (int i = 0; i < 60; ++i) {
        desk.start_call<BlockVersion>([&](auto reply) {
            BlockCreate what;
            what.conversation = cat("c", i);
            what.content = std::string(4000, '.');
            desk.kernel->create(Desk::as("ada"), what, std::move(reply));
        });
    }
    desk.store.hold(false);
    desk.store.flush();
    desk.scheduler.run_all();
    ASSERT_TRUE(edit->has_value());
    fill(desk, "d");
    EXPECT_EQ(desk.store.loads(), 0U);
    ASSERT_TRUE(desk.read(running));
    EXPECT_EQ(desk.store.loads(), 0U);
    const auto cursors = desk.ask<std::vector<ActorCursors>>(
        [&](auto reply) { desk.kernel->cursors(Desk::as("bo"), selected, std::move(reply)); });
    ASSERT_EQ(cursors->size(), 1U);
    EXPECT_EQ(desk.store.loads(), 0U);

    // A selection lasts a minute, and a block that is done does not run.
    desk.advance(61'000);
    ASSERT_TRUE(desk.set_status(running, conversation::Status::done));
    fill(desk, "e");
    ASSERT_TRUE(desk.read(running));
    ASSERT_TRUE(desk.read(selected));
    EXPECT_EQ(desk.store.loads(), 2U);
}

TEST(Residence, AnInterruptedBlockStaysInterrupted) {
    Desk desk({.resident_bytes = kSmall});
    const std::string id = create_in(desk, "left", conversation::Status::running);
    desk.restart();
    EXPECT_EQ(desk.read(id)->info.reason, "interrupted");
    const std::size_t loads = desk.store.loads();

    fill(desk, "c");

    EXPECT_EQ(desk.read(id)->info.reason, "interrupted");
    EXPECT_EQ(desk.store.loads(), loads + 1);
}

TEST(Residence, WhatWasAppendedIsThereAfterItLeft) {
    Desk desk({.resident_bytes = kSmall});
    const std::string id = create_in(desk, "log");
    const auto add = [&](const char* text) {
        ASSERT_TRUE(desk.append(id, text));
        desk.advance(1000);
        ASSERT_TRUE(desk.set_status(id, conversation::Status::done));
    };
    const std::string before = desk.text(id);
    add("a\n");
    fill(desk, "c");
    const std::size_t loads = desk.store.loads();
    EXPECT_TRUE(desk.text(id).ends_with("a\n"));
    EXPECT_EQ(desk.store.loads(), loads + 1);
}

// Two kernels get the same calls, and one of them has no room: their answers are the same.
class Pair {
public:
    explicit Pair(std::uint64_t seed) : random_(seed) {}

    void run(int steps) {
        for (int step = 0; step < steps; ++step) {
            const std::string said = act();
            ASSERT_FALSE(testing::Test::HasFailure()) << "step " << step << ": " << said;
        }
        EXPECT_GT(small_.store.loads(),
                  roomy_.store.loads() + static_cast<std::size_t>(steps) / 50);
    }

private:
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
    template <class Call>
    void both(Call call) {
        const std::string expected = call(roomy_);
        const std::string got = call(small_);
        EXPECT_EQ(got, expected);
    }

    static std::string words(const Result<Edited>& made) {
        return made ? cat("version ", made->version) : made.error().reason();
    }
    static std::string words(const Result<BlockText>& block) {
        if (!block) return block.error().reason();
        std::string all = cat(block->info.version, " ", block->info.status, " ");
        for (const std::string& line : block->lines) all += line;
        return all;
    }
    static std::string words(const Result<Undone>& undone) {
        return undone ? cat("version ", undone->version, " ", undone->restored, " ",
                            undone->removed, " ", undone->skipped_because_changed)
                      : undone.error().reason();
    }
    static std::string words(const Result<HistoryPage>& page) {
        if (!page) return page.error().reason();
        std::string all;
        for (const HistoryEntry& each : page->versions)
            cat_to(all, cat(each.version_id, " ", each.actor, " ", each.description, "\n"));
        return all;
    }

    std::string act() {
        const std::string actor(1, static_cast<char>('a' + below(3)));
        const std::size_t choice = ids_.empty() ? 0 : below(12);
        if (choice == 0 && ids_.size() < 60) {
            const std::string conversation = cat("c", below(12));
            std::string made;
            both([&](Desk& desk) {
                BlockCreate what;
                what.conversation = conversation;
                what.content = std::string(500, '-') + "\n";
                made = desk.ask<BlockVersion>([&](auto reply) {
                               desk.kernel->create(Desk::as(actor), what, std::move(reply));
                           })
                           ->block_id;
                return made;
            });
            ids_.push_back(made);
            return "create";
        }
        const std::string id = ids_[below(ids_.size())];
        const std::string text(1 + below(300), static_cast<char>('a' + below(26)));
        const std::size_t place = below(3);
        const auto status =
            below(4) == 0 ? conversation::Status::error : conversation::Status::done;
        switch (choice) {
            case 1:
            case 2:
                both([&](Desk& desk) {
                    const auto made =
                        desk.append(id, text, actor, choice == 1 ? Ack::durable : Ack::accepted);
                    return made ? cat("version ", made->version) : made.error().reason();
                });
                return "append";
            case 3:
            case 4:
                both([&](Desk& desk) { return words(desk.splice(id, place % 2, 1, text, actor)); });
                return "splice";
            case 5:
                both([&](Desk& desk) { return words(desk.undo(id, actor)); });
                return "undo";
            case 6:
                both([&](Desk& desk) { return words(desk.undo(id, actor, true)); });
                return "redo";
            case 7:
            case 8:
                both([&](Desk& desk) {
                    const auto set = desk.set_status(id, status);
                    return set ? cat("version ", set->version) : set.error().reason();
                });
                return "status";
            case 9:
                both([&](Desk& desk) {
                    return words(desk.ask<HistoryPage>([&](auto reply) {
                        desk.kernel->history(Desk::as("bo"), id, 100, "", std::move(reply));
                    }));
                });
                return "history";
            case 10:
                both([&](Desk& desk) {
                    desk.advance(400);
                    return std::string();
                });
                return "advance";
            default:
                both([&](Desk& desk) { return words(desk.read(id)); });
                return "read";
        }
    }

    static constexpr std::size_t kLimit = 40'000;
    std::mt19937_64 random_;
    Desk roomy_;
    Desk small_{Limits{.resident_bytes = kLimit}};
    std::vector<std::string> ids_;
};

TEST(Residence, NobodyCanTellThatDocumentsLeft) {
    const int seeds = 40 / kRoundsShare;
    for (int seed = 1; seed <= seeds; ++seed) {
        SCOPED_TRACE(cat("seed ", seed));
        Pair(static_cast<std::uint64_t>(seed)).run(500);
        if (testing::Test::HasFailure()) return;
    }
}

}  // namespace
}  // namespace quire::kernel
