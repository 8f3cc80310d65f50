// Tests beside the official suite (tests/schema_corpus): the words of faults, documents and
// dialects, exact numbers, and the limits against hostile schemas.
#include <gtest/gtest.h>

#include "base/concat.h"
#include "json/json.h"
#include "json/schema/schema.h"

namespace quire::json {
namespace {

Value value_of(std::string_view text) {
    auto value = parse(text);
    EXPECT_TRUE(value) << text;
    return value ? *value : Value();
}

Schema compiled(std::string_view text, const SchemaOptions& options = {}) {
    auto schema = Schema::compile(value_of(text), options);
    EXPECT_TRUE(schema) << (schema ? "" : schema.error().message());
    return std::move(*schema);
}

struct Fault {
    std::string rule = "";
    std::string path = "";
    std::string message = "";
};

Fault fault_of(const Schema& schema, std::string_view value) {
    const auto checked = schema.check(value_of(value));
    if (checked) return {};
    const Error& error = checked.error();
    if (error.reason() != "invalid_arguments") return {error.reason(), "", error.message()};
    return {error.details().find("rule")->as_string(), error.details().find("path")->as_string(),
            error.message()};
}

bool fits(const Schema& schema, std::string_view value) {
    return schema.check(value_of(value)).has_value();
}

std::string compile_reason(std::string_view text, const SchemaOptions& options = {}) {
    const auto schema = Schema::compile(value_of(text), options);
    return schema ? "compiled" : schema.error().reason();
}

// Enough of a matcher for tests of this room: the pattern is text to be found.
const SchemaOptions kPlainPatterns = {
    .patterns = [](std::string_view pattern) -> Result<PatternTest> {
        return [pattern = std::string(pattern)](std::string_view text) {
            return text.find(pattern) != std::string_view::npos;
        };
    }};

TEST(SchemaFault, NamesPlaceRuleAndTheRightForm) {
    struct Case {
        std::string_view schema, value, rule, path, message;
    };
    const Case cases[] = {
        {R"({"exclusiveMinimum":0})", "0", "exclusiveMinimum", "",
         "the value must be more than 0, not 0"},
        {R"({"properties":{"a":{"exclusiveMaximum":2.5}}})", R"({"a":3})", "exclusiveMaximum", "a",
         "'a' must be less than 2.5, not 3"},
        {R"({"multipleOf":0.01})", "1.005", "multipleOf", "",
         "the value must be a multiple of 0.01, not 1.005"},
        {R"({"pattern":"ab"})", R"("ba")", "pattern", "",
         R"(the value must match the pattern ab, and "ba" does not)"},
        {R"({"minProperties":2})", R"({"a":1})", "minProperties", "",
         "the value must have at least 2 fields, not 1"},
        {R"({"uniqueItems":true})", R"([1,{"a":[2]},{"a":[2.0]}])", "uniqueItems", "[2]",
         R"(the value must not have the same item twice: 1 and 2 are both {"a":[2.0]})"},
        {R"({"contains":{"type":"string"}})", "[1]", "contains", "",
         "the value must have at least 1 items that fit its contains (a string), not 0"},
        {R"({"contains":{"const":1},"maxContains":1})", "[1,1]", "maxContains", "",
         "the value must have at most 1 items that fit its contains, not 2"},
        {R"({"prefixItems":[{}],"items":false})", "[1,2]", "items", "[1]",
         "the value must have at most 1 items, not 2"},
        {R"({"dependentRequired":{"a":["b"]}})", R"({"a":1})", "dependentRequired", "b",
         "required field missing: b, because a is there"},
        {R"({"dependentSchemas":{"a":{"required":["b"]}}})", R"({"a":1})", "required", "b",
         "because 'a' is there: required field missing: b"},
        {R"({"propertyNames":{"maxLength":2}})", R"({"abc":1})", "maxLength", "abc",
         "the name of a field does not fit: 'abc' must have at most 2 characters, not 3"},
        {R"({"not":{"type":"null"}})", "null", "not", "",
         "the value must not be null, and is null"},
        {R"({"oneOf":[{"type":"integer"},{"minimum":2}]})", "3", "oneOf", "",
         "the value matches more than one of its forms (number 1, 2); leave only what belongs to "
         "one of them"},
        {R"({"if":{"required":["a"]},"then":{"required":["b"]}})", R"({"a":1})", "required", "b",
         "required field missing: b"},
        {R"({"allOf":[{"properties":{"a":{}}}],"properties":{"bc":{}},
             "unevaluatedProperties":false})",
         R"({"a":1,"bd":2})", "unevaluatedProperties", "bd",
         "unknown field 'bd' (did you mean 'bc'?); the fields are: bc"},
        {R"({"prefixItems":[true],"unevaluatedItems":false})", "[1,2]", "unevaluatedItems", "[1]",
         "'[1]' is an item that no part of the schema speaks of; leave it out"},
        {R"({"patternProperties":{"x-":{"type":"string"}},"additionalProperties":false})",
         R"({"y":1})", "additionalProperties", "y",
         "unknown field 'y'; the fields are those whose names match x-"},
    };
    for (const Case& each : cases) {
        const Fault fault = fault_of(compiled(each.schema, kPlainPatterns), each.value);
        EXPECT_EQ(fault.rule, each.rule) << each.schema;
        EXPECT_EQ(fault.path, each.path) << each.schema;
        EXPECT_EQ(fault.message, each.message) << each.schema;
    }
}

