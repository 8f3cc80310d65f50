#include <gtest/gtest.h>

#include "kernel/memory/memory_study_test.h"

namespace quire::kernel {
namespace {

constexpr std::string_view kPerson = R"({"Map": {"fields": [
    {"name": "name", "field_type": "Text", "required": true},
    {"name": "likes", "field_type": "List"},
    {"name": "visits", "field_type": "Counter", "default": 1},
    {"name": "notes", "field_type": "Text"}]}})";

void write(Study& study, const std::string& label, const std::string& text) {
    ASSERT_TRUE(study.write(label, AppendContent{"", text}));
}

TEST(MemoryConvert, ATextBecomesAMapAndTheAnswerSaysSo) {
    Study study;
    ASSERT_TRUE(study.create("ada", kText));
    write(study, "ada", "name: Ada\nvisits: 3\nlikes:\n- tea\nand more\n");

    const auto planned = study.convert("ada", kPerson, "{}", true);
    ASSERT_TRUE(planned) << planned.error().message();
    EXPECT_EQ(planned->lost.size(), 1U);
    EXPECT_EQ(planned->block.version, 2U);
    EXPECT_EQ(study.value("ada"), R"("name: Ada\nvisits: 3\nlikes:\n- tea\nand more\n")");
    const auto made = study.convert("ada", kPerson, R"({"notes":"*"})");

    ASSERT_TRUE(made);
    EXPECT_FALSE(made->additive);
    EXPECT_TRUE(made->lost.empty());
    EXPECT_EQ(made->block.version, 3U);
    const std::string now = R"({"name":"Ada","likes":["tea"],"visits":3,"notes":"and more\n"})";
    EXPECT_EQ(study.value("ada"), now);
    study.restart();
    EXPECT_EQ(study.value("ada"), now);
    ASSERT_TRUE(study.set("ada", "name", "Ada L."));
    EXPECT_EQ(study.rollback("ada", "3")->version, 5U);
    EXPECT_EQ(study.value("ada"), now);
    ASSERT_TRUE(study.convert("ada", kText));
    ASSERT_TRUE(study.convert("ada", kPerson));
    EXPECT_EQ(study.value("ada"),
              R"({"name":"Ada","likes":["tea"],"visits":3,"notes":"and more"})");
}

TEST(MemoryConvert, UndoRollbackAndDiffGoAcrossIt) {
    Study study;
    ASSERT_TRUE(study.create("ada", kText));
    write(study, "ada", "name: Ada\nvisits: 3\n");
    const std::string before = study.value("ada");
    ASSERT_TRUE(study.convert("ada", kPerson));
    const std::string after = study.value("ada");
    study.restart();

    EXPECT_TRUE(study.undo("ada"));
    EXPECT_EQ(study.value("ada"), before);
    EXPECT_TRUE(study.undo("ada", "agent:ada", true));
    EXPECT_EQ(study.value("ada"), after);
    ASSERT_TRUE(study.set("ada", "name", "Ada L."));
    EXPECT_TRUE(study.rollback("ada", "2"));
    EXPECT_EQ(study.value("ada"), before);
    EXPECT_EQ(study.diff("ada", "2")->diff, "");
    study.restart();
    EXPECT_TRUE(study.undo("ada"));
    EXPECT_TRUE(study.undo("ada"));
    EXPECT_EQ(study.value("ada"), after);
    EXPECT_TRUE(study.undo("ada"));
    EXPECT_TRUE(study.undo("ada"));
    EXPECT_EQ(study.value("ada"), R"("")");
}

TEST(MemoryConvert, WhatASharerLosesIsTheOwnersToGiveUp) {
    Study study;
    ASSERT_TRUE(study.create("notes", kText));
    write(study, "notes", "all that ada knows\n");
    ASSERT_TRUE(study.share("notes", "agent:bo", policy::Permission::read_write));
    const auto convert = [&](const std::string& by, bool accept_loss) {
        return reason(study.convert("notes", kPerson, "{}", false, by, accept_loss));
    };

    EXPECT_EQ(convert("agent:bo", true), "permission_denied");
    EXPECT_EQ(convert("agent:ada", false), "loses_text");
    ASSERT_TRUE(study.share("notes", "agent:bo", policy::Permission::admin));
    EXPECT_EQ(convert("agent:bo", false), "loses_text");
    const std::string before = study.value("notes");
    EXPECT_EQ(convert("agent:bo", true), "fine");
    EXPECT_EQ(study.value("notes"), R"({"visits":1})");
    // The owner's own write lies under the conversion; the text is still readable, and comes back.
    EXPECT_EQ(reason(study.undo("notes")), "schema_changed");
    EXPECT_NE(study.diff("notes", "2")->diff.find("-all that ada knows"), std::string::npos);
    EXPECT_TRUE(study.rollback("notes", "2"));
    EXPECT_EQ(study.value("notes"), before);
}

