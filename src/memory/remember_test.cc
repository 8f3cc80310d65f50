#include "memory/remember.h"

#include <gtest/gtest.h>

#include "base/concat.h"
#include "json/json.h"
#include "json/schema/schema.h"
#include "memory/random_schema_for_test.h"
#include "memory/schema_form.h"

namespace quire::memory {
namespace {

using policy::Permission;

BlockSchema schema(std::string_view text) {
    return *parse_schema(*json::parse(text));
}
std::string arguments(const BlockSchema& of, Permission permission = Permission::read_write) {
    return json::write(Value(remember_schema(of, {.permission = permission})));
}
std::string parts(const BlockSchema& of, std::string_view given) {
    std::string out;
    for (const RememberedPart& each : remembered_parts(of, json::parse(given)->as_map())) {
        cat_to(out, cat(each.path.section, ":", each.path.field, each.appends ? "+" : "=",
                        json::write(each.value), " "));
    }
    return out;
}

constexpr std::string_view kMap = R"({"Map":{"fields":[
    {"name":"mood","field_type":"Text","description":"How it feels"},{"name":"level","field_type":"Number","default":5},
    {"name":"seen","field_type":"Timestamp","read_only":true}]}})";

TEST(Remember, NamesToolsByLabels) {
    EXPECT_EQ(remember_name("partner_profile"), "remember_partner_profile");
    EXPECT_EQ(remember_name("Plans/2026-11"), "remember_plans_2026_11");
    EXPECT_EQ(remember_name("agent:ada/Größe"), "remember_agent_ada_gr__e");
    EXPECT_EQ(remember_name(std::string(80, 'x')), "remember_" + std::string(55, 'x'));
    EXPECT_EQ(remember_name(std::string(54, 'x') + "\u00e9\u00e9"),
              "remember_" + std::string(54, 'x') + "_");
}

TEST(Remember, TakesWhatEachShapeHas) {
    EXPECT_EQ(arguments(schema(R"("Text")")),
              R"({"type":"object","properties":{"content":{"type":"string",)"
              R"("description":"Text to append."}},"required":["content"],)"
              R"("additionalProperties":false})");
    EXPECT_EQ(arguments(schema(kMap)),
              R"({"type":"object","properties":{"mood":{"type":"string","description":)"
              R"("How it feels"},"level":{"type":"number","default":5}},"minProperties":1,)"
              R"("additionalProperties":false})");
    EXPECT_EQ(arguments(schema(R"("List")")),
              R"({"type":"object","properties":{"item":{}},"required":["item"],)"
              R"("additionalProperties":false})");
    EXPECT_EQ(arguments(schema(R"({"Log":{"entry_schema":{"fields":[
                  {"name":"event","field_type":"Text","required":true}]}}})")),
              R"({"type":"object","properties":{"entry":{"type":"object","properties":)"
              R"({"event":{"type":"string"}},"required":["event"],"additionalProperties":false}},)"
              R"("required":["entry"],"additionalProperties":false})");
}

TEST(Remember, TakesTheWritableSectionsOfAComposite) {
    const BlockSchema both = schema(cat(R"({"Composite":{"sections":[
        {"name":"about","schema":)",
                                        kMap, R"(,"description":"Who it is"},
        {"name":"notes","schema":"Text"},
        {"name":"found","schema":"Log","read_only":true}]}})"));
    const Map made = remember_schema(both, {.permission = Permission::read_write});
    const Value& sections = *made.find("properties");
    EXPECT_EQ(sections.as_map().size(), 2U);
    EXPECT_EQ(*sections.get("about")->get("description"), Value("Who it is"));
    EXPECT_EQ(parts(both, R"({"notes":{"content":"x"},"about":{"level":7,"mood":"fine"},
                              "found":{"entry":"no"}})"),
              R"(about:mood="fine" about:level=7 notes:+"x" found:+"no" )");
}

TEST(Remember, TakesOnlyWhatTheWriterMayWrite) {
    const BlockSchema map = schema(kMap);
    const BlockSchema text = schema(R"("Text")");
    const auto may = [](const BlockSchema& of, Permission permission) {
        return !remember_schema(of, {.permission = permission})
                    .find("properties")
                    ->as_map()
                    .empty();
    };
    EXPECT_FALSE(may(text, Permission::read_only));
    EXPECT_TRUE(may(text, Permission::append));
    EXPECT_FALSE(may(map, Permission::append)) << "a field is overwritten";
    EXPECT_TRUE(may(map, Permission::partner)) << "a person may approve it";
    EXPECT_FALSE(
        may(schema(R"({"Map":{"fields":[{"name":"a","field_type":"Text","read_only":true}]}})"), Permission::admin));
}

TEST(Remember, SchemasOfAllBlocksCompile) {
    SchemaMaker maker(5);
    for (int i = 0; i < 300; ++i) {
        const Map made = remember_schema(maker.schema(), {.permission = Permission::admin});
        EXPECT_TRUE(json::Schema::compile(Value(made), {.strict = true}).has_value())
            << json::write(Value(made));
    }
}

}  // namespace
}  // namespace quire::memory