TEST(SchemaNumber, ComparesExactly) {
    EXPECT_FALSE(fits(compiled(R"({"const":9007199254740993})"), "9007199254740992.0"));
    EXPECT_TRUE(fits(compiled(R"({"const":9007199254740992})"), "9007199254740992.0"));
    EXPECT_FALSE(fits(compiled(R"({"maximum":9007199254740992.0})"), "9007199254740993"));
    EXPECT_FALSE(
        fits(compiled(R"({"exclusiveMinimum":9223372036854775807})"), "9223372036854775807"));
    EXPECT_TRUE(
        fits(compiled(R"({"exclusiveMinimum":9223372036854775807})"), "9223372036854775808.0"));
    EXPECT_FALSE(fits(compiled(R"({"uniqueItems":true})"), "[1,2,3,4,5,6,7,8,9,1.0]"));
    EXPECT_TRUE(
        fits(compiled(R"({"uniqueItems":true})"), "[1,true,0,false,\"1\",[1],{\"a\":1},2,3]"));
    EXPECT_FALSE(fits(compiled(R"({"uniqueItems":true})"),
                      R"([1,2,3,4,5,6,7,8,{"a":1,"b":2},{"b":2,"a":1.0}])"));
}

TEST(SchemaNumber, DividesDecimalsAsTheyAreWritten) {
    struct Case {
        std::string_view unit, number;
        bool divides;
    };
    const Case cases[] = {
        {"0.1", "0.3", true},
        {"0.01", "19.99", true},
        {"0.01", "19.999", false},
        {"0.0001", "0.00751", false},
        {"0.1", "9223372036854775807", true},
        {"3", "9223372036854775807", false},
        {"7", "9223372036854775807", true},
        {"1", "-9223372036854775808", true},
        {"2", "-9223372036854775808", true},
        {"0.5", "1e308", true},
        {"0.123456789", "1e308", false},
        {"1e-300", "1e300", true},
        {"1e300", "1e-300", false},
        {"1e300", "0", true},
        {"1e300", "1.0", false},
        {"2.5e20", "5e20", true},
        {"9223372036854775807", "9223372036854775807", true},
    };
    for (const Case& each : cases) {
        EXPECT_EQ(fits(compiled(cat(R"({"multipleOf":)", each.unit, "}")), each.number),
                  each.divides)
            << each.number << " by " << each.unit;
    }
}

TEST(SchemaDocuments, AreFoundByTheirAddressAndByTheirOwnName) {
    const Value name = value_of(R"({"$id":"https://b.example/name.json","type":"string"})");
    const SchemaDocument documents[] = {{"https://a.example/folder/name.json", &name}};
    const SchemaOptions options{.documents = documents};
    const auto both = compiled(
        R"({"$id":"https://a.example/folder/root.json","properties":{
            "a":{"$ref":"name.json"},"b":{"$ref":"https://b.example/name.json"},
            "c":{"$ref":"../folder/./name.json#"}}})",
        options);
    EXPECT_EQ(fault_of(both, R"({"a":1})").path, "a");
    EXPECT_EQ(fault_of(both, R"({"b":1})").path, "b");
    EXPECT_EQ(fault_of(both, R"({"c":1})").path, "c");
    EXPECT_TRUE(fits(both, R"({"a":"","b":"","c":""})"));
    EXPECT_EQ(compile_reason(R"({"$ref":"https://c.example/name.json"})", options),
              "invalid_schema");
}

