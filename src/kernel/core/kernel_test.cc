#include "kernel/core/kernel.h"

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/words_for_test.h"
#include "kernel/core/desk_test.h"

namespace quire::kernel {
namespace {

TEST(Kernel, ABlockIsCreatedPendingAndItsFirstEditMakesItRun) {
    Desk desk;
    const std::string id = desk.create("one\n");
    EXPECT_EQ(desk.read(id)->info.status, "pending");
    EXPECT_EQ(desk.version(id), 1U);

    const Result<Edited> edit = desk.splice(id, 0, 3, "ONE");

    ASSERT_TRUE(edit);
    EXPECT_EQ(edit->version, 2U);
    EXPECT_EQ(edit->change.changed, (text::LineRange{{0}, {1}}));
    EXPECT_EQ(edit->change.snippet, std::vector<std::string>{"ONE"});
    EXPECT_EQ(desk.read(id)->info.status, "running");
    EXPECT_EQ(desk.text(id), "ONE\n");
}

TEST(Kernel, AnsweredChangesSurviveARestart) {
    Desk desk;
    const std::string id = desk.create("a");
    desk.append(id, "b\n");
    desk.set_status(id, conversation::Status::done);

    desk.restart();

    EXPECT_EQ(desk.text(id), "ab\n");
    EXPECT_EQ(desk.version(id), 3U);
    EXPECT_EQ(desk.read(id)->info.status, "done");
    ASSERT_TRUE(desk.splice(id, 0, 0, "x"));
    EXPECT_EQ(desk.text(id), "xab\n");
    EXPECT_EQ(desk.version(id), 4U);
}

TEST(Kernel, TheWholeTextIsNotCutThoughAReadIs) {
    Desk desk;
    const std::string line(5000, 'x');
    const std::string id = desk.create(line);
    ASSERT_TRUE(desk.read(id)->truncated);

    const auto whole = desk.start_call<WholeText>(
        [&](auto reply) { desk.kernel->text(Desk::as("ada"), id, std::move(reply)); });

    ASSERT_TRUE(whole->has_value());
    EXPECT_EQ((*whole)->value().text, line);
    EXPECT_EQ((*whole)->value().info.block_id, id);
}

TEST(Kernel, AReadAnswersOnlyOnceTheTextItSawIsDurable) {
    Desk desk;
    const std::string id = desk.create("");
    desk.store.hold(true);
    const auto edit = desk.start_call<Appended>([&](auto reply) {
        desk.kernel->append(Desk::as("ada"), id, "x", Ack::durable, std::move(reply));
    });

    const auto read = desk.start_call<BlockText>(
        [&](auto reply) { desk.kernel->read(Desk::as("bo"), id, {}, std::move(reply)); });

    EXPECT_FALSE(edit->has_value());
    EXPECT_FALSE(read->has_value());
    desk.store.hold(false);
    desk.store.flush();
    desk.scheduler.run_all();
    ASSERT_TRUE(read->has_value());
    EXPECT_EQ((**read)->lines, std::vector<std::string>{"x"});
}

TEST(Kernel, ABlockThatItsWriterLeftRunningShowsThatItWasInterrupted) {
    Desk desk;
    const std::string left = desk.create("");
    const std::string finished = desk.create("");
    const std::string waiting = desk.create("");
    for (const std::string& id : {left, finished}) desk.append(id, "half a sen");
    desk.set_status(finished, conversation::Status::done);
    EXPECT_EQ(desk.read(left)->info.status, "running");

    desk.restart();

    const BlockInfo info = desk.read(left)->info;
    EXPECT_EQ(info.status, "error");
    EXPECT_EQ(info.reason, "interrupted");
    EXPECT_EQ(info.version, 2U);
    EXPECT_EQ(desk.read(finished)->info.status, "done");
    EXPECT_EQ(desk.read(waiting)->info.status, "pending");
    ListQuery failed;
    failed.status = conversation::Status::error;
    const auto listed = desk.ask<ListPage>(
        [&](auto reply) { desk.kernel->list(Desk::as("bo"), failed, std::move(reply)); });
    ASSERT_EQ(listed->blocks.size(), 1U);
    EXPECT_EQ(listed->blocks[0].block_id, left);
}

TEST(Kernel, PagesOfEverySizeShowAnInterruptionInTheHistory) {
    Desk desk;
    const std::string id = desk.create("");
    desk.append(id, "half a sen");
    desk.restart();

    for (const std::size_t limit : {1U, 2U, 100U}) {
        std::string seen, cursor;
        do {
            const auto page = desk.ask<HistoryPage>([&](auto reply) {
                desk.kernel->history(Desk::as("bo"), id, limit, cursor, std::move(reply));
            });
            for (const HistoryEntry& entry : page->versions)
                seen += cat(entry.version_id, " ", entry.actor, " ", entry.description, "\n");
            cursor = page->next_cursor;
        } while (!cursor.empty());
        EXPECT_EQ(seen, "2 system:kernel interrupted\n2 agent:ada append\n1 agent:ada create\n");
    }
}

TEST(Kernel, WritingToAnInterruptedBlockMakesItRunAgain) {
    Desk desk;
    const std::string appended = desk.create("");
    const std::string edited = desk.create("");
    const std::string set = desk.create("");
    for (const std::string& id : {appended, edited, set}) desk.append(id, "half a sen");
    desk.restart();

    desk.append(appended, "tence");
    desk.splice(edited, 0, 0, "A");
    EXPECT_EQ(desk.set_status(set, conversation::Status::running)->version, 3U);

    for (const std::string& id : {appended, edited, set}) {
        EXPECT_EQ(desk.read(id)->info.status, "running");
        EXPECT_EQ(desk.read(id)->info.reason, "");
        EXPECT_EQ(desk.version(id), 3U);
    }
}

TEST(Kernel, APageGoesOnWhereTheLastBlockOfTheOneBeforeWasDeletedAndNowhereElse) {
    Desk desk;
    std::vector<std::string> ids;
    for (const char* text : {"0", "1", "2", "3"}) ids.push_back(desk.create(text));
    const auto page = [&](const std::string& cursor) {
        ListQuery query;
        query.conversation = "main";
        query.limit = 2;
        query.cursor = cursor;
        return desk.ask<ListPage>(
            [&](auto reply) { desk.kernel->list(Desk::as("ada"), query, std::move(reply)); });
    };
    const std::string cursor = page("")->next_cursor;
    ASSERT_EQ(cursor, ids[1]);
    ASSERT_TRUE(desk.ask<BlockVersion>(
        [&](auto reply) { desk.kernel->erase(Desk::as("bo"), cursor, std::move(reply)); }));

    const auto next = page(cursor);

    ASSERT_EQ(next->blocks.size(), 2U);
    EXPECT_EQ(next->blocks[0].summary + next->blocks[1].summary, "23");
    EXPECT_EQ(reason(page("b1_0_9999")), "invalid_argument");

    BlockCreate other;
    other.conversation = "other";
    const auto elsewhere = desk.ask<BlockVersion>(
        [&](auto reply) { desk.kernel->create(Desk::as("ada"), other, std::move(reply)); });
    EXPECT_EQ(reason(page(elsewhere->block_id)), "invalid_argument");

    ListQuery below;
    below.conversation = "main";
    below.parent_id = elsewhere->block_id;
    EXPECT_EQ(reason(desk.ask<ListPage>([&](auto reply) {
                  desk.kernel->list(Desk::as("ada"), below, std::move(reply));
              })),
              "invalid_reference");
}

TEST(Kernel, ATokenMakesOneBlock) {
    Desk desk;
    BlockCreate what;
    what.content = "once";
    what.client_token = "t1";
    const auto create = [&](const std::string& by) {
        return desk
            .ask<BlockVersion>(
                [&](auto reply) { desk.kernel->create(Desk::as(by), what, std::move(reply)); })
            ->block_id;
    };
    const std::string first = create("ada");
    EXPECT_EQ(create("ada"), first);
    EXPECT_NE(create("bo"), first);
    desk.restart();
    EXPECT_EQ(create("ada"), first);
}

TEST(Kernel, ATokenMakesOneBlockAlsoWhereTwoCallsMeetInTwoConversations) {
    Desk desk;
    desk.create("elsewhere");
    desk.store.hold(true);
    std::vector<std::shared_ptr<std::optional<Result<BlockVersion>>>> made;
    for (const char* conversation : {"one", "two", "three"}) {
        BlockCreate what;
        what.conversation = conversation;
        what.client_token = "t1";
        made.push_back(desk.start_call<BlockVersion>(
            [&](auto reply) { desk.kernel->create(Desk::as("ada"), what, std::move(reply)); }));
    }
    desk.store.fail_next();
    desk.store.hold(false);
    desk.store.flush();
    desk.scheduler.run_all();

    // The first one's was refused by the disk: the second made the block, the third was given it.
    for (const auto& answer : made) ASSERT_TRUE(answer->has_value());
    EXPECT_EQ(reason(**made[0]), "disk_full");
    ASSERT_EQ(reason(**made[1]), "");
    ASSERT_EQ(reason(**made[2]), "");
    EXPECT_EQ((**made[1])->block_id, (**made[2])->block_id);
    ListQuery query;
    query.conversation = "three";
    EXPECT_EQ(reason(desk.ask<ListPage>([&](auto reply) {
                  desk.kernel->list(Desk::as("ada"), query, std::move(reply));
              })),
              "invalid_reference");
}

TEST(Kernel, ARefusedBlockMakesNoConversation) {
    Desk desk;
    BlockCreate what;
    what.conversation = "new";
    what.after = desk.create("elsewhere");
    const auto create = [&] {
        return desk.ask<BlockVersion>(
            [&](auto reply) { desk.kernel->create(Desk::as("ada"), what, std::move(reply)); });
    };
    ASSERT_EQ(reason(create()), "invalid_reference");
    ListQuery query;
    query.conversation = "new";
    EXPECT_EQ(reason(desk.ask<ListPage>([&](auto reply) {
                  desk.kernel->list(Desk::as("ada"), query, std::move(reply));
              })),
              "invalid_reference");
    what.after.reset();
    EXPECT_TRUE(create());
}

TEST(Kernel, SiblingsKeepDocumentOrderAndPagesMeet) {
    Desk desk;
    const std::string a = desk.create("a");
    const std::string c = desk.create("c");
    const std::string b = desk.create("b", "bo", {}, a);
    const std::string child = desk.create("child", "ada", a);
    const auto list = [&](ListQuery query) {
        std::string summaries;
        query.conversation = "main";
        query.limit = 1;
        for (int page = 0; page < 10; ++page) {
            const auto got = desk.ask<ListPage>(
                [&](auto reply) { desk.kernel->list(Desk::as("ada"), query, std::move(reply)); });
            for (const BlockInfo& info : got->blocks)
                summaries += info.summary + std::to_string(info.depth) + " ";
            query.cursor = got->next_cursor;
            if (query.cursor.empty()) break;
        }
        return summaries;
    };
    EXPECT_EQ(list({}), "a0 b0 c0 ");
    ListQuery all;
    all.depth = 0;
    EXPECT_EQ(list(all), "a0 child1 b0 c0 ");
    desk.restart();
    EXPECT_EQ(list(all), "a0 child1 b0 c0 ");
    desk.ask<BlockVersion>(
        [&](auto reply) { desk.kernel->erase(Desk::as("ada"), a, std::move(reply)); });
    EXPECT_EQ(list({}), "child0 b0 c0 ");
    EXPECT_EQ(desk.read(child)->info.parent_id, a);
}

TEST(Kernel, WhenTheDiskIsFullNothingIsChangedAndLaterCallsSucceed) {
    Desk desk;
    const std::string id = desk.create("safe");
    desk.store.fail_next();

    EXPECT_EQ(reason(desk.splice(id, 0, 4, "lost")), "disk_full");

    EXPECT_EQ(desk.text(id), "safe");
    EXPECT_EQ(desk.version(id), 1U);
    ASSERT_TRUE(desk.splice(id, 4, 0, "!"));
    EXPECT_EQ(desk.text(id), "safe!");
    EXPECT_EQ(desk.version(id), 2U);
}

TEST(Kernel, ABlockBeginsWithNoMoreThanItMayHold) {
    Limits limits;
    limits.block_bytes = 4;
    Desk desk(limits);
    BlockCreate what;
    what.content = "five!";
    const auto made = desk.ask<BlockVersion>(
        [&](auto reply) { desk.kernel->create(Desk::as("ada"), what, std::move(reply)); });
    EXPECT_EQ(reason(made), "too_large");
}

TEST(Kernel, HistoryNamesWhoDidWhatNewestFirst) {
    Desk desk;
    const std::string id = desk.create("x");
    desk.append(id, "y", "bo");
    desk.undo(id, "bo");
    const auto page = desk.ask<HistoryPage>(
        [&](auto reply) { desk.kernel->history(Desk::as("ada"), id, 2, "", std::move(reply)); });
    ASSERT_EQ(page->versions.size(), 2U);
    EXPECT_EQ(page->versions[0].description, "undo of append");
    EXPECT_EQ(page->versions[1].actor, "agent:bo");
    const auto rest = desk.ask<HistoryPage>([&](auto reply) {
        desk.kernel->history(Desk::as("ada"), id, 2, page->next_cursor, std::move(reply));
    });
    ASSERT_EQ(rest->versions.size(), 1U);
    EXPECT_EQ(rest->versions[0].description, "create");
    EXPECT_EQ(rest->next_cursor, "");
}

TEST(Kernel, AnIdThatNamesNothingIsRefused) {
    Desk desk;
    desk.create("x");
    for (const char* id : {"b1_0_999", "b1_9_0", "b99", "b1", "nonsense", ""}) {
        EXPECT_EQ(reason(desk.read(id)), "invalid_reference") << id;
    }
}

}  // namespace
}  // namespace quire::kernel
