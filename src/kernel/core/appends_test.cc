// Streams of appends: when they are flushed, shown and durable, and which versions they take.
#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/words_for_test.h"
#include "kernel/core/desk_test.h"

namespace quire::kernel {
namespace {

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

TEST(Kernel, AcceptedTextIsShownBeforeItIsStored) {
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

    EXPECT_EQ(reason(desk.append(id, "refused", "ada", Ack::accepted)), "disk_full");

    EXPECT_EQ(desk.append(id, "kept", "ada", Ack::accepted)->version, 2U);
    desk.advance(5000);
    EXPECT_EQ(desk.text(id), "a\nkept");
}

TEST(Kernel, AcceptedTextThatTheDiskRefusedComesBeforeLaterTextOfOthers) {
    Desk desk;
    const std::string id = desk.create("a\n");
    ASSERT_EQ(reason(desk.append(id, "first", "ada", Ack::accepted)), "");
    desk.store.hold(true);
    ASSERT_EQ(reason(desk.append(id, " line\n", "ada", Ack::accepted)), "");
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

TEST(Kernel, AcceptedTextIsWrittenOnceItsDocumentLoadsAgain) {
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

}  // namespace
}  // namespace quire::kernel
