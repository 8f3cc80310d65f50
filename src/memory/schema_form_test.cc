#include "memory/schema_form.h"

#include <gtest/gtest.h>

#include "base/concat.h"
#include "json/json.h"
#include "memory/random_schema_for_test.h"

namespace quire::memory {
namespace {

Result<BlockSchema> parsed(std::string_view text) {
    return parse_schema(json::parse(text).value());
}

// "RULE at PATH", or "fine".
std::string fault_of(std::string_view text) {
    const auto schema = parsed(text);
    if (schema) return "fine";
    EXPECT_EQ(schema.error().code(), Errc::invalid_argument);
    EXPECT_EQ(schema.error().reason(), "invalid_schema");
    return cat(schema.error().details().find("rule")->as_string(), " at ",
               schema.error().details().find("path")->as_string());
}

TEST(SchemaForm, EveryAttributeIsRead) {
    EXPECT_EQ(parsed(R"({"Text":{"viewport":{"start_line":3,"display_lines":40}}})").value(),
              BlockSchema(TextSchema{Viewport{3, 40}}));
    EXPECT_EQ(parsed(R"({"Map":{"fields":[{"name":"n","description":"d","field_type":"Number",
                         "required":true,"default":5,"read_only":true}]}})")
                  .value(),
              BlockSchema(MapSchema{{{"n", "d", FieldType::number, true, Value(5), true}}}));
    EXPECT_EQ(parsed(R"({"List":{"item_schema":{"Text":{}},"max_items":7}})").value(),
              BlockSchema(ListSchema{BlockSchema(), 7}));
    EXPECT_EQ(parsed(R"({"Log":{"display_limit":9,"entry_schema":{"timestamp":false,
                         "agent_id":true,"fields":[{"name":"x","field_type":"Text"}]},
                         "retain":{"max_entries":4,"max_age_s":60}}})")
                  .value(),
              BlockSchema(LogSchema{9, {false, true, {{.name = "x"}}}, Retain{4, 60}}));
    EXPECT_EQ(parsed(R"({"Composite":{"sections":[{"name":"s","schema":"Text","description":"d",
                         "read_only":true}]}})")
                  .value(),
              BlockSchema(CompositeSchema{{{"s", BlockSchema(), "d", true}}}));
}

TEST(SchemaForm, TheOtherFormsMeanTheSame) {
    const char* const pairs[][2] = {
        {R"("Text")", R"({"Text":{}})"},
        {R"({"Text":null})", R"({"Text":{"viewport":null}})"},
        {R"("List")", R"({"List":{"item_schema":null,"max_items":null}})"},
        {R"("Log")",
         R"({"Log":{"display_limit":20,"entry_schema":{"timestamp":true,"agent_id":true,"fields":[]}}})"},
        {R"({"Log":{"max_entries":5}})", R"({"Log":{"display_limit":5}})"},
        {R"({"Composite":{"sections":[["s",{"Text":{}}]]}})",
         R"({"Composite":{"sections":[{"name":"s","schema":"Text","description":null,"read_only":false}]}})"},
        {R"({"Map":{"fields":[{"name":"n","field_type":"Text","default":null}]}})",
         R"({"Map":{"fields":[{"name":"n","description":"","field_type":"Text","required":false}]}})"}};
    for (const auto& pair : pairs) EXPECT_EQ(parsed(pair[0]).value(), parsed(pair[1]).value());
}

TEST(SchemaForm, ATreeIsRefusedWithAWordOnComposite) {
    for (const char* text : {R"("Tree")", R"({"Tree":{}})"}) {
        const auto tree = parsed(text);
        ASSERT_FALSE(tree);
        EXPECT_NE(tree.error().message().find("Composite"), std::string::npos);
    }
    EXPECT_EQ(fault_of(R"({"Composite":{"sections":[["a",{"Tree":{}}]]}})"),
              "tree at $.Composite.sections[0].Tree");
}

