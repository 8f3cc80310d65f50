#include "json/schema/schema.h"

#include <gtest/gtest.h>

#include "base/concat.h"
#include "json/json.h"

namespace quire::json {
namespace {

Value json(std::string_view text) {
    auto value = parse(text);
    EXPECT_TRUE(value) << text;
    return value ? *value : Value();
}

Schema schema(std::string_view text) {
    auto compiled = Schema::compile(json(text), {.strict = true});
    EXPECT_TRUE(compiled) << (compiled ? "" : compiled.error().message());
    return std::move(*compiled);
}

// The message about `value`; "" when it fits.
std::string fault(const Schema& schema, std::string_view value) {
    const auto checked = schema.check(json(value));
    return checked ? "" : checked.error().message();
}

std::string fault_path(const Schema& schema, std::string_view value) {
    const auto checked = schema.check(json(value));
    return checked ? "(none)" : checked.error().details().find("path")->as_string();
}

std::string accepted(const Schema& schema, std::string_view value) {
    const auto taken = schema.accept(json(value));
    return taken ? write(*taken) : taken.error().message();
}

constexpr std::string_view kEdit = R"({
    "type": "object",
    "properties": {
        "block_id": {"type": "string", "minLength": 1},
        "operations": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"oneOf": [
            {"type": "object", "additionalProperties": false, "required": ["op", "line", "content"],
             "properties": {"op": {"const": "insert"}, "line": {"$ref": "#/$defs/line"},
                            "content": {"type": "string"}}},
            {"type": "object", "additionalProperties": false, "required": ["op", "start_line", "end_line"],
             "properties": {"op": {"const": "delete"}, "start_line": {"$ref": "#/$defs/line"},
                            "end_line": {"$ref": "#/$defs/line"}}}]}},
        "coords": {"enum": ["sequential", "original"]},
        "metadata": {"type": "object"},
        "limit": {"type": ["integer", "null"], "minimum": 1, "maximum": 100}
    },
    "required": ["block_id"],
    "additionalProperties": false,
    "$defs": {"line": {"type": "integer", "minimum": 0}}
})";

TEST(Schema, AcceptsFittingValues) {
    const Schema edit = schema(kEdit);
    EXPECT_EQ(fault(edit, R"({"block_id":"b"})"), "");
    EXPECT_EQ(fault(edit, R"({"block_id":"b","limit":null,"coords":"original","metadata":{"x":[1]},
        "operations":[{"op":"insert","line":0,"content":""},{"op":"delete","start_line":1,"end_line":2}]})"),
              "");
}

TEST(Schema, NamesTheFieldThatItDoesNotKnow) {
    const Schema edit = schema(kEdit);
    EXPECT_EQ(
        fault(edit, R"({"block_id":"b","blok":1})"),
        "unknown field 'blok'; the fields are: block_id, operations, coords, metadata, limit");
    EXPECT_NE(fault(edit, R"({"blockid":"b"})").find("did you mean 'block_id'?"),
              std::string::npos);
    EXPECT_EQ(fault_path(edit, R"({"block_id":"b","x":1})"), "x");
}

TEST(Schema, NamesTheFieldsThatAreMissing) {
    const Schema pair = schema(R"({"type":"object","required":["a","b"]})");
    EXPECT_EQ(fault(pair, "{}"), "required fields missing: a, b");
    EXPECT_EQ(fault(pair, R"({"a":1})"), "required field missing: b");
}

TEST(Schema, NamesTheExpectedType) {
    const Schema edit = schema(kEdit);
    EXPECT_EQ(fault(edit, R"({"block_id":7})"), "'block_id' must be a string, not 7");
    EXPECT_EQ(fault(edit, R"({"block_id":null})"), "'block_id' must be a string, not null");
    EXPECT_EQ(fault(edit, R"({"block_id":"b","limit":1.5})"),
              "'limit' must be null or an integer, not 1.5");
    EXPECT_EQ(fault(edit, "[]"), "the value must be an object, not []");
}

TEST(Schema, HoldsToItsBounds) {
    const Schema edit = schema(kEdit);
    EXPECT_EQ(fault(edit, R"({"block_id":"b","limit":0})"), "'limit' must be at least 1, not 0");
    EXPECT_EQ(fault(edit, R"({"block_id":"b","limit":101})"),
              "'limit' must be at most 100, not 101");
    EXPECT_EQ(fault(edit, R"({"block_id":""})"),
              "'block_id' must have at least 1 characters, not 0");
    EXPECT_EQ(fault(edit, R"({"block_id":"b","operations":[]})"),
              "'operations' must have at least 1 items, not 0");
    EXPECT_EQ(fault(edit, R"({"block_id":"b","coords":"both"})"),
              R"('coords' must be one of "sequential", "original", not "both")");
}

