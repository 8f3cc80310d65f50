#include <gtest/gtest.h>

#include "kernel/memory/memory_study_test.h"

namespace quire::kernel {
namespace {

// Labels with their types: "notes:working old:archival".
std::string shelf(Study& study, const std::string& by = "agent:ada") {
    const auto list = study.desk.ask<MemoryList>([&](auto reply) {
        study.calls().list(Study::as(by), MemoryListQuery{}, std::move(reply));
    });
    std::string out;
    for (const MemoryRow& row : list->blocks)
        cat_to(out, cat(out.empty() ? "" : " ", row.block.label, ":", name_of(row.type)));
    return out;
}

TEST(MemoryMoves, ADiffIsBetweenTwoVersions) {
    Study study;
    ASSERT_TRUE(study.create("build"));
    ASSERT_TRUE(study.set("build", "status", "idle"));
    ASSERT_TRUE(study.set("build", "status", "busy"));
    ASSERT_TRUE(study.write("build", AppendToList{{"", "tags"}, "new"}));

    EXPECT_EQ(
        study.diff("build")->diff,
        "--- build\tversion 3\n+++ build\tversion 4\n@@ -1,2 +1,4 @@\n status: busy\n visits: 0\n+tags:\n+- new\n");
    EXPECT_EQ(
        study.diff("build", "2", "3")->diff,
        "--- build\tversion 2\n+++ build\tversion 3\n@@ -1,2 +1,2 @@\n-status: idle\n+status: busy\n visits: 0\n");
    EXPECT_EQ(
        study.diff("build", "3", "2")->diff,
        "--- build\tversion 3\n+++ build\tversion 2\n@@ -1,2 +1,2 @@\n-status: busy\n+status: idle\n visits: 0\n");
    study.restart();
    EXPECT_EQ(study.diff("build", "2", "2")->diff, "");
    EXPECT_EQ(study.diff("build", {}, "1")->from, "0");
    EXPECT_EQ(reason(study.diff("build", "9")), "invalid_reference");
    EXPECT_EQ(reason(study.diff("build", "x")), "invalid_reference");
    EXPECT_EQ(study.version("build"), 4U);
}

TEST(MemoryMoves, ALineOfTheTextIsOfTheVersionThatChangedItLast) {
    Study study;
    ASSERT_TRUE(study.create("build"));
    ASSERT_TRUE(study.set("build", "status", "idle"));
    ASSERT_TRUE(study.write("build", AppendToList{{"", "tags"}, "new"}));
    ASSERT_TRUE(study.set("build", "status", "busy"));
    const auto blame = study.desk.ask<Blame>(
        [&](auto reply) { study.calls().blame(Study::as("agent:ada"), "build", std::move(reply)); });

    ASSERT_TRUE(blame);
    EXPECT_EQ(blame->text, "status: busy\nvisits: 0\ntags:\n- new\n");
    std::string found;
    for (const Blame::Stretch& each : blame->stretches)
        cat_to(found, cat(each.begin, "-", each.end, " v", each.entry.version_id, " "));
    EXPECT_EQ(found, "0-1 v4 1-2 v1 2-4 v3 ");
    EXPECT_EQ(blame->stretches[0].entry.actor, "agent:ada");
}

TEST(MemoryMoves, RollbackIsAWriteThatCanBeUndone) {
    Study study;
    ASSERT_TRUE(study.create("build"));
    ASSERT_TRUE(study.set("build", "status", "idle"));
    ASSERT_TRUE(study.write("build", IncrementCounter{{"", "visits"}, 5}));
    ASSERT_TRUE(study.write("build", AppendToList{{"", "tags"}, "a"}));
    ASSERT_TRUE(study.set("build", "status", "busy"));
    study.restart();

    EXPECT_EQ(study.rollback("build", "3")->version, 6U);

    EXPECT_EQ(study.value("build"), R"({"status":"idle","visits":5})");
    ASSERT_TRUE(study.undo("build"));
    EXPECT_EQ(study.value("build"), R"({"status":"busy","visits":5,"tags":["a"]})");
    EXPECT_EQ(study.rollback("build", "6")->version, 8U);
    study.restart();
    EXPECT_EQ(study.value("build"), R"({"status":"idle","visits":5})");
    EXPECT_EQ(study.rollback("build", "8")->version, 8U);
    const auto empty = study.rollback("build", "1");
    ASSERT_TRUE(empty) << empty.error().message();
    EXPECT_EQ(empty->version, 9U);
    EXPECT_EQ(study.value("build"), R"({"visits":0})");
}

TEST(MemoryMoves, ARollbackThatWouldChangeAnothersFieldIsRefused) {
    Study study;
    ASSERT_TRUE(study.create("build"));
    ASSERT_TRUE(study.set("build", "origin", "old", "source:cc"));
    ASSERT_TRUE(study.set("build", "status", "idle"));
    ASSERT_TRUE(study.set("build", "origin", "new", "source:cc"));
    ASSERT_TRUE(study.create("sections", kBuild));
    ASSERT_TRUE(
        study.write("sections", IncrementCounter{{"diagnostics", "errors"}, 2}, "source:cc"));

    const auto refused = study.rollback("build", "3");

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason(), "read_only_field");
    EXPECT_EQ(refused.error().message(),
              "Field 'origin' is read-only and cannot be modified by agent");
    EXPECT_EQ(reason(study.rollback("sections", "1")), "read_only_section");
    EXPECT_EQ(study.version("build"), 4U);
    EXPECT_EQ(reason(study.rollback("build", "3", "source:cc")), "fine");
    EXPECT_EQ(study.value("build"), R"({"status":"idle","origin":"old","visits":0})");
    ASSERT_TRUE(study.create("grows", kText, policy::Permission::append));
    ASSERT_TRUE(study.write("grows", AppendContent{"", "a"}));
    EXPECT_EQ(reason(study.rollback("grows", "1")), "permission_denied");
}

TEST(MemoryMoves, AnArchivedBlockKeepsAllButItsLabel) {
    Study study;
    const std::string id = study.create("notes", kText)->block_id;
    ASSERT_TRUE(study.write("notes", AppendContent{"", "kept"}));
    ASSERT_TRUE(study.share("notes", "agent:bo", policy::Permission::read_only));

    const auto archived = study.archive("notes", "old");

    ASSERT_TRUE(archived);
    EXPECT_EQ(archived->block.label, "notes");
    EXPECT_EQ(archived->block.block_id, id);
    EXPECT_EQ(archived->block.version, 4U);
    EXPECT_EQ(archived->archival_label, "old");
    EXPECT_EQ(shelf(study), "old:archival");
    EXPECT_EQ(study.value("notes"), "invalid_reference");
    EXPECT_EQ(study.value("old"), R"("kept")");
    EXPECT_EQ(shelf(study, "agent:bo"), "old:archival");
    ASSERT_TRUE(study.create("notes", kText));
    study.restart();
    EXPECT_EQ(shelf(study), "notes:working old:archival");

    EXPECT_EQ(reason(study.load("old", "notes")), "label_exists");
    const auto loaded = study.load("old", "again");

    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->block_id, id);
    EXPECT_EQ(loaded->version, 5U);
    EXPECT_EQ(shelf(study), "again:working notes:working");
    // Each move is taken back, by either label, and then the write before it.
    ASSERT_TRUE(study.undo("again"));
    EXPECT_EQ(shelf(study), "notes:working old:archival");
    EXPECT_EQ(reason(study.undo("old")), "label_exists");
    ASSERT_TRUE(study.erase("notes"));
    ASSERT_TRUE(study.undo("notes"));
    EXPECT_EQ(shelf(study), "notes:working");
    ASSERT_TRUE(study.undo("notes"));
    EXPECT_EQ(study.value("notes"), R"("")");
}