TEST(SchemaDocuments, TheMetaschemaChecksSchemas) {
    const Schema meta =
        compiled(R"({"$ref":"https://json-schema.org/draft/2020-12/schema"})", kPlainPatterns);
    EXPECT_FALSE(fits(meta, R"({"properties":{"a":{"type":"text"}}})"));
    EXPECT_FALSE(fits(meta, R"({"allOf":[{"minLength":-1}]})"));
    EXPECT_FALSE(fits(meta, "3"));
    EXPECT_TRUE(fits(meta, R"({"properties":{"a":{"type":"string"}},"required":["a"]})"));
}

TEST(SchemaDialect, RequiredVocabulariesMustBeKnown) {
    const Value strange = value_of(R"({"$vocabulary":{"https://x.example/vocab":true}})");
    const Value friendly = value_of(
        R"({"$vocabulary":{"https://x.example/vocab":false,
            "https://json-schema.org/draft/2020-12/vocab/validation":true}})");
    const Value formats = value_of(
        R"({"$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/format-assertion":true}})");
    const SchemaDocument documents[] = {{"https://x.example/strange", &strange},
                                        {"https://x.example/friendly", &friendly},
                                        {"https://x.example/formats", &formats}};
    const SchemaOptions options{.documents = documents};
    EXPECT_EQ(compile_reason(R"({"$schema":"https://x.example/strange"})", options),
              "unsupported_vocabulary");
    EXPECT_EQ(compile_reason(R"({"$schema":"https://x.example/formats"})", options),
              "unsupported_vocabulary");
    const Schema schema = compiled(
        R"({"$schema":"https://x.example/friendly","type":"object","properties":{"a":false}})",
        options);
    EXPECT_FALSE(fits(schema, "1"));
    EXPECT_TRUE(fits(schema, R"({"a":1})"));  // Without the vocabulary of applicators.
}

TEST(HostileSchema, ASchemaThatLeadsBackToItselfIsRefused) {
    EXPECT_EQ(compile_reason(R"({"$ref":"#"})"), "invalid_schema");
    EXPECT_EQ(compile_reason(R"({"anyOf":[{"type":"null"},{"$ref":"#"}]})"), "invalid_schema");
    EXPECT_EQ(compile_reason(R"({"$ref":"#/$defs/a","$defs":{
        "a":{"not":{"$ref":"#/$defs/b"}},"b":{"if":{"$ref":"#/$defs/a"}}}})"),
              "invalid_schema");
    EXPECT_EQ(compile_reason(R"({"dependentSchemas":{"a":{"$ref":"#"}}})"), "invalid_schema");
    // Into the value it may lead back as often as it likes.
    EXPECT_EQ(compile_reason(R"({"items":{"$ref":"#"},"additionalProperties":{"$ref":"#"}})"),
              "compiled");
    EXPECT_EQ(compile_reason(R"({"propertyNames":{"$ref":"#"}})"), "compiled");
}

TEST(HostileSchema, ADynamicReferenceToItselfEndsAtTheDepth) {
    const Schema schema = compiled(R"({"$id":"https://x.example/a","$dynamicAnchor":"n",
        "anyOf":[{"$dynamicRef":"#n"},{"$dynamicRef":"#n"}]})");
    EXPECT_EQ(fault_of(schema, "1").rule, "too_deep");
}

// Forty definitions, each of which asks the next twice.
std::string doubling(std::string_view keyword, std::string_view last) {
    constexpr int kLevels = 40;
    std::string text = R"({"$ref":"#/$defs/d0","$defs":{)";
    for (int i = 0; i < kLevels; ++i) {
        const std::string next = cat(R"({"$ref":"#/$defs/d)", i + 1, "\"}");
        cat_to(text, cat("\"d", i, "\":{\"", keyword, "\":[", next, ",", next, "]},"));
    }
    return cat(text, "\"d", kLevels, "\":", last, "}}");
}

TEST(HostileSchema, EndlessReferencesStopAtTheStepLimit) {
    EXPECT_EQ(fault_of(compiled(doubling("allOf", R"({"type":"null"})")), "null").rule,
              "too_costly");
    EXPECT_EQ(fault_of(compiled(doubling("anyOf", R"({"type":"null"})")), "1").rule, "too_costly");
    EXPECT_EQ(fault_of(compiled(doubling("oneOf", R"({"type":"null"})")), "null").rule,
              "too_costly");
    // accept() gives up as well, and says the same.
    const auto accepted =
        compiled(doubling("anyOf", R"({"type":"object"})")).accept(value_of("[]"));
    ASSERT_FALSE(accepted);
    EXPECT_EQ(accepted.error().reason(), "too_costly");
}

TEST(HostileSchema, AnInterruptedCheckNeverBecomesAYes) {
    std::string text = doubling("allOf", R"({"type":"null"})");
    text.replace(0, std::string_view(R"({"$ref":"#/$defs/d0",)").size(),
                 R"({"not":{"$ref":"#/$defs/d0"},)");
    EXPECT_EQ(fault_of(compiled(text), "null").rule, "too_costly");
}

TEST(HostileSchema, IsBoundedInNumberAndInPatterns) {
    std::string many = R"({"anyOf":[)";
    for (std::size_t i = 0; i < Schema::kSchemas + 1; ++i) cat_to(many, i == 0 ? "{}" : ",{}");
    EXPECT_EQ(compile_reason(cat(many, "]}")), "schema_too_large");

    std::string patterns = R"({"patternProperties":{)";
    for (std::size_t i = 0; i < Schema::kPatterns + 1; ++i) {
        cat_to(patterns, cat(i == 0 ? "\"" : ",\"", i, "\":{}"));
    }
    EXPECT_EQ(compile_reason(cat(patterns, "}}"), kPlainPatterns), "schema_too_large");
}

TEST(HostileSchema, ItemsThatAreAllAlikeButOneAreComparedInNoTime) {
    std::string items = "[";
    for (int i = 0; i < 20'000; ++i) cat_to(items, cat(i == 0 ? "" : ",", "{\"n\":", i, "}"));
    EXPECT_TRUE(fits(compiled(R"({"uniqueItems":true})"), cat(items, "]")));
    EXPECT_EQ(fault_of(compiled(R"({"uniqueItems":true})"), cat(items, R"(,{"n":7.0}])")).path,
              "[20000]");
}

TEST(HostileSchema, NestedFormsAreExplainedBriefly) {
    // Eight forms, six deep.
    std::string text = R"({"$ref":"#/$defs/d0","$defs":{)";
    for (int i = 0; i < 6; ++i) {
        const std::string next = cat(R"({"$ref":"#/$defs/d)", i + 1, "\"}");
        cat_to(text, cat("\"d", i, R"(":{"anyOf":[)", next));
        for (int j = 1; j < 8; ++j) cat_to(text, cat(",", next));
        cat_to(text, "]},");
    }
    cat_to(text, R"("d6":{"minimum":1}}})");
    const auto checked = compiled(text).check(value_of("0"));
    ASSERT_FALSE(checked);
    EXPECT_LT(checked.error().message().size(), 2000U);
}

TEST(HostileSchema, AddressesDoNotGrowWithinEachOther) {
    EXPECT_EQ(compile_reason(cat(R"({"$id":"https://x.example/)", std::string(3000, 'a'),
                                 R"(/","$defs":{"b":{"$id":"b"}}})")),
              "invalid_schema");
}

TEST(HostileSchema, LongChainsOfReferencesTakeNoStack) {
    constexpr int kLinks = 15'000;
    std::string text = R"({"properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{)";
    for (int i = 0; i < kLinks; ++i) {
        cat_to(text, cat("\"d", i, R"(":{"$ref":"#/$defs/d)", i + 1, "\"},"));
    }
    cat_to(text, cat("\"d", kLinks, "\":{}}}"));
    const Schema chain = compiled(text);
    EXPECT_TRUE(fits(chain, "{}"));
    EXPECT_EQ(fault_of(chain, R"({"a":1})").rule, "too_deep");
}

}  // namespace
}  // namespace quire::json
