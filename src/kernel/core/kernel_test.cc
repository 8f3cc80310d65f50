#include "kernel/core/kernel.h"

#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "kernel/core/desk_test.h"

namespace quire::kernel {
namespace {

template <class T>
std::string told(const Result<T>& result) {
    return result ? "ok" : result.error().reason();
}

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

TEST(Kernel, TheWholeTextIsNotCutWhereAReadIs) {
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

TEST(Kernel, AReadDoesNotAnswerBeforeWhatItSawIsDurable) {
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

TEST(Kernel, DurableAppendsThatMeetShareOneFlushAndEachIsAVersion) {
    Desk desk;
    const std::string id = desk.create("");
    desk.store.hold(true);
    std::vector<std::shared_ptr<std::optional<Result<Appended>>>> answers;
    for (const char* word : {"a", "b", "c", "d"}) {
        answers.push_back(desk.start_call<Appended>([&](auto reply) {
            desk.kernel->append(Desk::as("ada"), id, word, Ack::durable, std::move(reply));
        }));
    }

    desk.store.hold(false);
    desk.store.flush();
    desk.scheduler.run_all();

    EXPECT_EQ(desk.text(id), "abcd");
    EXPECT_EQ(desk.store.updates(1), 3U);  // The creation, "a", and "bcd" together.
    for (std::size_t i = 0; i < answers.size(); ++i) EXPECT_EQ((**answers[i])->version, i + 2);
    EXPECT_EQ(desk.version(id), 5U);
}

TEST(Kernel, AcceptedTextIsFlushedByNewlineLengthSilenceAndAnotherWriter) {
    Desk desk;
    const std::string id = desk.create("");
    const auto accepted = [&](const std::string& text) {
        return desk.append(id, text, "ada", Ack::accepted);
    };

    const Result<Appended> first = accepted("quiet");
    ASSERT_TRUE(first);
    EXPECT_FALSE(first->durable);
    EXPECT_EQ(first->version, 2U);
    EXPECT_EQ(desk.store.updates(1), 1U);
    desk.advance(99);
    EXPECT_EQ(desk.store.updates(1), 1U);
    desk.advance(2);
    EXPECT_EQ(desk.store.updates(1), 2U);

    accepted(" line\n");
    EXPECT_EQ(desk.store.updates(1), 3U);
    accepted(std::string(50, 'x'));
    EXPECT_EQ(desk.store.updates(1), 4U);
    accepted("mine");
    desk.append(id, "theirs", "bo", Ack::accepted);
    EXPECT_EQ(desk.store.updates(1), 5U);
    EXPECT_EQ(desk.text(id), "quiet line\n" + std::string(50, 'x') + "minetheirs");
}

TEST(Kernel, AcceptedTextIsShownBeforeItIsIn) {
    Desk desk;
    const std::string id = desk.create("one\ntwo\n");

    const auto first = desk.append(id, "thr", "ada", Ack::accepted);
    const auto second = desk.append(id, "ee", "ada", Ack::accepted);
    EXPECT_EQ(desk.store.updates(1), 1U) << "nothing of it is stored yet";
    ASSERT_TRUE(first->change && second->change);
    EXPECT_EQ(first->change->snippet, (std::vector<std::string>{"one", "two", "thr"}));
    EXPECT_EQ(second->change->snippet, (std::vector<std::string>{"one", "two", "three"}));
    EXPECT_EQ(second->line_count, 3U);
    EXPECT_FALSE(desk.append(id, "", "ada", Ack::accepted)->change.has_value());
    EXPECT_EQ(desk.text(id), "one\ntwo\nthree");
}

TEST(Kernel, SilenceIsMeasuredFromTheLastAppend) {
    Desk desk;
    const std::string id = desk.create("");
    desk.append(id, "a", "ada", Ack::accepted);
    desk.advance(60);
    desk.append(id, "b", "ada", Ack::accepted);
    desk.advance(60);
    EXPECT_EQ(desk.store.updates(1), 1U);
    desk.advance(45);
    EXPECT_EQ(desk.store.updates(1), 2U);
    EXPECT_EQ(desk.text(id), "ab");
}

TEST(Kernel, UndoTakesBackTheActorsOwnLastCallAlone) {
    Desk desk;
    const std::string id = desk.create("base\n");
    desk.splice(id, 0, 0, "ada ", "ada");
    desk.splice(id, 0, 0, "bo ", "bo");

    const Result<Undone> undone = desk.undo(id, "ada");

    ASSERT_TRUE(undone);
    EXPECT_EQ(undone->removed, 4U);
    EXPECT_EQ(desk.text(id), "bo base\n");
    EXPECT_EQ(undone->version, 4U);
    ASSERT_TRUE(desk.undo(id, "ada", true));
    EXPECT_EQ(desk.text(id), "bo ada base\n");
}

TEST(Kernel, UndoAndRedoWalkTheWholeStackAlsoAfterARestart) {
    Desk desk;
    const std::string id = desk.create("0");
    desk.splice(id, 1, 0, "1");
    desk.splice(id, 2, 0, "2");
    desk.splice(id, 0, 1, "");
    EXPECT_EQ(desk.text(id), "12");

    desk.undo(id);
    desk.undo(id);
    EXPECT_EQ(desk.text(id), "01");
    desk.restart();
    desk.undo(id);
    EXPECT_EQ(desk.text(id), "0");
    for (const char* state : {"01", "012", "12"}) {
        ASSERT_TRUE(desk.undo(id, "ada", true));
        EXPECT_EQ(desk.text(id), state);
    }
    EXPECT_EQ(told(desk.undo(id, "ada", true)), "nothing_to_redo");
    desk.undo(id);
    EXPECT_EQ(desk.text(id), "012");
}

TEST(Kernel, ALineComesBackBeforeWhatAnotherAddedBehindItsCopy) {
    for (const bool restarts : {false, true}) {
        Desk desk;
        const std::string id = desk.create("");
        desk.splice(id, 0, 0, "first\n", "mel");
        desk.splice(id, 0, 5, "second", "mel");
        desk.splice(id, 0, 7, "", "mel");
        desk.undo(id, "mel");
        EXPECT_EQ(desk.text(id), "second\n");
        desk.splice(id, 7, 0, "of ada\n", "ada");
        if (restarts) desk.restart();

        ASSERT_TRUE(desk.undo(id, "mel"));

        EXPECT_EQ(desk.text(id), "first\nof ada\n");
        ASSERT_TRUE(desk.undo(id, "mel", true));
        EXPECT_EQ(desk.text(id), "second\nof ada\n");
    }
}

TEST(Kernel, ANewEditEndsTheChanceToRedo) {
    Desk desk;
    const std::string id = desk.create("");
    desk.append(id, "a");
    desk.undo(id);
    desk.append(id, "b");
    EXPECT_EQ(told(desk.undo(id, "ada", true)), "nothing_to_redo");
}

TEST(Kernel, AStreamOfAppendsIsOneUnitBetweenStatusChanges) {
    Desk desk;
    const std::string id = desk.create("");
    desk.append(id, "one ");
    desk.append(id, "two ");
    desk.append(id, "bo's ", "bo");
    desk.append(id, "three ");
    desk.set_status(id, conversation::Status::done);
    desk.append(id, "four");

    desk.undo(id);
    EXPECT_EQ(desk.text(id), "one two bo's three ");
    desk.undo(id);  // The status.
    EXPECT_EQ(desk.read(id)->info.status, "running");
    desk.undo(id);
    EXPECT_EQ(desk.text(id), "bo's ");
    desk.undo(id, "ada", true);
    EXPECT_EQ(desk.text(id), "one two bo's three ");
}

// Versions that accepted appends were told and lost in a crash are not another change's afterwards;
// where nothing was lost, none is skipped.
TEST(Kernel, AVersionThatWasGivenOutIsNeverGivenOutAgain) {
    Desk desk;
    const std::string id = desk.create("a\n");
    const std::string other = desk.create("");
    std::uint64_t last = 0;
    for (const char* text : {"lost", " and", " lost"})
        last = desk.append(id, text, "ada", Ack::accepted)->version;
    EXPECT_EQ(last, 4U);
    desk.append(other, "kept");

    desk.crash();

    EXPECT_EQ(desk.text(id), "a\n");
    EXPECT_GT(desk.append(id, "new\n")->version, last);
    EXPECT_EQ(desk.version(other), 2U);
    const std::uint64_t before = desk.version(id);
    for (int i = 0; i < 1000; ++i) {
        last = desk.append(id, i % 3 == 0 ? "line\n" : "word ", "ada", Ack::accepted)->version;
        ASSERT_EQ(last, before + static_cast<std::uint64_t>(i) + 1);
    }
    desk.crash();
    EXPECT_GE(desk.version(id), last);
    last = desk.append(id, "x", "ada", Ack::accepted)->version;
    desk.restart();
    EXPECT_EQ(desk.version(id), last);
    last = desk.append(id, "y\n", "ada", Ack::accepted)->version;
    desk.read(id);
    desk.crash();
    EXPECT_GE(desk.version(id), last);
    desk.advance(0);
}

TEST(Kernel, AStreamThatHasEndedLeavesNoVersionsReserved) {
    Desk desk;
    const std::string id = desk.create("");
    ASSERT_EQ(desk.append(id, "x\n", "ada", Ack::accepted)->version, 2U);
    ASSERT_EQ(desk.append(id, "y\n", "ada", Ack::accepted)->version, 3U);
    desk.advance(200);
    desk.crash();
    EXPECT_EQ(desk.version(id), 3U);
    EXPECT_EQ(desk.append(id, "z\n", "ada", Ack::accepted)->version, 4U);
    desk.advance(0);
}

TEST(Kernel, AnAcceptedAppendThatCannotBeReservedIsRefusedAndNotWrittenLater) {
    Desk desk;
    const std::string id = desk.create("a\n");
    desk.store.fail_next();

    EXPECT_EQ(told(desk.append(id, "refused", "ada", Ack::accepted)), "disk_full");

    EXPECT_EQ(desk.append(id, "kept", "ada", Ack::accepted)->version, 2U);
    desk.advance(5000);
    EXPECT_EQ(desk.text(id), "a\nkept");
}

TEST(Kernel, AcceptedTextThatTheDiskRefusedGoesBeforeWhatOthersWroteSince) {
    Desk desk;
    const std::string id = desk.create("a\n");
    ASSERT_EQ(told(desk.append(id, "first", "ada", Ack::accepted)), "ok");
    desk.store.hold(true);
    ASSERT_EQ(told(desk.append(id, " line\n", "ada", Ack::accepted)), "ok");
    const auto later = desk.start_call<Appended>([&](auto reply) {
        desk.kernel->append(Desk::as("bo"), id, "second\n", Ack::durable, std::move(reply));
    });
    desk.store.fail_next();
    desk.store.hold(false);
    desk.store.flush();
    desk.scheduler.run_all();

    desk.advance(5000);
    ASSERT_TRUE(later->has_value());
    EXPECT_EQ(desk.text(id), "a\nfirst line\nsecond\n");
    desk.restart();
    EXPECT_EQ(desk.text(id), "a\nfirst line\nsecond\n");
}

TEST(Kernel, UndoWalksBackThroughEveryStatusThereWas) {
    Desk desk;
    const std::string id = desk.create("");
    const std::vector<std::string> words = {"pending", "running", "done", "running", "error"};
    for (const conversation::Status status :
         {conversation::Status::running, conversation::Status::done, conversation::Status::running,
          conversation::Status::error}) {
        desk.set_status(id, status);
    }
    desk.restart();

    for (std::size_t i = words.size() - 1; i-- > 0;) {
        EXPECT_EQ(desk.undo(id)->skipped_because_changed, 0U);
        EXPECT_EQ(desk.read(id)->info.status, words[i]);
    }
    for (std::size_t i = 1; i < words.size(); ++i) {
        EXPECT_EQ(desk.undo(id, "ada", true)->skipped_because_changed, 0U);
        EXPECT_EQ(desk.read(id)->info.status, words[i]);
    }
}

TEST(Kernel, TheNextUndoTakesBackThePartThatOneHadToLeave) {
    Desk desk;
    const std::string id = desk.create("abc\n", "cy");
    desk.splice(id, 0, 3, "XYZ", "ada");
    desk.splice(id, 0, 3, "Q", "bo");
    desk.undo(id, "ada");
    EXPECT_EQ(desk.text(id), "abcQ\n");
    desk.restart();
    desk.undo(id, "ada", true);
    EXPECT_EQ(desk.text(id), "Q\n");
    desk.restart();
    desk.undo(id, "bo");
    EXPECT_EQ(desk.text(id), "XYZ\n");

    desk.undo(id, "ada");
    EXPECT_EQ(desk.text(id), "abc\n");
    desk.undo(id, "ada", true);
    EXPECT_EQ(desk.text(id), "XYZ\n");
    desk.undo(id, "ada");
    EXPECT_EQ(desk.text(id), "abc\n");
    desk.undo(id, "bo", true);
    EXPECT_EQ(desk.text(id), "abcQ\n");
}

TEST(Kernel, AStatusThatAnotherHasSetSinceIsNotSetBack) {
    Desk desk;
    const std::string id = desk.create("");
    desk.set_status(id, conversation::Status::running);
    desk.ask<BlockVersion>([&](auto reply) {
        desk.kernel->set_status(Desk::as("bo"), id, conversation::Status::done, std::move(reply));
    });

    EXPECT_EQ(desk.undo(id)->skipped_because_changed, 1U);
    EXPECT_EQ(desk.read(id)->info.status, "done");
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

TEST(Kernel, AnInterruptionIsInTheHistoryOnEveryWayThroughIt) {
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

// Overlapping edits by several, taken back one after the other, the newest first: each undo gives
// the text before, each redo the one after, also when another kernel goes on in between.
TEST(Kernel, UndosAndRedosWalkThroughEveryStateThereWas) {
    const char* const given = std::getenv("SEED");
    const auto first = given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10))
                                        : std::random_device{}();
    for (unsigned run = 0; run < (given != nullptr ? 1U : 30U); ++run) {
        SCOPED_TRACE("SEED=" + std::to_string(first + run));
        std::mt19937 random(first + run);
        const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
        Desk desk;
        const std::string id = desk.create("0123456789");
        const std::size_t actors = below(3) + 1;
        const UndoScope scope = actors > 1 || below(2) == 0 ? UndoScope::any : UndoScope::own;
        std::vector<std::string> states{desk.text(id)};
        for (std::size_t i = 0, edits = below(8) + 2; i < edits; ++i) {
            const std::size_t size = states.back().size();
            const std::size_t at = below(size + 1);
            const std::string by = actors == 1 ? "ada" : "actor" + std::to_string(below(actors));
            const std::string words(below(4), static_cast<char>('a' + i));
            const std::size_t erase = std::min(size - at, below(5));
            if (words.empty() && erase == 0) continue;
            ASSERT_TRUE(desk.splice(id, at, erase, words, by));
            states.push_back(desk.text(id));
        }
        std::size_t now = states.size() - 1;
        for (int step = 0; step < 30; ++step) {
            if (below(6) == 0) desk.restart();
            const bool redo = now == 0 || (now + 1 < states.size() && below(3) == 0);
            if (redo && now + 1 == states.size()) break;  // Nothing was edited.
            ASSERT_TRUE(desk.undo(id, "ada", redo, scope));
            now = redo ? now + 1 : now - 1;
            ASSERT_EQ(desk.text(id), states[now]) << "step " << step << (redo ? " redo" : " undo");
        }
    }
}

TEST(Kernel, UndoOfACreationDeletesAndRedoBringsBack) {
    Desk desk;
    const std::string id = desk.create("here");

    ASSERT_TRUE(desk.undo(id));
    EXPECT_EQ(desk.text(id), "invalid_reference");
    ASSERT_TRUE(desk.undo(id, "ada", true));
    EXPECT_EQ(desk.text(id), "here");
}

TEST(Kernel, UndoOfACreationLeavesABlockThatOthersWroteIn) {
    Desk desk;
    const std::string id = desk.create("here");
    desk.splice(id, 4, 0, ", and bo", "bo");

    const Result<Undone> undone = desk.undo(id);

    ASSERT_TRUE(undone);
    EXPECT_EQ(undone->skipped_because_changed, 1U);
    EXPECT_EQ(desk.text(id), "here, and bo");
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
    EXPECT_EQ(told(page("b1_0_9999")), "invalid_argument");

    BlockCreate other;
    other.conversation = "other";
    const auto elsewhere = desk.ask<BlockVersion>(
        [&](auto reply) { desk.kernel->create(Desk::as("ada"), other, std::move(reply)); });
    EXPECT_EQ(told(page(elsewhere->block_id)), "invalid_argument");

    ListQuery below;
    below.conversation = "main";
    below.parent_id = elsewhere->block_id;
    EXPECT_EQ(told(desk.ask<ListPage>([&](auto reply) {
                  desk.kernel->list(Desk::as("ada"), below, std::move(reply));
              })),
              "invalid_reference");
}

TEST(Kernel, UndoOfSomebodyElsesNothingIsRefused) {
    Desk desk;
    const std::string id = desk.create("x");
    EXPECT_EQ(told(desk.undo(id, "bo")), "nothing_to_undo");
    ASSERT_TRUE(desk.undo(id, "bo", false, UndoScope::any));
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
    EXPECT_EQ(told(**made[0]), "disk_full");
    ASSERT_EQ(told(**made[1]), "ok");
    ASSERT_EQ(told(**made[2]), "ok");
    EXPECT_EQ((**made[1])->block_id, (**made[2])->block_id);
    ListQuery query;
    query.conversation = "three";
    EXPECT_EQ(told(desk.ask<ListPage>([&](auto reply) {
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
    ASSERT_EQ(told(create()), "invalid_reference");
    ListQuery query;
    query.conversation = "new";
    EXPECT_EQ(told(desk.ask<ListPage>([&](auto reply) {
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

    EXPECT_EQ(told(desk.splice(id, 0, 4, "lost")), "disk_full");

    EXPECT_EQ(desk.text(id), "safe");
    EXPECT_EQ(desk.version(id), 1U);
    ASSERT_TRUE(desk.splice(id, 4, 0, "!"));
    EXPECT_EQ(desk.text(id), "safe!");
    EXPECT_EQ(desk.version(id), 2U);
}

TEST(Kernel, AcceptedTextOutlivesAFullDisk) {
    Desk desk;
    const std::string id = desk.create("");
    EXPECT_EQ(desk.append(id, "what is ", "ada", Ack::accepted)->version, 2U);
    desk.store.fail_next();
    EXPECT_EQ(desk.append(id, "kept\n", "ada", Ack::accepted)->version, 3U);
    desk.advance(1500);
    EXPECT_EQ(desk.text(id), "what is kept\n");
    EXPECT_GE(desk.version(id), 3U);
}

TEST(Kernel, AcceptedTextIsWrittenOnceItsDocumentCanBeHadAgain) {
    Desk desk;
    const std::string id = desk.create("");
    const std::string other = desk.create("x");
    ASSERT_TRUE(desk.append(id, "kept", "ada", Ack::accepted));
    desk.store.fail_next();
    ASSERT_FALSE(desk.splice(other, 0, 1, "y"));
    desk.store.refuse_loads(true);
    desk.advance(200);
    desk.store.refuse_loads(false);

    desk.advance(2000);
    desk.crash();

    EXPECT_EQ(desk.text(id), "kept");
}

TEST(Kernel, ABlockBeginsWithNoMoreThanItMayHold) {
    Limits limits;
    limits.block_bytes = 4;
    Desk desk(limits);
    BlockCreate what;
    what.content = "five!";
    const auto made = desk.ask<BlockVersion>(
        [&](auto reply) { desk.kernel->create(Desk::as("ada"), what, std::move(reply)); });
    EXPECT_EQ(told(made), "too_large");
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
        EXPECT_EQ(told(desk.read(id)), "invalid_reference") << id;
    }
}

}  // namespace
}  // namespace quire::kernel
