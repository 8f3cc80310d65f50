#include "policy/rule_automaton.h"

#include <chrono>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "json/json.h"
#include "policy/rules_for_test.h"

namespace quire::policy {
namespace {

class Agent {
public:
    explicit Agent(std::vector<ToolRule> common, std::vector<ToolRule> own = {},
                   ToolCatalog catalog = tools_for_test())
        : ledger_(rule_set(std::move(common), std::move(own), std::move(catalog)), clock_),
          automaton_(ledger_) {}

    // The reason of a refusal; "" where the call was admitted, and then it succeeds or fails.
    std::string call(std::string_view tool, bool success = true) {
        return call(ToolCall{.tool = tool}, success);
    }
    std::string call(const ToolCall& what, bool success = true) {
        Admission admission = automaton_.admit(what);
        if (!admission.ticket) {
            error_ = admission.decision.error;
            return error_->reason();
        }
        step_ = automaton_.finish(std::move(*admission.ticket), success);
        return "";
    }
    std::string message() const { return error_->message(); }
    std::string details() const { return json::write(error_->details()); }
    Errc code() const { return error_->code(); }
    LoopStep step() const { return step_; }
    RuleAutomaton& automaton() { return automaton_; }
    RuleLedger& ledger() { return ledger_; }
    ManualClock& clock() { return clock_; }

private:
    ManualClock clock_;
    RuleLedger ledger_;
    RuleAutomaton automaton_;
    std::optional<Error> error_;
    LoopStep step_ = LoopStep::none;
};

TEST(RuleAutomaton, WithoutRulesEveryKnownToolIsAdmitted) {
    Agent agent({});
    EXPECT_EQ(agent.call("file"), "");
    EXPECT_EQ(agent.call("fly"), "unknown_tool");
}

TEST(RuleAutomaton, AnOperationThatIsNotAllowedIsRefusedInTheWordsOfTheContract) {
    Agent agent({rule(RuleType::allowed_operations, "file", {"read", "list"})});

    EXPECT_EQ(agent.call({.tool = "file", .operation = "edit"}), "operation_not_allowed");
    EXPECT_EQ(agent.code(), Errc::denied);
    EXPECT_EQ(agent.message(),
              "Operation 'edit' not allowed for tool 'file'. Allowed operations: list, read");
    EXPECT_EQ(agent.details(),
              R"({"tool":"file","operation":"edit","rule":{"type":"allowed_operations",)"
              R"("tool":"file","line":1},"allowed":["list","read"]})");
    EXPECT_EQ(agent.call({.tool = "file", .operation = "read"}), "");
    EXPECT_EQ(agent.call({.tool = "file"}), "operation_not_allowed");
}

TEST(RuleAutomaton, TheNextCallIsNeverAToolThatAgentsLack) {
    ToolCatalog catalog = tools_for_test();
    catalog.add({.name = "file", .operations = {"read", "stage"}, .later = {"stage"}});
    Agent agent({rule(RuleType::requires_preceding_tools, "search", {"file"}),
                 rule(RuleType::requires_preceding_tools, "block_edit", {"shell"}),
                 rule(RuleType::requires_preceding_tools, "block_read", {"file", "context"}),
                 rule(RuleType::allowed_operations, "file", {"stage"})},
                {}, catalog);

    for (const char* const tool : {"search", "block_edit"}) {
        EXPECT_EQ(agent.call(tool), "prerequisites_not_met");
        EXPECT_EQ(agent.details().find("next"), std::string::npos);
        EXPECT_TRUE(
            agent.message().ends_with("None of these may be called now. Go on without it."));
    }
    EXPECT_EQ(agent.call("block_read"), "prerequisites_not_met");
    EXPECT_TRUE(agent.message().ends_with("Call `context` next."));
    // The contract's words, which list what the rule says.
    EXPECT_EQ(agent.call({.tool = "file", .operation = "read"}), "operation_not_allowed");
    EXPECT_EQ(agent.message(),
              "Operation 'read' not allowed for tool 'file'. Allowed operations: stage");
}

TEST(RuleAutomaton, WhatWasCountedStaysWhenTheRulesChange) {
    Agent agent({rule(RuleType::max_calls, "file", 1)});
    ASSERT_EQ(agent.call("file"), "");
    ASSERT_EQ(agent.call("file"), "max_calls_exceeded");
    ToolCatalog longer = tools_for_test();
    longer.add({.name = "added"});

    agent.ledger().adopt(rule_set({rule(RuleType::max_calls, "file", 2),
                                   rule(RuleType::requires_preceding_tools, "added", {"file"})},
                                  {}, std::move(longer)));
    agent.automaton().follow_ledger();

    EXPECT_EQ(agent.call("added"), "");
    EXPECT_EQ(agent.call("file"), "");
    EXPECT_EQ(agent.call("file"), "max_calls_exceeded");
}

TEST(RuleAutomaton, ACallUnderWayWhileTheRulesChangeIsFinished) {
    Agent agent({});
    Admission running = agent.automaton().admit({.tool = "file"});

    agent.ledger().adopt(rule_set({rule(RuleType::requires_preceding_tools, "search", {"file"})},
                                  {}, tools_for_test()));
    agent.automaton().follow_ledger();

    EXPECT_EQ(agent.call("search"), "prerequisites_not_met");
    agent.automaton().finish(std::move(*running.ticket), true);
    EXPECT_EQ(agent.call("search"), "");
}

TEST(RuleAutomaton, AllCallsCountForALimitButNotRefusedOnes) {
    Agent agent({rule(RuleType::max_calls, "file", 2), rule(RuleType::cooldown, "file", 10)});

    EXPECT_EQ(agent.call("file", false), "");
    EXPECT_EQ(agent.call("file"), "cooldown_active");
    agent.clock().advance(10);
    EXPECT_EQ(agent.call("file"), "");
    agent.clock().advance(10);
    EXPECT_EQ(agent.call("file"), "max_calls_exceeded");
    EXPECT_EQ(agent.message(),
              "`file` was called 2 times in this session; 2 are allowed (rule max_calls for `file` "
              "(quire.toml line 1)). Go on without it.");
}

TEST(RuleAutomaton, ACooldownRunsBetweenStartsAndSaysHowLong) {
    Agent agent({rule(RuleType::cooldown, "file", 500)});
    Admission running = agent.automaton().admit({.tool = "file"});
    agent.clock().advance(499);

    EXPECT_EQ(agent.call("file"), "cooldown_active");
    EXPECT_EQ(agent.code(), Errc::unavailable);
    EXPECT_NE(agent.details().find("\"retry_after_ms\":1}"), std::string::npos) << agent.details();
    agent.clock().advance(1);
    EXPECT_EQ(agent.call("file"), "");
}

TEST(RuleAutomaton, OnlySuccessSatisfiesAPrerequisite) {
    Agent agent({rule(RuleType::requires_preceding_tools, "file", {"search", "context"})});

    EXPECT_EQ(agent.call("search", false), "");
    EXPECT_EQ(agent.call("context"), "");
    EXPECT_EQ(agent.call("file"), "prerequisites_not_met");
    EXPECT_EQ(agent.message(),
              "`file` may be called only after these have succeeded: `search` (rule "
              "requires_preceding_tools for `file` (quire.toml line 1)). Call `search` next.");
    EXPECT_EQ(agent.call("search"), "");
    EXPECT_EQ(agent.call("file"), "");
}

TEST(RuleAutomaton, TheNextCallWorksEvenAfterALongChain) {
    Agent agent({rule(RuleType::requires_preceding_tools, "file", {"search"}),
                 rule(RuleType::requires_preceding_tools, "search", {"context"})});

    EXPECT_EQ(agent.call("file"), "prerequisites_not_met");
    EXPECT_NE(agent.message().find("Call `context` next."), std::string::npos) << agent.message();
}

TEST(RuleAutomaton, ARunningCallCountsAsCalledAndNotAsDone) {
    Agent agent({rule(RuleType::max_calls, "search", 1),
                 rule(RuleType::requires_preceding_tools, "file", {"search"}),
                 groups("*", {{"search", "context"}})});
    Admission running = agent.automaton().admit({.tool = "search"});

    EXPECT_EQ(agent.call("search"), "max_calls_exceeded");
    EXPECT_EQ(agent.call("context"), "exclusive_group_violation");
    EXPECT_EQ(agent.call("file"), "prerequisites_not_met");
    agent.automaton().finish(std::move(*running.ticket), true);
    EXPECT_EQ(agent.call("file"), "");
}

TEST(RuleAutomaton, OneToolOfAGroupMayBeCalledAgain) {
    Agent agent({groups("file", {{"file", "search"}})});

    EXPECT_EQ(agent.call("search"), "");
    EXPECT_EQ(agent.call("file"), "exclusive_group_violation");
    EXPECT_EQ(agent.call("search"), "");
    EXPECT_EQ(agent.call("context"), "");
}

TEST(RuleAutomaton, TheWorkBeginsWithAStartTool) {
    Agent agent({rule(RuleType::start_constraint, "context"),
                 rule(RuleType::start_constraint, "search"), rule(RuleType::exit_loop, "file")});

    EXPECT_EQ(agent.call("file"), "start_constraints_not_met");
    EXPECT_EQ(agent.call("search"), "");
    EXPECT_EQ(agent.call("context", false), "");
    EXPECT_EQ(agent.call("file"), "start_constraints_not_met");
    EXPECT_EQ(agent.message(),
              "`file` must wait: the work begins with `context` (rule start_constraint for "
              "`context` (quire.toml line 1)). Call `context` next.");
    EXPECT_EQ(agent.call("context"), "");
    EXPECT_EQ(agent.call("file"), "");
    EXPECT_EQ(agent.step(), LoopStep::ended);
    EXPECT_EQ(agent.call("block_read"), "start_constraints_not_met") << "the next loop";
}

TEST(RuleAutomaton, TheEndWaitsForOutstandingTools) {
    Agent agent({rule(RuleType::exit_loop, "block_read"),
                 rule(RuleType::required_before_exit, "search"),
                 rule(RuleType::required_before_exit_if, "context", {"file"}),
                 rule(RuleType::requires_following_tools, "file", {"block_edit"})});

    EXPECT_EQ(agent.call("block_read"), "ordering_violation");
    EXPECT_EQ(agent.call("search"), "");
    EXPECT_TRUE(agent.automaton().report().may_exit);
    EXPECT_EQ(agent.call("block_edit"), "");
    EXPECT_EQ(agent.call("file"), "");
    EXPECT_EQ(agent.call("block_read"), "ordering_violation");
    const LoopReport report = agent.automaton().report();
    EXPECT_FALSE(report.may_exit);
    ASSERT_EQ(report.outstanding.size(), 2U);
    EXPECT_EQ(report.outstanding[0].tools, std::vector<std::string>{"context"});
    EXPECT_EQ(report.outstanding[1].tools, std::vector<std::string>{"block_edit"});
    EXPECT_EQ(agent.call("context"), "");
    EXPECT_EQ(agent.call("block_edit"), "");
    EXPECT_EQ(agent.call("block_read", false), "");
    EXPECT_EQ(agent.step(), LoopStep::none);
    EXPECT_EQ(agent.call("block_read"), "");
    EXPECT_EQ(agent.step(), LoopStep::ended);
    EXPECT_EQ(agent.automaton().report().loops_ended, 1U);
}

TEST(RuleAutomaton, ACallThatOutlivesItsLoopCountsForNothingInTheNext) {
    Agent agent({rule(RuleType::exit_loop, "file"), rule(RuleType::start_constraint, "search")});
    EXPECT_EQ(agent.call("search"), "");
    Admission late = agent.automaton().admit({.tool = "search"});
    Admission twin = agent.automaton().admit({.tool = "file"});
    EXPECT_EQ(agent.call("file"), "");

    EXPECT_EQ(agent.automaton().finish(std::move(*twin.ticket), true), LoopStep::none);
    EXPECT_EQ(agent.automaton().finish(std::move(*late.ticket), true), LoopStep::none);
    EXPECT_EQ(agent.call("file"), "start_constraints_not_met");
    EXPECT_EQ(agent.automaton().report().loops_ended, 1U);
}

TEST(RuleAutomaton, ConsentIsAskedForOnceNothingRefuses) {
    ToolRule consent = rule(RuleType::requires_consent, "file");
    consent.scope = "src";
    Agent agent({consent, rule(RuleType::requires_preceding_tools, "file", {"search"}),
                 rule(RuleType::requires_consent, "*")},
                {rule(RuleType::requires_consent, "*")});

    EXPECT_EQ(agent.call("file"), "prerequisites_not_met");
    EXPECT_EQ(agent.call("search"), "escalation_required");
    EXPECT_EQ(agent.call({.tool = "search", .consented = true}), "");
    const CallDecision decision = agent.automaton().decide({.tool = "file"});
    EXPECT_EQ(decision.verdict, Verdict::escalate);
    EXPECT_EQ(decision.asks.size(), 2U) << "the agent's own, and the one that names the tool";
    EXPECT_EQ(decision.error->code(), Errc::escalation_required);
    EXPECT_EQ(json::write(*decision.error->details().find("scopes")), R"(["src"])");
    EXPECT_EQ(agent.call({.tool = "file", .consented = true}), "");
}

TEST(RuleAutomaton, TheHigherPriorityIsReportedFirst) {
    ToolRule loud = rule(RuleType::max_calls, "file", 0);
    loud.priority = 100;
    Agent usual({rule(RuleType::max_calls, "file", 0), rule(RuleType::start_constraint, "search")});
    Agent turned({loud, rule(RuleType::start_constraint, "search")});

    EXPECT_EQ(usual.call("file"), "start_constraints_not_met");
    EXPECT_EQ(turned.call("file"), "max_calls_exceeded");
}

TEST(RuleAutomaton, CountsPerConversationAreSharedByAnAgentsSessions) {
    Agent agent({rule(RuleType::max_calls, "file", 1, Per::conversation)});
    RuleAutomaton other(agent.ledger());

    EXPECT_EQ(agent.call({.tool = "file", .conversation = "x"}), "");
    EXPECT_EQ(other.decide({.tool = "file", .conversation = "x"}).verdict, Verdict::deny);
    EXPECT_EQ(agent.call({.tool = "file", .conversation = "y"}), "");
    EXPECT_EQ(agent.call("file"), "") << "in no conversation";
    EXPECT_EQ(agent.call("file"), "max_calls_exceeded");
    EXPECT_EQ(other.decide({.tool = "file"}).verdict, Verdict::allow);
    agent.ledger().forget("x");
    EXPECT_EQ(agent.call({.tool = "file", .conversation = "x"}), "");
}

TEST(RuleAutomaton, PersistentCountsOutliveTheProcessAndEditsOfRules) {
    const ToolRule cooldown = rule(RuleType::cooldown, "search", 1'000, Per::persistent);
    const ToolRule limit = rule(RuleType::max_calls, "file", 1, Per::persistent);
    Agent before({cooldown, limit});
    EXPECT_EQ(before.call("search"), "");
    EXPECT_EQ(before.call("file"), "");
    EXPECT_EQ(before.call("context"), "");
    const std::vector<LedgerEntry> kept = before.ledger().take_changes();
    EXPECT_EQ(kept.size(), 2U) << "what no rule asks for is not kept";
    EXPECT_FALSE(before.ledger().has_changes());

    Agent after({rule(RuleType::needed, "context"), limit, cooldown});
    after.clock().advance(300);
    after.ledger().restore(kept);

    EXPECT_EQ(after.call("file"), "max_calls_exceeded");
    EXPECT_EQ(after.call("search"), "cooldown_active");
    EXPECT_NE(after.details().find("\"retry_after_ms\":700"), std::string::npos);
    after.clock().advance(700);
    EXPECT_EQ(after.call("search"), "");
}

TEST(RuleAutomaton, AMalformedStoredEntryIsRefused) {
    for (const char* text : {"null", "{}", R"({"tool":"file","calls":-1,"succeeded":true,
                             "last_wall_ms":1})"}) {
        EXPECT_FALSE(LedgerEntry::parse(*json::parse(text))) << text;
    }
    const LedgerEntry entry{"file", "a b", 3, true, 17};
    EXPECT_EQ(*LedgerEntry::parse(entry.value()), entry);
}

TEST(RuleAutomaton, ExplainLooksAtEachRuleAndCountsNothing) {
    Agent agent({rule(RuleType::max_calls, "*", 5), rule(RuleType::max_calls, "file", 1),
                 rule(RuleType::start_constraint, "search"),
                 rule(RuleType::cooldown, "context", 9)});

    const CallDecision decision = agent.automaton().explain({.tool = "file"});

    std::string trace;
    for (const RuleLook& look : decision.trace) {
        trace += cat(agent.automaton().rules().rule(look.rule).line, " ", name_of(look.outcome),
                     " ", look.why, "\n");
    }
    EXPECT_EQ(trace,
              "3 refuses `search` has yet to succeed.\n"
              "1 replaced A rule that names the tool replaces it.\n"
              "2 holds Called 0 of at most 1 time in this session.\n");
    EXPECT_TRUE(agent.automaton().decide({.tool = "search"}).trace.empty());
    EXPECT_FALSE(agent.automaton().report().running);
}

TEST(RuleAutomaton, ALatePeriodicToolIsReported) {
    Agent agent({rule(RuleType::periodic, "context", 100)});
    EXPECT_TRUE(agent.automaton().report().overdue.empty());
    EXPECT_EQ(agent.call("file"), "");
    agent.clock().advance(101);
    ASSERT_EQ(agent.automaton().report().overdue.size(), 1U);
    EXPECT_EQ(agent.automaton().report().overdue[0].by_ms, 1);
    EXPECT_EQ(agent.call("context"), "");
    EXPECT_TRUE(agent.automaton().report().overdue.empty());
}

TEST(RuleAutomaton, TheHostIsToldToGoOn) {
    Agent agent({rule(RuleType::continue_loop, "file")});
    EXPECT_EQ(agent.call("file"), "");
    EXPECT_EQ(agent.step(), LoopStep::goes_on);
}

TEST(RuleAutomaton, AgentsAloneAreGoverned) {
    EXPECT_TRUE(is_governed({ActorKind::agent, "ada"}));
    EXPECT_FALSE(is_governed({ActorKind::human, "tom"}));
    EXPECT_FALSE(is_governed({ActorKind::source, "files"}));
}

// bench/rules_bench.cc has the figures; this finds what is a hundred times slower.
TEST(RuleAutomaton, AThousandRulesAreCheckedQuickly) {
    std::vector<ToolRule> many;
    many.reserve(1'000);
    for (int i = 0; i < 1'000; ++i)
        many.push_back(rule(RuleType::max_calls, "file", 1'000'000 + i));
    Agent agent(std::move(many));
    constexpr int kCalls = 1'000;
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) ASSERT_EQ(agent.call("file"), "");
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - began;
    EXPECT_LT(took.count() / kCalls, 500.0);
}

}  // namespace
}  // namespace quire::policy