TEST(MemoryMoves, ASwapIsTakenBackInBothBlocks) {
    Study study;
    ASSERT_TRUE(study.create("notes", kText));
    ASSERT_TRUE(study.write("notes", AppendContent{"", "in context"}));
    ASSERT_TRUE(study.create("old", kText));
    ASSERT_TRUE(study.write("old", AppendContent{"", "on the shelf"}));
    ASSERT_TRUE(study.archive("old", "shelved"));
    for (const std::string label : {"notes", "shelved"}) {
        ASSERT_TRUE(study.swap("notes", "shelved"));
        EXPECT_EQ(study.value("notes"), R"("on the shelf")");

        ASSERT_TRUE(study.undo(label)) << label;

        EXPECT_EQ(study.value("notes"), R"("in context")");
        EXPECT_EQ(study.value("shelved"), R"("on the shelf")");
        EXPECT_EQ(shelf(study), "notes:working shelved:archival");
        study.restart();
        ASSERT_TRUE(study.undo(label, "agent:ada", true)) << label;
        EXPECT_EQ(study.value("notes"), R"("on the shelf")");
        ASSERT_TRUE(study.undo(label)) << label;
        EXPECT_EQ(shelf(study), "notes:working shelved:archival");
    }
}

TEST(MemoryMoves, ADeletedBlockComesBack) {
    Study study;
    ASSERT_TRUE(study.create("notes", kText));
    ASSERT_TRUE(study.write("notes", AppendContent{"", "kept"}));
    const std::string id = study.view("notes")->row.block.block_id;
    ASSERT_TRUE(study.erase("notes"));
    study.restart();
    const auto deleted = [&](const std::string& by) {
        const auto list = study.desk.ask<MemoryList>([&](auto reply) {
            study.calls().list(Study::as(by), {.deleted = true}, std::move(reply));
        });
        std::string out;
        for (const MemoryRow& row : list->blocks) out += cat(row.block.label, " ");
        return out;
    };
    const auto restore = [&](const std::string& what, std::optional<std::string> to,
                             const std::string& by = "agent:ada") {
        return reason(study.desk.ask<MemoryVersion>(
            [&](auto reply) { study.calls().restore(Study::as(by), what, to, std::move(reply)); }));
    };
    EXPECT_EQ(deleted("agent:ada"), "notes ");
    EXPECT_EQ(deleted("agent:bo"), "");
    EXPECT_EQ(restore("notes", {}, "agent:bo"), "invalid_reference");
    EXPECT_EQ(restore(id, {}, "agent:bo"), "invalid_reference");
    ASSERT_TRUE(study.create("notes", kText));
    EXPECT_EQ(restore("notes", {}), "label_exists");
    EXPECT_EQ(restore("notes", "b1"), "invalid_label");

    EXPECT_EQ(restore("notes", "again"), "fine");

    EXPECT_EQ(study.value("again"), R"("kept")");
    EXPECT_EQ(deleted("agent:ada"), "");
    EXPECT_EQ(restore(id, {}), "label_exists");
    // A restoring is undone like any other call, and so is the deletion, by the block's id.
    ASSERT_TRUE(study.undo("again"));
    EXPECT_EQ(deleted("agent:ada"), "notes ");
    EXPECT_EQ(reason(study.erase("notes")), "fine");
    ASSERT_TRUE(study.undo(id));
    EXPECT_EQ(study.value("notes"), R"("kept")");
}

