// Filtered schemas before the validator: whatever the form, a word that is not allowed fits no
// more, and one that is fits where it did.
#include <array>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/share_for_test.h"
#include "json/json.h"
#include "json/schema/operation_filter.h"
#include "json/schema/schema.h"
#include "text/ecma_pattern.h"

namespace quire::json {
namespace {

using Words = std::vector<std::string>;

Value parsed(std::string_view text) {
    return json::parse(text).value();
}

// Returns none for what the validator does not take.
std::optional<json::Schema> judge(const Value& schema) {
    auto compiled = json::Schema::compile(schema, {.patterns = text::ecma_pattern});
    if (!compiled) return std::nullopt;
    return std::move(*compiled);
}

bool accepts(std::string_view schema, std::string_view call) {
    auto compiled = json::Schema::compile(parsed(schema), {.patterns = text::ecma_pattern});
    EXPECT_TRUE(compiled) << schema << (compiled ? "" : compiled.error().message());
    return compiled && compiled->check(parsed(call)).has_value();
}

std::string narrowed_to(std::string_view schema, const Words& allowed) {
    return json::write(filter_schema_enum(parsed(schema), "op", allowed));
}

// For each schema here {"op": "read"} fits before and after, {"op": "delete"} only before, and the
// result does not mention "delete".
void leaves_read_alone(std::string_view schema) {
    EXPECT_TRUE(accepts(schema, R"({"op": "read"})")) << schema;
    EXPECT_TRUE(accepts(schema, R"({"op": "delete"})")) << schema;
    const std::string left = narrowed_to(schema, {"read"});
    EXPECT_TRUE(accepts(left, R"({"op": "read"})")) << left;
    EXPECT_FALSE(accepts(left, R"({"op": "delete"})")) << left;
    EXPECT_EQ(left.find("delete"), std::string::npos) << left;
    EXPECT_EQ(narrowed_to(left, {"read"}), left);
}

TEST(OperationFilterJudged, ReferencesAreFollowedHoweverTheyAreWritten) {
    leaves_read_alone(R"({"properties": {"op": {"$ref": "#op"}},
                          "$defs": {"O": {"$anchor": "op", "enum": ["read", "delete"]}}})");
    leaves_read_alone(R"({"properties": {"op": {"$ref": "#/$defs/O%20p"}},
                          "$defs": {"O p": {"enum": ["read", "delete"]}}})");
    leaves_read_alone(R"({"properties": {"op": {"$ref": "#/$defs/a~1b%7E0c"}},
                          "$defs": {"a/b~c": {"enum": ["read", "delete"]}}})");
    leaves_read_alone(R"({"properties": {"op": {"$ref": "words/op"}},
                          "$defs": {"O": {"$id": "words/op", "enum": ["read", "delete"]}}})");
    leaves_read_alone(R"({"$id": "https://a.example/tool",
                          "properties": {"op": {"$ref": "words#all"}},
                          "$defs": {"O": {"$id": "https://a.example/words", "$defs": {
                              "A": {"$anchor": "all", "$ref": "#/$defs/B"},
                              "B": {"enum": ["read", "delete"]}}}}})");
    leaves_read_alone(R"({"properties": {"op": {"$dynamicRef": "#op"}},
                          "$defs": {"O": {"$dynamicAnchor": "op", "enum": ["read", "delete"]}}})");
    leaves_read_alone(R"({"properties": {"op": {"$ref": "#/$defs/O/oneOf/1"}},
                          "$defs": {"O": {"oneOf": [{"const": "x"},
                                                    {"enum": ["read", "delete"]}]}}})");
    leaves_read_alone(R"({"properties": {"op": {"$ref": "#/properties/op/$defs/O",
                                                "$defs": {"O": {"enum": ["read", "delete"]}}}}})");
}

