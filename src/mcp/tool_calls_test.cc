// Calls that need a person, through a session: asked in the client, or not.
#include "mcp/tool_calls.h"

#include <gtest/gtest.h>

#include "base/concat.h"
#include "json/json.h"
#include "mcp/asking_client_for_test.h"

namespace quire::mcp {
namespace {

using policy::Answer;
using policy::ApprovalStatus;

TEST(ToolCalls, ACallThatWasAskedAboutIsDoneOnceItIsApproved) {
    SharedKernel kernel;
    TestClient client(kernel);
    client.open();

    const auto asked = client.call(1);
    ASSERT_TRUE(is_question(asked));
    EXPECT_EQ(*asked[0].get("params")->get("mode"), Value("form"));
    EXPECT_EQ(kernel.ledger->status("ap_1"), ApprovalStatus::pending);
    const auto answers = client.answer(asked[0], kApproved);

    EXPECT_EQ(outcome_of(answers), "done");
    EXPECT_EQ(*answers[0].get("id"), Value(1));
    EXPECT_EQ(kernel.ledger->all.at("ap_1").resolved->by.str(), "human:tom");
    // It was for once: the next is asked about anew.
    const auto again = client.call(2);
    ASSERT_TRUE(is_question(again));
    EXPECT_NE(*again[0].get("id"), *asked[0].get("id"));
}

TEST(ToolCalls, DecliningTheQuestionDeniesTheCall) {
    SharedKernel kernel;
    TestClient client(kernel);
    client.open();
    EXPECT_EQ(outcome_of(client.answer(client.call(1).at(0), kDeclined)), "approval_denied");
    EXPECT_EQ(outcome_of(client.call(2)), "approval_denied");
    EXPECT_EQ(outcome_of(client.answer(client.call(3, "guarded", "", R"({"n":1})").at(0),
                                       R"({"action":"accept","content":{"decision":"deny"}})")),
              "approval_denied");
}

TEST(ToolCalls, AnAnswerWithoutADecisionLeavesTheApprovalWaiting) {
    SharedKernel kernel;
    TestClient client(kernel);
    client.open();
    int id = 0;
    for (const char* answer :
         {R"("result":{"action":"cancel"})", R"("result":{"action":"accept"})", R"("result":{})",
          R"("result":[])", R"("result":null)", R"("error":{"code":-1,"message":"no"})",
          R"("result":{"action":"accept","content":{"decision":"yes"}})"}) {
        const auto asked = client.call(++id);
        ASSERT_TRUE(is_question(asked)) << answer;
        EXPECT_EQ(outcome_of(client.say(cat(R"({"jsonrpc":"2.0","id":)",
                                            json::write(*asked[0].get("id")), ",", answer, "}"))),
                  "escalation_required")
            << answer;
        EXPECT_EQ(kernel.ledger->status("ap_1"), ApprovalStatus::pending);
    }
    EXPECT_EQ(kernel.ledger->all.size(), 1U);
}

TEST(ToolCalls, AClientThatCannotAskGetsTheRefusal) {
    SharedKernel kernel;
    const auto refused = [&](std::string_view version, std::string_view capabilities) {
        TestClient client(kernel);
        client.open(version, capabilities);
        std::string why = outcome_of(client.call(1));
        EXPECT_EQ(kernel.ledger->status("ap_1"), ApprovalStatus::pending);
        return why;
    };
    for (const char* none : {"{}", R"({"elicitation":{"url":{}}})", R"({"elicitation":true})",
                             R"({"elicitation":null})", R"({"roots":{"elicitation":{}}})"})
        EXPECT_EQ(refused("2025-11-25", none), "escalation_required") << none;
    for (const char* version : {"2025-03-26", "2024-11-05"})
        EXPECT_EQ(refused(version, R"({"elicitation":{}})"), "refused");
    TestClient switched_off(kernel, "agent:ada", false);
    switched_off.open();
    EXPECT_EQ(outcome_of(switched_off.call(1)), "escalation_required");
}

TEST(ToolCalls, AClientThatCanAskIsAsked) {
    SharedKernel kernel;
    for (const char* some : {R"({"elicitation":{}})", R"({"elicitation":{"form":{}}})",
                             R"({"elicitation":{"form":{"applyDefaults":true},"url":{}}})"}) {
        TestClient client(kernel);
        client.open("2025-06-18", some);
        const auto asked = client.call(1);
        ASSERT_TRUE(is_question(asked)) << some;
        EXPECT_EQ(asked[0].get("params")->get("mode"), nullptr);
    }
}

TEST(ToolCalls, AnAnswerToNoQuestionIsIgnored) {
    SharedKernel kernel;
    TestClient client(kernel);
    client.open();
    const auto asked = client.call(1);
    ASSERT_TRUE(is_question(asked));
    for (const char* id : {R"("quire-0")", "1", R"("1")", "null", "1.5", "{}", R"("")"}) {
        EXPECT_TRUE(
            client.say(cat(R"({"jsonrpc":"2.0","id":)", id, R"(,"result":)", kApproved, "}"))
                .empty());
    }
    EXPECT_TRUE(client.say(cat(R"({"jsonrpc":"2.0","result":)", kApproved, "}")).empty());
    EXPECT_EQ(kernel.ledger->status("ap_1"), ApprovalStatus::pending);

    EXPECT_EQ(outcome_of(client.answer(asked[0], kApproved)), "done");
    EXPECT_TRUE(client.answer(asked[0], kApproved).empty());
    EXPECT_TRUE(client.answer(asked[0], kDeclined).empty());
}

TEST(ToolCalls, AClientCannotAnswerForAnother) {
    SharedKernel kernel;
    TestClient ada(kernel), eve(kernel, "agent:eve");
    ada.open();
    eve.open();
    const auto asked = ada.call(1);
    ASSERT_TRUE(is_question(asked));

    EXPECT_TRUE(eve.answer(asked[0], kApproved).empty());

    EXPECT_EQ(kernel.ledger->status("ap_1"), ApprovalStatus::pending);
    EXPECT_TRUE(ada.heard().empty());
}

TEST(ToolCalls, NoQuestionIsAskedInTheNameOfAnotherCaller) {
    SharedKernel kernel;
    TestClient bob(kernel, "agent:bob");
    bob.open("2025-11-25", "{}");
    EXPECT_EQ(outcome_of(bob.call(1)), "escalation_required");
    TestClient ada(kernel);
    ada.open();
    EXPECT_EQ(outcome_of(ada.call(1, "others")), "escalation_required");
    EXPECT_EQ(kernel.ledger->status("ap_1"), ApprovalStatus::pending);
}

TEST(ToolCalls, ACancelledCallCancelsItsQuestion) {
    SharedKernel kernel;
    TestClient client(kernel);
    client.open();
    const auto asked = client.call(1);
    ASSERT_TRUE(is_question(asked));

    const auto heard = client.say(
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");

    ASSERT_EQ(heard.size(), 1U);
    EXPECT_EQ(word(heard[0], "method"), "notifications/cancelled");
    EXPECT_EQ(*heard[0].get("params")->get("requestId"), *asked[0].get("id"));
    EXPECT_TRUE(client.answer(asked[0], kApproved).empty());
    EXPECT_EQ(kernel.ledger->status("ap_1"), ApprovalStatus::pending);
    // The id is free again, and another question is another one.
    EXPECT_TRUE(is_question(client.call(1)));
}

TEST(ToolCalls, ACallCancelledBeforehandAsksNoQuestion) {
    SharedKernel kernel;
    TestClient client(kernel);
    client.open();
    EXPECT_TRUE(client.call(1, "slow").empty());
    client.cancel(1);
    client.held->release();
    EXPECT_TRUE(client.heard().empty());
}

// The client takes its request 1 back just when it is asked about.
class HastyConnection final : public rpc::Connection {
public:
    bool send(std::string line) override {
        if (line.find("elicitation/create") != std::string::npos) in_flight->cancel(1);
        lines.push_back(std::move(line));
        return true;
    }
    void hold_input(bool) override {}
    void close() override {}

    std::shared_ptr<rpc::InFlight> in_flight;
    std::vector<std::string> lines;
};

TEST(ToolCalls, ACallCancelledWhileItIsAskedAboutCancelsItsQuestion) {
    SharedKernel kernel;
    const auto connection = std::make_shared<HastyConnection>();
    connection->in_flight = std::make_shared<rpc::InFlight>(connection, 10);
    const std::shared_ptr<Service> service =
        std::make_shared<GuardedService>(kernel.ledger, std::make_shared<HeldCalls>(), "agent:ada");
    const auto calls = std::make_shared<ToolCalls>(service, connection, &kernel.elicitation);

    calls->call({.request = *connection->in_flight->begin(1, nullptr),
                 .name = "guarded",
                 .arguments = Map{},
                 .route = ToolCalls::Route::by_request,
                 .version = "2025-11-25"},
                [](const Result<ToolCalls::Outcome>&) { FAIL() << "it was taken back"; });

    ASSERT_EQ(connection->lines.size(), 2U);
    const Value question = *json::parse(connection->lines[0]);
    const Value taken_back = *json::parse(connection->lines[1]);
    EXPECT_EQ(*taken_back.get("params")->get("requestId"), *question.get("id"));
    EXPECT_FALSE(calls->on_response(*question.get("id"), *json::parse(kApproved)));
    connection->in_flight.reset();
}

TEST(ToolCalls, TheEndOfTheConnectionLeavesTheApprovalWaiting) {
    SharedKernel kernel;
    TestClient client(kernel);
    client.open();
    const auto asked = client.call(1);
    ASSERT_TRUE(is_question(asked));
    client.call(2, "slow");

    client.session().on_close();
    client.held->release();

    EXPECT_TRUE(client.heard().empty());
    EXPECT_TRUE(client.answer(asked[0], kApproved).empty());
    EXPECT_EQ(kernel.ledger->status("ap_1"), ApprovalStatus::pending);
    kernel.pass(kernel.elicitation.open_ms);
    EXPECT_TRUE(client.heard().empty());
}

TEST(ToolCalls, OnlySomeOfAFloodOfCallsAreAskedAbout) {
    SharedKernel kernel;
    TestClient client(kernel);
    client.open();
    std::vector<Value> questions;
    for (int id = 0; id < 100; ++id) {
        const auto heard = client.call(id, "guarded", "", cat(R"({"n":)", id, "}"));
        if (is_question(heard)) {
            questions.push_back(heard[0]);
        } else {
            EXPECT_EQ(outcome_of(heard), "escalation_required");
        }
    }
    EXPECT_EQ(questions.size(), kernel.elicitation.most_questions);
    EXPECT_FALSE(client.connection->held());
    // One that has its answer makes room for another.
    EXPECT_EQ(outcome_of(client.answer(questions[0], kApproved)), "done");
    EXPECT_TRUE(is_question(client.call(100, "guarded", "", R"({"n":"x"})")));
}

TEST(ToolCalls, OneQuestionIsNotAskedTwiceAtOnce) {
    SharedKernel kernel;
    TestClient client(kernel);
    client.open();
    const auto asked = client.call(1);
    ASSERT_TRUE(is_question(asked));
    EXPECT_EQ(outcome_of(client.call(2)), "escalation_required");
    EXPECT_EQ(outcome_of(client.answer(asked[0], kApproved)), "done");
}

TEST(ToolCalls, AnUnansweredQuestionIsCancelledInTheEnd) {
    SharedKernel kernel;
    TestClient client(kernel);
    client.open();
    const auto first = client.call(1);
    kernel.pass(kernel.elicitation.open_ms / 2);
    const auto second = client.call(2, "guarded", "", R"({"n":2})");
    ASSERT_TRUE(is_question(first) && is_question(second));

    kernel.pass(kernel.elicitation.open_ms / 2);
    const auto heard = client.heard();
    ASSERT_EQ(heard.size(), 2U);
    EXPECT_EQ(*heard[0].get("params")->get("requestId"), *first[0].get("id"));
    EXPECT_EQ(outcome_of(heard[1]), "escalation_required");
    EXPECT_EQ(*heard[1].get("id"), Value(1));
    EXPECT_TRUE(client.answer(first[0], kApproved).empty());

    kernel.pass(kernel.elicitation.open_ms / 2);
    EXPECT_EQ(client.heard().size(), 2U);
    EXPECT_EQ(kernel.ledger->status("ap_1"), ApprovalStatus::pending);
}

TEST(ToolCalls, AKernelEndsThoughACallWaitsForAPerson) {
    SharedKernel kernel;
    TestClient client(kernel);
    client.open();
    const auto asked = client.call(1, "slow");
    EXPECT_TRUE(client.session().is_busy());
    client.held->release();
    const auto question = client.heard();
    ASSERT_TRUE(is_question(question));
    EXPECT_FALSE(client.session().is_busy());

    client.answer(question[0], kApproved);
    EXPECT_TRUE(client.session().is_busy());
    client.held->release();
    EXPECT_EQ(outcome_of(client.heard()), "done");
    EXPECT_FALSE(client.session().is_busy());
}

TEST(ToolCalls, AnEndingKernelNeitherWaitsForPeopleNorAsksThem) {
    SharedKernel kernel;
    TestClient client(kernel);
    client.open();
    const auto asked = client.call(1);
    ASSERT_TRUE(is_question(asked));

    client.session().on_ending();

    const auto heard = client.heard();
    ASSERT_EQ(heard.size(), 2U);
    EXPECT_EQ(*heard[0].get("params")->get("requestId"), *asked[0].get("id"));
    EXPECT_EQ(outcome_of(heard[1]), "escalation_required");
    EXPECT_EQ(outcome_of(client.call(2)), "escalation_required");
}

TEST(ToolCalls, AnswersComeThroughHoweverMuchElseIsUnderWay) {
    SharedKernel kernel;
    TestClient client(kernel);
    client.open();
    std::vector<Value> questions;
    questions.reserve(8);
    for (int id = 0; id < 8; ++id)
        questions.push_back(client.call(id, "guarded", "", cat(R"({"n":)", id, "}")).at(0));
    for (int id = 8; id < 2049; ++id) client.call(id, "wait");
    EXPECT_TRUE(client.connection->held());

    client.held->release();

    EXPECT_FALSE(client.connection->held());
    client.heard();
    for (const Value& question : questions)
        EXPECT_EQ(outcome_of(client.answer(question, kApproved)), "done");
}

TEST(ToolCalls, ACallThatNeedsTwoApprovalsIsAskedAboutTwice) {
    SharedKernel kernel;
    TestClient client(kernel);
    client.open();
    const auto first = client.call(1, "twice");
    ASSERT_TRUE(is_question(first));
    const auto second = client.answer(first[0], kApproved);
    ASSERT_TRUE(is_question(second));
    EXPECT_NE(*first[0].get("params")->get("message"), *second[0].get("params")->get("message"));
    EXPECT_EQ(outcome_of(client.answer(second[0], kApproved)), "done");
}

TEST(ToolCalls, APersonWhoAgreesToEverythingIsNotAskedForEver) {
    SharedKernel kernel;
    TestClient client(kernel);
    client.open();
    auto heard = client.call(1, "never");
    int rounds = 0;
    for (; is_question(heard); ++rounds) {
        ASSERT_LT(rounds, 100);
        heard = client.answer(heard[0], kApproved);
    }
    EXPECT_EQ(rounds, kernel.elicitation.most_rounds);
    EXPECT_EQ(outcome_of(heard), "escalation_required");
}

TEST(ToolCalls, AnAnswerThatCameFirstElsewhereHolds) {
    SharedKernel kernel;
    TestClient client(kernel);
    client.open();
    const auto approved = client.call(1);
    kernel.ledger->answer("ap_1", Answer::approve_once);
    EXPECT_EQ(outcome_of(client.answer(approved.at(0), kDeclined)), "done");
    EXPECT_EQ(kernel.ledger->all.at("ap_1").resolved->by.str(), "human:ann");

    const auto denied = client.call(2);
    kernel.ledger->answer("ap_2", Answer::deny);
    EXPECT_EQ(outcome_of(client.answer(denied.at(0), kApproved)), "approval_denied");

    const auto used = client.call(3, "guarded", "", R"({"n":3})");
    kernel.ledger->answer("ap_3", Answer::approve_once);
    kernel.ledger->all.at("ap_3").status = ApprovalStatus::used;
    EXPECT_EQ(outcome_of(client.answer(used.at(0), kApproved)), "already_resolved");
}

}  // namespace
}  // namespace quire::mcp
