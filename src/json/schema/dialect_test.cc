#include "json/schema/dialect.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "json/json.h"
#include "json/schema/schema.h"

namespace quire::json {
namespace {

constexpr std::string_view kDraft07 = "http://json-schema.org/draft-07/schema#";
constexpr std::string_view kDraft2019 = "https://json-schema.org/draft/2019-09/schema";

// The translation of a schema of the dialect, as JSON; or the reason of the refusal.
std::string from(std::string_view dialect, std::string_view members) {
    const Value schema = parse(cat(R"({"$schema":")", dialect, R"(",)", members, "}")).value();
    const Result<Value> made = in_2020_12(schema);
    return made ? write(*made) : made.error().reason();
}

// Returns true if a value fits what a draft-07 schema becomes.
bool fits(std::string_view members, std::string_view value) {
    const Value schema = parse(cat(R"({"$schema":")", kDraft07, R"(",)", members, "}")).value();
    const Schema compiled = Schema::compile(in_2020_12(schema).value()).value();
    return compiled.check(parse(value).value()).has_value();
}

TEST(SchemaDialect, ASchemaWithoutDialectIsUnchanged) {
    const Value schema = parse(R"({"items":[{}],"dependencies":{"a":["b"]}})").value();
    EXPECT_EQ(in_2020_12(schema).value(), schema);
}

TEST(SchemaDialect, ThePresentDialectOnlyLosesItsName) {
    EXPECT_EQ(from("https://json-schema.org/draft/2020-12/schema", R"("prefixItems":[true])"),
              R"({"prefixItems":[true]})");
}

TEST(SchemaDialect, OtherDialectsAreRefused) {
    EXPECT_EQ(from("http://json-schema.org/draft-04/schema#", R"("type":"object")"),
              "unsupported_dialect");
    EXPECT_EQ(from("https://example.org/mine", R"("type":"object")"), "unsupported_dialect");
    EXPECT_EQ(in_2020_12(parse(R"({"$schema":7})").value()).error().reason(),
              "unsupported_dialect");
    EXPECT_EQ(from(kDraft07, R"("properties":{"a":{"$schema":"https://example.org/mine"}})"),
              "unsupported_dialect");
}

TEST(SchemaDialect, TheDialectIsKnownHoweverItsUriIsWritten) {
    for (const std::string_view uri :
         {"http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-07/schema",
          "https://json-schema.org/draft-07/schema#"})
        EXPECT_EQ(from(uri, R"("type":"object")"), R"({"type":"object"})") << uri;
}

TEST(SchemaDialect, AnArrayOfItemsBecomesPrefixItemsAndItems) {
    EXPECT_EQ(from(kDraft07, R"("items":[{"type":"string"}],"additionalItems":false)"),
              R"({"prefixItems":[{"type":"string"}],"items":false})");
    EXPECT_EQ(from(kDraft2019, R"("additionalItems":{"type":"null"},"items":[true])"),
              R"({"items":{"type":"null"},"prefixItems":[true]})");
    EXPECT_EQ(from(kDraft07, R"("items":{"items":[true]},"additionalItems":false)"),
              R"({"items":{"prefixItems":[true]}})");
    EXPECT_EQ(from(kDraft07, R"("additionalItems":false)"), "{}");
    EXPECT_EQ(from(kDraft07, R"("items":[],"additionalItems":false)"), R"({"items":false})");
}

TEST(SchemaDialect, DependenciesAreTwoKeywords) {
    EXPECT_EQ(from(kDraft07, R"("dependencies":{"a":["b"],"c":{"items":[true]},"d":false})"),
              R"({"dependentRequired":{"a":["b"]},)"
              R"("dependentSchemas":{"c":{"prefixItems":[true]},"d":false}})");
    EXPECT_FALSE(fits(R"("dependencies":{"a":["b"]})", R"({"a":1})"));
    EXPECT_TRUE(fits(R"("dependencies":{"a":["b"]})", R"({"a":1,"b":2})"));
}

TEST(SchemaDialect, BesideAReferenceOnlyDefinitionsCount) {
    EXPECT_EQ(from(kDraft07, R"("$ref":"#/definitions/a","type":"string","maximum":1,)"
                             R"("definitions":{"a":{"type":"integer"}})"),
              R"({"$ref":"#/$defs/a","$defs":{"a":{"type":"integer"}}})");
    EXPECT_EQ(
        from(kDraft07, R"("$ref":"#/definitions/a","definitions":{"a":{}},"$defs":{"a":false})"),
        R"({"$ref":"#/definitions/a","definitions":{"a":{}},"$defs":{"a":false}})");
    EXPECT_TRUE(fits(R"("$ref":"#/definitions/a","maximum":1,"definitions":{"a":{}})", "5"));
    EXPECT_EQ(from(kDraft2019, R"("$ref":"#/$defs/a","maximum":1,"$defs":{"a":{}})"),
              R"({"$ref":"#/$defs/a","maximum":1,"$defs":{"a":{}}})");
}

TEST(SchemaDialect, ReferencesFollowTheirTargets) {
    EXPECT_TRUE(fits(R"("properties":{"a":{"items":[{"type":"string"}],"additionalItems":{}},)"
                     R"("b":{"$ref":"#/properties/a/items/0"},)"
                     R"("c":{"$ref":"#/properties/a/additionalItems"}})",
                     R"({"b":"x","c":1})"));
    EXPECT_FALSE(fits(R"("properties":{"a":{"items":[{"type":"string"}]},)"
                      R"("b":{"$ref":"#/properties/a/items/0"}})",
                      R"({"b":1})"));
    // A member that is called items is none of the keyword.
    EXPECT_FALSE(fits(R"("properties":{"items":{"type":"string"},)"
                      R"("b":{"$ref":"#/properties/items"}})",
                      R"({"b":1})"));
    EXPECT_FALSE(fits(R"("dependencies":{"z":{"type":"string"}},)"
                      R"("properties":{"b":{"$ref":"#/dependencies/z"}})",
                      R"({"b":1})"));
}

TEST(SchemaDialect, AnIdOfAFragmentIsAnAnchor) {
    EXPECT_FALSE(fits(R"("definitions":{"a":{"$id":"#one","type":"string"}},"$ref":"#one")", "1"));
    EXPECT_EQ(from(kDraft07, R"("$id":"https://a.example/b#")"),
              R"({"$id":"https://a.example/b"})");
    EXPECT_EQ(from(kDraft07, R"("$id":"https://a.example/b#c")"), "unsupported_dialect");
}

TEST(SchemaDialect, KeywordsThatCameLaterSayNothing) {
    EXPECT_EQ(from(kDraft07, R"("minContains":2,"contains":true,"dependentRequired":{"a":["b"]},)"
                             R"("unevaluatedProperties":false)"),
              R"({"contains":true})");
}

TEST(SchemaDialect, ValuesThatAreNoSchemaAreUnchanged) {
    const std::string_view members =
        R"("const":{"items":[1]},"enum":[{"additionalItems":1}],"default":{"$schema":"x"},)"
        R"("examples":[{"dependencies":{}}])";
    EXPECT_EQ(from(kDraft07, members), cat("{", members, "}"));
}

TEST(SchemaDialect, ARecursiveReferenceIsAPlainOneWhereNothingIsAnchored) {
    EXPECT_EQ(from(kDraft2019, R"("properties":{"a":{"$recursiveRef":"#"}})"),
              R"({"properties":{"a":{"$ref":"#"}}})");
    EXPECT_EQ(from(kDraft2019, R"("$recursiveAnchor":true)"), "unsupported_dialect");
}

TEST(SchemaDialect, DepthIsBounded) {
    std::string deep = "true";
    for (std::size_t i = 0; i < kDialectNesting + 1; ++i) deep = cat(R"({"not":)", deep, "}");
    const Value schema =
        parse(cat(R"({"$schema":")", kDraft07, R"(","not":)", deep, "}"), {.depth = 400}).value();
    EXPECT_EQ(in_2020_12(schema).error().reason(), "schema_too_large");
}

}  // namespace
}  // namespace quire::json
