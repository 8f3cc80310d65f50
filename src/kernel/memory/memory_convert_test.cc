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
    EXPECT_EQ(reason(study.undo("ada")), "nothing_to_undo");
    EXPECT_EQ(reason(study.rollback("ada", "2")), "schema_changed");
    EXPECT_EQ(reason(study.diff("ada", "2")), "schema_changed");
    ASSERT_TRUE(study.set("ada", "name", "Ada L."));
    EXPECT_EQ(study.rollback("ada", "3")->version, 5U);
    EXPECT_EQ(study.value("ada"), now);
    ASSERT_TRUE(study.convert("ada", kText));
    ASSERT_TRUE(study.convert("ada", kPerson));
    EXPECT_EQ(study.value("ada"),
              R"({"name":"Ada","likes":["tea"],"visits":3,"notes":"and more"})");
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
    EXPECT_EQ(study.value("ada"), "{}");
    EXPECT_EQ(study.rollback("ada", "2")->version, 7U);
    EXPECT_EQ(study.value("ada"), R"({"name":"Ada"})");
    EXPECT_EQ(study.convert("ada", after)->block.version, 7U);
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
    EXPECT_EQ(reason(study.convert("build", open, "{}", false, "source:cc")), "fine");
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