TEST(Schema, CountsCharactersAndNotBytes) {
    const Schema two = schema(R"({"type":"string","maxLength":2})");
    EXPECT_EQ(fault(two, R"("é😀")"), "");
    EXPECT_NE(fault(two, R"("abc")"), "");
}

TEST(Schema, CountsBytesAsTheObjectOfOneMemberThatIsWritten) {
    const Value bytes = Bytes{1, 2, 3};
    EXPECT_TRUE(schema(R"({"type":"object","minProperties":1,"maxProperties":1})").check(bytes));
    EXPECT_FALSE(schema(R"({"minProperties":2})").check(bytes));
    EXPECT_FALSE(schema(R"({"maxProperties":0})").check(bytes));
}

TEST(Schema, ExplainsTheFormThatWasMeant) {
    const Schema edit = schema(kEdit);
    EXPECT_EQ(
        fault(edit, R"({"block_id":"b","operations":[{"op":"insert","line":"x","content":""}]})"),
        R"('operations[0].line' must be an integer, not "x")");
    EXPECT_EQ(
        fault(edit, R"({"block_id":"b","operations":[{"op":"insert","line":-1,"content":""}]})"),
        "'operations[0].line' must be at least 0, not -1");
    EXPECT_EQ(fault(edit, R"({"block_id":"b","operations":[{"op":"delete","start_line":1}]})"),
              "required field missing: end_line in operations[0]");
    EXPECT_EQ(fault(edit, R"({"block_id":"b","operations":[{"op":"upsert"}]})"),
              R"('operations[0]' must be one of: op = "insert", op = "delete")");
    EXPECT_EQ(fault(edit, R"({"block_id":"b","operations":[3]})"),
              "'operations[0]' must be one of: an object");
}

TEST(Schema, ComparesNumbersByValue) {
    const Schema one = schema(R"({"const":1})");
    EXPECT_EQ(fault(one, "1.0"), "");
    EXPECT_NE(fault(one, "true"), "");
    EXPECT_EQ(fault(schema(R"({"type":"integer"})"), "1.0"), "");
    EXPECT_NE(fault(schema(R"({"type":"integer"})"), "1e300"), "");
    EXPECT_NE(fault(schema(R"({"type":"integer"})"), "9223372036854775808"), "");
}

TEST(Schema, RefersToItselfToABoundedDepth) {
    const Schema tree = schema(
        R"({"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#"}}},"additionalProperties":false})");
    EXPECT_EQ(fault(tree, R"({"kids":[{"kids":[]},{}]})"), "");
    EXPECT_NE(fault(tree, R"({"kids":[{"kids":[{"x":1}]}]})")
                  .find("unknown field 'x' in kids[0].kids[0]"),
              std::string::npos);

    // 60 levels are what the parser lets through, and fit; a schema of many steps to each does not.
    std::string deep;
    for (int i = 0; i < 60; ++i) deep += R"({"kids":[)";
    for (int i = 0; i < 60; ++i) deep += "]}";
    EXPECT_EQ(fault(tree, deep), "");
    const Schema winding = schema(
        R"({"properties":{"kids":{"items":{"$ref":"#/$defs/a"}}},"$defs":{
            "a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/c"},"c":{"$ref":"#"}}})");
    const auto checked = winding.check(json(deep));
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().reason(), "too_deep");
}

