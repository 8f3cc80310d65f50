#include "rpc/in_flight.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "json/json.h"

namespace quire::rpc {
namespace {

class SentLines final : public Connection {
public:
    bool send(std::string line) override {
        lines.push_back(std::move(line));
        return true;
    }
    void hold_input(bool) override {}
    void close() override {}

    std::vector<std::string> lines;
};

TEST(InFlight, TheAnswersToABatchAreTogetherNoLongerThanOneAnswerMayBe) {
    constexpr std::size_t kLongest = 3000;
    const auto sent = std::make_shared<SentLines>();
    const auto requests = std::make_shared<InFlight>(sent, 10, kLongest);
    auto batch = requests->make_batch();
    std::vector<Answer> answers;
    for (int id = 1; id <= 3; ++id) answers.push_back(*requests->begin(Value(id), batch, 0));
    batch.reset();

    answers[0].result({{"text", std::string(kLongest, 'x')}});
    answers[1].result({{"text", std::string(kLongest / 2, 'y')}});
    answers[2].result({{"text", std::string(kLongest / 2, 'z')}});

    ASSERT_EQ(sent->lines.size(), 1U);
    EXPECT_LE(sent->lines[0].size(), kLongest);
    const auto array = json::parse(sent->lines[0]);
    ASSERT_TRUE(array);
    std::string which;
    for (const Value& each : array->as_list()) {
        const Value* const error = each.get("error");
        which += error == nullptr ? "result " : "error ";
        if (error == nullptr) continue;
        EXPECT_EQ(error->get("data")->get("reason")->as_string(), "too_large");
    }
    EXPECT_EQ(which, "error result error ");
}

}  // namespace
}  // namespace quire::rpc
