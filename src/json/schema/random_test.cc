// Random schemas and random values: no crash, the same verdict twice, and the laws by which a
// schema and what is built of it must agree.
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/share_for_test.h"
#include "json/json.h"
#include "json/schema/schema.h"

namespace quire::json {
namespace {

class SchemaDice {
public:
    explicit SchemaDice(std::uint64_t seed) : dice_(seed) {}

    std::size_t below(std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(0, limit - 1)(dice_);
    }

    // Schemas and values use few names, numbers and letters, so that they meet.
    Value value(std::size_t depth) {
        const std::size_t kinds = depth == 0 ? 6 : 9;
        switch (below(kinds)) {
            case 0:
                return nullptr;
            case 1:
                return below(2) == 0;
            case 2:
            case 3:
                return static_cast<std::int64_t>(below(5)) - 1;
            case 4:
                return static_cast<double>(below(10)) / 2;
            case 5:
                return text();
            case 6: {
                List list;
                for (std::size_t i = below(4); i > 0; --i) list.push_back(value(depth - 1));
                return list;
            }
            default: {
                Map map;
                for (std::size_t i = below(4); i > 0; --i) map.set(name(), value(depth - 1));
                return map;
            }
        }
    }

    Value schema(std::size_t depth) {
        if (below(12) == 0) return below(2) == 0;
        Map map;
        for (std::size_t i = 1 + below(3); i > 0; --i) add_keyword(map, depth);
        return map;
    }

private:
    std::string name() { return std::string(1, static_cast<char>('a' + below(4))); }
    std::string text() {
        constexpr std::string_view kTexts[] = {"", "a", "ab", "é", "{}", "[1]", "{\"a\":1.0}"};
        return std::string(kTexts[below(std::size(kTexts))]);
    }
    Value number() { return below(2) == 0 ? Value(below(4)) : Value(0.5 + double(below(3))); }
    Value list_of_schemas(std::size_t depth) {
        List list;
        for (std::size_t i = 1 + below(3); i > 0; --i) list.push_back(schema(depth));
        return list;
    }
    Value named_schemas(std::size_t depth) {
        Map map;
        for (std::size_t i = 1 + below(3); i > 0; --i) map.set(name(), schema(depth));
        return map;
    }
    Value names() {
        List list;
        const std::size_t from = below(3);
        for (std::size_t i = from; i <= from + below(2); ++i) {
            list.emplace_back(std::string(1, static_cast<char>('a' + i)));
        }
        return list;
    }

    void add_keyword(Map& map, std::size_t depth) {
        constexpr std::string_view kTypes[] = {"null",   "boolean", "integer", "number",
                                               "string", "array",   "object"};
        constexpr std::string_view kCounts[] = {"minLength",     "maxLength",    "minItems",
                                                "maxItems",      "minContains",  "maxContains",
                                                "minProperties", "maxProperties"};
        constexpr std::string_view kBounds[] = {"minimum", "maximum", "exclusiveMinimum",
                                                "exclusiveMaximum"};
        constexpr std::string_view kInner[] = {"not",
                                               "if",
                                               "then",
                                               "else",
                                               "items",
                                               "contains",
                                               "additionalProperties",
                                               "propertyNames",
                                               "unevaluatedItems",
                                               "unevaluatedProperties"};
        constexpr std::string_view kLists[] = {"allOf", "anyOf", "oneOf", "prefixItems"};
        constexpr std::string_view kNamed[] = {"properties", "patternProperties",
                                               "dependentSchemas"};
        switch (below(depth == 0 ? 7 : 14)) {
            case 0:
                map.set("type", kTypes[below(std::size(kTypes))]);
                return;
            case 1:
                map.set("type", List{kTypes[below(7)], kTypes[below(7)]});
                return;
            case 2:
                map.set(kCounts[below(std::size(kCounts))], below(4));
                return;
            case 3:
                map.set(kBounds[below(std::size(kBounds))], number());
                return;
            case 4:
                if (below(2) == 0) map.set("const", value(1));
                if (below(2) == 0) map.set("enum", List{value(1), value(1)});
                return;
            case 5:
                map.set("required", names());
                if (below(3) == 0) map.set("dependentRequired", Map{{name(), names()}});
                return;
            case 6:
                map.set("uniqueItems", true);
                map.set("multipleOf", below(2) == 0 ? Value(0.5) : Value(2));
                map.set("pattern", name());
                return;
            case 7:
                map.set("$ref", cat("#/$defs/d", below(3)));
                return;
            case 8:
                map.set("$dynamicRef", "#node");
                return;
            case 9:
                map.set(kLists[below(std::size(kLists))], list_of_schemas(depth - 1));
                return;
            case 10:
            case 11:
                map.set(kNamed[below(std::size(kNamed))], named_schemas(depth - 1));
                return;
            default:
                map.set(kInner[below(std::size(kInner))], schema(depth - 1));
                return;
        }
    }