TEST(OperationFilterJudged, KeywordsBesideAReferenceApplyToo) {
    const std::string left = narrowed_to(
        R"({"properties": {"op": {"$ref": "#/$defs/O", "enum": ["read", "list", "delete"]}},
            "$defs": {"O": {"enum": ["read", "write", "delete"]}}})",
        {"read", "list", "write"});
    EXPECT_TRUE(accepts(left, R"({"op": "read"})")) << left;
    EXPECT_FALSE(accepts(left, R"({"op": "list"})")) << left;
    EXPECT_FALSE(accepts(left, R"({"op": "write"})")) << left;
}

TEST(OperationFilterJudged, OthersKeepTheDefinitionTheyShare) {
    for (
        const char* const schema :
        {R"({"properties": {"op": {"$ref": "#/$defs/O"}, "other": {"$ref": "#/$defs/O"}},
              "$defs": {"O": {"enum": ["read", "delete"]}}})",
         R"({"properties": {"op": {"enum": ["read", "delete"]},
                             "other": {"$ref": "#/properties/op"}}})",
         R"({"properties": {"op": {"anyOf": [{"const": "delete"}, {"enum": ["read", "delete"]}]},
                             "other": {"$ref": "#/properties/op/anyOf/1"}}})",
         R"({"$id": "https://a.example/tool", "properties": {
                  "op": {"$anchor": "o", "$ref": "#/$defs/O"}, "other": {"$ref": "#o"}},
              "$defs": {"O": {"enum": ["read", "delete"]}}})",
         R"({"$ref": "#/$defs/Call", "properties": {"other": {"$ref": "#/$defs/Call/properties/op"}},
              "$defs": {"Call": {"properties": {"op": {"enum": ["read", "delete"]}}}}})"}) {
        ASSERT_TRUE(accepts(schema, R"({"op": "delete", "other": "delete"})")) << schema;
        const std::string left = narrowed_to(schema, {"read"});
        EXPECT_TRUE(accepts(left, R"({"op": "read", "other": "delete"})")) << left;
        EXPECT_FALSE(accepts(left, R"({"op": "read", "other": "x"})")) << left;
        EXPECT_FALSE(accepts(left, R"({"op": "delete", "other": "read"})")) << left;
    }
}

TEST(OperationFilterJudged, EveryKeywordThatAppliesASchemaIsLookedInto) {
    for (const char* const schema :
         {R"({"patternProperties": {"^op$": {"enum": ["read", "delete"]}}})",
          R"({"required": ["op"], "properties": {"op": true}})",
          R"({"properties": {"op": {"type": "string"}},
              "dependentSchemas": {"op": {"properties": {"op": {"enum": ["read", "delete"]}}}}})",
          R"({"dependentSchemas": {"x": {"properties": {"op": {"const": "delete"}}}}})",
          R"({"if": {"properties": {"op": {"const": "delete"}}, "required": ["op"]},
              "then": {"title": "delete"}, "else": {"properties": {"op": {"const": "read"}}}})",
          R"({"if": {"properties": {"x": {"const": 1}}, "required": ["x"]},
              "then": {"properties": {"op": {"const": "delete"}}},
              "else": {"properties": {"op": {"enum": ["read", "delete"]}}}})",
          R"({"not": {"properties": {"op": {"enum": ["erase", "list"]}}, "required": ["op"]}})",
          R"({"properties": {"op": {"not": {"enum": ["erase"]}}}})",
          R"({"anyOf": [{"properties": {"op": {"const": "delete"}}},
                        {"properties": {"path": {"type": "string"}}}]})",
          R"({"anyOf": [{"properties": {"op": {"const": "delete"}}},
                        {"required": ["op"]}], "unevaluatedProperties": true})",
          R"({"properties": {"op": {"if": {"const": "delete"}, "then": true,
                                    "else": {"const": "read"}}}})",
          R"({"properties": {"op": {"anyOf": [{"const": "delete"}, {"type": "string"}]}}})",
          R"({"properties": {"op": {"allOf": [{"type": "string"}, {"minLength": 2}]}}})",
          R"({"properties": {"op": {"$ref": "#/$defs/S"}}, "$defs": {"S": {"type": "string"}}})"})
        leaves_read_alone(schema);
}

