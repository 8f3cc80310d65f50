// Undo and redo of edits, status changes and whole blocks, each for its actor alone.
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/words_for_test.h"
#include "kernel/core/desk_test.h"

namespace quire::kernel {
namespace {

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

TEST(Kernel, UndoSinceAMomentTakesBackAllOfOneActorsChangesSinceThen) {
    Desk desk;
    const std::string id = desk.create("base\n");
    desk.splice(id, 0, 0, "old ", "ada");
    desk.advance(1000);
    const UndoWhich which{.actor = "agent:ada", .all_since = desk.clock.wall_ms()};
    desk.splice(id, 0, 0, "one ", "ada");
    desk.splice(id, 0, 0, "bo ", "bo");
    desk.append(id, "two\n", "ada");
    desk.append(id, "three\n", "ada");
    ASSERT_EQ(desk.text(id), "bo one old base\ntwo\nthree\n");
    const auto undoable = [&] {
        const auto steps = desk.ask<std::vector<HistoryEntry>>([&](auto reply) {
            desk.kernel->undoable(Desk::as("cy"), id, which, std::move(reply));
        });
        std::string out;
        for (const HistoryEntry& step : *steps) cat_to(out, cat(step.version_id, " "));
        return out;
    };
    const auto undo = [&] {
        return desk.ask<Undone>(
            [&](auto reply) { desk.kernel->undo(Desk::as("cy"), id, which, std::move(reply)); });
    };

    EXPECT_EQ(undoable(), "6 3 ");
    ASSERT_TRUE(undo());
    EXPECT_EQ(desk.text(id), "bo old base\n");
    EXPECT_EQ(undoable(), "");
    EXPECT_EQ(reason(undo()), "nothing_to_undo");
    for (const char* state : {"bo one old base\n", "bo one old base\ntwo\nthree\n"}) {
        ASSERT_TRUE(desk.undo(id, "ada", true));
        EXPECT_EQ(desk.text(id), state);
    }
}

TEST(Kernel, UndoOfAVersionLeavesWhatCameAfterIt) {
    Desk desk;
    const std::string id = desk.create("base\n");
    desk.splice(id, 0, 0, "one ", "ada");
    desk.splice(id, 0, 0, "two ", "ada");
    const auto undo = [&](std::uint64_t version) {
        return desk.ask<Undone>([&](auto reply) {
            desk.kernel->undo(Desk::as("cy"), id, {.version = version}, std::move(reply));
        });
    };

    ASSERT_TRUE(undo(2));
    EXPECT_EQ(desk.text(id), "two base\n");
    EXPECT_EQ(reason(undo(2)), "nothing_to_undo");
    EXPECT_EQ(reason(undo(9)), "nothing_to_undo");
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
    EXPECT_EQ(reason(desk.undo(id, "ada", true)), "nothing_to_redo");
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
    EXPECT_EQ(reason(desk.undo(id, "ada", true)), "nothing_to_redo");
}

TEST(Kernel, ARunOfAppendsThatAnotherActorTookBackGoesOnAsAStepOfItsOwn) {
    Desk desk;
    const std::string id = desk.create("");
    desk.append(id, "a\n");
    desk.append(id, "b\n");
    ASSERT_TRUE(desk.undo(id, "bo", false, UndoScope::any));
    EXPECT_EQ(desk.text(id), "");
    desk.append(id, "c\n");
    EXPECT_EQ(desk.text(id), "c\n");

    ASSERT_TRUE(desk.undo(id));
    EXPECT_EQ(desk.text(id), "");
    ASSERT_TRUE(desk.undo(id, "ada", true));
    EXPECT_EQ(desk.text(id), "c\n");
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

TEST(Kernel, TheNextUndoTakesBackThePartThatAnEarlierOneHadToLeave) {
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

TEST(Kernel, UndoOfACreationDeletesTheBlockAndRedoRestoresIt) {
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

TEST(Kernel, UndoIsRefusedToAnActorWhoDidNothing) {
    Desk desk;
    const std::string id = desk.create("x");
    EXPECT_EQ(reason(desk.undo(id, "bo")), "nothing_to_undo");
    ASSERT_TRUE(desk.undo(id, "bo", false, UndoScope::any));
}

}  // namespace
}  // namespace quire::kernel