TEST(MemoryMoves, AMissingLabelIsMadeFromTheTime) {
    Study study;
    study.desk.clock.advance(1'700'000'000'000 - study.desk.clock.wall_ms());
    ASSERT_TRUE(study.create("notes", kText));
    ASSERT_TRUE(study.create("long" + std::string(190, 'x'), kText));

    EXPECT_EQ(study.archive("notes")->archival_label, "notes_archived_1700000000");
    ASSERT_TRUE(study.create("notes", kText));
    EXPECT_EQ(study.archive("notes")->archival_label, "notes_archived_1700000000_2");
    EXPECT_EQ(reason(study.archive("long" + std::string(190, 'x'))), "fine");
    EXPECT_EQ(study.load("notes_archived_1700000000")->label, "notes_archived_1700000000");
}

TEST(MemoryMoves, ABlockThatMayNotBeMovedStays) {
    Study study;
    ASSERT_TRUE(
        study.create("self", kText, policy::Permission::read_write, "agent:ada", MemoryType::core));
    ASSERT_TRUE(study.create("notes", kText));
    ASSERT_TRUE(study.create("old", kText));
    ASSERT_TRUE(study.archive("old", "old"));
    ASSERT_TRUE(study.share("notes", "agent:bo", policy::Permission::read_write));

    const auto core = study.archive("self");

    ASSERT_FALSE(core);
    EXPECT_EQ(core.error().reason(), "core_block");
    EXPECT_EQ(reason(study.swap("self", "old")), "core_block");
    EXPECT_EQ(reason(study.archive("old")), "archived");
    EXPECT_EQ(reason(study.load("notes")), "not_archived");
    EXPECT_EQ(reason(study.swap("notes", "self")), "not_archived");
    EXPECT_EQ(reason(study.swap("notes", "notes")), "not_archived");
    EXPECT_EQ(reason(study.swap("notes", "nothing")), "invalid_reference");
    EXPECT_EQ(reason(study.archive("notes", "self")), "label_exists");
    EXPECT_EQ(reason(study.archive("notes", "two\nlines")), "invalid_label");
    EXPECT_EQ(reason(study.archive("notes", {}, "agent:bo")), "permission_denied");
    EXPECT_EQ(reason(study.swap("notes", "old", "agent:bo")), "invalid_reference");
    EXPECT_EQ(shelf(study), "notes:working old:archival self:core");
    EXPECT_EQ(study.version("notes"), 2U);
}

