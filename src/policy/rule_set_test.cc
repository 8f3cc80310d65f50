#include "policy/rule_set.h"

#include <gtest/gtest.h>

#include "policy/rules_for_test.h"

namespace quire::policy {
namespace {

using Words = std::vector<std::string>;

TEST(RuleSet, HasOneSentenceForEachRuleByPriorityThenLevelThenFile) {
    ToolRule early = rule(RuleType::needed, "search");
    early.priority = 50;
    const auto rules =
        rule_set({rule(RuleType::needed, "file"), rule(RuleType::max_calls, "file", 2)},
                 {rule(RuleType::max_calls, "file", 1), early});

    EXPECT_EQ(
        rules->sentences(),
        (Words{"You will need `search` for this work.", "Call `file` at most 2 times per session.",
               "Call `file` at most 1 time per session.", "You will need `file` for this work."}));
}

TEST(RuleSet, AllowedOperationsIntersectAndAreSorted) {
    const auto rules =
        rule_set({rule(RuleType::allowed_operations, "file", {"save", "read", "list"})},
                 {rule(RuleType::allowed_operations, "file", {"edit", "save", "list"})});

    EXPECT_EQ(rules->allowed_operations("file"), (Words{"list", "save"}));
    EXPECT_TRUE(rules->is_listed("file"));
    EXPECT_EQ(rules->allowed_operations("context"), std::nullopt);
    EXPECT_EQ(rules->allowed_operations("block_read"), std::nullopt);
}

TEST(RuleSet, AToolWithoutAllowedOperationsIsNotListed) {
    const auto rules = rule_set({rule(RuleType::allowed_operations, "file", {"read"}),
                                 rule(RuleType::allowed_operations, "file", {"edit"})});

    EXPECT_EQ(rules->allowed_operations("file"), Words{});
    EXPECT_FALSE(rules->is_listed("file"));
    EXPECT_TRUE(rules->is_listed("context"));
}

TEST(RuleSet, ARuleThatNamesTheToolReplacesTheOneForAllWithinItsLevel) {
    const auto rules =
        rule_set({rule(RuleType::max_calls, "*", 1), rule(RuleType::max_calls, "file", 9),
                  rule(RuleType::cooldown, "*", 5)},
                 {rule(RuleType::max_calls, "*", 3)});
    const auto file = *rules->catalog().index_of("file");
    const auto search = *rules->catalog().index_of("search");
    std::vector<std::size_t> about_file;
    std::vector<std::size_t> about_search;
    for (std::size_t i = 0; i < rules->rules().size(); ++i) {
        if (rules->applies(i, file)) about_file.push_back(rules->rule(i).line);
        if (rules->applies(i, search)) about_search.push_back(rules->rule(i).line);
    }

    EXPECT_EQ(about_file, (std::vector<std::size_t>{2, 4, 3}));
    EXPECT_EQ(about_search, (std::vector<std::size_t>{1, 4, 3}));
}

TEST(RuleSet, ExitAndContinueRulesReplaceEachOther) {
    const auto rules =
        rule_set({rule(RuleType::exit_loop, "*"), rule(RuleType::continue_loop, "file")});
    const auto file = *rules->catalog().index_of("file");
    const auto search = *rules->catalog().index_of("search");

    EXPECT_FALSE(rules->ends_loop(file));
    EXPECT_TRUE(rules->continues_loop(file));
    EXPECT_TRUE(rules->ends_loop(search));
}

}  // namespace
}  // namespace quire::policy
