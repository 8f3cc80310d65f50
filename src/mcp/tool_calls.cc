// One path for all calls: run, look at the refusal, ask, record the decision, run again. A call
// that may not ask goes the same path and replies with its first result. Each run is a call of its
// own to everything below; a run costs what Service::call() costs, and a copy of the arguments
// while another run may follow.
//
//   run     result without an approval      reply
//           refusal, asked by request       ask, wait for the answer, decide
//           refusal, asked by result        reply with a state; the next call brings it: decide
//   decide  a decision                      record it, run again
//           none                            reply with the refusal
//
// An answer counts only under the id of an open question or with a signed state, and the approval
// that it resolves is looked up in the kernel, not taken from the client.
#include "mcp/tool_calls.h"

#include <utility>

#include "mcp/elicitation.h"
#include "mcp/open_questions.h"
#include "mcp/service.h"
#include "policy/call_digest.h"

namespace quire::mcp {

namespace {

std::string digest_of(const ToolCalls::Call& call) {
    return policy::call_digest("tools/call", call.name, call.arguments);
}

// Returns true if somebody else has answered this approval first. The call is then made all the
// same: it runs, or its refusal says who denied it. Approvals that are used, revoked or outdated do
// not count.
bool is_answered_meanwhile(const Error& error) {
    const Value* const status = error.details().find("status");
    return error.reason() == "already_resolved" && status != nullptr &&
           (*status == Value("approved") || *status == Value("denied"));
}

}  // namespace

struct ToolCalls::Running {
    Call call;
    Reply<Outcome> reply;
    bool may_ask = true;
    int rounds = 0;  // Questions that it has led to.
    // While a person is asked: the reply if nobody answers.
    std::optional<tools::ToolResult> refusal = {};
};

ToolCalls::ToolCalls(std::weak_ptr<Service> service, std::shared_ptr<rpc::Connection> connection,
                     const ElicitationContext* elicitation)
    : service_(std::move(service)),
      elicitation_(elicitation),
      questions_(elicitation == nullptr
                     ? nullptr
                     : std::make_shared<OpenQuestions>(std::move(connection), *elicitation)) {}
ToolCalls::~ToolCalls() = default;

void ToolCalls::call(Call call, Reply<Outcome> reply) {
    const auto service = service_.lock();
    if (service == nullptr) return;
    const bool asks =
        elicitation_ != nullptr && elicitation_->asks() && service->approver() != nullptr;
    if (!asks) call.route = Route::none;
    std::string approval_id;
    if (!call.state.empty()) {
        Result<std::string> opened = open_state(call);
        if (!opened) return reply(Failure(std::move(opened).error()));
        approval_id = std::move(*opened);
    }
    const auto running = std::make_shared<Running>(Running{std::move(call), std::move(reply)});
    running->may_ask = running->call.route != Route::none;
    if (approval_id.empty() || !running->call.response) return run(running);
    decide(running, approval_id, *std::exchange(running->call.response, std::nullopt));
}

Result<std::string> ToolCalls::open_state(const Call& call) const {
    const auto service = service_.lock();
    Approver* const approver = service == nullptr ? nullptr : service->approver();
    if (elicitation_ == nullptr || approver == nullptr) {
        return invalid("invalid_request_state",
                       "nothing was done: requestState is not of this server, which asks nobody in "
                       "this client. Make the call without requestState and inputResponses");
    }
    const std::string actor = approver->asker().str();
    return elicitation_->seal.open(call.state, {actor, digest_of(call)},
                                   elicitation_->clock.steady_ms());
}

void ToolCalls::run(const Ref& call) {
    const auto service = service_.lock();
    if (service == nullptr || call->call.request.cancelled().stop_requested()) return;
    Value arguments = call->may_ask ? call->call.arguments : std::move(call->call.arguments);
    service->call(call->call.name, std::move(arguments), call->call.request.cancelled(),
                  [self = shared_from_this(), call](Result<tools::ToolResult> result) {
                      self->on_result(call, std::move(result));
                  });
}

void ToolCalls::on_result(const Ref& call, Result<tools::ToolResult> result) {
    if (!result) return call->reply(Failure(std::move(result).error()));
    if (!call->may_ask) return call->reply(Outcome(std::move(*result)));
    const auto id = elicitation::approval_of(*result);
    const auto service = service_.lock();
    if (call->call.request.cancelled().stop_requested()) return;
    if (!id || service == nullptr) return call->reply(Outcome(std::move(*result)));
    const auto approval = service->approver()->find(*id);
    // A client is asked about calls of its own actor only.
    if (!approval || approval->status != policy::ApprovalStatus::pending ||
        approval->ask.actor != service->approver()->asker())
        return call->reply(Outcome(std::move(*result)));
    // The refusal is kept as the answer for the case that nobody decides.
    call->refusal = std::move(*result);
    Map question = elicitation::question(*approval, call->call.version);
    switch (call->call.route) {
        case Route::none:
            return call->reply(Outcome(std::move(*call->refusal)));
        case Route::by_request:
            return ask_by_request(call, *id, std::move(question));
        case Route::by_result:
            return ask_by_result(call, *id, std::move(question));
    }
}

void ToolCalls::ask_by_request(const Ref& call, const std::string& approval_id, Map question) {
    // Bounds the questions to a client that agrees to everything, where no approval helps.
    if (++call->rounds > elicitation_->most_rounds)
        return call->reply(Outcome(std::move(*call->refusal)));
    const rpc::Answer& request = call->call.request;
    request.waits(true);
    const auto question_id = questions_->ask(
        elicitation::kMethod, std::move(question), request.id(), approval_id,
        [self = shared_from_this(), call, approval_id](std::optional<Value> response) {
            call->call.request.waits(false);
            if (!response) return call->reply(Outcome(std::move(*call->refusal)));
            self->decide(call, approval_id, *response);
        });
    if (!question_id) {
        request.waits(false);
        return call->reply(Outcome(std::move(*call->refusal)));
    }
    // The call may have been cancelled before there was a question to withdraw.
    if (request.cancelled().stop_requested()) questions_->withdraw(*question_id);
}

void ToolCalls::ask_by_result(const Ref& call, const std::string& approval_id, Map question) const {
    const auto service = service_.lock();
    if (service == nullptr) return;
    const std::string actor = service->approver()->asker().str();
    const std::int64_t until = elicitation_->clock.steady_ms() + elicitation_->open_ms;
    std::string state = elicitation_->seal.seal({actor, digest_of(call->call)}, approval_id, until);
    call->reply(Outcome(InputRequired{std::move(question), std::move(state)}));
}

void ToolCalls::decide(const Ref& call, const std::string& approval_id, const Value& response) {
    const auto service = service_.lock();
    if (service == nullptr) return;
    const auto approval = service->approver()->find(approval_id);
    if (!approval) return call->reply(Outcome(tools::refused(approval.error())));
    auto decision = elicitation::decision(response, approval->ask.target);
    if (!decision) {
        // Nobody decided: the approval stays open, and nobody is asked about it again.
        if (call->refusal) return call->reply(Outcome(std::move(*call->refusal)));
        call->may_ask = false;
        return run(call);
    }
    service->approver()->resolve(
        approval_id, std::move(*decision),
        [self = shared_from_this(), call](Result<policy::Approval> resolved) {
            if (resolved || is_answered_meanwhile(resolved.error())) return self->run(call);
            call->reply(Outcome(tools::refused(resolved.error())));
        });
}

bool ToolCalls::on_response(const Value& id, std::optional<Value> result) {
    return questions_ != nullptr && questions_->on_response(id, std::move(result));
}

void ToolCalls::on_cancelled(const Value& request_id) {
    if (questions_ != nullptr) questions_->withdraw_because_of(request_id);
}

void ToolCalls::give_up() {
    if (questions_ != nullptr) questions_->give_up();
}

void ToolCalls::close() {
    if (questions_ != nullptr) questions_->close();
}

}  // namespace quire::mcp
