// OpenQuestions: the requests that we have sent to one client and that it has not answered yet.
// ElicitationContext: what it takes to ask people in their clients, shared by all sessions of a
// kernel.
//
// Our ids are another space than the client's. They cannot be guessed, and none is ever used again:
// an answer meant for a kernel that was lost never answers the kernel after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/function.h"
#include "base/value.h"
#include "mcp/request_seal.h"
#include "rpc/connection.h"
#include "sched/guarded.h"
#include "sched/scheduler.h"

namespace quire::mcp {

struct ElicitationContext {
    sched::Scheduler& scheduler;
    const Clock& clock;
    Rng& rng;
    RequestSeal seal{rng};
    // Open questions per client. Further calls are refused as in a client that cannot ask.
    std::size_t most_questions = 8;
    int most_rounds = 4;  // Questions that one call may lead to while it waits.
    std::int64_t open_ms = std::int64_t{15} * 60 * 1000;  // How long an answer is accepted.
    // Nobody is asked while this is set. Any thread may set it.
    sched::Guarded<bool> off = {};

    bool asks() const {
        return !off.with([](bool is_off) { return is_off; });
    }
};

// Any thread.
class OpenQuestions : public std::enable_shared_from_this<OpenQuestions> {
public:
    // Receives the `result` of the answer; none where it was an error, or none came in time.
    using OnAnswer = Function<void(std::optional<Value> result)>;

    // `context` outlives this.
    OpenQuestions(std::shared_ptr<rpc::Connection> connection, const ElicitationContext& context);
    OpenQuestions(const OpenQuestions&) = delete;
    OpenQuestions& operator=(const OpenQuestions&) = delete;
    ~OpenQuestions() = default;

    // Sends a request on behalf of the client's own request `cause`, and returns its id. Returns
    // none, and sends nothing, where enough questions are open or one with the same `subject` is,
    // or after give_up() or close(). `on_answer` is called once at most, from any thread, and never
    // under a lock of this.
    std::optional<std::string> ask(std::string_view method, Map params, const Value& cause,
                                   std::string subject, OnAnswer on_answer);
    // Returns false when no question is open under `id`.
    bool on_response(const Value& id, std::optional<Value> result);
    // Cancels questions in the client, and drops their callbacks. An answer that is under way
    // already is ignored when it comes. Does nothing where no such question is open.
    void withdraw(std::string_view id);
    void withdraw_because_of(const Value& cause);
    // Asks nothing any more. Open questions are cancelled and count as unanswered.
    void give_up();
    // Asks nothing any more, and drops all callbacks.
    void close();

private:
    // A request that the client has not answered.
    struct Question {
        std::string id;
        Value cause;
        std::string subject;
        std::int64_t until_ms = 0;
        OnAnswer on_answer;
    };
    struct State {
        std::vector<Question> open;  // The oldest first.
        bool is_timed = false;
        bool closed = false;
    };
    template <class Which>
    std::vector<Question> cancel(State& state, Which which);
    void wait(std::int64_t ms);
    // Cancels the questions that nobody answered in time, and waits for the next.
    void expire();

    const std::shared_ptr<rpc::Connection> connection_;
    const ElicitationContext& context_;
    sched::Guarded<State> state_;
};

}  // namespace quire::mcp
