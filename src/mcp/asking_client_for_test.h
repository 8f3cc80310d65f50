// TestClient: a client whose person may be asked about a call, on a session with a fake kernel.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/concat.h"
#include "json/json.h"
#include "mcp/fakes_for_test.h"
#include "mcp/guarded_service_for_test.h"
#include "mcp/mcp_session.h"
#include "mcp/open_questions.h"
#include "sched/manual_for_test.h"

namespace quire::mcp {

inline constexpr const char* kApproved =
    R"({"action":"accept","content":{"decision":"approve_once"}})";
inline constexpr const char* kDeclined = R"({"action":"decline"})";

// The state that all sessions of one kernel share.
struct SharedKernel {
    sched::ManualScheduler scheduler;
    ManualClock clock;
    SeededRng rng{7};
    ElicitationContext elicitation{scheduler, clock, rng};
    std::shared_ptr<ApprovalLedger> ledger = std::make_shared<ApprovalLedger>();

    void pass(std::int64_t ms) {
        clock.advance(ms);
        scheduler.advance(ms);
    }
};

class TestClient {
public:
    explicit TestClient(SharedKernel& kernel, const std::string& actor = "agent:ada",
                        bool asks_people = true)
        : session_(std::make_unique<GuardedService>(kernel.ledger, held, actor, asks_people),
                   connection, Implementation{"quire", "Quire", "0"}, &kernel.elicitation) {}

    void open(std::string_view version = "2025-11-25",
              std::string_view capabilities = R"({"elicitation":{}})") {
        say(cat(
            R"({"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":")",
            version, R"(","capabilities":)", capabilities, "}}"));
    }
    std::vector<Value> say(const std::string& line) {
        session_.on_line(line);
        return heard();
    }
    std::vector<Value> heard() {
        std::vector<Value> messages;
        for (const std::string& line : connection->take()) messages.push_back(*json::parse(line));
        return messages;
    }
    std::vector<Value> call(int id, std::string_view tool = "guarded", std::string_view more = "",
                            std::string_view arguments = "{}") {
        return say(cat(R"({"jsonrpc":"2.0","id":)", id,
                       R"(,"method":"tools/call","params":{"name":")", tool, R"(","arguments":)",
                       arguments, more, "}}"));
    }
    // A call by a client of 2026-07-28.
    Value round(int id, std::string_view more = "", std::string_view arguments = "{}",
                std::string_view capabilities = R"({"elicitation":{"form":{}}})") {
        const auto answers =
            call(id, "guarded",
                 cat(more, R"(,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)",
                     R"("io.modelcontextprotocol/clientCapabilities":)", capabilities, "}"),
                 arguments);
        EXPECT_EQ(answers.size(), 1U);
        return answers.empty() ? Value() : answers.front();
    }
    std::vector<Value> answer(const Value& question, std::string_view result) {
        return say(cat(R"({"jsonrpc":"2.0","id":)", json::write(*question.get("id")),
                       R"(,"result":)", result, "}"));
    }
    void cancel(int id) {
        say(cat(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)", id,
                "}}"));
    }

    std::shared_ptr<HeldCalls> held = std::make_shared<HeldCalls>();
    std::shared_ptr<RecordingConnection> connection = std::make_shared<RecordingConnection>();
    McpSession& session() { return session_; }

private:
    McpSession session_;
};

inline std::string word(const Value& of, std::string_view member) {
    const Value* value = of.get(member);
    return value != nullptr && value->is_string() ? value->as_string() : "";
}

// "done", or the reason why the call was refused; "-32602 REASON" for an error of the protocol.
inline std::string outcome_of(const Value& message) {
    if (const Value* error = message.get("error"))
        return cat("-32602 ", word(*error->get("data"), "reason"));
    const Value& result = *message.get("result");
    if (word(result, "resultType") == "input_required") return "input_required";
    if (!result.get("isError")->as_bool()) return "done";
    const Value* structured = result.get("structuredContent");
    return structured == nullptr ? "refused" : word(*structured->get("error"), "reason");
}
inline std::string outcome_of(const std::vector<Value>& messages) {
    EXPECT_EQ(messages.size(), 1U);
    return messages.empty() ? "" : outcome_of(messages.front());
}

inline bool is_question(const std::vector<Value>& messages) {
    return messages.size() == 1 && word(messages.front(), "method") == "elicitation/create";
}

}  // namespace quire::mcp