// If a schema accepts any name, other members keep it unchanged.
TEST(OperationFilterJudged, SchemasForOtherNamesStayForThem) {
    for (const char* const schema :
         {R"({"additionalProperties": {"enum": ["read", "delete"]}})",
          R"({"unevaluatedProperties": {"enum": ["read", "delete"]}})",
          R"({"patternProperties": {"^o": {"enum": ["read", "delete"]}}})",
          R"({"allOf": [{"properties": {"x": true}}],
              "unevaluatedProperties": {"$ref": "#w"}, "required": ["op"],
              "$defs": {"W": {"$anchor": "w", "enum": ["read", "delete"]}}})"}) {
        ASSERT_TRUE(accepts(schema, R"({"op": "delete", "other": "delete"})")) << schema;
        const std::string left = narrowed_to(schema, {"read"});
        EXPECT_TRUE(accepts(left, R"({"op": "read", "other": "delete"})")) << left;
        EXPECT_FALSE(accepts(left, R"({"op": "delete", "other": "read"})")) << left;
        EXPECT_FALSE(accepts(left, R"({"op": "read", "other": "x"})")) << left;
    }
}

TEST(OperationFilterJudged, ListsOfWordsAreNarrowedItemByItem) {
    for (const char* const schema :
         {R"({"properties": {"op": {"type": "array", "items": {"enum": ["read", "delete"]}}}})",
          R"({"properties": {"op": {"type": "array", "items": {"type": "string"}}}})",
          R"({"properties": {"op": {"type": "array"}}})",
          R"({"properties": {"op": {"type": "array", "prefixItems": [{"enum": ["read", "delete"]}],
                                    "items": {"enum": ["read", "delete"]}}}})",
          R"({"properties": {"op": {"type": "array", "prefixItems": [{"type": "string"}]}}})",
          R"({"properties": {"op": {"type": "array", "contains": {"enum": ["read", "delete"]}}}})",
          R"({"properties": {"op": {"type": "array", "contains": {"const": "delete"},
                                    "minContains": 0}}})",
          R"({"properties": {"op": {"type": ["array", "string"]}}})",
          R"({"properties": {"op": {"anyOf": [{"type": "string"},
                                    {"type": "array", "items": {"type": "string"}}]}}})"}) {
        const std::string left = narrowed_to(schema, {"read"});
        EXPECT_TRUE(accepts(left, R"({"op": ["read"]})")) << left;
        EXPECT_FALSE(accepts(left, R"({"op": ["delete"]})")) << left;
        EXPECT_FALSE(accepts(left, R"({"op": ["read", "delete"]})")) << left;
        EXPECT_FALSE(accepts(left, R"({"op": "delete"})")) << left;
        EXPECT_EQ(left.find("delete"), std::string::npos) << left;
    }
}

TEST(OperationFilterJudged, AnOpenMemberGetsTheAllowedWords) {
    const auto words_of = [](std::string_view member) {
        return filter_schema_enum(parsed(cat(R"({"properties": {"op": )", member, "}}")), "op",
                                  Words{"read", "list"});
    };
    const Value words = List{"read", "list"};
    for (const char* const member : {"true", "{}", R"({"type": ["string", "null"]})",
                                     R"({"title": "What"})", R"({"not": {"const": "delete"}})"}) {
        const Value left = words_of(member);
        const Value* const found = left.get("properties")->get("op")->get("enum");
        ASSERT_NE(found, nullptr) << member;
        EXPECT_EQ(*found, words) << member;
    }
}

TEST(OperationFilterJudged, AConditionThatCannotHoldAnyMoreStillForbids) {
    const std::string left = narrowed_to(
        R"({"properties": {"op": {"enum": ["read", "delete"]}},
            "if": {"required": ["force"]}, "then": {"properties": {"op": {"const": "delete"}}}})",
        {"read"});
    EXPECT_TRUE(accepts(left, R"({"op": "read"})")) << left;
    EXPECT_FALSE(accepts(left, R"({"op": "read", "force": true})")) << left;
}

