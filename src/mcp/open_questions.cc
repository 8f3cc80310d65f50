// Questions stand in a list, oldest first; a client has few of them at once, so each look-up walks
// the list. One timer waits for the oldest. Callbacks run outside of the lock, because they may ask
// again; requests and cancellations are sent under it, so that the client gets them in order.
#include "mcp/open_questions.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "base/hex.h"
#include "json/json.h"
#include "rpc/jsonrpc.h"

namespace quire::mcp {

namespace {

// 128 random bits: neither the client nor a later kernel comes upon the same id.
std::string new_question_id(Rng& rng) {
    const std::string high = hex_number(rng.next(), 16);
    return cat("quire-", high, hex_number(rng.next(), 16));
}

}  // namespace

OpenQuestions::OpenQuestions(std::shared_ptr<rpc::Connection> connection,
                             const ElicitationContext& context)
    : connection_(std::move(connection)), context_(context) {}

std::optional<std::string> OpenQuestions::ask(std::string_view method, Map params,
                                              const Value& cause, std::string subject,
                                              OnAnswer on_answer) {
    std::string id = new_question_id(context_.rng);
    bool begins = false;
    const bool sent = state_.with([&](State& state) {
        const bool is_open =
            std::any_of(state.open.begin(), state.open.end(),
                        [&](const Question& question) { return question.subject == subject; });
        if (state.closed || is_open || state.open.size() >= context_.most_questions) return false;
        // All questions are open for the same time, so the oldest is the first that is due, and the
        // list needs no order of its own.
        state.open.push_back({id, cause, std::move(subject),
                              context_.clock.steady_ms() + context_.open_ms, std::move(on_answer)});
        begins = !std::exchange(state.is_timed, true);
        // Sent under the lock, so that nothing can cancel the question before it is sent.
        connection_->send(json::write(rpc::request(id, method, std::move(params))));
        return true;
    });
    // Outside of the lock: a scheduler may run the task at once.
    if (begins) wait(context_.open_ms);
    return sent ? std::optional(std::move(id)) : std::nullopt;
}

bool OpenQuestions::on_response(const Value& id, std::optional<Value> result) {
    OnAnswer on_answer;
    state_.with([&](State& state) {
        const auto at =
            std::find_if(state.open.begin(), state.open.end(),
                         [&](const Question& question) { return id == Value(question.id); });
        if (at == state.open.end()) return;
        // The question leaves the list before its callback runs, so a second answer under its id
        // finds nothing.
        on_answer = std::move(at->on_answer);
        state.open.erase(at);
    });
    if (!on_answer) return false;
    on_answer(std::move(result));
    return true;
}

template <class Which>
std::vector<OpenQuestions::Question> OpenQuestions::cancel(State& state, Which which) {
    std::vector<Question> cancelled;
    for (Question& question : state.open) {
        if (!which(question)) continue;
        connection_->send(json::write(
            rpc::notification("notifications/cancelled", {{"requestId", question.id}})));
        cancelled.push_back(std::move(question));
    }
    // Questions that were moved from have no callback.
    std::erase_if(state.open, [&](const Question& question) { return !question.on_answer; });
    return cancelled;
}

void OpenQuestions::withdraw(std::string_view id) {
    state_.with([&](State& state) {
        return cancel(state, [&](const Question& question) { return question.id == id; });
    });
}

void OpenQuestions::withdraw_because_of(const Value& cause) {
    state_.with([&](State& state) {
        return cancel(state, [&](const Question& question) { return question.cause == cause; });
    });
}

void OpenQuestions::give_up() {
    std::vector<Question> cancelled = state_.with([&](State& state) {
        state.closed = true;
        return cancel(state, [](const Question&) { return true; });
    });
    for (Question& question : cancelled) question.on_answer(std::nullopt);
}

void OpenQuestions::close() {
    state_.with([](State& state) {
        state.closed = true;
        return std::exchange(state.open, {});
    });
}

// However many are open, one task waits: for the oldest.
void OpenQuestions::wait(std::int64_t ms) {
    context_.scheduler.post_after(ms, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->expire();
    });
}

void OpenQuestions::expire() {
    std::optional<std::int64_t> next;
    std::vector<Question> expired = state_.with([&](State& state) {
        const std::int64_t now = context_.clock.steady_ms();
        auto cancelled =
            cancel(state, [&](const Question& question) { return question.until_ms <= now; });
        state.is_timed = !state.open.empty();
        if (state.is_timed) next = state.open.front().until_ms - now;
        return cancelled;
    });
    if (next) wait(*next);
    for (Question& question : expired) question.on_answer(std::nullopt);
}

}  // namespace quire::mcp
