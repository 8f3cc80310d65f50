// AskedCalls: the tools/call of one client. What needs a person's approval is put to the person in
// front of that client, where the client can ask, and done once they agree.
//
// The question goes out as a request of ours, while the call waits for its answer (MCP up to
// 2025-11-25), or as the call's result, upon which the client calls again (from 2026-07-28). Either
// way an approval is there before anybody is asked, and waits when nobody answers: the call is then
// refused as it would be without this. What a person decided is recorded first, and the very call
// made again, in the same name: whatever else holds for it then, holds.
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

struct Asking;
class OpenQuestions;
class Service;

class AskedCalls : public std::enable_shared_from_this<AskedCalls> {
public:
    enum class Way { none, by_request, by_result };  // In which the client can be asked.
    struct Call {
        rpc::Answer request;
        std::string name;
        Value arguments;
        Way way = Way::none;
        std::string_view version = {};  // The revision that the client speaks.
        // What the client brings back of an earlier result: "" for nothing.
        std::string state = {};
        std::optional<Value> said = {};
    };
    // The call is to be made again, with the answer to the question.
    struct InputRequired {
        Map question;  // The params of elicitation/create.
        std::string state;
    };
    using Outcome = std::variant<tools::ToolResult, InputRequired>;

    // `asking` may be null: then nobody is asked. It outlives this.
    AskedCalls(std::weak_ptr<Service> service, std::shared_ptr<rpc::Connection> connection,
               const Asking* asking);
    AskedCalls(const AskedCalls&) = delete;
    AskedCalls& operator=(const AskedCalls&) = delete;
    ~AskedCalls();

    // Replies once, unless the client takes the call back or goes. Errors: those of
    // Service::call(); of RequestSeal::open(), where a state is given.
    void call(Call call, Reply<Outcome> reply);
    // An answer of the client to a request of ours: false where it is to none.
    bool answered(const Value& id, std::optional<Value> said);
    void cancelled(const Value& request_id);
    // Nobody is waited for any more: calls that do are refused as if nobody had answered.
    void give_up();
    void close();

private:
    struct Running;
    using Ref = std::shared_ptr<Running>;

    Result<std::string> open(const Call& call) const;
    void run(const Ref& call);
    void took(const Ref& call, Result<tools::ToolResult> result);
    void ask_by_request(const Ref& call, const std::string& approval_id, Map question);
    void ask_by_result(const Ref& call, const std::string& approval_id, Map question) const;
    void decide(const Ref& call, const std::string& approval_id, const Value& said);

    const std::weak_ptr<Service> service_;
    const Asking* const asking_;
    const std::shared_ptr<OpenQuestions> questions_;  // Null where nobody is asked.
};

}  // namespace quire::mcp
