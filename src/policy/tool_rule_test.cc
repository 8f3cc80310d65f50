#include "policy/tool_rule.h"

#include <gtest/gtest.h>

#include "policy/rules_for_test.h"

namespace quire::policy {
namespace {

std::string within(ToolRule of, Per per) {
    of.per = per;
    return in_words(of);
}

TEST(ToolRule, EveryTypeHasItsSentence) {
    using Type = RuleType;
    EXPECT_EQ(in_words(rule(Type::allowed_operations, "file", {"read", "list"})),
              "Available operations for `file`: list, read.");
    EXPECT_EQ(in_words(rule(Type::max_calls, "*", 20)),
              "Call any one tool at most 20 times per session.");
    EXPECT_EQ(in_words(rule(Type::max_calls, "file", 0)), "Do not call `file`.");
    EXPECT_EQ(in_words(rule(Type::cooldown, "file", 500)),
              "Wait at least 500 ms between two calls of `file`.");
    EXPECT_EQ(in_words(rule(Type::requires_preceding_tools, "file", {"context", "search"})),
              "Before `file`, these must have succeeded: `context`, `search`.");
    EXPECT_EQ(in_words(rule(Type::requires_preceding_tools, "*", {"context"})),
              "Before any other tool, these must have succeeded: `context`.");
    EXPECT_EQ(in_words(rule(Type::requires_following_tools, "file", {"search"})),
              "After `file` has succeeded, call these before you end: `search`.");
    EXPECT_EQ(in_words(groups("file", {{"file", "search"}, {"context", "search"}})),
              "Call at most one tool of each of these groups per session: [`file`, `search`], "
              "[`context`, `search`].");
    EXPECT_EQ(in_words(rule(Type::start_constraint, "file")),
              "Begin with `file`: until it has succeeded, no other tool may be called.");
    EXPECT_EQ(in_words(rule(Type::required_before_exit, "file")), "Call `file` before you end.");
    EXPECT_EQ(in_words(rule(Type::required_before_exit_if, "file", {"search"})),
              "Call `file` before you end if any of these has succeeded: `search`.");
    EXPECT_EQ(in_words(rule(Type::continue_loop, "file")), "Continue your work after `file`.");
    EXPECT_EQ(in_words(rule(Type::exit_loop, "file")), "Your work ends once `file` has succeeded.");
    EXPECT_EQ(in_words(rule(Type::periodic, "file", 100)),
              "Call `file` every 100 ms while you work.");
    EXPECT_EQ(in_words(rule(Type::needed, "file")), "You will need `file` for this work.");
    ToolRule consent = rule(Type::requires_consent, "file");
    EXPECT_EQ(in_words(consent), "A person must agree before `file` is called.");
    consent.scope = "src";
    EXPECT_EQ(in_words(consent), "A person must agree before `file` is called (scope: src).");
}

TEST(ToolRule, TheSentenceNamesThePeriodOfACount) {
    const ToolRule calls = rule(RuleType::max_calls, "file", 1);
    EXPECT_EQ(within(calls, Per::conversation), "Call `file` at most 1 time per conversation.");
    EXPECT_EQ(within(calls, Per::persistent), "Call `file` at most 1 time ever.");
    EXPECT_EQ(within(rule(RuleType::cooldown, "file", 5), Per::conversation),
              "Wait at least 5 ms between two calls of `file` per conversation.");
}

TEST(ToolRule, NamesReadBackAndOtherWordsDoNot) {
    for (const RuleType type : kEvery<RuleType>)
        EXPECT_EQ(enum_named<RuleType>(name_of(type)), type);
    EXPECT_EQ(enum_named<RuleType>("often"), std::nullopt);
}

TEST(ToolRule, EqualDemandsHaveEqualKeysOnAnyLine) {
    ToolRule first = rule(RuleType::requires_preceding_tools, "file", {"search", "context"});
    ToolRule second = rule(RuleType::requires_preceding_tools, "file", {"context", "search"});
    first.line = 3, second.line = 9, second.priority = 20;
    EXPECT_EQ(demand_of(first), demand_of(second));
    second.tools.pop_back();
    EXPECT_NE(demand_of(first), demand_of(second));
}

}  // namespace
}  // namespace quire::policy