TEST(SchemaForm, AFaultIsNamedByItsPlaceAndItsRule) {
    const char* const cases[][2] = {
        {"7", "wrong_type at $"},
        {"{}", "unknown_schema at $"},
        {R"({"Text":{},"Map":{}})", "unknown_schema at $"},
        {R"({"text":{}})", "unknown_schema at $.text"},
        {R"({"Text":[]})", "wrong_type at $.Text"},
        {R"({"Text":{"lines":3}})", "unknown_key at $.Text"},
        {R"({"Text":{"viewport":{"start_line":1}}})", "missing at $.Text.viewport"},
        {R"({"Text":{"viewport":{"display_lines":0}}})",
         "out_of_range at $.Text.viewport.display_lines"},
        {R"("Map")", "missing at $"},
        {R"({"Map":{"fields":{}}})", "wrong_type at $.Map.fields"},
        {R"({"Map":{"fields":[{"field_type":"Text"}]}})", "missing at $.Map.fields[0].name"},
        {R"({"Map":{"fields":[{"name":"a\nb","field_type":"Text"}]}})",
         "bad_name at $.Map.fields[0].name"},
        {R"({"Map":{"fields":[{"name":"a"}]}})", "missing at $.Map.fields[0].field_type"},
        {R"({"Map":{"fields":[{"name":"a","field_type":"text"}]}})",
         "wrong_type at $.Map.fields[0].field_type"},
        {R"({"Map":{"fields":[{"name":"a","field_type":"Text","required":1}]}})",
         "wrong_type at $.Map.fields[0].required"},
        {R"({"Map":{"fields":[{"name":"a","field_type":"Number","default":"5"}]}})",
         "bad_default at $.Map.fields[0].default"},
        {R"({"Map":{"fields":[{"name":"a","field_type":"Text","readonly":true}]}})",
         "unknown_key at $.Map.fields[0]"},
        {R"({"Map":{"fields":[{"name":"a","field_type":"Text"},{"name":"a","field_type":"List"}]}})",
         "duplicate_name at $.Map.fields[1]"},
        {R"({"List":{"max_items":-1}})", "out_of_range at $.List.max_items"},
        {R"({"List":{"max_items":1.5}})", "wrong_type at $.List.max_items"},
        {R"({"Log":{"display_limit":1,"max_entries":1}})", "unknown_key at $.Log"},
        {R"({"Log":{"entry_schema":{"fields":[{"name":"timestamp","field_type":"Text"}]}}})",
         "duplicate_name at $.Log.entry_schema.fields"},
        {R"({"Composite":{"sections":[]}})", "missing at $.Composite"},
        {R"({"Composite":{"sections":[["a"]]}})", "wrong_type at $.Composite.sections[0]"},
        {R"({"Composite":{"sections":[["a/b","Text"]]}})", "bad_name at $.Composite.sections[0]"},
        {R"({"Composite":{"sections":[{"name":"a"}]}})", "missing at $.Composite.sections[0]"},
        {R"({"Composite":{"sections":[["a","Text"],["a","List"]]}})",
         "duplicate_name at $.Composite.sections[1]"}};
    for (const auto& each : cases) EXPECT_EQ(fault_of(each[0]), each[1]) << each[0];
}

TEST(SchemaForm, NestingIsBounded) {
    std::string text = R"("Text")";
    for (std::size_t i = 1; i < kMaxDepth; ++i)
        text = cat(R"({"Composite":{"sections":[["a",)", text, "]]}}");
    EXPECT_EQ(fault_of(text), "fine");
    text = cat(R"({"List":{"item_schema":)", text, "}}");
    EXPECT_EQ(fault_of(text).substr(0, 8), "too_deep");
}

TEST(SchemaForm, TheNumberOfNamesIsBounded) {
    const auto map_of = [](std::size_t count) {
        List fields;
        for (std::size_t i = 0; i < count; ++i)
            fields.emplace_back(Map{{"name", cat("f", i)}, {"field_type", "Text"}});
        return parse_schema(Map{{"Map", Map{{"fields", std::move(fields)}}}});
    };
    EXPECT_TRUE(map_of(kMaxNames).has_value());
    const auto over = map_of(kMaxNames + 1);
    ASSERT_FALSE(over);
    EXPECT_EQ(over.error().details().find("rule")->as_string(), "too_many");
}

TEST(SchemaForm, APrintedSchemaReadsBackAsItself) {
    for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
        const BlockSchema schema = SchemaMaker(seed).schema();
        const Value form = json::parse(json::write(to_value(schema))).value();
        const auto back = parse_schema(form);
        ASSERT_TRUE(back.has_value()) << "seed " << seed << ": " << back.error().message();
        ASSERT_EQ(*back, schema) << "seed " << seed << ": " << json::write(form);
    }
}

}  // namespace
}  // namespace quire::memory
