#include <string_view>

#include <gtest/gtest.h>

#include "kernel/memory/memory_calls.h"
#include "kernel/memory/memory_study_test.h"

namespace quire::kernel {
namespace {

constexpr std::string_view kTasks = R"({"List": {"item_schema": {"Map": {"fields": [
    {"name": "task", "field_type": "Text", "required": true},
    {"name": "done", "field_type": "Boolean", "default": false},
    {"name": "due", "field_type": "Text"}]}}}})";

TEST(Memory, AnUndoPassesOverWhatItsWriterTookBack) {
    Study study;
    ASSERT_TRUE(study.create("build"));
    ASSERT_TRUE(study.share("build", "agent:bo", Permission::read_write));
    for (const char* const before : {"", "zero"}) {
        if (*before != 0) {
            ASSERT_EQ(reason(study.set("build", "status", before)), "fine");
        }
        const std::string value = study.value("build");
        ASSERT_EQ(reason(study.set("build", "status", "x")), "fine");
        ASSERT_EQ(reason(study.set("build", "status", "y", "agent:bo")), "fine");
        ASSERT_EQ(reason(study.undo("build", "agent:bo")), "fine");

        ASSERT_EQ(reason(study.undo("build")), "fine");

        EXPECT_EQ(study.value("build"), value);
    }
}

TEST(Memory, UndoTakesBackTheCallersOwnWrite) {
    Study study;
    ASSERT_TRUE(study.create("build"));
    ASSERT_TRUE(study.share("build", "agent:bo", Permission::read_write));
    ASSERT_TRUE(study.set("build", "status", "ada's"));
    ASSERT_TRUE(study.write("build", AppendToList{{"", "tags"}, "ada"}));
    ASSERT_TRUE(study.write("build", AppendToList{{"", "tags"}, "bo"}, "agent:bo"));
    study.restart();

    ASSERT_TRUE(study.undo("build"));
    EXPECT_EQ(study.value("build"), R"({"status":"ada's","visits":0,"tags":["bo"]})");
    ASSERT_TRUE(study.undo("build"));
    EXPECT_EQ(study.value("build"), R"({"visits":0,"tags":["bo"]})");
    EXPECT_EQ(reason(study.undo("build")), "nothing_to_undo");
    study.restart();
    ASSERT_TRUE(study.undo("build", "agent:ada", true));
    ASSERT_TRUE(study.undo("build", "agent:ada", true));

    EXPECT_EQ(study.value("build"), R"({"status":"ada's","visits":0,"tags":["ada","bo"]})");
    EXPECT_EQ(reason(study.undo("build", "agent:ada", true)), "nothing_to_redo");
    EXPECT_EQ(study.version("build"), 9U);
}

TEST(Memory, ItemsAreInsertedAndSetInPlaceEachAsOneVersionThatUndoTakesBack) {
    Study study;
    ASSERT_TRUE(study.create("todo", kTasks));
    ASSERT_TRUE(study.write("todo", AppendToList{{}, Map{{"task", "b"}}}));
    const auto first = study.version("todo");
    ASSERT_TRUE(study.write("todo", InsertItem{{}, 0, Map{{"task", "a"}}}));
    ASSERT_TRUE(study.write("todo", SetItem{{}, 1, "done", true}));
    ASSERT_TRUE(study.write("todo", SetItem{{}, 0, {}, Map{{"task", "a!"}, {"due", "today"}}}));
    EXPECT_EQ(study.version("todo"), first + 3);
    EXPECT_EQ(study.value("todo"),
              R"([{"task":"a!","done":false,"due":"today"},{"task":"b","done":true}])");
    EXPECT_EQ(reason(study.write("todo", InsertItem{{}, 3, Map{{"task", "c"}}})),
              "index_out_of_bounds");
    EXPECT_EQ(reason(study.write("todo", SetItem{{}, 2, "done", true})), "index_out_of_bounds");
    EXPECT_EQ(reason(study.write("todo", SetItem{{}, 0, "done", "yes"})), "schema_mismatch");
    for (int step = 0; step < 3; ++step) ASSERT_TRUE(study.undo("todo")) << step;
    EXPECT_EQ(study.value("todo"), R"([{"task":"b","done":false}])");
}

TEST(Memory, TwoActorsWhoSetTwoFieldsOfOneItemBothSucceed) {
    Study study;
    ASSERT_TRUE(study.create("todo", kTasks));
    ASSERT_TRUE(study.share("todo", "agent:bo", Permission::read_write));
    ASSERT_TRUE(study.write("todo", AppendToList{{}, Map{{"task", "a"}}}));
    ASSERT_TRUE(study.write("todo", SetItem{{}, 0, "done", true}));
    ASSERT_TRUE(study.write("todo", SetItem{{}, 0, "due", "today"}, "agent:bo"));
    ASSERT_TRUE(study.undo("todo"));
    EXPECT_EQ(study.value("todo"), R"([{"task":"a","done":false,"due":"today"}])");
}

TEST(Memory, ALineOfATextComesBackBeforeWhatAnotherAddedBehindItsCopy) {
    Study study;
    ASSERT_TRUE(study.create("notes", kText));
    ASSERT_TRUE(study.share("notes", "agent:bo", Permission::read_write));
    ASSERT_TRUE(study.write("notes", AppendContent{"", "first\n"}));
    ASSERT_TRUE(study.write("notes", ReplaceText{"", "first", "second"}));
    ASSERT_TRUE(study.write("notes", ReplaceText{"", "second\n", ""}));
    ASSERT_TRUE(study.undo("notes"));
    ASSERT_TRUE(study.write("notes", AppendContent{"", "of bo\n"}, "agent:bo"));

    ASSERT_TRUE(study.undo("notes"));

    EXPECT_EQ(study.value("notes"), R"("first\nof bo\n")");
}

TEST(Memory, UndoOfACounterLeavesWhatOthersAdded) {
    Study study;
    ASSERT_TRUE(study.create("build"));
    ASSERT_TRUE(study.write("build", IncrementCounter{{"", "visits"}, 3}));
    ASSERT_TRUE(study.write("build", IncrementCounter{{"", "visits"}, 10}, "human:eve"));

    ASSERT_TRUE(study.undo("build"));
    EXPECT_EQ(study.value("build"), R"({"visits":10})");
    study.restart();
    ASSERT_TRUE(study.undo("build", "agent:ada", true));

    EXPECT_EQ(study.value("build"), R"({"visits":13})");
}

TEST(Memory, UndoOfACounterGivesBackTheValueToTheLastDigit) {
    Study study;
    ASSERT_TRUE(study.create("build"));
    for (const double delta : {0.1, 0.2, 0.3})
        ASSERT_TRUE(study.write("build", IncrementCounter{{"", "visits"}, delta}));
    const auto visits = [&] { return study.value("build"); };
    EXPECT_EQ(visits(), R"({"visits":0.6000000000000001})");
    ASSERT_TRUE(study.undo("build"));
    EXPECT_EQ(visits(), R"({"visits":0.30000000000000004})");
    ASSERT_TRUE(study.undo("build"));
    EXPECT_EQ(visits(), R"({"visits":0.1})");
    study.restart();
    EXPECT_EQ(visits(), R"({"visits":0.1})");
    ASSERT_TRUE(study.undo("build", "agent:ada", true));
    EXPECT_EQ(visits(), R"({"visits":0.30000000000000004})");
    ASSERT_TRUE(study.undo("build"));
    ASSERT_TRUE(study.undo("build"));
    EXPECT_EQ(visits(), R"({"visits":0})");
}

}  // namespace
}  // namespace quire::kernel
