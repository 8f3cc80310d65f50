// Approvals across restarts and crashes, and the bounds on how many are kept.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "base/share_for_test.h"
#include "kernel/oversight/approvals.h"
#include "kernel/oversight/approvals_office_for_test.h"
#include "kernel/oversight/rule_calls.h"
#include "policy/rule_book.h"
#include "policy/tool_catalog.h"

namespace quire::kernel {
namespace {

TEST(Approvals, ApprovalsOutliveTheKernelAtEachStep) {
    Office office;
    office.make("plan");
    const Deed deed = set_status("plan", "x");
    const std::string id = office.asked(deed);
    office.study.crash();
    EXPECT_EQ(office.asked(deed), id);
    EXPECT_EQ(office.list().size(), 1U);
    EXPECT_EQ(office.approve(id), "fine");
    office.study.crash();
    EXPECT_EQ(office.status(id), "approved");
    EXPECT_EQ(office.told(deed), "fine");
    office.study.crash();
    EXPECT_EQ(office.status(id), "used");
    EXPECT_EQ(office.told(deed), "escalation_required");
    const std::vector<Approval> all = office.list(true);
    const auto used =
        std::find_if(all.begin(), all.end(), [&](const Approval& each) { return each.id == id; });
    ASSERT_NE(used, all.end());
    EXPECT_EQ(used->resolved->by.str(), kTom);
}

TEST(Approvals, TheSessionInWhichAPersonWasAskedIsKept) {
    Office office;
    office.make("plan");
    const std::string elicited = office.asked(add_tag("plan", "x"));
    const std::string by_themselves = office.asked(add_tag("plan", "y"));
    EXPECT_EQ(office.approve(elicited, {.answer = Answer::deny, .elicited_in = 3}), "fine");
    EXPECT_EQ(office.approve(by_themselves, {.answer = Answer::deny}), "fine");
    office.study.crash();
    for (const Approval& each : office.list(true))
        EXPECT_EQ(each.resolved->elicited_in, each.id == elicited ? 3U : 0U);
}

TEST(Approvals, TheTimeOfAnApprovalRunsOnWhileNoKernelRuns) {
    Office office;
    office.make("plan");
    EXPECT_EQ(office.approve(office.asked(set_status("plan", "x")), {Answer::approve_for, 60}),
              "fine");
    office.study.crash();
    EXPECT_EQ(office.told(set_status("plan", "y")), "fine");
    office.study.desk.clock.advance(60'000);
    office.study.crash();
    EXPECT_EQ(office.told(set_status("plan", "z")), "escalation_required");
}

TEST(Approvals, ACallThatACrashCutShortHasSpentItsApproval) {
    Office office;
    office.make("plan");
    const Deed deed = add_tag("plan", "x");
    const std::string id = office.asked(deed);
    EXPECT_EQ(office.approve(id), "fine");
    office.study.desk.store.hold(true);
    static_cast<void>(office.start(deed));
    office.study.desk.store.hold(false);
    office.study.desk.store.flush();  // It was spent, and the write is not stored yet.
    office.study.crash();
    EXPECT_EQ(office.status(id), "used");
    EXPECT_EQ(office.told(deed), "escalation_required");
}

TEST(Approvals, AnApprovalThatIsNotStoredIsNotReported) {
    Office office;
    office.make("plan");
    office.study.desk.store.fail_next();
    EXPECT_EQ(office.told(set_status("plan", "x")), "disk_full");
    EXPECT_TRUE(office.list(true).empty());
    const std::string id = office.asked(set_status("plan", "x"));
    office.study.desk.store.fail_next();
    EXPECT_EQ(office.approve(id), "disk_full");
    EXPECT_EQ(office.told(set_status("plan", "x")), "escalation_required");
    EXPECT_EQ(office.approve(id), "fine");
    office.study.desk.store.fail_next();  // Spending it.
    EXPECT_EQ(office.told(set_status("plan", "x")), "disk_full");
    EXPECT_EQ(office.told(set_status("plan", "x")), "fine");
}

TEST(Approvals, ADamagedApprovalIsReportedAndNotGuessedAt) {
    Office office;
    office.make("plan");
    const std::string id = office.asked(set_status("plan", "x"));
    for (const char* body : {"", "{}", "[1]", R"({"format":2})"}) {
        const std::string text = body;
        Desk desk;
        store::Batch batch;
        batch.keep({.table = store::Table::approvals, .key = id}, text);
        desk.store.commit(std::move(batch), [](Result<void>) {});
        const auto opened = open_kernel({desk.store, desk.scheduler, desk.clock, desk.rng, {}});
        ASSERT_FALSE(opened);
        EXPECT_EQ(opened.error().code(), Errc::corrupt);
    }
}

TEST(Approvals, ARecordThatIsNotWhatWasWrittenAllowsNothingAndIsNamed) {
    Office office;
    office.make("plan");
    const Deed deed = set_status("plan", "x");
    const std::string id = office.asked(deed);
    ASSERT_EQ(office.approve(id), "fine");
    office.study.desk.store.damage(id);
    office.study.crash();

    EXPECT_EQ(office.told(deed), "escalation_required");
    EXPECT_EQ(office.listed()->damaged, std::vector<std::string>{id});
    const Result<Approval> answered = office.resolve(id, {Answer::approve_once});
    ASSERT_FALSE(answered);
    EXPECT_EQ(answered.error().code(), Errc::corrupt);
    EXPECT_NE(answered.error().message().find(id), std::string::npos);
}

TEST(RuleCalls, AnAgentIsToldOnceThatAPartOfItsCountIsDamaged) {
    Desk desk;
    store::Batch batch;
    batch.keep({.table = store::Table::rule_facts, .key = "calls", .owner = "ada"}, "x");
    desk.store.commit(std::move(batch), [](Result<void>) {});
    desk.store.damage("calls");
    policy::KnownTool tool;
    tool.name = "block_list";
    const auto rules = RuleCalls::open(
        *desk.kernel, policy::RuleBook::compile(policy::ToolCatalog({tool}), {}).value());
    ASSERT_TRUE(rules) << rules.error().message();
    const auto admitted = [&](std::string_view actor) {
        std::string told = "nothing";
        (*rules)->admit(Study::as(actor), {.tool = "block_list"},
                        [&](Result<RuleCalls::Admitted> ticket) {
                            told = ticket ? "fine" : ticket.error().reason();
                        });
        return told;
    };

    EXPECT_EQ(admitted("agent:bo"), "fine");
    EXPECT_EQ(admitted("agent:ada"), "corrupt");
    EXPECT_EQ(admitted("agent:ada"), "fine");
}

TEST(Approvals, AHostileAgentFillsItsOwnShareAndNoMore) {
    Office office;
    office.make("plan");
    ASSERT_TRUE(office.study.create("mine", kStatus, Permission::human, "agent:ada"));
    std::set<std::string> ids;
    std::size_t refused = 0;
    constexpr int kCalls = 10'000 / kRoundsShare;
    for (int i = 0; i < kCalls; ++i) {
        const Outcome outcome = office.call(set_status("plan", cat("x", i)));
        if (outcome.reason == "escalation_required") {
            ids.insert(outcome.approval_id);
            continue;
        }
        ++refused;
        ASSERT_EQ(outcome.code, Errc::unavailable);
        ASSERT_EQ(outcome.reason, "too_many_approvals");
        ASSERT_EQ(outcome.message,
                  "agent:eve has 50 approvals that wait for a person, and may not ask for more "
                  "until some are answered");
    }
    EXPECT_EQ(ids.size(), Approvals::kPendingOfOne);
    EXPECT_EQ(refused, kCalls - Approvals::kPendingOfOne);
    EXPECT_EQ(office.list().size(), Approvals::kPendingOfOne);
    // Others still ask, and what was asked is still known.
    office.asked(set_status("mine", "x"), "agent:ada");
    EXPECT_TRUE(ids.contains(office.asked(set_status("plan", "x0"))));
    EXPECT_EQ(office.approve(*ids.begin(), {Answer::deny}), "fine");
    EXPECT_EQ(office.told(set_status("plan", "one more")), "escalation_required");
    EXPECT_EQ(office.told(set_status("plan", "and one")), "too_many_approvals");
}

TEST(Approvals, ManyAgentsTogetherFillTheWorkspacesShare) {
    Office office;
    office.make("plan");
    std::size_t asked = 0;
    for (std::size_t agent = 0; agent <= Approvals::kPending / Approvals::kPendingOfOne; ++agent) {
        const std::string name = cat("agent:eve", agent);
        ASSERT_TRUE(office.study.share("plan", name, Permission::human, kEve));
        for (std::size_t i = 0; i < Approvals::kPendingOfOne; ++i) {
            const Outcome outcome = office.call(set_status("plan", cat(i)), name);
            if (outcome.reason == "escalation_required") {
                ++asked;
            } else {
                ASSERT_EQ(outcome.reason, "too_many_approvals");
            }
        }
    }
    EXPECT_EQ(asked, Approvals::kPending);
}

TEST(Approvals, SettledApprovalsAreForgottenTheOldestFirst) {
    Office office;
    office.make("plan");
    std::string first;
    for (std::size_t i = 0; i <= Approvals::kKept + 5; ++i) {
        const std::string id = office.asked(set_status("plan", cat("x", i)));
        if (first.empty()) first = id;
        ASSERT_EQ(office.approve(id, {Answer::deny}), "fine");
        office.study.desk.clock.advance(1);
    }
    EXPECT_LE(office.list(true).size(), Approvals::kKept);
    EXPECT_EQ(office.status(first), "gone");
    office.study.crash();
    EXPECT_LE(office.list(true).size(), Approvals::kKept);
}

TEST(Approvals, ALongCallIsShownCutAndWithNothingHidden) {
    Office office;
    office.make("plan");
    office.asked(set_status("plan", cat("\xe2\x80\xae", std::string(5000, 'a'))));
    const std::string text = office.list()[0].description;
    EXPECT_LT(text.size(), 700U);
    EXPECT_NE(text.find("\\u{202e}"), std::string::npos);
    EXPECT_NE(text.find(" … (cut; the call has "), std::string::npos) << text;
}

}  // namespace
}  // namespace quire::kernel
