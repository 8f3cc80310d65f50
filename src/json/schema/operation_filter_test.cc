#include "json/schema/operation_filter.h"

#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "json/json.h"
#include "json/schema/member_words.h"
#include "json/schema/object_members.h"

namespace quire::json {
namespace {

std::string filtered(std::string_view schema, std::vector<std::string> allowed,
                     std::string_view field = "operation") {
    return json::write(filter_schema_enum(json::parse(schema).value(), field, allowed));
}
std::string same(std::string_view schema) {
    return json::write(json::parse(schema).value());
}

TEST(OperationFilter, AnEnumKeepsTheAllowedWords) {
    EXPECT_EQ(filtered(R"({"properties": {"operation": {"enum": ["list", "read", 5, "delete"]},
                                          "path": {"enum": ["delete"]}}})",
                       {"read", "list"}),
              same(R"({"properties": {"operation": {"enum": ["list", "read"]},
                                      "path": {"enum": ["delete"]}}})"));
}

TEST(OperationFilter, WithoutTheMemberTheSchemaIsAsItWas) {
    for (const char* const schema :
         {R"({"properties": {"path": {"type": "string"}}})", R"({"type": "object"})", "true", "{}",
          R"({"oneOf": [{"properties": {"op": {"const": "delete"}}}]})",
          R"({"properties": {"path": {"enum": ["delete"]}}, "examples": [{"path": "delete"}]})"}) {
        EXPECT_EQ(filtered(schema, {"read"}), same(schema));
    }
}

TEST(OperationFilter, ConstantsOfBranchesGoWithTheirBranch) {
    for (const char* const keyword : {"oneOf", "anyOf"}) {
        const std::string before = std::string(R"({"properties": {"operation": {")") + keyword +
                                   R"(": [{"const": "read", "title": "Read"}, {"const": "delete"},
                                          {"enum": ["list", "erase"]}, {"const": 7}]}}})";
        const std::string after =
            std::string(R"({"properties": {"operation": {")") + keyword +
            R"(": [{"const": "read", "title": "Read"}, {"enum": ["list"]}]}}})";
        EXPECT_EQ(filtered(before, {"read", "list"}), same(after));
    }
}

TEST(OperationFilter, AReferenceIsFollowedAndItsTargetGoesWhenNothingElseUsesIt) {
    EXPECT_EQ(filtered(R"({"properties": {"operation": {"$ref": "#/$defs/Op"}},
                           "$defs": {"Op": {"enum": ["read", "delete"]}}})",
                       {"read"}),
              same(R"({"properties": {"operation": {"enum": ["read"]}}})"));
    // Another member has it, too.
    EXPECT_EQ(filtered(R"({"properties": {"operation": {"$ref": "#/$defs/a~1b", "title": "What"},
                                          "other": {"$ref": "#/$defs/a~1b"}},
                           "$defs": {"a/b": {"enum": ["read", "delete"]}}})",
                       {"read"}),
              same(R"({"properties": {"operation": {"title": "What", "enum": ["read"]},
                                      "other": {"$ref": "#/$defs/a~1b"}},
                       "$defs": {"a/b": {"enum": ["read", "delete"]}}})"));
}

TEST(OperationFilter, AnObjectOfEachOperationGoesWhole) {
    EXPECT_EQ(filtered(R"({"type": "object",
                     "oneOf": [{"$ref": "#/$defs/Read"},
                               {"properties": {"operation": {"const": "delete"},
                                               "force": {"$ref": "#/$defs/Force"}}},
                               {"$ref": "#/$defs/Write"}],
                     "$defs": {"Read": {"properties": {"operation": {"const": "read"},
                                                       "path": {"$ref": "#/$defs/Path"}}},
                               "Write": {"properties": {"operation": {"const": "write"}}},
                               "Force": {"type": "boolean"},
                               "Path": {"type": "string"},
                               "Unused": {"type": "null"}}})",
                       {"read"}),
              same(R"({"type": "object",
                 "oneOf": [{"$ref": "#/$defs/Read"}],
                 "$defs": {"Read": {"properties": {"operation": {"const": "read"},
                                                   "path": {"$ref": "#/$defs/Path"}}},
                           "Path": {"type": "string"},
                           "Unused": {"type": "null"}}})"));
}

