#include "cli/rule_words.h"

#include <gtest/gtest.h>

#include "base/cat.h"

namespace quire::cli {
namespace {

// The sentence for the rule that these lines of settings make.
std::string said(std::string_view lines) {
    const Result<Settings> settings = parse_config(cat("[[tools.rules]]\n", lines));
    return settings ? in_words(settings->tool_rules.front()) : settings.error().message();
}

TEST(RuleWords, EveryRuleHasItsSentence) {
    EXPECT_EQ(said(R"(tool = "file"
                      type = "allowed_operations"
                      value = ["list", "read"])"),
              "Of `file` use these operations alone: list, read.");
    EXPECT_EQ(said("tool = '*'\ntype = 'max_calls'\nvalue = 20"),
              "Call any tool at most 20 times in a session.");
    EXPECT_EQ(said("tool = 'file'\ntype = 'cooldown'\nvalue = 500"),
              "Wait at least 500 ms between two calls of `file`.");
    EXPECT_EQ(said("tool = 'file'\ntype = 'requires_preceding_tools'\nvalue = ['context']"),
              "Call `file` only after: context.");
    EXPECT_EQ(said("tool = 'file'\ntype = 'requires_following_tools'\n"
                   "conditions = ['context', 'shell']"),
              "Once you have called `file`, call: context, shell.");
    EXPECT_EQ(said("tool = 'file'\ntype = 'exclusive_groups'\n"
                   "value = [['file', 'shell'], ['context']]"),
              "With `file`, call one tool alone of each group: [file, shell], [context].");
    EXPECT_EQ(said("tool = 'file'\ntype = 'start_constraint'"), "Call `file` before all others.");
    EXPECT_EQ(said("tool = 'file'\ntype = 'required_before_exit'"), "Call `file` before you end.");
    EXPECT_EQ(said("tool = 'file'\ntype = 'required_before_exit_if'\nconditions = ['shell']"),
              "Call `file` before you end if you have called: shell.");
    EXPECT_EQ(said("tool = 'file'\ntype = 'continue_loop'"), "Go on after you have called `file`.");
    EXPECT_EQ(said("tool = 'file'\ntype = 'exit_loop'"), "Calling `file` ends your work.");
    EXPECT_EQ(said("tool = 'file'\ntype = 'periodic'\nvalue = 100"),
              "Call `file` every 100 ms while you work.");
    EXPECT_EQ(said("tool = 'file'\ntype = 'requires_consent'\nvalue = 'src'"),
              "A person must consent before you call `file` (scope: src).");
    EXPECT_EQ(said("tool = 'file'\ntype = 'requires_consent'"),
              "A person must consent before you call `file`.");
    EXPECT_EQ(said("tool = 'file'\ntype = 'needed'"), "You will need `file`.");
}

}  // namespace
}  // namespace quire::cli
