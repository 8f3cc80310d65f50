// ToolCalls: the tools/call requests of one client. A call that needs a person's approval is put to
// the person in front of that client, where the client can ask, and is made once they agree.
//
// The question goes out as a request of ours while the call waits for its answer (MCP up to
// 2025-11-25), or as the call's result, upon which the client calls again (from 2026-07-28). Either
// way the approval exists before anybody is asked, and stays open when nobody answers: the call is
// then refused as it would be in a client that cannot ask. A decision is recorded first. Then the
// same call is made again under the same name, and every other check applies to it again.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/function.h"
#include "base/value.h"
#include "rpc/in_flight.h"
#include "tools/tool.h"

namespace quire::mcp {

struct ElicitationContext;
class OpenQuestions;
class Service;

class ToolCalls : public std::enable_shared_from_this<ToolCalls> {
public:
    // How the client can be asked: not at all, by a request of ours (legacy), or by the result of
    // its call (modern).
    enum class Route { none, by_request, by_result };
    // One call as it arrived. It is kept as long as its outcome is open, since a decision has it
    // made again.
    struct Call {
        rpc::Answer request;
        std::string name;
        Value arguments;
        Route route = Route::none;
        std::string_view version = {};  // The revision that the client speaks.
        // The state that the client returns from an earlier result: "" and none for a first call.
        std::string state = {};
        std::optional<Value> response = {};
    };
    // The call is to be made again by the client, with the answer to the question and the same
    // arguments. Nothing of it is kept here meanwhile: all that the next round needs is in `state`.
    struct InputRequired {
        Map question;  // The params of elicitation/create.
        std::string state;
    };
    using Outcome = std::variant<tools::ToolResult, InputRequired>;

    // With a null `elicitation`, which otherwise outlives this, nobody is asked.
    ToolCalls(std::weak_ptr<Service> service, std::shared_ptr<rpc::Connection> connection,
              const ElicitationContext* elicitation);
    ToolCalls(const ToolCalls&) = delete;
    ToolCalls& operator=(const ToolCalls&) = delete;
    ~ToolCalls();

    // Replies once, unless the client cancels the call or disconnects. Errors: those of
    // Service::call(); those of RequestSeal::open(), where a state is given.
    void call(Call call, Reply<Outcome> reply);
    // The client's response to a request of ours. False when no question is open under `id`.
    bool on_response(const Value& id, std::optional<Value> result);
    // The client has cancelled its request: questions that it led to are withdrawn.
    void on_cancelled(const Value& request_id);
    // Stops waiting for people: calls that wait for one are refused as if nobody had answered.
    // Their approvals stay open, and later calls are not asked about by request.
    void give_up();
    // The client is gone: drops the questions and their callbacks.
    void close();

private:
    struct Running;
    using Ref = std::shared_ptr<Running>;

    // The approval in the state that the client brought back.
    Result<std::string> open_state(const Call& call) const;
    // Makes the call, unless it is cancelled or the service is gone; then it never replies.
    void run(const Ref& call);
    // Replies with the result, or asks for the approval that it names.
    void on_result(const Ref& call, Result<tools::ToolResult> result);
    void ask_by_request(const Ref& call, const std::string& approval_id, Map question);
    void ask_by_result(const Ref& call, const std::string& approval_id, Map question) const;
    // Records the decision in a response, and makes the call again.
    void decide(const Ref& call, const std::string& approval_id, const Value& response);

    const std::weak_ptr<Service> service_;
    const ElicitationContext* const elicitation_;
    const std::shared_ptr<OpenQuestions> questions_;  // Null where nobody is asked.
};

}  // namespace quire::mcp
