#include "policy/approval.h"

#include <gtest/gtest.h>

#include "base/concat.h"

namespace quire::policy {
namespace {

const Actor kEve{ActorKind::agent, "eve"};
const Actor kAda{ActorKind::human, "ada"};
const Actor kBob{ActorKind::human, "bob"};
constexpr std::int64_t kNow = 1'700'000'000'000;

Ask plan_ask() {
    return {kEve, Operation::overwrite, {"memory", "plan/today", "b7", "shape"}, "digest"};
}
Approval asked() {
    Approval approval;
    approval.id = "ap_1";
    approval.ask = plan_ask();
    approval.asked_ms = kNow;
    return approval;
}
Approval answered(const Resolution& with) {
    return resolve(asked(), with, kAda, kNow).value();
}
template <class T>
std::string reason(const Result<T>& result) {
    return result ? "fine" : result.error().reason();
}

// The ask of plan_ask(), changed.
template <class F>
Ask other(F change) {
    Ask ask = plan_ask();
    change(ask);
    return ask;
}

TEST(Approval, OnceCoversExactlyThisCall) {
    const Approval once = answered({Answer::approve_once});
    EXPECT_TRUE(stands(once, kNow));
    EXPECT_TRUE(covers(once, plan_ask()));
    EXPECT_FALSE(covers(once, other([](Ask& ask) { ask.call = "another"; })));
}

TEST(Approval, DoesNotCoverAnotherActorOrOperation) {
    for (const Resolution& with :
         {Resolution{Answer::approve_once}, Resolution{Answer::approve_for},
          Resolution{Answer::approve_scope}, Resolution{Answer::approve_scope, {}, "**"}}) {
        const Approval approval = answered(with);
        EXPECT_TRUE(covers(approval, plan_ask()));
        EXPECT_FALSE(covers(approval, other([](Ask& ask) { ask.actor.name = "mallory"; })));
        EXPECT_FALSE(covers(approval, other([](Ask& ask) { ask.operation = Operation::erase; })));
        EXPECT_FALSE(covers(approval, other([](Ask& ask) { ask.operation = Operation::append; })));
        EXPECT_FALSE(covers(approval, other([](Ask& ask) { ask.target.kind = "file"; })));
    }
}

TEST(Approval, WithoutAScopeItCoversTheUnchangedBlockOnly) {
    for (const Resolution& with :
         {Resolution{Answer::approve_once}, Resolution{Answer::approve_for},
          Resolution{Answer::approve_scope}}) {
        const Approval approval = answered(with);
        EXPECT_FALSE(covers(approval, other([](Ask& ask) { ask.target.name = "plan/next"; })));
        EXPECT_FALSE(covers(approval, other([](Ask& ask) { ask.target.block_id = "b8"; })));
        EXPECT_FALSE(covers(approval, other([](Ask& ask) { ask.target.schema = "other"; })));
    }
}

TEST(Approval, AScopeIsForTheNamesInIt) {
    const Approval approval = answered({Answer::approve_scope, {}, "plan/*"});
    EXPECT_TRUE(covers(approval, other([](Ask& ask) {
                           ask.target = {"memory", "plan/next", "b8", "other"};
                           ask.call = "another";
                       })));
    EXPECT_FALSE(covers(approval, other([](Ask& ask) { ask.target.name = "plan/next/deep"; })));
    EXPECT_FALSE(covers(approval, other([](Ask& ask) { ask.target.name = "secret"; })));
}

TEST(Approval, ATimeBeginsWithTheAnswerAndEnds) {
    const Approval approval = answered({Answer::approve_for, 60});
    EXPECT_EQ(approval.resolved->until_ms, kNow + 60'000);
    EXPECT_TRUE(covers(approval, other([](Ask& ask) { ask.call = "another"; })));
    EXPECT_TRUE(stands(approval, kNow));
    EXPECT_TRUE(stands(approval, kNow + 59'999));
    EXPECT_FALSE(stands(approval, kNow + 60'000));
    EXPECT_FALSE(stands(approval, kNow - 1));  // The machine's clock was set back.
    EXPECT_EQ(answered({Answer::approve_for}).resolved->until_ms, kNow + kUsualDurationS * 1000);
}

TEST(Approval, OnlyPeopleAnswer) {
    for (const ActorKind kind : {ActorKind::agent, ActorKind::source, ActorKind::system}) {
        for (const Answer answer : kEvery<Answer>) {
            const auto refused = resolve(asked(), {answer}, {kind, "eve"}, kNow);
            ASSERT_FALSE(refused);
            EXPECT_EQ(refused.error().code(), Errc::denied);
            EXPECT_EQ(refused.error().reason(), "permission_denied");
            const Actor eve{kind, "eve"};
            EXPECT_EQ(refused.error().message(),
                      cat("Only people answer approvals: ", eve.str(),
                          " may not list or resolve them. Ask a person (human:NAME)"));
        }
    }
}

TEST(Approval, HasOneAnswer) {
    for (const Answer first :
         {Answer::approve_once, Answer::approve_for, Answer::approve_scope, Answer::deny}) {
        for (const Answer second :
             {Answer::approve_once, Answer::approve_for, Answer::approve_scope, Answer::deny}) {
            const auto again = resolve(answered({first}), {second}, kBob, kNow);
            ASSERT_FALSE(again);
            EXPECT_EQ(again.error().code(), Errc::conflict);
            EXPECT_EQ(again.error().reason(), "already_resolved");
            EXPECT_EQ(*again.error().details().find("by"), Value("human:ada"));
            EXPECT_EQ(*again.error().details().find("decision"), Value(name_of(first)));
        }
    }
}

TEST(Approval, AnOutdatedQuestionCannotBeAnswered) {
    Approval approval = asked();
    approval.status = ApprovalStatus::outdated;
    for (const Answer answer : kEvery<Answer>) {
        const auto refused = resolve(approval, {answer}, kAda, kNow);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code(), Errc::conflict);
        EXPECT_EQ(refused.error().reason(), "outdated");
        EXPECT_EQ(
            refused.error().message(),
            "'plan/today' was deleted, moved or given another schema after agent:eve asked "
            "(approval ap_1). Nothing was approved; make the call again if it is still needed");
    }
}

TEST(Approval, AnAnswerThatHoldsCanBeTakenBack) {
    for (const Answer first :
         {Answer::approve_once, Answer::approve_for, Answer::approve_scope, Answer::deny}) {
        const auto back = resolve(answered({first}), {Answer::revoke}, kBob, kNow);
        ASSERT_TRUE(back);
        EXPECT_EQ(back->status, ApprovalStatus::revoked);
        EXPECT_FALSE(stands(*back, kNow));
        EXPECT_EQ(reason(resolve(*back, {Answer::revoke}, kBob, kNow)), "already_resolved");
    }
    EXPECT_EQ(reason(resolve(asked(), {Answer::revoke}, kBob, kNow)), "not_resolved");
    EXPECT_EQ(
        reason(resolve(answered({Answer::approve_for, 60}), {Answer::revoke}, kBob, kNow + 60'000)),
        "already_resolved");
}

TEST(Approval, AnAnswerTakesOnlyItsOwnArguments) {
    const auto told = [](const Resolution& with) {
        return reason(resolve(asked(), with, kAda, kNow));
    };
    EXPECT_EQ(told({Answer::approve_once, 60}), "invalid_argument");
    EXPECT_EQ(told({Answer::deny, {}, "**"}), "invalid_argument");
    EXPECT_EQ(told({Answer::approve_for, {}, "**"}), "invalid_argument");
    EXPECT_EQ(told({Answer::approve_for, 0}), "invalid_argument");
    EXPECT_EQ(told({Answer::approve_for, -5}), "invalid_argument");
    EXPECT_EQ(told({Answer::approve_for, kLongestDurationS + 1}), "invalid_argument");
    EXPECT_EQ(told({Answer::approve_for, kLongestDurationS}), "fine");
    EXPECT_EQ(told({Answer::approve_scope, {}, "["}), "invalid_glob");
    EXPECT_NE(told({Answer::approve_scope, {}, ""}), "fine");
    EXPECT_EQ(told({Answer::approve_scope, {}, "secret/**"}), "scope_mismatch");
}

TEST(Approval, ADenialSaysWhoDenied) {
    const Error error = denial(answered({Answer::deny}));
    EXPECT_EQ(error.code(), Errc::denied);
    EXPECT_EQ(error.reason(), "approval_denied");
    EXPECT_EQ(error.message(),
              "human:ada denied this call (approval ap_1). Do something else, or ask them");
    EXPECT_EQ(error.details(), (Map{{"approval_id", "ap_1"},
                                    {"operation", "overwrite"},
                                    {"by", "human:ada"},
                                    {"at", kNow}}));
}

}  // namespace
}  // namespace quire::policy
