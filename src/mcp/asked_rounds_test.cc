// Calls that need a person, by clients of 2026-07-28: the result asks, and the next call answers.
#include <gtest/gtest.h>

#include "base/concat.h"
#include "json/json.h"
#include "mcp/asking_client_for_test.h"
#include "mcp/request_seal.h"

namespace quire::mcp {
namespace {

using policy::ApprovalStatus;

std::string given_back(const Value& round, std::string_view answer) {
    return cat(R"(,"requestState":)", json::write(*round.get("result")->get("requestState")),
               R"(,"inputResponses":{"approval":)", answer, "}");
}

TEST(AskedRounds, TheResultAsksAndTheNextCallAnswers) {
    SharedKernel kernel;
    TestClient client(kernel);

    const Value asked = client.round(1);

    ASSERT_EQ(outcome_of(asked), "input_required");
    const Value& request = *asked.get("result")->get("inputRequests")->get("approval");
    EXPECT_EQ(word(request, "method"), "elicitation/create");
    EXPECT_NE(request.get("params")->get("requestedSchema"), nullptr);
    EXPECT_EQ(asked.get("result")->get("content"), nullptr);
    const Value done = client.round(2, given_back(asked, kApproved));
    EXPECT_EQ(outcome_of(done), "done");
    EXPECT_EQ(word(*done.get("result"), "resultType"), "complete");
    EXPECT_FALSE(client.session().is_busy());
    EXPECT_EQ(outcome_of(client.round(3, given_back(client.round(4), kDeclined))),
              "approval_denied");
}

TEST(AskedRounds, AnAnswerWithoutADecisionGetsTheRefusal) {
    SharedKernel kernel;
    TestClient client(kernel);
    for (const char* none : {R"({"action":"cancel"})", R"({"action":"accept"})", "null", "[]",
                             R"({"action":"accept","content":{"decision":"approve_scope"}})"}) {
        EXPECT_EQ(outcome_of(client.round(2, given_back(client.round(1), none))),
                  "escalation_required")
            << none;
    }
    EXPECT_EQ(kernel.ledger->status("ap_1"), ApprovalStatus::pending);
    EXPECT_EQ(kernel.ledger->all.size(), 1U);
}

TEST(AskedRounds, WithoutAnAnswerItIsAskedAgain) {
    SharedKernel kernel;
    TestClient client(kernel);
    const Value asked = client.round(1);
    const std::string state =
        cat(R"(,"requestState":)", json::write(*asked.get("result")->get("requestState")));
    EXPECT_EQ(outcome_of(client.round(2, state)), "input_required");
    EXPECT_EQ(outcome_of(client.round(3, cat(state, R"(,"inputResponses":{})"))), "input_required");
    EXPECT_EQ(outcome_of(client.round(4, cat(state, R"(,"inputResponses":{"x":)", kApproved, "}"))),
              "input_required");
    EXPECT_EQ(kernel.ledger->status("ap_1"), ApprovalStatus::pending);
}

TEST(AskedRounds, AClientThatCannotAskGetsTheRefusal) {
    SharedKernel kernel;
    TestClient client(kernel);
    for (const char* none : {"{}", R"({"elicitation":{"url":{}}})", R"({"elicitation":7})"})
        EXPECT_EQ(outcome_of(client.round(1, "", "{}", none)), "escalation_required") << none;
    // The capabilities of the handshake do not count in a request of the other era.
    client.open();
    EXPECT_EQ(outcome_of(client.round(2, "", "{}", "{}")), "escalation_required");
}

TEST(AskedRounds, AStateHoldsForItsCallActorAndTimeAlone) {
    SharedKernel kernel;
    TestClient ada(kernel), eve(kernel, "agent:eve");
    const Value asked = ada.round(1);
    const std::string approve = given_back(asked, kApproved);

    EXPECT_EQ(outcome_of(ada.round(2, approve, R"({"n":1})")), "-32602 other_request_state");
    EXPECT_EQ(outcome_of(eve.round(3, approve)), "-32602 foreign_request_state");
    SharedKernel later;
    TestClient restarted(later);
    later.rng.next();
    later.elicitation.seal = RequestSeal(later.rng);
    EXPECT_EQ(outcome_of(restarted.round(4, approve)), "-32602 invalid_request_state");
    kernel.pass(kernel.elicitation.open_ms);
    EXPECT_EQ(outcome_of(ada.round(5, approve)), "-32602 expired_request_state");
    EXPECT_EQ(kernel.ledger->status("ap_1"), ApprovalStatus::pending);
    EXPECT_EQ(kernel.ledger->all.size(), 1U);
}

TEST(AskedRounds, AStateThatWasChangedIsRefused) {
    SharedKernel kernel;
    TestClient client(kernel);
    const std::string state = client.round(1).get("result")->get("requestState")->as_string();
    for (std::size_t at = 0; at < state.size(); ++at) {
        std::string changed = state;
        changed[at] = changed[at] == '1' ? '2' : '1';
        EXPECT_EQ(
            outcome_of(client.round(2, cat(R"(,"requestState":")", changed,
                                           R"(","inputResponses":{"approval":)", kApproved, "}"))),
            "-32602 invalid_request_state");
    }
    EXPECT_EQ(kernel.ledger->status("ap_1"), ApprovalStatus::pending);
}

TEST(AskedRounds, AnAnswerCountsOnce) {
    SharedKernel kernel;
    TestClient client(kernel);
    const std::string approve = given_back(client.round(1), kApproved);
    EXPECT_EQ(outcome_of(client.round(2, approve)), "done");
    EXPECT_EQ(outcome_of(client.round(3, approve)), "already_resolved");
    EXPECT_EQ(kernel.ledger->all.size(), 1U);
}

TEST(AskedRounds, AnAnswerWithoutAValidStateIsRefused) {
    SharedKernel kernel;
    TestClient client(kernel);
    const auto refused = [&](std::string_view more) {
        const Value answer = client.round(1, more);
        const Value* error = answer.get("error");
        return error != nullptr && error->get("code")->as_int() == -32602;
    };
    EXPECT_TRUE(refused(cat(R"(,"inputResponses":{"approval":)", kApproved, "}")));
    for (const char* state : {"7", R"("")", "null", "{}", "[]", R"("x")", R"(";;;;")"})
        EXPECT_TRUE(refused(cat(R"(,"requestState":)", state))) << state;
    EXPECT_TRUE(refused(R"(,"requestState":"x","inputResponses":[])"));
    EXPECT_TRUE(kernel.ledger->all.empty());
    TestClient nobody(kernel, "agent:ada", false);
    EXPECT_EQ(outcome_of(nobody.round(1, R"(,"requestState":"x")")),
              "-32602 invalid_request_state");
}

}  // namespace
}  // namespace quire::mcp
