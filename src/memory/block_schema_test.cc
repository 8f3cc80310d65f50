#include "memory/block_schema.h"

#include <gtest/gtest.h>

#include "memory/templates.h"
#include "memory/timestamp.h"
#include "memory/validate.h"

namespace quire::memory {
namespace {

const BlockSchema kMap =
    MapSchema{{{.name = "status", .read_only = true},
               {.name = "notes"},
               {.name = "errors", .type = FieldType::list, .read_only = true}}};
const BlockSchema kComposite =
    CompositeSchema{{{"diagnostics", kMap, "", true}, {"config", BlockSchema()}}};

TEST(BlockSchema, AFieldIsReadOnlyOrNotOrNotThere) {
    EXPECT_EQ(kMap.is_field_read_only("status"), true);
    EXPECT_EQ(kMap.is_field_read_only("notes"), false);
    EXPECT_EQ(kMap.is_field_read_only("nowhere"), std::nullopt);
}

TEST(BlockSchema, OnlyAMapHasFields) {
    for (const BlockSchema& each :
         {BlockSchema(), BlockSchema(ListSchema{}), BlockSchema(LogSchema{}), kComposite}) {
        EXPECT_EQ(each.is_field_read_only("status"), std::nullopt) << each.name();
        EXPECT_TRUE(each.read_only_fields().empty()) << each.name();
    }
}

TEST(BlockSchema, ReadOnlyFieldsComeInTheirOrder) {
    EXPECT_EQ(kMap.read_only_fields(), (std::vector<std::string>{"status", "errors"}));
}

TEST(BlockSchema, ASectionIsReadOnlyOrNotOrNotThere) {
    EXPECT_EQ(kComposite.is_section_read_only("diagnostics"), true);
    EXPECT_EQ(kComposite.is_section_read_only("config"), false);
    EXPECT_EQ(kComposite.is_section_read_only("nowhere"), std::nullopt);
    EXPECT_EQ(kMap.is_section_read_only("status"), std::nullopt);
}

TEST(BlockSchema, ASectionsSchemaIsFoundByItsName) {
    ASSERT_NE(kComposite.get_section_schema("diagnostics"), nullptr);
    EXPECT_EQ(*kComposite.get_section_schema("diagnostics"), kMap);
    EXPECT_EQ(kComposite.get_section_schema("nowhere"), nullptr);
    EXPECT_EQ(kMap.get_section_schema("status"), nullptr);
}

TEST(Templates, ThereAreFiveAndEachIsFoundByItsName) {
    std::vector<std::string> names;
    for (const Template& each : templates()) {
        names.push_back(each.name);
        EXPECT_EQ(find_template(each.name)->schema, each.schema);
    }
    EXPECT_EQ(names, (std::vector<std::string>{"partner_profile", "task_list", "activity_log",
                                               "observation_log", "scratchpad"}));
    EXPECT_FALSE(find_template("diary").has_value());
}

TEST(Templates, TheirDefaultsAreReal) {
    EXPECT_EQ(default_value(find_template("partner_profile")->schema),
              Value(Map{{"preferences", List()}, {"energy_level", 5}}));
    EXPECT_EQ(default_value(find_template("scratchpad")->schema), Value(""));
}

TEST(Templates, ALogTakesPlainTextWhereOneFieldNeedsAValue) {
    const BlockSchema observations = find_template("observation_log")->schema;
    const auto entry = accept_entry(*observations.as<LogSchema>(), "saw a bird");
    ASSERT_TRUE(entry.has_value());
    EXPECT_EQ(entry->begin()->value, Value("saw a bird"));
    // An activity also has a type.
    const BlockSchema activities = find_template("activity_log")->schema;
    const auto refused = accept_entry(*activities.as<LogSchema>(), "saw a bird");
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().message(),
              "Schema mismatch: expected an object with event_type, description, got string");
}

TEST(Timestamp, ItsFormsAreReadAndPrintedBack) {
    const std::int64_t when = 1'737'642'725'000;
    for (const char* text :
         {"2025-01-23T14:32:05Z", "2025-01-23 14:32:05", "2025-01-23T16:32:05+02:00",
          "2025-01-23t13:02:05-01:30", "2025-01-23T14:32:05.000Z"}) {
        EXPECT_EQ(parse_timestamp(text), when) << text;
    }
    EXPECT_EQ(parse_timestamp("2025-01-23T14:32:05.25Z"), when + 250);
    EXPECT_EQ(parse_timestamp("2025-01-23T14:32"), when - 5000);
    EXPECT_EQ(format_timestamp(when), "2025-01-23T14:32:05Z");
    EXPECT_EQ(format_minute(when), "2025-01-23 14:32");
    EXPECT_EQ(parse_timestamp("1969-12-31T23:59:59Z"), -1000);
    EXPECT_EQ(format_timestamp(-1000), "1969-12-31T23:59:59Z");
    EXPECT_EQ(parse_timestamp("2024-02-29"), 1'709'164'800'000);
}

TEST(Timestamp, ATextThatIsNoTimeIsRefused) {
    for (const char* text :
         {"", "soon", "2025", "2025-01", "2025-13-01", "2025-02-29", "2025-00-10", "2025-01-23T",
          "2025-01-23T25:00", "2025-01-23T14:60", "2025-01-23T14:32:05.", "2025-01-23T14:32+0200",
          "2025-01-23T14:32:05Zz", "25-01-23", "2025-01-23T14:32:05+24:00"}) {
        EXPECT_FALSE(parse_timestamp(text).has_value()) << text;
    }
}

}  // namespace
}  // namespace quire::memory
