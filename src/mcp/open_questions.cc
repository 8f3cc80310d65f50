#include "mcp/open_questions.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "json/json.h"
#include "rpc/jsonrpc.h"

namespace quire::mcp {

namespace {

std::string new_question_id(Rng& rng) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string id = "quire-";
    for (int word = 0; word < 2; ++word) {
        std::uint64_t number = rng.next();
        for (int digit = 0; digit < 16; ++digit, number >>= 4U) id += kDigits[number & 15U];
    }
    return id;
}

}  // namespace

OpenQuestions::OpenQuestions(std::shared_ptr<rpc::Connection> connection, const Asking& asking)
    : connection_(std::move(connection)), asking_(asking) {}

std::optional<std::string> OpenQuestions::ask(std::string_view method, Map params,
                                              const Value& cause, std::string about, Heard heard) {
    std::string id = new_question_id(asking_.rng);
    bool begins = false;
    const bool asked = state_.with([&](State& state) {
        const bool is_open =
            std::any_of(state.open.begin(), state.open.end(),
                        [&](const Question& question) { return question.about == about; });
        if (state.closed || is_open || state.open.size() >= asking_.most_questions) return false;
        state.open.push_back({id, cause, std::move(about),
                              asking_.clock.steady_ms() + asking_.open_ms, std::move(heard)});
        begins = !std::exchange(state.is_timed, true);
        // Under the lock, so that nothing takes the question back before it was put.
        connection_->send(json::write(rpc::request(id, method, std::move(params))));
        return true;
    });
    if (begins) wait(asking_.open_ms);
    return asked ? std::optional(std::move(id)) : std::nullopt;
}

bool OpenQuestions::answered(const Value& id, std::optional<Value> said) {
    Heard heard;
    state_.with([&](State& state) {
        const auto at =
            std::find_if(state.open.begin(), state.open.end(),
                         [&](const Question& question) { return id == Value(question.id); });
        if (at == state.open.end()) return;
        heard = std::move(at->heard);
        state.open.erase(at);
    });
    if (!heard) return false;
    heard(std::move(said));
    return true;
}

template <class Which>
std::vector<OpenQuestions::Question> OpenQuestions::take_back(State& state, Which which) {
    std::vector<Question> taken;
    for (Question& question : state.open) {
        if (!which(question)) continue;
        connection_->send(json::write(
            rpc::notification("notifications/cancelled", {{"requestId", question.id}})));
        taken.push_back(std::move(question));
    }
    // Of what was moved from, nobody hears.
    std::erase_if(state.open, [&](const Question& question) { return !question.heard; });
    return taken;
}

void OpenQuestions::withdraw(std::string_view id) {
    state_.with([&](State& state) {
        return take_back(state, [&](const Question& question) { return question.id == id; });
    });
}

void OpenQuestions::withdraw_because_of(const Value& cause) {
    state_.with([&](State& state) {
        return take_back(state, [&](const Question& question) { return question.cause == cause; });
    });
}

void OpenQuestions::give_up() {
    std::vector<Question> taken = state_.with([&](State& state) {
        state.closed = true;
        return take_back(state, [](const Question&) { return true; });
    });
    for (Question& question : taken) question.heard(std::nullopt);
}

void OpenQuestions::close() {
    state_.with([](State& state) {
        state.closed = true;
        return std::exchange(state.open, {});
    });
}

// One task waits, for the oldest, however many are open.
void OpenQuestions::wait(std::int64_t ms) {
    asking_.scheduler.post_after(ms, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->expire();
    });
}

void OpenQuestions::expire() {
    std::optional<std::int64_t> next;
    std::vector<Question> expired = state_.with([&](State& state) {
        const std::int64_t now = asking_.clock.steady_ms();
        auto taken =
            take_back(state, [&](const Question& question) { return question.until_ms <= now; });
        state.is_timed = !state.open.empty();
        if (state.is_timed) next = state.open.front().until_ms - now;
        return taken;
    });
    if (next) wait(*next);
    for (Question& question : expired) question.heard(std::nullopt);
}

}  // namespace quire::mcp