TEST(MemoryMoves, ASwapExchangesTheLabels) {
    Study study;
    const std::string one = study.create("notes", kText)->block_id;
    const std::string two = study.create("old", kText)->block_id;
    ASSERT_TRUE(study.write("notes", AppendContent{"", "one"}));
    ASSERT_TRUE(study.write("old", AppendContent{"", "two"}));
    ASSERT_TRUE(study.archive("old", "old"));

    for (const bool again : {false, true}) {
        const auto swapped = study.swap("notes", "old");
        ASSERT_TRUE(swapped) << swapped.error().message();
        EXPECT_EQ(swapped->block.label, "notes");
        EXPECT_EQ(swapped->block.block_id, again ? one : two);
        EXPECT_EQ(swapped->archival_label, "old");
        EXPECT_EQ(study.value("notes"), again ? R"("one")" : R"("two")");
        EXPECT_EQ(study.value("old"), again ? R"("two")" : R"("one")");
        EXPECT_EQ(shelf(study), "notes:working old:archival");
        study.restart();
        EXPECT_EQ(study.value("notes"), again ? R"("one")" : R"("two")");
    }
    EXPECT_EQ(study.version("notes"), 4U);
    EXPECT_EQ(study.version("old"), 5U);
    ASSERT_TRUE(study.write("notes", AppendContent{"", "!"}));
    EXPECT_EQ(study.value("notes"), R"("one!")");
}

