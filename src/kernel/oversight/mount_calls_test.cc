#include "kernel/oversight/mount_calls.h"

#include <gtest/gtest.h>

#include "base/concat.h"
#include "json/json.h"
#include "kernel/core/desk_test.h"
#include "kernel/oversight/admission.h"
#include "kernel/oversight/approval_calls.h"

namespace quire::kernel {
namespace {

// Calls of a mounted tool, as the registry makes them.
class MountCallsTest : public testing::Test {
protected:
    static Caller person() { return {{policy::ActorKind::human, "tom"}, 0, {}}; }

    // A call of `m_t` while its definition is `digest`: "done", what `end` says of one that was let
    // through, or the reason of the refusal.
    std::string call(const std::string& digest, const CallEnd& end = {}, int argument = 1) {
        const Admission admission(*desk.kernel);
        Result<AdmittedCall> admitted = desk.ask<AdmittedCall>([&](auto reply) {
            admission.begin(
                Desk::as("ada"),
                {.profile = "full", .name = "m_t", .arguments = Map{{"a", argument}}, .asks = true},
                std::move(reply));
        });
        const Result<void> may = desk.ask<void>([&](auto reply) {
            MountCalls(*desk.kernel)
                .admit(admitted->by, {"m_t", digest, "what changed", "it changed"},
                       std::move(reply));
        });
        admission.end(std::move(*admitted), may ? end : CallEnd::of(may.error()));
        desk.scheduler.run_all();
        if (may) return end.is_refused() ? end.reason : "done";
        if (const Value* id = may.error().details().find("approval_id")) asked = id->as_string();
        return may.error().reason();
    }
    void answer(policy::Resolution with) {
        ApprovalCalls calls(*desk.kernel);
        ASSERT_TRUE(desk.ask<policy::Approval>(
            [&](auto reply) { calls.resolve(person(), asked, with, std::move(reply)); }));
    }
    std::string described() {
        ApprovalCalls calls(*desk.kernel);
        return desk
            .ask<ApprovalList>([&](auto reply) { calls.list(person(), true, std::move(reply)); })
            ->approvals.back()
            .description;
    }

    Desk desk;
    std::string asked;
};

TEST_F(MountCallsTest, APinSurvivesARestartAndIsInTheLog) {
    ASSERT_TRUE(desk.ask<void>([&](auto reply) {
        MountCalls(*desk.kernel)
            .pin(Desk::as("ada"), {"m", Map{{"tools", List{"t"}}}}, Map{{"digest", "d"}},
                 std::move(reply));
    }));
    desk.restart();
    const auto pins = MountCalls(*desk.kernel).pins().value();
    ASSERT_EQ(pins.size(), 1U);
    EXPECT_EQ(pins[0].mount, "m");
    EXPECT_EQ(json::write(pins[0].body), R"({"tools":["t"]})");
    bool logged = false;
    for (const store::AuditEntry& each : desk.store.audit_log())
        logged |= each.body.find("\"mounts/pin\"") != std::string::npos;
    EXPECT_TRUE(logged);
}

TEST_F(MountCallsTest, APinThatTheDiskRefusesIsAnError) {
    desk.store.fail_next();
    EXPECT_EQ(desk.ask<void>([&](auto reply) {
                      MountCalls(*desk.kernel)
                          .pin(Desk::as("ada"), {"m", Map{}}, Map{}, std::move(reply));
                  })
                  .error()
                  .reason(),
              "disk_full");
    EXPECT_TRUE(MountCalls(*desk.kernel).pins()->empty());
}

TEST_F(MountCallsTest, AnApprovalIsForTheDefinitionThatWasSeen) {
    EXPECT_EQ(call("one"), "escalation_required");
    EXPECT_EQ(described(), "what changed");
    answer({.answer = policy::Answer::approve_scope});
    EXPECT_EQ(call("one"), "done");
    EXPECT_EQ(call("one", {}, 2), "done");
    EXPECT_EQ(call("two"), "escalation_required");
}

TEST_F(MountCallsTest, OnlyTheLatestChangeOfAToolWaitsForAnAnswer) {
    for (int version = 0; version < 120; ++version)
        ASSERT_EQ(call(cat("digest ", version)), "escalation_required") << version;
    const std::string last = asked;
    desk.restart();
    ApprovalCalls calls(*desk.kernel);
    const auto waiting =
        desk.ask<ApprovalList>([&](auto reply) { calls.list(person(), false, std::move(reply)); });
    ASSERT_EQ(waiting->approvals.size(), 1U);
    EXPECT_EQ(waiting->approvals[0].id, last);
}

TEST_F(MountCallsTest, ADenialIsReportedToTheWaitingCall) {
    EXPECT_EQ(call("one"), "escalation_required");
    answer({.answer = policy::Answer::deny});
    EXPECT_EQ(call("one"), "approval_denied");
}

TEST_F(MountCallsTest, AnApprovalForOneCallIsSpentWhereItsFateIsUnknown) {
    EXPECT_EQ(call("one"), "escalation_required");
    answer({.answer = policy::Answer::approve_once});
    EXPECT_EQ(call("one", {.code = "unavailable", .reason = "disk_full"}), "disk_full");
    EXPECT_EQ(call("one", {.code = "unavailable", .reason = "fate_unknown"}), "fate_unknown");
    EXPECT_EQ(call("one"), "escalation_required");
}

}  // namespace
}  // namespace quire::kernel
