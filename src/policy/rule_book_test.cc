#include "policy/rule_book.h"

#include <gtest/gtest.h>

#include "policy/rules_for_test.h"

namespace quire::policy {
namespace {

using T = RuleType;

ToolRule at(std::size_t line, ToolRule of) {
    of.line = line;
    of.tool_line = line + 1;
    of.value_line = line + 2;
    return of;
}

std::string message(ToolRule of) {
    const auto book =
        RuleBook::compile(tools_for_test(), {.common = {at(10, std::move(of))}, .own = {}});
    if (book) return "accepted";
    EXPECT_EQ(book.error().reason(), "invalid_config");
    return book.error().message();
}

TEST(RuleBook, WhatIsNotThereStopsTheStartWithItsLine) {
    EXPECT_EQ(message(rule(T::needed, "fil")),
              "quire.toml:11: unknown tool 'fil', expected one of: *, file, context, shell, "
              "block_read, block_edit, search");
    EXPECT_EQ(message(rule(T::requires_preceding_tools, "file", {"fly"})).substr(0, 36),
              "quire.toml:12: unknown tool 'fly', e");
    EXPECT_EQ(message(rule(T::allowed_operations, "file", {"read", "fly"})),
              "quire.toml:12: the tool 'file' has no operation 'fly', expected: list, read, edit, "
              "save");
    EXPECT_EQ(message(rule(T::allowed_operations, "block_read", {"read"})),
              "quire.toml:12: the tool 'block_read' declares no operations; allowed_operations is "
              "for file, context and shell");
    EXPECT_EQ(message(groups("file", {{"search", "context"}})),
              "quire.toml:12: no group of exclusive_groups for the tool 'file' has it; put it into "
              "one, or write tool = \"*\"");
    EXPECT_EQ(message(rule(T::max_calls, "shell", 3)), "accepted");
}

TEST(RuleBook, AnAgentHasTheCommonRulesAndItsOwn) {
    const auto book = RuleBook::compile(
        tools_for_test(), {.common = {at(1, rule(T::max_calls, "file", 9))},
                           .own = {{"ada", {at(5, rule(T::max_calls, "file", 2))}}, {"bob", {}}}});

    ASSERT_TRUE(book);
    EXPECT_EQ(book->rules_for("ada")->rules().size(), 2U);
    EXPECT_EQ(book->rules_for("bob")->rules().size(), 1U);
    EXPECT_EQ(book->rules_for("eve"), book->rules_for("bob"));
    EXPECT_TRUE(book->check());
}

TEST(RuleBook, WhatCannotBeMetIsToldOnceAndForWhom) {
    const auto book = RuleBook::compile(
        tools_for_test(),
        {.common = {at(1, rule(T::exit_loop, "file")), at(5, rule(T::max_calls, "shell", 3))},
         .own = {{"ada", {at(9, rule(T::max_calls, "file", 0))}}}});

    ASSERT_TRUE(book);
    const auto wrong = book->check();
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().reason(), "invalid_config");
    EXPECT_EQ(wrong.error().message().substr(0, 60),
              "quire.toml:1: for agent:ada, the work can never end, for `fi");
    EXPECT_EQ(*wrong.error().details().find("line"), Value(1));
    std::size_t about_shell = 0;
    for (const BookFinding& each : book->findings())
        about_shell += each.finding.kind == RuleFinding::Kind::not_built ? 1 : 0;
    EXPECT_EQ(about_shell, 1U);
}

}  // namespace
}  // namespace quire::policy