TEST(MemoryConvert, IsNotUndoneOverWhatOthersWroteSince) {
    Study study;
    ASSERT_TRUE(study.create("notes", kText));
    write(study, "notes", "name: Ada\n");
    ASSERT_TRUE(study.share("notes", "agent:bo", policy::Permission::read_write));
    ASSERT_TRUE(study.convert("notes", kPerson));
    ASSERT_TRUE(study.set("notes", "name", "Bo", "agent:bo"));

    const auto undone = study.undo("notes");

    ASSERT_TRUE(undone);
    EXPECT_EQ(undone->skipped_because_changed, 1U);
    EXPECT_EQ(study.value("notes"), R"({"name":"Bo","visits":1})");
}

TEST(MemoryConvert, AnAdditionLeavesTheContentAsItIs) {
    Study study;
    constexpr std::string_view before =
        R"({"Map": {"fields": [{"name": "name", "field_type": "Text"}]}})";
    constexpr std::string_view after = R"({"Map": {"fields": [
        {"name": "name", "field_type": "Text"}, {"name": "likes", "field_type": "List"}]}})";
    ASSERT_TRUE(study.create("ada", before));
    ASSERT_TRUE(study.set("ada", "name", "Ada"));

    const auto made = study.convert("ada", after);

    ASSERT_TRUE(made && made->additive);
    EXPECT_EQ(made->block.version, 3U);
    EXPECT_EQ(study.value("ada"), R"({"name":"Ada"})");
    ASSERT_TRUE(study.write("ada", AppendToList{{"", "likes"}, "tea"}));
    study.restart();
    ASSERT_TRUE(study.undo("ada"));
    ASSERT_TRUE(study.undo("ada"));
    EXPECT_EQ(study.value("ada"), R"({"name":"Ada"})");
    EXPECT_EQ(study.convert("ada", before)->block.version, 6U);
    ASSERT_TRUE(study.undo("ada"));
    EXPECT_EQ(study.value("ada"), "{}");
    EXPECT_EQ(study.rollback("ada", "3")->version, 8U);
    EXPECT_EQ(study.value("ada"), R"({"name":"Ada"})");
    EXPECT_EQ(study.convert("ada", after)->block.version, 8U);
}

TEST(MemoryConvert, AConversionCannotDropAReadOnlyFlag) {
    Study study;
    ASSERT_TRUE(study.create("build"));
    ASSERT_TRUE(study.set("build", "origin", "cc", "source:cc"));
    constexpr std::string_view open = R"({"Map": {"fields": [
        {"name": "origin", "field_type": "Text"}, {"name": "status", "field_type": "Text"}]}})";

    const auto refused = study.convert("build", open);

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message(),
              "Field 'origin' is read-only and cannot be modified by agent");
    EXPECT_EQ(reason(study.convert("build", kText)), "read_only_field");
    EXPECT_EQ(reason(study.convert("build", kStatus, R"({"origin":"status"})")), "read_only_field");
    ASSERT_TRUE(study.create("sections", kBuild));
    EXPECT_EQ(reason(study.convert("sections", kText)), "read_only_section");
    ASSERT_TRUE(study.create("grows", kText, policy::Permission::append));
    EXPECT_EQ(reason(study.convert("grows", kPerson)), "permission_denied");
    EXPECT_EQ(study.version("build"), 2U);
    EXPECT_EQ(reason(study.convert("build", open, "{}", false, "source:cc", true)), "fine");
    EXPECT_EQ(study.value("build"), R"({"origin":"cc"})");
}

TEST(MemoryConvert, ARefusedConversionChangesNothing) {
    Study study;
    ASSERT_TRUE(study.create("ada", kText));
    write(study, "ada", "name: Ada\n");

    EXPECT_EQ(reason(study.convert("ada", R"({"Tree":{}})")), "invalid_schema");
    EXPECT_EQ(reason(study.convert("ada", kPerson, R"({"nothing":"name"})")), "invalid_mapping");
    study.desk.store.fail_next();
    EXPECT_EQ(reason(study.convert("ada", kPerson)), "disk_full");

    EXPECT_EQ(study.value("ada"), R"("name: Ada\n")");
    EXPECT_EQ(study.version("ada"), 2U);
    EXPECT_EQ(reason(study.convert("ada", kText)), "fine");
    EXPECT_EQ(study.version("ada"), 2U);
}

}  // namespace
}  // namespace quire::kernel
