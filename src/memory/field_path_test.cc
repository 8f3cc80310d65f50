#include "memory/field_path.h"

#include <gtest/gtest.h>

#include "crdt/ids/ids.h"

namespace quire::memory {
namespace {

TEST(FieldPath, EachPartHasTheNameThatTheSchemaGivesIt) {
    EXPECT_EQ(container_name({"", Part::content}), "content");
    EXPECT_EQ(container_name({"", Part::root}), "root");
    EXPECT_EQ(container_name({"", Part::value, "tags"}), "root/tags");
    EXPECT_EQ(container_name({"", Part::items}), "items");
    EXPECT_EQ(container_name({"", Part::entries}), "entries");
    EXPECT_EQ(container_name({"diagnostics", Part::content}), "section/diagnostics/content");
    EXPECT_EQ(container_name({"a/b", Part::value, "c"}), "section/a/section/b/root/c");
    EXPECT_EQ(container_name({"a/b", Part::root}), "section:a:section:b:root");
}

TEST(FieldPath, OddNamesCannotBeTakenForOthers) {
    const Place places[] = {
        {"", Part::value, "a/b"},     {"", Part::value, "a%2Fb"}, {"", Part::value, "content"},
        {"", Part::value, "section"}, {"root", Part::root},       {"section", Part::value, "root"},
        {"", Part::value, "a:b"},     {"a:b", Part::root},        {"a:b", Part::items},
        {"100%", Part::items},        {"a/b", Part::entries},     {"", Part::value, "日本 語"}};
    for (const Place& each : places) {
        EXPECT_EQ(place_of(container_name(each)), each) << container_name(each);
        for (const Place& other : places) {
            EXPECT_EQ(container_name(each) == container_name(other), each == other);
        }
    }
}

TEST(FieldPath, OtherNamesAreNoPlaces) {
    for (const char* name :
         {"", "contents", "root/", "root/a/b", "root/a%2", "section/", "section//content",
          "section/a", "section/a/", "section/a/other", "section/a%2Fb/root", "section/a/root",
          "section:a:items", "section:a:root/b", "section:a/root", "section/a:root", "items/0"}) {
        EXPECT_EQ(place_of(name), std::nullopt) << name;
    }
}

TEST(FieldPath, AFieldsContainerIsOfItsKind) {
    EXPECT_EQ(value_of("", {.name = "a", .type = FieldType::list}).kind, crdt::ContainerKind::list);
    EXPECT_EQ(value_of("", {.name = "a", .type = FieldType::counter}).kind,
              crdt::ContainerKind::counter);
    EXPECT_EQ(value_of("", {.name = "a"}).kind, crdt::ContainerKind::text);
}

TEST(FieldPath, ASectionIsFoundWithTheFlagThatCoversIt) {
    const BlockSchema inner = CompositeSchema{{{"b", BlockSchema()}}};
    const BlockSchema outer = CompositeSchema{{{"a", inner, "", true}}};
    const Located found = locate(outer, "a/b").value();
    EXPECT_EQ(found.schema->name(), "Text");
    ASSERT_NE(found.read_only, nullptr);
    EXPECT_EQ(found.read_only->name, "a");
    EXPECT_EQ(locate(outer, "a").error().reason(), "section_required");
    EXPECT_EQ(locate(outer, "").error().reason(), "section_required");
    EXPECT_EQ(locate(outer, "b").error().reason(), "section_not_found");
    EXPECT_EQ(locate(outer, "a/b/c").error().reason(), "section_not_found");
    EXPECT_EQ(locate(BlockSchema(), "a").error().reason(), "section_not_found");
    EXPECT_EQ(locate(BlockSchema(), "").value().schema->name(), "Text");
}

}  // namespace
}  // namespace quire::memory