TEST(OperationFilter, ConditionsOnWordsThatAreGoneAskForNothing) {
    EXPECT_EQ(filtered(R"({"properties": {"operation": {"enum": ["read", "delete", "list"]}},
                     "allOf": [{"if": {"properties": {"operation": {"const": "delete"}}},
                                "then": {"required": ["reason"]}},
                               {"if": {"properties": {"operation": {"const": "read"}}},
                                "then": {"required": ["path"]}},
                               {"if": {"properties": {"operation": {"const": "delete"}}},
                                "then": {"required": ["reason"]},
                                "else": {"maxProperties": 3}}]})",
                       {"read", "list"}),
              same(R"({"properties": {"operation": {"enum": ["read", "list"]}},
                 "allOf": [{"if": {"properties": {"operation": {"const": "read"}}},
                            "then": {"required": ["path"]}},
                           {"maxProperties": 3}]})"));
}

TEST(OperationFilter, DefaultsExamplesAndDescriptionsOfOthersGo) {
    EXPECT_EQ(filtered(R"({"properties": {"operation": {"enum": ["read", "delete", "list"],
                                             "enumDescriptions": ["looks", "removes", "names"],
                                             "default": "delete",
                                             "examples": ["delete", "list"]}},
                           "default": {"operation": "delete"},
                           "examples": [{"operation": "delete", "path": "a"},
                                        {"operation": "read", "path": "a"}]})",
                       {"read", "list"}),
              same(R"({"properties": {"operation": {"enum": ["read", "list"],
                                         "enumDescriptions": ["looks", "names"],
                                         "examples": ["list"]}},
                       "examples": [{"operation": "read", "path": "a"}]})"));
    EXPECT_EQ(filtered(R"({"properties": {"operation": {"enum": ["read", "delete"],
                                             "default": "read", "examples": ["delete"]}},
                           "examples": [{"operation": "delete"}]})",
                       {"read"}),
              same(R"({"properties": {"operation": {"enum": ["read"], "default": "read"}}})"));
}

TEST(OperationFilter, AnArrayOfOperationsKeepsTheAllowedWords) {
    EXPECT_EQ(filtered(R"({"properties": {"ops": {"type": "array",
                                                  "items": {"enum": ["read", "delete"]},
                                                  "default": ["read", "delete"],
                                                  "examples": [["read"], ["read", "delete"]]}}})",
                       {"read"}, "ops"),
              same(R"({"properties": {"ops": {"type": "array", "items": {"enum": ["read"]},
                                              "examples": [["read"]]}}})"));
}

TEST(OperationFilter, AMemberThatTakesAnyStringIsGivenTheWords) {
    EXPECT_EQ(
        filtered(R"({"properties": {"operation": {"type": "string"}}})", {"list", "read"}),
        same(R"({"properties": {"operation": {"type": "string", "enum": ["list", "read"]}}})"));
}

TEST(OperationFilter, NoWordFitsIfNoneIsAllowed) {
    const std::string none = same(R"({"type": "object", "properties": {"operation": {"enum": []}},
                 "required": ["operation"]})");
    EXPECT_EQ(filtered(R"({"properties": {"operation": {"enum": ["delete"]}}})", {"read"}), none);
    EXPECT_EQ(filtered(R"({"oneOf": [{"properties": {"operation": {"const": "delete"}}}]})", {}),
              none);
}

TEST(OperationFilter, ReferencesInCirclesEnd) {
    const char* const circle = R"({"properties": {"operation": {"$ref": "#/$defs/a"}},
                                   "$defs": {"a": {"$ref": "#/$defs/b"},
                                             "b": {"anyOf": [{"$ref": "#/$defs/a"},
                                                             {"const": "delete"},
                                                             {"const": "read"}]}}})";
    EXPECT_EQ(filtered(circle, {"read"}),
              same(R"({"properties": {"operation": {"anyOf": [{"const": "read"}]}}})"));
    EXPECT_EQ(filtered(R"({"$ref": "#"})", {"read"}), same(R"({"$ref": "#"})"));
}

TEST(OperationFilter, MembersAreRemovedEverywhere) {
    const std::vector<std::string> names = {"force", "reason"};
    EXPECT_EQ(json::write(without_members(
                  json::parse(R"({"properties": {"force": {}, "path": {}, "reason": {}},
                                  "required": ["path", "force"],
                                  "dependentRequired": {"path": ["reason", "x"], "force": ["path"]},
                                  "examples": [{"path": "a"}, {"path": "a", "force": true}],
                                  "default": {"reason": "r"}})")
                      .value(),
                  names)),
              same(R"({"properties": {"path": {}}, "required": ["path"],
                       "dependentRequired": {"path": ["x"]}, "examples": [{"path": "a"}]})"));
    EXPECT_EQ(json::write(without_members(true, names)), "true");
}