    std::mt19937_64 dice_;
};

const SchemaOptions kLetters = {.patterns = [](std::string_view pattern) -> Result<PatternTest> {
    return [pattern = std::string(pattern)](std::string_view text) {
        return text.find(pattern) != std::string_view::npos;
    };
}};

enum class Verdict { yes, no, none };

Verdict verdict(const Result<void>& checked) {
    if (checked) return Verdict::yes;
    return checked.error().reason() == "invalid_arguments" ? Verdict::no : Verdict::none;
}

// Schemas that must give the same verdict as `body`, each with the definitions it refers to.
std::vector<Value> equals_of(const Value& body, const Map& definitions) {
    std::vector<Value> equals;
    const auto add = [&](Map schema) {
        schema.set("$defs", definitions);
        equals.emplace_back(std::move(schema));
    };
    add({{"allOf", List{body}}});
    add({{"allOf", List{body, body}}});
    add({{"anyOf", List{false, body}}});
    add({{"oneOf", List{body, false}}});
    add({{"not", Map{{"not", body}}}});
    add({{"if", body}, {"then", true}, {"else", false}});
    add({{"$ref", "#/$defs/body"}});
    add({{"allOf", List{body}}, {"unevaluatedProperties", true}, {"unevaluatedItems", true}});
    add({{"allOf", List{body}},
         {"additionalProperties", true},
         {"items", true},
         {"unevaluatedProperties", false},
         {"unevaluatedItems", false}});
    return equals;
}

TEST(RandomSchema, AgreesWithEqualSchemas) {
    const char* given = std::getenv("SEED");
    const std::uint64_t first = given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
    const std::uint64_t last = given != nullptr ? first : 3000 / kRoundsShare;
    std::size_t yes = 0;
    std::size_t no = 0;
    for (std::uint64_t seed = first; seed <= last; ++seed) {
        SchemaDice dice(seed);
        const Value body = dice.schema(3);
        Map definitions{{"body", body}, {"d0", dice.schema(2)}, {"d1", dice.schema(2)}};
        Map anchored{{"$dynamicAnchor", "node"}};
        const Value rest = dice.schema(2);
        anchored.set("allOf", List{rest});
        definitions.set("d2", std::move(anchored));

        const auto root =
            Schema::compile(Map{{"allOf", List{body}}, {"$defs", definitions}}, kLetters);
        if (!root) {  // A reference that leads back to itself.
            ASSERT_EQ(root.error().reason(), "invalid_schema") << "SEED=" << seed;
            continue;
        }
        std::vector<Schema> equals;
        for (const Value& equal : equals_of(body, definitions)) {
            auto schema = Schema::compile(equal, kLetters);
            ASSERT_TRUE(schema) << "SEED=" << seed << ": " << schema.error().message() << " in "
                                << write(equal);
            equals.push_back(std::move(*schema));
        }
        for (int i = 0; i < 12; ++i) {
            const Value value = dice.value(3);
            const auto checked = root->check(value);
            const auto again = root->check(value);
            ASSERT_EQ(checked.has_value(), again.has_value()) << "SEED=" << seed;
            if (!checked) {
                ASSERT_EQ(checked.error().message(), again.error().message()) << "SEED=" << seed;
                ASSERT_NE(checked.error().message(), "") << "SEED=" << seed;
            }
            const Verdict right = verdict(checked);
            yes += right == Verdict::yes ? 1U : 0U;
            no += right == Verdict::no ? 1U : 0U;
            for (std::size_t j = 0; j < equals.size(); ++j) {
                const Verdict other = verdict(equals[j].check(value));
                if (right == Verdict::none || other == Verdict::none) continue;
                ASSERT_EQ(other, right) << "SEED=" << seed << ", form " << j << ": " << write(value)
                                        << " in " << write(body) << " with " << write(definitions);
            }
            const auto accepted = root->accept(value);
            ASSERT_TRUE(accepted || right != Verdict::yes) << "SEED=" << seed;
            ASSERT_TRUE(!accepted || root->check(*accepted)) << "SEED=" << seed;
        }
    }
    if (given == nullptr) {
        EXPECT_GT(yes, 5000U / kRoundsShare);
        EXPECT_GT(no, 5000U / kRoundsShare);
    }
}

}  // namespace
}  // namespace quire::json