TEST(Schema, UnwrapsOneLayerOfJsonInAString) {
    const Schema edit = schema(kEdit);
    EXPECT_EQ(accepted(edit, R"({"block_id":"b","metadata":"{\"a\":1}"})"),
              R"({"block_id":"b","metadata":{"a":1}})");
    EXPECT_EQ(
        accepted(
            edit,
            R"({"block_id":"b","operations":"[{\"op\":\"insert\",\"line\":0,\"content\":\"x\"}]"})"),
        R"({"block_id":"b","operations":[{"op":"insert","line":0,"content":"x"}]})");
    EXPECT_EQ(
        accepted(
            edit,
            R"({"block_id":"b","operations":["{\"op\":\"insert\",\"line\":0,\"content\":\"x\"}"]})"),
        R"({"block_id":"b","operations":[{"op":"insert","line":0,"content":"x"}]})");
    EXPECT_EQ(accepted(edit, R"("{\"block_id\":\"b\"}")"), R"({"block_id":"b"})");
}

TEST(Schema, LeavesStringsAloneThatMayBeStrings) {
    const Schema either = schema(R"({"type":["object","string"]})");
    EXPECT_EQ(accepted(either, R"("{}")"), R"("{}")");
    EXPECT_EQ(accepted(schema(R"({"type":"string"})"), R"("[1]")"), R"("[1]")");
    EXPECT_EQ(accepted(schema("{}"), R"("[1]")"), R"("[1]")");
}

TEST(Schema, DoesNotUnwrapASecondLayer) {
    const Schema list = schema(R"({"type":"array"})");
    EXPECT_EQ(accepted(list, R"("\"[1]\"")"), R"(the value must be an array, not "\"[1]\"")");
}

TEST(Schema, MakesIntegersOfFloatsWithoutAFraction) {
    const Schema edit = schema(kEdit);
    EXPECT_EQ(accepted(edit, R"({"block_id":"b","limit":3.0})"), R"({"block_id":"b","limit":3})");
    EXPECT_EQ(
        accepted(edit,
                 R"({"block_id":"b","operations":[{"op":"insert","line":2.0,"content":""}]})"),
        R"({"block_id":"b","operations":[{"op":"insert","line":2,"content":""}]})");
    EXPECT_EQ(accepted(schema(R"({"type":"number"})"), "3.0"), "3.0");
}

TEST(Schema, IntegersInUnwrappedValuesAreIntegersToo) {
    const Schema list = schema(R"({"type":"array","items":{"type":"integer"}})");
    EXPECT_EQ(accepted(list, R"("[1.0,2]")"), "[1,2]");
}

TEST(Schema, UnwrapsAndMakesIntegersThroughAllApplyingSchemas) {
    EXPECT_EQ(accepted(schema(R"({"allOf":[{"properties":{"a":{"type":"object"}}},
                                          {"properties":{"n":{"type":"integer"}}}]})"),
                       R"({"a":"{}","n":2.0})"),
              R"({"a":{},"n":2})");
    const Schema referred = schema(
        R"({"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"$ref":"#/$defs/b"},
            "b":{"type":"array","prefixItems":[{"type":"integer"}],"items":{"type":"object"}}}})");
    EXPECT_EQ(accepted(referred, R"({"a":[1.0,"{\"x\":1}"]})"), R"({"a":[1,{"x":1}]})");
    EXPECT_EQ(accepted(referred, R"({"a":"[1.0]"})"), R"({"a":[1]})");

    const Schema conditional = schema(
        R"({"if":{"properties":{"kind":{"const":"list"}}},
            "then":{"properties":{"of":{"type":"array"}}},
            "else":{"properties":{"of":{"type":"integer"}}}})");
    EXPECT_EQ(accepted(conditional, R"({"kind":"list","of":"[1]"})"),
              R"({"kind":"list","of":[1]})");
    EXPECT_EQ(accepted(conditional, R"({"kind":"one","of":1.0})"), R"({"kind":"one","of":1})");

    const Schema either = schema(
        R"({"anyOf":[{"required":["a"],"properties":{"a":{"type":"object"}}},
                     {"required":["b"],"properties":{"b":{"type":"array"}}}]})");
    EXPECT_EQ(accepted(either, R"({"b":"[]"})"), R"({"b":[]})");
    EXPECT_EQ(accepted(schema(R"({"anyOf":[{"type":"integer"},{"type":"null"}]})"), "4.0"), "4");
    EXPECT_EQ(
        accepted(schema(R"({"dependentSchemas":{"a":{"properties":{"b":{"type":"array"}}}}})"),
                 R"({"a":1,"b":"[2]"})"),
        R"({"a":1,"b":[2]})");
}

TEST(Schema, KeepsValuesThatFitOneOfItsForms) {
    // The second form takes the string as it is, so nobody has to guess.
    const Schema either = schema(
        R"({"anyOf":[{"properties":{"a":{"type":"object"}}},{"properties":{"a":{"type":"string"}}}]})");
    EXPECT_EQ(accepted(either, R"({"a":"{}"})"), R"({"a":"{}"})");
}

