// A disk without room: reads are answered from what is durable, and from what was accepted.
#include <gtest/gtest.h>

#include "base/words_for_test.h"
#include "kernel/core/block_reads.h"
#include "kernel/core/desk_test.h"

namespace quire::kernel {
namespace {

TEST(KernelOnAFullDisk, ReadsAreAnsweredAndWritesAreRefusedAgainAndAgain) {
    Desk desk;
    const std::string id = desk.create("durable\n");
    desk.store.fill(true);

    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(reason(desk.splice(id, 0, 0, "lost")), "disk_full") << i;
        EXPECT_EQ(desk.text(id), "durable\n") << i;
    }
    desk.store.fill(false);
    EXPECT_TRUE(desk.splice(id, 0, 0, "more "));
    EXPECT_EQ(desk.text(id), "more durable\n");
}

TEST(KernelOnAFullDisk, AReadThatSawARefusedChangeIsAnsweredFromWhatIsDurable) {
    Desk desk;
    const std::string id = desk.create("durable\n");
    desk.store.hold(true);
    const auto edited = desk.start_call<Edited>([&](auto reply) {
        desk.kernel->edit(
            Desk::as("ada"), id, "splice",
            [](const seq::Rope&, std::uint64_t) {
                return Result<edits::Planned>(edits::Planned{{{{0}, {0}, "lost"}}, {}});
            },
            std::move(reply));
    });
    const auto read = desk.start_call<WholeText>(
        [&](auto reply) { desk.kernel->text(Desk::as("eve"), id, std::move(reply)); });
    const auto listed = desk.start_call<ListPage>(
        [&](auto reply) { desk.kernel->list(Desk::as("eve"), {}, std::move(reply)); });

    desk.store.fill(true);
    desk.store.hold(false);
    desk.store.flush();
    desk.scheduler.run_all();

    EXPECT_EQ(reason(**edited), "disk_full");
    ASSERT_TRUE(read->has_value());
    ASSERT_TRUE(**read) << (*read)->error().message();
    EXPECT_EQ((**read)->text, "durable\n");
    ASSERT_TRUE(**listed) << (*listed)->error().message();
    ASSERT_EQ((**listed)->blocks.size(), 1U);
    EXPECT_EQ((**listed)->blocks[0].summary, "durable");
}

TEST(KernelOnAFullDisk, AcceptedAppendsAreReadAndKeptForWhenThereIsRoom) {
    Desk desk;
    const std::string id = desk.create("durable\n");
    ASSERT_TRUE(desk.append(id, "accepted", "ada", Ack::accepted));
    desk.store.fill(true);

    EXPECT_EQ(desk.text(id), "durable\naccepted");
    desk.advance(5000);
    EXPECT_EQ(desk.text(id), "durable\naccepted");

    desk.store.fill(false);
    desk.advance(5000);
    desk.restart();
    EXPECT_EQ(desk.text(id), "durable\naccepted");
}

TEST(KernelOnAFullDisk, SearchesAndHistoryAreAnswered) {
    Desk desk;
    const std::string id = desk.create("durable\n");
    desk.store.fill(true);
    ASSERT_EQ(reason(desk.splice(id, 0, 0, "lost")), "disk_full");

    const auto history = desk.ask<HistoryPage>(
        [&](auto reply) { desk.kernel->history(Desk::as("eve"), id, 9, "", std::move(reply)); });
    ASSERT_TRUE(history) << history.error().message();
    EXPECT_EQ(history->versions.size(), 1U);

    ASSERT_EQ(reason(desk.splice(id, 0, 0, "lost")), "disk_full");
    const SearchQuery query{text::Query::compile("durable", text::Match::literal).value()};
    const auto found = desk.ask<edits::Finding>(
        [&](auto reply) { desk.kernel->search(Desk::as("eve"), id, query, std::move(reply)); });
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_EQ(found->hits.size(), 1U);
}

}  // namespace
}  // namespace quire::kernel
