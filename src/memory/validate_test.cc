#include "memory/validate.h"

#include <cmath>

#include <gtest/gtest.h>

#include "json/json.h"
#include "json/schema/schema.h"
#include "memory/random_schema_for_test.h"
#include "memory/schema_json.h"
#include "memory/templates.h"

namespace quire::memory {
namespace {

// "REASON field expected/actual", what is absent left out; "fine".
std::string told(const Result<void>& result) {
    if (result) return "fine";
    std::string out = result.error().reason();
    for (const char* key : {"field", "expected", "actual"}) {
        if (const Value* detail = result.error().details().find(key))
            out += " " + detail->as_string();
    }
    return out;
}

const BlockSchema kTask = find_template("task_list")->schema;

TEST(Validate, AValueOfTheWrongTypeNamesTheExpectedType) {
    const struct {
        FieldType type;
        Value right;
        Value wrong;
        const char* actual;
    } cases[] = {
        {FieldType::text, "x", 5, "integer"},
        {FieldType::number, 1.5, "1.5", "string"},
        {FieldType::number, 1, true, "boolean"},
        {FieldType::boolean, false, 0, "integer"},
        {FieldType::list, List{1, "x"}, Map{}, "object"},
        {FieldType::timestamp, "2025-01-23", "tomorrow", "'tomorrow'"},
        {FieldType::timestamp, "2025-01-23T10:00Z", 5, "integer"},
        {FieldType::counter, 3, List{}, "array"},
        {FieldType::text, "", nullptr, "null"},
    };
    for (const auto& each : cases) {
        const Field field{.name = "f", .type = each.type};
        EXPECT_TRUE(check_field(field, each.right).has_value()) << name_of(each.type);
        const auto refused = check_field(field, each.wrong);
        ASSERT_FALSE(refused) << name_of(each.type);
        EXPECT_EQ(refused.error().message(), std::string("Schema mismatch: expected ") +
                                                 std::string(name_of(each.type)) + ", got " +
                                                 each.actual);
        EXPECT_EQ(refused.error().details(),
                  (Map{{"field", "f"}, {"expected", name_of(each.type)}, {"actual", each.actual}}));
    }
}

TEST(Validate, AValueThatJsonCannotExpressIsRefused) {
    const Value bad[] = {Bytes{1}, std::nan(""), "\xFF", List{Bytes{}}, Map{{"\xC0", 1}}};
    for (const Value& each : bad)
        EXPECT_EQ(check_json("f", each).error().reason(), "schema_mismatch");
    Value deep = 1;
    for (std::size_t i = 1; i < kMaxValueDepth; ++i) deep = List{deep};
    EXPECT_TRUE(check_json("f", deep).has_value());
    EXPECT_FALSE(check_json("f", List{deep}).has_value());
}

TEST(Validate, FieldsAreKnownAndTheRequiredOnesAreThere) {
    EXPECT_EQ(told(check_value(kTask, List{Map{{"title", "a"}}})), "fine");
    EXPECT_EQ(told(check_value(kTask, List{Map{{"done", true}}})),
              "schema_mismatch title Text nothing");
    EXPECT_EQ(told(check_value(kTask, List{Map{{"title", "a"}, {"colour", 1}}})),
              "field_not_found colour");
    EXPECT_EQ(told(check_value(kTask, List{Map{{"title", 1}}})),
              "schema_mismatch title Text integer");
    EXPECT_EQ(told(check_value(kTask, List{"a"})), "schema_mismatch  Map string");
    EXPECT_EQ(told(check_value(kTask, Map{})), "schema_mismatch  List object");
    EXPECT_EQ(told(check_value(BlockSchema(), 5)), "schema_mismatch  Text integer");
    EXPECT_EQ(told(check_value(find_template("activity_log")->schema, List{"a"})),
              "schema_mismatch  an entry, an object string");
    EXPECT_EQ(told(check_value(CompositeSchema{{{"s", kTask}}}, Map{{"t", List{}}})),
              "section_not_found");
    EXPECT_EQ(told(check_value(CompositeSchema{{{"s", kTask}}}, Map{{"s", 1}})),
              "schema_mismatch  List integer");
}

TEST(Validate, AnUnknownFieldGetsTheListOfFields) {
    const auto refused = check_fields({{.name = "a"}, {.name = "b"}}, Map{{"c", 1}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Errc::not_found);
    EXPECT_EQ(refused.error().message(), "Field 'c' not found; the fields are: a, b");
}

TEST(Validate, AListIsNoLongerThanItMayBe) {
    const BlockSchema two = ListSchema{std::nullopt, 2};
    EXPECT_TRUE(check_value(two, List{1, 2}).has_value());
    const auto refused = check_value(two, List{1, 2, 3});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Errc::out_of_range);
    EXPECT_EQ(refused.error().reason(), "max_items");
    EXPECT_EQ(refused.error().details(), (Map{{"limit", 2}, {"len", 3}}));
}

TEST(Validate, ATextIsCountedInCharacters) {
    EXPECT_EQ(text_length(Map{{"key", "naïve"}, {"l", List{"ab", 5, Map{{"x", "🤝"}}}}}), 8);
    EXPECT_TRUE(check_length(5, 5).has_value());
    EXPECT_TRUE(check_length(5, std::nullopt).has_value());
    const auto refused = check_length(6, 5);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason(), "char_limit");
    EXPECT_EQ(refused.error().details(), (Map{{"limit", 5}, {"len", 6}}));
}

TEST(Validate, AnItemLosesItsNullsWhereItHasFields) {
    const auto* list = kTask.as<ListSchema>();
    EXPECT_EQ(accept_item(*list, Map{{"title", "a"}, {"due", nullptr}}).value(),
              Value(Map{{"title", "a"}}));
    EXPECT_EQ(accept_item(ListSchema{}, Map{{"a", nullptr}}).value(), Value(Map{{"a", nullptr}}));
    EXPECT_FALSE(accept_item(*list, Map{{"title", nullptr}}).has_value());
}

TEST(Validate, ATextBecomesAnEntry) {
    EXPECT_EQ(accept_entry(LogSchema{}, "hello").value(), (Map{{"message", "hello"}}));
    EXPECT_EQ(
        accept_entry(*find_template("observation_log")->schema.as<LogSchema>(), "hello").value(),
        (Map{{"observation", "hello"}}));
    const LogSchema counted{
        20,
        {true,
         true,
         {{.name = "n", .type = FieldType::number, .required = true}, {.name = "text"}}}};
    EXPECT_EQ(accept_entry(counted, "hello").error().reason(), "schema_mismatch");
    const LogSchema optional{20, {true, true, {{.name = "a"}, {.name = "b"}}}};
    EXPECT_EQ(accept_entry(optional, "hello").value(), (Map{{"a", "hello"}}));
    const LogSchema numbers{20, {true, true, {{.name = "n", .type = FieldType::number}}}};
    EXPECT_EQ(accept_entry(numbers, "hello").error().reason(), "schema_mismatch");
    EXPECT_EQ(accept_entry(numbers, List{}).error().reason(), "schema_mismatch");
    EXPECT_EQ(accept_entry(numbers, Map{{"m", 1}}).error().reason(), "field_not_found");
    EXPECT_EQ(accept_entry(numbers, Map{{"timestamp", "soon"}}).error().reason(),
              "schema_mismatch");
    EXPECT_TRUE(
        accept_entry(numbers, Map{{"n", 1}, {"timestamp", "2025-01-01"}, {"agent_id", "ada"}})
            .has_value());
}

TEST(Validate, DefaultsAreValid) {
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        const BlockSchema schema = SchemaMaker(seed).schema(3, true);
        const auto valid = check_value(schema, default_value(schema));
        ASSERT_TRUE(valid.has_value()) << "seed " << seed << ": " << valid.error().message();
    }
}