TEST(Schema, OurOwnSchemasAreReadStrictly) {
    const auto reason = [](std::string_view text) {
        const auto compiled = Schema::compile(json(text), {.strict = true});
        return compiled ? std::string("compiled") : compiled.error().reason();
    };
    EXPECT_EQ(reason(R"({"typ":"string"})"), "invalid_schema");
    EXPECT_EQ(reason(R"({"$defs":{"unused":{"typ":"string"}}})"), "invalid_schema");
    EXPECT_EQ(reason(R"({"description":"x","title":"y","default":1,"x-mine":2})"), "compiled");
    EXPECT_NE(Schema::compile(json(R"({"requird":[]})"), {.strict = true})
                  .error()
                  .message()
                  .find("did you mean required?"),
              std::string::npos);
    // For the standard a keyword that it does not know is an annotation.
    EXPECT_TRUE(Schema::compile(json(R"({"typ":"string"})")));
    const auto lenient = Schema::compile(json(R"({"type":"integer"})"));
    EXPECT_TRUE(lenient->check(json("1e300")));
    EXPECT_TRUE(lenient->check(json("9223372036854775808")));
}

TEST(Schema, RefusesToCompileMeaninglessKeywords) {
    const auto reason = [](std::string_view text) {
        const auto compiled = Schema::compile(json(text));
        return compiled ? std::string("compiled") : compiled.error().reason();
    };
    EXPECT_EQ(reason(R"({"type":"text"})"), "invalid_schema");
    EXPECT_EQ(reason(R"({"type":[]})"), "invalid_schema");
    EXPECT_EQ(reason(R"({"properties":{"a":{"allOf":[]}}})"), "invalid_schema");
    EXPECT_EQ(reason(R"({"items":[{}]})"), "invalid_schema");
    EXPECT_EQ(reason(R"({"multipleOf":0})"), "invalid_schema");
    EXPECT_EQ(reason(R"({"required":["a","a"]})"), "invalid_schema");
    EXPECT_EQ(reason(R"({"minLength":-1})"), "invalid_schema");
    EXPECT_EQ(reason(R"({"contains":{},"minContains":1.5})"), "invalid_schema");
    EXPECT_EQ(reason(R"({"$ref":"#/$defs/none"})"), "invalid_schema");
    EXPECT_EQ(reason(R"({"$ref":"#/$defs/~2"})"), "invalid_schema");
    EXPECT_EQ(reason(R"({"$ref":"#nowhere"})"), "invalid_schema");
    EXPECT_EQ(reason(R"({"$ref":"#/title","title":"t"})"), "invalid_schema");
    EXPECT_EQ(reason(R"({"$ref":"http://x.example/schema"})"), "invalid_schema");
    EXPECT_EQ(reason(R"({"$id":"http://x.example/a#b"})"), "invalid_schema");
    EXPECT_EQ(reason(R"({"$anchor":"1"})"), "invalid_schema");
    EXPECT_EQ(reason(R"({"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}})"), "invalid_schema");
    EXPECT_EQ(reason(R"({"$defs":{"a":{"$id":"x"},"b":{"$id":"x"}}})"), "invalid_schema");
    EXPECT_EQ(reason("3"), "invalid_schema");
    EXPECT_EQ(reason(R"({"not":3})"), "invalid_schema");
    EXPECT_EQ(reason(R"({"pattern":"x"})"), "unsupported_pattern");
    EXPECT_EQ(reason(R"({"$schema":"http://json-schema.org/draft-07/schema#"})"),
              "unsupported_dialect");

    std::string deep;
    for (int i = 0; i < 100; ++i) deep += R"({"items":)";
    deep += "{}";
    for (int i = 0; i < 100; ++i) deep += "}";
    EXPECT_EQ(reason(deep), "invalid_schema");
}

TEST(Schema, ALongMemberNameIsCutInMessages) {
    const auto schema = Schema::compile(
        parse(R"({"type":"object","properties":{"a":{"additionalProperties":false}},)"
              R"("additionalProperties":{"type":"string"}})")
            .value());
    ASSERT_TRUE(schema);
    const std::string name(1'000'000, 'x');
    for (const Value& wrong : {Value(Map{{"a", Map{{name, 1}}}}), Value(Map{{name, 1}})}) {
        const auto fits = schema->check(wrong);
        ASSERT_FALSE(fits);
        EXPECT_LT(fits.error().message().size() + write(Value(fits.error().details())).size(),
                  2'000U);
    }
}

}  // namespace
}  // namespace quire::json
