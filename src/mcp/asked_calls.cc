#include "mcp/asked_calls.h"

#include <utility>

#include "mcp/approver.h"
#include "mcp/asking.h"
#include "mcp/elicitation.h"
#include "mcp/open_questions.h"
#include "mcp/service.h"
#include "policy/call_digest.h"

namespace quire::mcp {

namespace {

std::string digest_of(const AskedCalls::Call& call) {
    return policy::call_digest("tools/call", call.name, call.arguments);
}

// Whether somebody else's answer came first, upon which the call is to be made all the same: it
// runs, or is told who denied it. An approval that is spent, taken back or outdated is none.
bool is_answered_meanwhile(const Error& error) {
    const Value* const status = error.details().find("status");
    return error.reason() == "already_resolved" && status != nullptr &&
           (*status == Value("approved") || *status == Value("denied"));
}

}  // namespace

struct AskedCalls::Running {
    Call call;
    Reply<Outcome> reply;
    bool may_ask = true;
    int rounds = 0;                  // Questions that it has led to.
    tools::ToolResult refusal = {};  // While a person is asked: what is told if nobody answers.
};

AskedCalls::AskedCalls(std::weak_ptr<Service> service, std::shared_ptr<rpc::Connection> connection,
                       const Asking* asking)
    : service_(std::move(service)),
      asking_(asking),
      questions_(asking == nullptr
                     ? nullptr
                     : std::make_shared<OpenQuestions>(std::move(connection), *asking)) {}
AskedCalls::~AskedCalls() = default;

void AskedCalls::call(Call call, Reply<Outcome> reply) {
    const auto service = service_.lock();
    if (service == nullptr) return;
    const bool asks = asking_ != nullptr && service->approver() != nullptr;
    if (!asks) call.way = Way::none;
    if (call.state.empty() && call.way == Way::none) {
        return service->call(std::move(call.name), std::move(call.arguments),
                             call.request.cancelled(),
                             [reply = std::move(reply)](Result<tools::ToolResult> result) mutable {
                                 if (!result) return reply(Failure(std::move(result).error()));
                                 reply(Outcome(std::move(*result)));
                             });
    }
    std::string approval_id;
    if (!call.state.empty()) {
        Result<std::string> opened = open(call);
        if (!opened) return reply(Failure(std::move(opened).error()));
        approval_id = std::move(*opened);
    }
    const auto running = std::make_shared<Running>(Running{std::move(call), std::move(reply)});
    if (approval_id.empty() || !running->call.said) return run(running);
    decide(running, approval_id, *std::exchange(running->call.said, std::nullopt));
}

Result<std::string> AskedCalls::open(const Call& call) const {
    const auto service = service_.lock();
    Approver* const approver = service == nullptr ? nullptr : service->approver();
    if (asking_ == nullptr || approver == nullptr) {
        return invalid("invalid_request_state",
                       "nothing was done: requestState is not of this server, which asks nobody in "
                       "this client. Make the call without requestState and inputResponses");
    }
    const std::string actor = approver->asker().str();
    return asking_->seal.open(call.state, {actor, digest_of(call)}, asking_->clock.steady_ms());
}

// Every run is a call of its own to everybody else.
void AskedCalls::run(const Ref& call) {
    const auto service = service_.lock();
    if (service == nullptr || call->call.request.cancelled().stop_requested()) return;
    service->call(call->call.name, call->call.arguments, call->call.request.cancelled(),
                  [self = shared_from_this(), call](Result<tools::ToolResult> result) {
                      self->took(call, std::move(result));
                  });
}

void AskedCalls::took(const Ref& call, Result<tools::ToolResult> result) {
    if (!result) return call->reply(Failure(std::move(result).error()));
    const auto id = elicitation::approval_of(*result);
    const auto service = service_.lock();
    if (call->call.request.cancelled().stop_requested()) return;
    if (!id || !call->may_ask || service == nullptr)
        return call->reply(Outcome(std::move(*result)));
    const auto approval = service->approver()->find(*id);
    // Nobody is asked in the name of somebody else.
    if (!approval || approval->status != policy::ApprovalStatus::pending ||
        approval->ask.actor != service->approver()->asker())
        return call->reply(Outcome(std::move(*result)));
    call->refusal = std::move(*result);
    Map question = elicitation::question(*approval, call->call.version);
    switch (call->call.way) {
        case Way::none:
            return call->reply(Outcome(std::move(call->refusal)));
        case Way::by_request:
            return ask_by_request(call, *id, std::move(question));
        case Way::by_result:
            return ask_by_result(call, *id, std::move(question));
    }
}

void AskedCalls::ask_by_request(const Ref& call, const std::string& approval_id, Map question) {
    // A client that agrees to whatever it is asked would be asked for ever if no answer helped.
    if (++call->rounds > asking_->most_rounds)
        return call->reply(Outcome(std::move(call->refusal)));
    const rpc::Answer& request = call->call.request;
    request.waits(true);
    const auto asked =
        questions_->ask(elicitation::kMethod, std::move(question), request.id(), approval_id,
                        [self = shared_from_this(), call, approval_id](std::optional<Value> said) {
                            call->call.request.waits(false);
                            if (!said) return call->reply(Outcome(std::move(call->refusal)));
                            self->decide(call, approval_id, *said);
                        });
    if (!asked) {
        request.waits(false);
        return call->reply(Outcome(std::move(call->refusal)));
    }
    // It may have been taken back before there was a question to take back.
    if (request.cancelled().stop_requested()) questions_->withdraw(*asked);
}

void AskedCalls::ask_by_result(const Ref& call, const std::string& approval_id,
                               Map question) const {
    const auto service = service_.lock();
    if (service == nullptr) return;
    const std::string actor = service->approver()->asker().str();
    const std::int64_t until = asking_->clock.steady_ms() + asking_->open_ms;
    std::string state = asking_->seal.seal({actor, digest_of(call->call)}, approval_id, until);
    call->reply(Outcome(InputRequired{std::move(question), std::move(state)}));
}

void AskedCalls::decide(const Ref& call, const std::string& approval_id, const Value& said) {
    const auto service = service_.lock();
    if (service == nullptr) return;
    auto decision = elicitation::decision(said);
    if (!decision) {
        // Nobody decided: it is not asked again, and waits.
        if (call->refusal.is_error) return call->reply(Outcome(std::move(call->refusal)));
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

bool AskedCalls::answered(const Value& id, std::optional<Value> said) {
    return questions_ != nullptr && questions_->answered(id, std::move(said));
}

void AskedCalls::cancelled(const Value& request_id) {
    if (questions_ != nullptr) questions_->withdraw_because_of(request_id);
}

void AskedCalls::give_up() {
    if (questions_ != nullptr) questions_->give_up();
}

void AskedCalls::close() {
    if (questions_ != nullptr) questions_->close();
}

}  // namespace quire::mcp