TEST(SchemaJson, TheSchemaOfABlockAcceptsExactlyItsValues) {
    std::size_t refused = 0;
    for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
        SchemaMaker maker(seed);
        const BlockSchema schema = maker.schema();
        const auto compiled = json::Schema::compile(json_schema(schema), {.strict = true});
        ASSERT_TRUE(compiled.has_value()) << "seed " << seed << ": " << compiled.error().message();
        const Value right = maker.value(schema);
        const auto checked = check_value(schema, right);
        ASSERT_TRUE(checked.has_value()) << "seed " << seed << ": " << checked.error().message();
        ASSERT_TRUE(compiled->check(right).has_value()) << "seed " << seed;
        // A value of another schema may happen to fit; both must say the same.
        const Value other = maker.value(maker.schema());
        const bool fits = check_value(schema, other).has_value();
        ASSERT_EQ(fits, compiled->check(other).has_value())
            << "seed " << seed << ": " << json::write(other) << " in "
            << json::write(json_schema(schema));
        refused += fits ? 0 : 1;
    }
    EXPECT_GT(refused, 500U);
}

TEST(SchemaJson, TheSchemaOfABlockMarksReadOnlyParts) {
    const BlockSchema schema = CompositeSchema{{{"d",
                                                 BlockSchema(MapSchema{{{.name = "n",
                                                                         .description = "how many",
                                                                         .type = FieldType::number,
                                                                         .required = true,
                                                                         .default_value = 1,
                                                                         .read_only = true}}}),
                                                 "from the linter", true}}};
    EXPECT_EQ(json_schema(schema),
              json::parse(
                  R"({"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
                "properties":{"d":{"type":"object","properties":{"n":{"type":"number",
                "description":"how many","default":1,"readOnly":true}},
                "additionalProperties":false,"description":"from the linter","readOnly":true}},
                "additionalProperties":false})")
                  .value());
}

}  // namespace
}  // namespace quire::memory
