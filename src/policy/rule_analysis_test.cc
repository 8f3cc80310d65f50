#include "policy/rule_analysis.h"

#include <gtest/gtest.h>

#include "base/concat.h"
#include "policy/rules_for_test.h"

namespace quire::policy {
namespace {

using T = RuleType;

// "never_ends 1 2; …": each finding with the lines of its rules.
std::string found(std::vector<ToolRule> common, std::vector<ToolRule> own = {},
                  ToolCatalog catalog = tools_for_test()) {
    const auto rules = rule_set(std::move(common), std::move(own), std::move(catalog));
    std::string out;
    for (const RuleFinding& each : analyse(*rules)) {
        cat_to(out, cat(out.empty() ? "" : "; ", name_of(each.kind)));
        if (!each.tool.empty()) cat_to(out, cat(" ", each.tool));
        for (const std::string& tool : each.also) cat_to(out, cat("+", tool));
        std::vector<std::size_t> lines;
        for (const std::size_t rule : each.rules) lines.push_back(rules->rule(rule).line);
        std::sort(lines.begin(), lines.end());
        for (const std::size_t line : lines) cat_to(out, cat(" ", line));
    }
    return out;
}

TEST(RuleAnalysis, RulesThatCanBeMetHaveNoFindings) {
    EXPECT_EQ(found({}), "");
    EXPECT_EQ(found({rule(T::start_constraint, "context"), rule(T::exit_loop, "search"),
                     rule(T::required_before_exit, "block_edit"),
                     rule(T::requires_preceding_tools, "block_edit", {"block_read"}),
                     rule(T::requires_following_tools, "block_edit", {"block_read"}),
                     groups("*", {{"file", "shell"}}), rule(T::max_calls, "*", 2)}),
              "");
}

TEST(RuleAnalysis, AToolThatExcludesANeededOneIsADeadEnd) {
    EXPECT_EQ(found({rule(T::exit_loop, "search"), rule(T::required_before_exit, "block_edit"),
                     rule(T::requires_following_tools, "block_edit", {"block_read"}),
                     groups("*", {{"file", "block_read"}})}),
              "dead_end file 2 3 4");
}

TEST(RuleAnalysis, ALoopThatCanNeverEndIsAnErrorThatNamesItsRules) {
    EXPECT_EQ(found({rule(T::exit_loop, "search"), rule(T::max_calls, "search", 0)}),
              "never_ends 1 2");
    EXPECT_EQ(
        found({rule(T::exit_loop, "search"), rule(T::requires_preceding_tools, "search", {"file"}),
               rule(T::allowed_operations, "file", {"read"})},
              {rule(T::allowed_operations, "file", {"edit"})}),
        "never_ends 1 2 3 4");
    EXPECT_EQ(found({rule(T::exit_loop, "search"), rule(T::required_before_exit, "file"),
                     rule(T::required_before_exit, "context"), groups("*", {{"file", "context"}})}),
              "never_ends 2 3 4");
    EXPECT_EQ(
        found({rule(T::required_before_exit, "block_read"), rule(T::max_calls, "block_read", 0)}),
        "never_ends 1 2");
}

TEST(RuleAnalysis, TheMessageSaysWhyAndWhichRules) {
    const auto rules = rule_set({rule(T::exit_loop, "search"), rule(T::max_calls, "search", 0)});
    EXPECT_EQ(analyse(*rules).front().message,
              "the work can never end, because `search` must succeed but never can: `search` may "
              "not be called: exit_loop for `search` (quire.toml line 1); max_calls for `search` "
              "(quire.toml line 2)");
}

TEST(RuleAnalysis, OneCallIsNotEnoughBeforeAndAfter) {
    const std::vector<ToolRule> both = {rule(T::required_before_exit, "file"),
                                        rule(T::requires_preceding_tools, "file", {"context"}),
                                        rule(T::requires_following_tools, "file", {"context"})};
    EXPECT_EQ(found(both), "");
    std::vector<ToolRule> once = both;
    once.push_back(rule(T::max_calls, "context", 1));
    EXPECT_EQ(found(once), "never_ends 1 2 3 4");
}

TEST(RuleAnalysis, AnImpossibleBeginningIsAnError) {
    EXPECT_EQ(found({rule(T::start_constraint, "search"), rule(T::max_calls, "search", 0)}),
              "cannot_begin search 1 2");
}

TEST(RuleAnalysis, ABeginningThatWaitsForALaterToolIsACycle) {
    EXPECT_EQ(found({rule(T::start_constraint, "search"),
                     rule(T::requires_preceding_tools, "search", {"file"})}),
              "cycle file 1 2; cannot_begin search 1 2");
}

TEST(RuleAnalysis, ToolsThatWaitForEachOtherAreAnError) {
    EXPECT_TRUE(found({rule(T::requires_preceding_tools, "file", {"search"}),
                       rule(T::requires_preceding_tools, "search", {"file"})})
                    .starts_with("cycle file 1 2"));
    EXPECT_TRUE(
        found({rule(T::requires_preceding_tools, "file", {"file"})}).starts_with("cycle file 1"));
}

TEST(RuleAnalysis, AGroupThatExcludesARequiredToolIsAnError) {
    EXPECT_TRUE(found({rule(T::requires_preceding_tools, "file", {"search", "context"}),
                       groups("*", {{"search", "context"}})})
                    .starts_with("excluded file 1 2"));
    EXPECT_EQ(found({rule(T::requires_following_tools, "file", {"search"}),
                     groups("*", {{"search", "file"}})}),
              "dead_end file 1 2");
}

TEST(RuleAnalysis, ARuleAboutAToolThatIsForbiddenIsAWarning) {
    EXPECT_EQ(found({rule(T::max_calls, "search", 0), rule(T::cooldown, "search", 5),
                     rule(T::requires_preceding_tools, "file", {"search"})}),
              "never_called file 1 3; never_called search 1 2");
}

TEST(RuleAnalysis, OneToolCannotBothEndAndGoOn) {
    EXPECT_EQ(found({rule(T::exit_loop, "file")}, {rule(T::continue_loop, "file")}),
              "ends_and_continues file 1 2");
    EXPECT_EQ(found({rule(T::exit_loop, "*"), rule(T::continue_loop, "file")}), "");
}

TEST(RuleAnalysis, AnEndThatNeedsAnotherConversationIsAWarning) {
    ToolRule apart = groups("*", {{"search", "context"}});
    apart.per = Per::conversation;
    EXPECT_EQ(found({rule(T::required_before_exit, "search"),
                     rule(T::required_before_exit, "context"), apart}),
              "never_ends_alone 1 2 3");
}

TEST(RuleAnalysis, RulesWithoutEffectAreWarnings) {
    EXPECT_EQ(found({rule(T::max_calls, "file", 5), rule(T::max_calls, "file", 9)}),
              "without_effect file 2");
    EXPECT_EQ(found({rule(T::max_calls, "file", 5), rule(T::max_calls, "file", 9)},
                    {rule(T::max_calls, "*", 7)}),
              "without_effect file 2")
        << "for the other tools the agent's own does something";
    EXPECT_EQ(
        found({rule(T::max_calls, "file", 5, Per::persistent)}, {rule(T::max_calls, "file", 5)}),
        "without_effect file 2");
    EXPECT_EQ(found({rule(T::cooldown, "file", 5), rule(T::cooldown, "file", 9)}),
              "without_effect file 1");
    EXPECT_EQ(found({rule(T::needed, "file")}, {rule(T::needed, "file")}),
              "without_effect file 1 2");
    EXPECT_EQ(found({rule(T::allowed_operations, "context", {"append", "view"})}),
              "without_effect context 1");
    EXPECT_EQ(found({rule(T::allowed_operations, "file", {"list", "read"}),
                     rule(T::allowed_operations, "file", {"read"})}),
              "without_effect file 1 2");
    std::vector<ToolRule> named = {rule(T::requires_consent, "*")};
    const ToolCatalog catalog = tools_for_test();
    for (const KnownTool& tool : catalog.tools())
        named.push_back(rule(T::requires_consent, tool.name));
    EXPECT_EQ(found(named), "without_effect * 1; not_built shell 4");
}

TEST(RuleAnalysis, ARuleForAToolThatIsNotBuiltIsAWarning) {
    EXPECT_EQ(found({rule(T::max_calls, "shell", 20)}), "not_built shell 1");
}

// Tools that no agent can call although no rule forbids it: one for people, one of a later version,
// and one that keeps only operations of a later version.
TEST(RuleAnalysis, RulesThatDemandAMissingToolAreErrors) {
    ToolCatalog catalog({{"file", {"read", "stage"}}, {"search"}, {"shell", {"execute"}, false}});
    catalog.add({.name = "approvals", .for_people = true});
    catalog.add({.name = "file", .operations = {"edit", "read", "stage"}, .later = {"stage"}});
    const auto told = [&](std::vector<ToolRule> rules) {
        return found(std::move(rules), {}, catalog);
    };
    for (const char* const tool : {"approvals", "shell"}) {
        EXPECT_EQ(told({rule(T::start_constraint, tool)}), cat("cannot_begin ", tool, " 1"));
        EXPECT_EQ(told({rule(T::required_before_exit, tool)}), "never_ends 1");
        EXPECT_EQ(told({rule(T::exit_loop, tool)}), "never_ends 1");
        EXPECT_EQ(told({rule(T::requires_preceding_tools, "search", {tool})}),
                  cat("waits_in_vain ", tool, " 1"));
        EXPECT_EQ(told({rule(T::requires_preceding_tools, "*", {tool})}),
                  cat("waits_in_vain ", tool, " 1"));
        EXPECT_EQ(told({rule(T::requires_following_tools, "search", {tool})}), "dead_end search 1");
        EXPECT_EQ(told({rule(T::max_calls, tool, 3)}), cat("not_built ", tool, " 1"));
        EXPECT_EQ(told({rule(T::exit_loop, tool), rule(T::exit_loop, "search")}),
                  cat("not_built ", tool, " 1"));
    }
    EXPECT_EQ(told({rule(T::allowed_operations, "file", {"read", "stage"})}), "not_built file 1");
    EXPECT_EQ(told({rule(T::allowed_operations, "file", {"read"})}), "");
    const ToolRule stage = rule(T::allowed_operations, "file", {"stage"});
    EXPECT_EQ(told({stage}), "not_built file 1");
    EXPECT_EQ(told({stage, rule(T::start_constraint, "file")}), "cannot_begin file 1 2");
    EXPECT_EQ(told({stage, rule(T::exit_loop, "file")}), "never_ends 1 2");
    EXPECT_EQ(told({stage, rule(T::requires_preceding_tools, "search", {"file"})}),
              "waits_in_vain file 1 2");
    EXPECT_EQ(
        told({rule(T::allowed_operations, "file", {"read"}), rule(T::start_constraint, "file")}),
        "");
}

TEST(RuleAnalysis, AnImpossibleSecondLoopIsAWarning) {
    EXPECT_EQ(found({rule(T::start_constraint, "context"), rule(T::max_calls, "context", 1),
                     rule(T::exit_loop, "search")}),
              "one_loop 1 2 3");
    EXPECT_EQ(found({rule(T::exit_loop, "search"), rule(T::max_calls, "*", 1, Per::persistent)}),
              "one_loop 1 2");
    // Either of two ends will do.
    EXPECT_EQ(found({rule(T::exit_loop, "search"), rule(T::max_calls, "search", 1),
                     rule(T::exit_loop, "file")}),
              "");
    EXPECT_EQ(found({rule(T::start_constraint, "context"), rule(T::max_calls, "context", 2),
                     rule(T::exit_loop, "search")}),
              "");
    EXPECT_EQ(found({rule(T::start_constraint, "context"), rule(T::max_calls, "context", 1)}), "")
        << "the host ends the loop, and one session is one loop";
}

TEST(RuleAnalysis, OneMistakeIsReportedOnceForAllTools) {
    EXPECT_EQ(found({rule(T::start_constraint, "context"), rule(T::exit_loop, "context")}),
              "dead_end file+block_read+block_edit+search 1 2");
    const auto rules =
        rule_set({rule(T::start_constraint, "context"), rule(T::exit_loop, "context")});
    EXPECT_EQ(
        analyse(*rules).front().message,
        "once `file` has succeeded the work can never end, because there is no order in which "
        "`file`, `context` can succeed: start_constraint for `context` (quire.toml line 1); "
        "exit_loop for `context` (quire.toml line 2); the same is true of `block_read`, "
        "`block_edit`, `search`");
}

TEST(RuleAnalysis, ACommonRuleThatAnAgentsOwnNarrowsIsNotWithoutEffect) {
    EXPECT_EQ(found({rule(T::allowed_operations, "file", {"list", "read"})},
                    {rule(T::allowed_operations, "file", {"list"})}),
              "");
    EXPECT_EQ(found({rule(T::max_calls, "file", 9)}, {rule(T::max_calls, "file", 5)}), "");
    EXPECT_EQ(found({rule(T::allowed_operations, "file", {"list"})},
                    {rule(T::allowed_operations, "file", {"list", "read"})}),
              "without_effect file 1 2");
}

}  // namespace
}  // namespace quire::policy