// The words that a schema has for the member, wherever they stand.
void words_in(const Value& root, const Value& schema, int depth, std::vector<std::string>& out) {
    if (depth > 12) return;
    if (const Value* word = schema.get("const"); word != nullptr && word->is_string())
        out.push_back(word->as_string());
    for (const char* const keyword : {"enum", "oneOf", "anyOf"}) {
        const Value* const all = schema.get(keyword);
        if (all == nullptr) continue;
        for (const Value& each : all->as_list()) {
            if (each.is_string()) out.push_back(each.as_string());
            words_in(root, each, depth + 1, out);
        }
    }
    if (const Value* reference = schema.get("$ref")) {
        const std::string name = reference->as_string().substr(std::string("#/$defs/").size());
        words_in(root, *root.get("$defs")->get(name), depth + 1, out);
    }
}

// In every shape exactly the allowed ones of the former words are left.
TEST(OperationFilter, RandomSchemasKeepTheAllowedWords) {
    constexpr std::array<const char*, 6> kWords = {"list", "read", "write", "delete", "undo", "x"};
    std::mt19937 random(20261122);
    const auto pick = [&](std::size_t below) { return random() % below; };
    for (int round = 0; round < 2000; ++round) {
        Map definitions;
        const std::function<Value(int)> make = [&](int depth) -> Value {
            switch (depth > 3 ? pick(2) : pick(5)) {
                case 0:
                    return Map{{"const", kWords[pick(6)]}};
                case 1: {
                    List words;
                    for (std::size_t i = 0; i <= pick(4); ++i) words.push_back(kWords[pick(6)]);
                    return Map{{"enum", std::move(words)}};
                }
                case 2: {
                    const std::string name = "d" + std::to_string(definitions.size());
                    definitions.set(name, Value());
                    definitions.set(name, make(depth + 1));
                    return Map{{"$ref", "#/$defs/" + name}};
                }
                default: {
                    List parts;
                    for (std::size_t i = 0; i <= pick(3); ++i) parts.push_back(make(depth + 1));
                    return Map{{pick(2) == 0 ? "oneOf" : "anyOf", std::move(parts)}};
                }
            }
        };
        const Value member = make(0);
        const Value schema = Map{{"type", "object"},
                                 {"properties", Map{{"operation", member}, {"path", Map{}}}},
                                 {"$defs", definitions}};
        std::vector<std::string> allowed;
        for (const char* const word : kWords) {
            if (pick(2) == 0) allowed.emplace_back(word);
        }
        std::vector<std::string> expected;
        words_in(schema, member, 0, expected);
        std::erase_if(expected, [&](const std::string& word) {
            return std::find(allowed.begin(), allowed.end(), word) == allowed.end();
        });
        const Value left = filter_schema_enum(schema, "operation", allowed);
        std::vector<std::string> found;
        words_in(left, *left.get("properties")->get("operation"), 0, found);
        ASSERT_EQ(found, expected) << json::write(schema) << "\n" << json::write(left);
        ASSERT_EQ(filter_schema_enum(left, "operation", allowed), left);
    }
}

TEST(WordsOfMember, AreThoseThatItsSchemasList) {
    const auto words = [](std::string_view schema) {
        std::string out;
        for (const std::string& word : words_of_member(json::parse(schema).value(), "op"))
            out += word + " ";
        return out;
    };
    EXPECT_EQ(words(R"({"properties":{"op":{"enum":["a","b",7,"a"]}}})"), "a b ");
    EXPECT_EQ(
        words(R"({"oneOf":[{"properties":{"op":{"const":"a"}}},{"$ref":"#/$defs/o"}],)"
              R"("$defs":{"o":{"properties":{"op":{"anyOf":[{"const":"b"},{"enum":["c"]}]}}}}})"),
        "a b c ");
    EXPECT_EQ(
        words(
            R"({"properties":{"op":{"$ref":"#/$defs/w"}},"$defs":{"w":{"enum":["a"],"items":{"$ref":"#/$defs/w"}}}})"),
        "a ");
    EXPECT_EQ(words(R"({"properties":{"op":{"type":"string"},"other":{"enum":["a"]}}})"), "");
    EXPECT_EQ(words("true"), "");
}

}  // namespace
}  // namespace quire::json