TEST(OperationFilterJudged, DiscriminatorsLeadToTheRemainingBranches) {
    EXPECT_EQ(narrowed_to(R"({"oneOf": [{"$ref": "#/$defs/Read"}, {"$ref": "#/$defs/Delete"}],
                              "discriminator": {"propertyName": "op", "mapping": {
                                  "read": "#/$defs/Read", "delete": "#/$defs/Delete"}},
                              "$defs": {"Read": {"properties": {"op": {"const": "read"}}},
                                        "Delete": {"properties": {"op": {"const": "delete"}}}}})",
                          {"read"}),
              json::write(parsed(
                  R"({"oneOf": [{"$ref": "#/$defs/Read"}],
                      "discriminator": {"propertyName": "op", "mapping": {"read": "#/$defs/Read"}},
                      "$defs": {"Read": {"properties": {"op": {"const": "read"}}}}})")));
    // The mapping is by another member, and by the name of the definition.
    EXPECT_EQ(narrowed_to(R"({"oneOf": [{"$ref": "#/$defs/Read"}, {"$ref": "#/$defs/Delete"}],
                              "discriminator": {"propertyName": "kind", "mapping": {
                                  "a": "Read", "b": "#/$defs/Delete", "c": "Delete"}},
                              "$defs": {"Read": {"properties": {"op": {"const": "read"}}},
                                        "Delete": {"properties": {"op": {"const": "delete"}}}}})",
                          {"read"}),
              json::write(parsed(
                  R"({"oneOf": [{"$ref": "#/$defs/Read"}],
                      "discriminator": {"propertyName": "kind", "mapping": {"a": "Read"}},
                      "$defs": {"Read": {"properties": {"op": {"const": "read"}}}}})")));
    // One that looks at a member further in.
    const std::string left = narrowed_to(
        R"({"properties": {"op": {"$ref": "#/$defs/Delete"}, "next": {"discriminator": {
                "propertyName": "kind", "mapping": {"b": "#/$defs/Delete"}}}},
            "$defs": {"Delete": {"enum": ["read", "delete"]}}})",
        {"read"});
    EXPECT_EQ(left.find("Delete"), std::string::npos) << left;
}

TEST(OperationFilterJudged, ListsBesideAnEnumKeepItsStep) {
    for (const char* const beside : {"enumNames", "enumDescriptions", "markdownEnumDescriptions",
                                     "x-enum-varnames", "x-enumNames", "x-ms-ENUM"}) {
        const auto with = [&](const char* words, const char* names) {
            return json::write(parsed(cat(R"({"properties": {"op": {"enum": )", words, ", \"",
                                          beside, "\": ", names, "}}}")));
        };
        EXPECT_EQ(
            narrowed_to(with(R"(["a", "delete", "read"])", R"(["A", "D", "R"])"), {"a", "read"}),
            with(R"(["a", "read"])", R"(["A", "R"])"));
    }
}

TEST(OperationFilterJudged, DefinitionsThatNothingLeadsToAnyMoreGo) {
    EXPECT_EQ(narrowed_to(R"({"properties": {"op": {"$ref": "#a"}, "path": {"$ref": "#/$defs/P"}},
                              "definitions": {"A": {"$anchor": "a", "$ref": "#/definitions/B"},
                                              "B": {"enum": ["read", "delete"]}},
                              "$defs": {"P": {"type": "string"}, "Never": {"type": "null"}}})",
                          {"read"}),
              json::write(parsed(
                  R"({"properties": {"op": {"enum": ["read"]}, "path": {"$ref": "#/$defs/P"}},
                      "$defs": {"P": {"type": "string"}, "Never": {"type": "null"}}})")));
}