TEST(MemoryMoves, AMoveThatTheStoreRefusedDidNotHappen) {
    Study study;
    ASSERT_TRUE(study.create("notes", kText));
    ASSERT_TRUE(study.create("old", kText));
    ASSERT_TRUE(study.write("notes", AppendContent{"", "one"}));
    ASSERT_TRUE(study.archive("old", "old"));
    const std::string before = shelf(study);

    study.desk.store.fail_next();
    EXPECT_EQ(reason(study.swap("notes", "old")), "disk_full");
    EXPECT_EQ(shelf(study), before);
    study.desk.store.fail_next();
    EXPECT_EQ(reason(study.archive("notes", "elsewhere")), "disk_full");
    EXPECT_EQ(shelf(study), before);
    study.desk.store.fail_next();
    EXPECT_EQ(reason(study.load("old", "elsewhere")), "disk_full");

    EXPECT_EQ(shelf(study), before);
    EXPECT_EQ(study.value("notes"), R"("one")");
    EXPECT_EQ(study.value("elsewhere"), "invalid_reference");
    EXPECT_EQ(reason(study.swap("notes", "old")), "fine");
    EXPECT_EQ(study.value("old"), R"("one")");
}

TEST(MemoryMoves, TheLabelOfACreationThatTheStoreRefusedIsFree) {
    Study study;
    ASSERT_TRUE(study.create("notes", kText));
    study.desk.store.fail_next();
    ASSERT_EQ(reason(study.create("shelf", kText)), "disk_full");

    ASSERT_TRUE(study.archive("notes", "shelf"));

    study.restart();
    EXPECT_EQ(study.value("shelf"), R"("")");
}

// A call that arrives during a swap sees the whole swap.
TEST(MemoryMoves, CallsDuringASwapFindTheBlockThatHasTheLabelThen) {
    Study study;
    ASSERT_TRUE(study.create("notes", kText));
    ASSERT_TRUE(study.create("old", kText));
    ASSERT_TRUE(study.write("old", AppendContent{"", "old"}));
    ASSERT_TRUE(study.archive("old", "old"));
    study.desk.store.hold(true);
    const auto swapped = study.desk.start_call<MemoryMoved>([&](auto reply) {
        study.calls().swap(Study::as("agent:ada"), "notes", "old", std::move(reply));
    });
    const auto append = [&](const std::string& label, const std::string& text) {
        return study.desk.start_call<MemoryWritten>([&](auto reply) {
            study.calls().write(Study::as("agent:ada"), label, AppendContent{"", text},
                                std::move(reply));
        });
    };
    const auto first = append("notes", " to notes");
    const auto second = append("old", "to old");
    const auto back = study.desk.start_call<MemoryMoved>([&](auto reply) {
        study.calls().swap(Study::as("agent:ada"), "notes", "old", std::move(reply));
    });
    EXPECT_FALSE(swapped->has_value() || first->has_value() || second->has_value());

    study.desk.store.hold(false);
    study.desk.store.flush();
    study.desk.scheduler.run_all();

    ASSERT_TRUE(swapped->has_value() && first->has_value() && second->has_value());
    ASSERT_TRUE(back->has_value() && **swapped && **first && **second && **back);
    // Whichever of the calls came first, each was made on what had the label then.
    EXPECT_EQ(shelf(study), "notes:working old:archival");
    const std::string all = study.value("notes") + study.value("old");
    EXPECT_EQ(all.size(), std::string(R"("old"" to notesto old")").size()) << all;
    for (const char* part : {"old", " to notes", "to old"})
        EXPECT_NE(all.find(part), std::string::npos) << all;
}

TEST(MemoryMoves, ALabelIsFreeOnceItsBlockIsArchived) {
    Study study;
    ASSERT_TRUE(study.create("notes", kText));
    study.desk.store.hold(true);
    const auto archived = study.desk.start_call<MemoryMoved>([&](auto reply) {
        study.calls().archive(Study::as("agent:ada"), "notes", "old", std::move(reply));
    });
    MemoryCreate again;
    again.label = "notes";
    again.schema = Value("Text");
    const auto made = study.desk.start_call<MemoryVersion>(
        [&](auto reply) { study.calls().create(Study::as("agent:ada"), again, std::move(reply)); });
    const auto seen = study.desk.start_call<MemoryView>([&](auto reply) {
        study.calls().view(Study::as("agent:ada"), "notes", {}, std::move(reply));
    });
    EXPECT_FALSE(archived->has_value() || made->has_value() || seen->has_value());

    study.desk.store.hold(false);
    study.desk.store.flush();
    study.desk.scheduler.run_all();

    ASSERT_TRUE(archived->has_value() && made->has_value() && seen->has_value());
    EXPECT_EQ(reason(**made), "fine");
    EXPECT_EQ(reason(**seen), "fine");
    EXPECT_EQ(shelf(study), "notes:working old:archival");
}

