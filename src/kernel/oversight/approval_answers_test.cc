// The actors who may answer a request for approval, and the worth of an answer to a changed target.
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "kernel/oversight/approvals_office_for_test.h"

namespace quire::kernel {
namespace {

TEST(Approvals, OnlyPeopleListAndResolve) {
    Office office;
    office.make("plan");
    const std::string id = office.asked(set_status("plan", "x"));
    for (const char* by : {kEve, "agent:bob", "source:lsp", "system:quire"}) {
        for (const Answer answer : kEvery<policy::Answer>) {
            const auto refused = office.resolve(id, {answer}, by);
            ASSERT_FALSE(refused);
            EXPECT_EQ(refused.error().code(), Errc::denied);
            EXPECT_EQ(refused.error().message(),
                      cat("Only people answer approvals: ", by,
                          " may not list or resolve them. Ask a person (human:NAME)"));
        }
        EXPECT_EQ(reason(office.listed(false, by)), "permission_denied");
    }
    EXPECT_EQ(office.status(id), "pending");
    EXPECT_EQ(office.told(set_status("plan", "x")), "escalation_required");
}

TEST(Approvals, APersonNeedsNoApproval) {
    Office office;
    office.make("plan");
    EXPECT_EQ(office.told(set_status("plan", "x"), kTom), "fine");
    EXPECT_TRUE(office.list(true).empty());
}

TEST(Approvals, AnUnknownIdIsNotFound) {
    Office office;
    EXPECT_EQ(office.approve("ap_nothing"), "invalid_reference");
}

TEST(Approvals, OnlyOneOfTwoAnswersAtOnceHolds) {
    Office office;
    office.make("plan");
    const std::string id = office.asked(set_status("plan", "x"));
    office.study.desk.store.hold(true);
    const auto answer = [&](const char* by, Answer with) {
        return office.study.desk.start_call<Approval>([&](auto reply) {
            ApprovalCalls(*office.study.desk.kernel)
                .resolve(Study::as(by), id, {with}, std::move(reply));
        });
    };
    const auto first = answer("human:tom", Answer::deny);
    const auto second = answer("human:ann", Answer::approve_once);
    ASSERT_TRUE(second->has_value());
    EXPECT_EQ((*second)->error().reason(), "already_resolved");
    EXPECT_EQ((*second)->error().code(), Errc::conflict);
    // Nothing holds before it is stored.
    EXPECT_FALSE(first->has_value());
    office.study.desk.store.hold(false);
    office.study.desk.store.flush();
    office.study.desk.scheduler.run_all();
    EXPECT_TRUE((*first)->has_value());
    EXPECT_EQ(office.told(set_status("plan", "x")), "approval_denied");
    EXPECT_EQ(reason(office.resolve(id, {Answer::approve_once}, "human:ann")), "already_resolved");
}

// Changes that a person makes to the block between the request and the answer.
const std::function<void(Study&)> kChanges[] = {
    [](Study& study) { ASSERT_TRUE(study.erase("plan", kTom)); },
    [](Study& study) {
        ASSERT_TRUE(study.erase("plan", kTom));
        ASSERT_TRUE(study.create("plan", kStatus, Permission::human, kEve));
    },
    [](Study& study) {
        ASSERT_TRUE(study.archive("plan", "put_away", kTom));
        ASSERT_TRUE(study.create("plan", kStatus, Permission::human, kEve));
    },
    [](Study& study) {
        ASSERT_TRUE(study.convert("plan", R"({"Map": {"fields": [
            {"name": "status", "field_type": "Text"},
            {"name": "origin", "field_type": "Text", "read_only": true}]}})",
                                  "{}", false, kTom, true));
    },
};

TEST(Approvals, AnApprovalIsRefusedIfTheTargetChangedSinceTheRequest) {
    for (const auto& change : kChanges) {
        for (const bool restarted : {false, true}) {
            Office office;
            office.make("plan");
            const std::string id = office.asked(set_status("plan", "x"));
            change(office.study);
            if (restarted) office.study.restart();
            for (const Answer answer :
                 {Answer::approve_once, Answer::approve_for, Answer::approve_scope}) {
                const auto refused = office.resolve(id, {answer});
                ASSERT_FALSE(refused);
                EXPECT_EQ(refused.error().code(), Errc::conflict);
                EXPECT_EQ(refused.error().reason(), "outdated");
            }
            EXPECT_EQ(office.status(id), "outdated");
            EXPECT_NE(office.told(set_status("plan", "x")), "fine");
        }
    }
}

TEST(Approvals, ATargetThatChangedSinceItsApprovalNeedsAnother) {
    for (const auto& change : kChanges) {
        for (const Answer answer :
             {Answer::approve_once, Answer::approve_for, Answer::approve_scope}) {
            Office office;
            office.make("plan");
            const std::string id = office.asked(set_status("plan", "x"));
            EXPECT_EQ(office.approve(id, {answer}), "fine");
            change(office.study);
            const Outcome outcome = office.call(set_status("plan", "x"));
            EXPECT_NE(outcome.reason, "fine");
            EXPECT_NE(outcome.approval_id, id);
        }
    }
}

TEST(Approvals, ADenialIsTakenEvenIfTheTargetIsGone) {
    Office office;
    office.make("plan");
    const std::string id = office.asked(set_status("plan", "x"));
    ASSERT_TRUE(office.study.erase("plan", kTom));
    EXPECT_EQ(office.approve(id, {Answer::deny}), "fine");
}

}  // namespace
}  // namespace quire::kernel