TEST(OperationFilterJudged, AnUndeclaredMemberLeavesTheSchemaAsItWas) {
    for (const char* const schema :
         {R"({"additionalProperties": false})", R"({"additionalProperties": {"type": "string"}})",
          R"({"patternProperties": {"^x": {"enum": ["delete"]}}})",
          R"({"properties": {"in": {"properties": {"op": {"enum": ["delete"]}}}}})",
          R"({"$ref": "#/$defs/A", "$defs": {"A": {"properties": {"enum": {"$ref": "#"}}}}})"})
        EXPECT_EQ(narrowed_to(schema, {"read"}), json::write(parsed(schema)));
}

// Each definition refers twice to the next: what that unfolds to is 2^40 values.
TEST(OperationFilterJudged, EndlessReferencesAreLeftOut) {
    Map definitions;
    for (int i = 0; i < 40; ++i) {
        const Value next = Map{{"$ref", cat("#/$defs/d", i + 1)}};
        definitions.set(cat("d", i), Map{{"allOf", List{next, next}}});
    }
    definitions.set("d40", Map{{"enum", List{"read", "delete"}}});
    const Value schema = Map{{"properties", Map{{"op", Map{{"$ref", "#/$defs/d0"}}}}},
                             {"$defs", std::move(definitions)}};
    const std::string left = json::write(filter_schema_enum(schema, "op", Words{"read"}));
    EXPECT_TRUE(accepts(left, R"({"op": "read"})"));
    EXPECT_FALSE(accepts(left, R"({"op": "delete"})"));
    EXPECT_LT(left.size(), 1'000U);

    Value deep = Map{{"const", "delete"}};
    for (int i = 0; i < 2'000; ++i) deep = Map{{"anyOf", List{std::move(deep)}}};
    const Value nested = Map{{"properties", Map{{"op", std::move(deep)}}}};
    EXPECT_EQ(json::write(filter_schema_enum(nested, "op", Words{"read"})).find("delete"),
              std::string::npos);
}

// --- random schemas ---

class SchemaMaker {
public:
    explicit SchemaMaker(unsigned seed) : random_(seed) {}

    std::size_t below(std::size_t limit) { return random_() % limit; }
    std::string word() {
        constexpr std::array<const char*, 4> kWords = {"list", "read", "write", "delete"};
        return kWords[below(4)];
    }

    Value schema() {
        definitions_ = Map();
        Value out = object(0);
        out.as_map().set("required", List{"op"});  // And so the member is declared, in any case.
        if (!definitions_.empty()) out.as_map().set("$defs", std::move(definitions_));
        return out;
    }

private:
    Value referred(Value target) {
        const std::size_t number = definitions_.size();
        const std::string name = cat("d/ ", number);
        std::string reference;
        switch (target.is_map() ? below(4) : 3) {
            case 0:
                target.as_map().set("$anchor", cat("a", number));
                reference = cat("#a", number);
                break;
            case 1:
                target.as_map().set("$id", cat("https://x.example/", number));
                reference = cat("https://x.example/", number);
                break;
            case 2:
                target.as_map().set("$dynamicAnchor", cat("y", number));
                definitions_.set(name, std::move(target));
                return Map{{"$dynamicRef", cat("#y", number)}};
            default:
                reference = cat("#/$defs/d~1%20", number);
        }
        definitions_.set(name, std::move(target));
        // Within a part with an $id the reference would mean something else.
        return Map{{"$ref", std::move(reference)}};
    }

    List some(int depth, Value (SchemaMaker::*make)(int)) {
        List out;
        for (std::size_t i = 0; i <= below(3); ++i) out.push_back((this->*make)(depth + 1));
        return out;
    }

    Value words(int depth) {
        switch (depth > 3 ? below(5) : below(13)) {
            case 0:
                return Map{{"const", word()}};
            case 1:
            case 2: {
                List all;
                for (std::size_t i = 0; i <= below(4); ++i) all.push_back(word());
                return Map{{"enum", std::move(all)}};
            }
            case 3:
                return below(3) == 0 ? Value(below(4) != 0) : Value(Map{{"type", "string"}});
            case 4:
                return Map{{"type", List{"string", "null"}}};
            case 5:
            case 6:
                return referred(words(depth + 1));
            case 7:
                return Map{{"not", words(depth + 1)}};
            case 8:
                return Map{{"if", words(depth + 1)},
                           {"then", words(depth + 1)},
                           {"else", words(depth + 1)}};
            case 9:
                return Map{{"allOf", some(depth, &SchemaMaker::words)}};
            case 10:
                return Map{{"enum", List{word(), word()}},
                           {"anyOf", some(depth, &SchemaMaker::words)}};
            case 11:
                return Map{{"oneOf", some(depth, &SchemaMaker::words)}};
            default:
                return Map{{"anyOf", some(depth, &SchemaMaker::words)}};
        }
    }

    Value object(int depth) {
        Map out;
        for (std::size_t i = 0; i <= below(depth == 0 ? 4 : 2); ++i) {
            switch (depth > 3 ? below(4) : below(14)) {
                case 0:
                case 1:
                    out.set("properties", Map{{"op", words(2)}, {"path", words(3)}});
                    break;
                case 2:
                    out.set("properties", Map{{"path", words(3)}});
                    break;
                case 3:
                    out.set("required", List{below(2) == 0 ? "op" : "path"});
                    break;
                case 4:
                    out.set("patternProperties", Map{{below(2) == 0 ? "^op$" : "p", words(2)}});
                    break;
                case 5:
                    out.set("additionalProperties", words(2));
                    break;
                case 6:
                    out.set("unevaluatedProperties", words(2));
                    break;
                case 7:
                    out.set("dependentSchemas",
                            Map{{below(2) == 0 ? "op" : "path", object(depth + 1)}});
                    break;
                case 8:
                    out.set("if", object(depth + 1));
                    out.set("then", object(depth + 1));
                    if (below(2) == 0) out.set("else", object(depth + 1));
                    break;
                case 9:
                    out.set("not", object(depth + 1));
                    break;
                case 10:
                    out.set("allOf", some(depth, &SchemaMaker::object));
                    break;
                case 11:
                    out.set("oneOf", some(depth, &SchemaMaker::object));
                    break;
                case 12:
                    out.set("anyOf", some(depth, &SchemaMaker::object));
                    break;
                default:
                    return referred(object(depth + 1));
            }
        }
        return out;
    }

    std::mt19937 random_;
    Map definitions_;
};

TEST(OperationFilterJudged, RandomSchemasAdmitExactlyTheAllowedWords) {
    constexpr unsigned kSeed = 20261123;
    SchemaMaker maker(kSeed);
    std::size_t judged = 0;
    std::size_t was_open = 0;
    for (int round = 0; round < 6000 / kRoundsShare; ++round) {
        const Value schema = maker.schema();
        const auto before = judge(schema);
        if (!before) continue;
        Words allowed;
        for (const char* const word : {"list", "read", "write", "delete"}) {
            if (maker.below(2) == 0) allowed.emplace_back(word);
        }
        const Value left = filter_schema_enum(schema, "op", allowed);
        const auto after = judge(left);
        ASSERT_TRUE(after) << json::write(schema) << "\n" << json::write(left);
        ++judged;
        for (const char* const word : {"list", "read", "write", "delete", "x"}) {
            const bool is_allowed =
                std::find(allowed.begin(), allowed.end(), word) != allowed.end();
            for (const char* const path : {"", "list", "delete", "x"}) {
                Map call{{"op", word}};
                if (*path != '\0') call.set("path", path);
                const bool fitted = before->check(call).has_value();
                const bool still = after->check(call).has_value();
                was_open += fitted && !is_allowed ? 1 : 0;
                ASSERT_FALSE(still && !is_allowed) << round << " " << json::write(call) << "\n"
                                                   << json::write(schema) << "\n"
                                                   << json::write(left);
                ASSERT_FALSE(fitted && is_allowed && !still)
                    << round << " " << json::write(call) << " "
                    << json::write(List(allowed.begin(), allowed.end())) << "\n"
                    << json::write(schema) << "\n"
                    << json::write(left);
            }
        }
    }
    EXPECT_GT(judged, 2000U / kRoundsShare);
    EXPECT_GT(was_open, 2000U / kRoundsShare);
}

}  // namespace
}  // namespace quire::json