// A block that is moved on before its first move is stored goes by no name but its own meanwhile.
TEST(MemoryMoves, TwoMovesAtOnceLeaveNoLabelToTwoBlocks) {
    Study study;
    ASSERT_TRUE(study.create("notes", kText));
    study.desk.store.hold(true);
    const auto archived = study.desk.start_call<MemoryMoved>([&](auto reply) {
        study.calls().archive(Study::as("agent:ada"), "notes", "old", std::move(reply));
    });
    const auto loaded = study.desk.start_call<MemoryVersion>([&](auto reply) {
        study.calls().load(Study::as("agent:ada"), "old", "notes", std::move(reply));
    });
    study.desk.store.flush();
    study.desk.scheduler.run_all();
    ASSERT_TRUE(archived->has_value());
    MemoryCreate again;
    again.label = "notes";
    again.schema = Value("Text");
    const auto made = study.desk.start_call<MemoryVersion>(
        [&](auto reply) { study.calls().create(Study::as("agent:ada"), again, std::move(reply)); });
    study.desk.store.hold(false);
    for (int i = 0; i < 3; ++i) {
        study.desk.store.flush();
        study.desk.scheduler.run_all();
    }

    ASSERT_TRUE(loaded->has_value() && made->has_value());
    EXPECT_EQ(reason(**loaded), "fine");
    EXPECT_EQ(reason(**made), "label_exists");
    EXPECT_EQ(shelf(study), "notes:working");
    study.restart();
    EXPECT_EQ(shelf(study), "notes:working");
}

TEST(MemoryMoves, ACallThatMeansATextTouchesNothingElse) {
    Study study;
    ASSERT_TRUE(
        study.create("old", kText, Permission::read_write, "agent:ada", MemoryType::archival));
    ASSERT_TRUE(study.create("build"));
    ASSERT_TRUE(study.create("notes", kText));
    // It was a text when the call came, and is none when its turn comes.
    study.desk.store.hold(true);
    const auto converted = study.desk.start_call<MemoryConverted>([&](auto reply) {
        MemoryConvert what;
        what.schema = json::parse(kStatus).value();
        study.calls().convert(Study::as("agent:ada"), "notes", what, std::move(reply));
    });
    std::vector<std::shared_ptr<std::optional<Result<MemoryVersion>>>> erased, renamed;
    for (const std::string label : {"old", "build", "notes"}) {
        erased.push_back(study.desk.start_call<MemoryVersion>([&](auto reply) {
            study.calls().erase(Study::as("agent:ada"), TextLabel{label}, std::move(reply));
        }));
        renamed.push_back(study.desk.start_call<MemoryVersion>([&](auto reply) {
            study.calls().rename(Study::as("agent:ada"), TextLabel{label}, "new", std::move(reply));
        }));
    }
    study.desk.store.hold(false);
    for (int i = 0; i < 3; ++i) {
        study.desk.store.flush();
        study.desk.scheduler.run_all();
    }

    ASSERT_TRUE(converted->has_value() && converted->value());
    const std::string told[] = {"archived", "schema_mismatch", "schema_mismatch"};
    for (std::size_t i = 0; i < std::size(told); ++i) {
        ASSERT_TRUE(erased[i]->has_value() && renamed[i]->has_value());
        EXPECT_EQ(reason(**erased[i]), told[i]);
        EXPECT_EQ(reason(**renamed[i]), told[i]);
    }
    EXPECT_EQ(shelf(study), "build:working notes:working old:archival");
}

}  // namespace
}  // namespace quire::kernel
