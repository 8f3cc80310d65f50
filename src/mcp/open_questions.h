// OpenQuestions: what we have asked one client, in requests of our own, and not been answered.
//
// Our ids are another space than the client's. They cannot be guessed, and none is ever used again,
// so that an answer to a kernel that was lost is never one to the kernel after it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/function.h"
#include "base/value.h"
#include "mcp/asking.h"
#include "rpc/connection.h"
#include "sched/guarded.h"

namespace quire::mcp {

// Any thread.
class OpenQuestions : public std::enable_shared_from_this<OpenQuestions> {
public:
    // The `result` of the answer; none where it was an error, or none came in time.
    using Heard = Function<void(std::optional<Value> said)>;

    // `asking` outlives this.
    OpenQuestions(std::shared_ptr<rpc::Connection> connection, const Asking& asking);
    OpenQuestions(const OpenQuestions&) = delete;
    OpenQuestions& operator=(const OpenQuestions&) = delete;
    ~OpenQuestions() = default;

    // Sends a request because of the client's own request `cause`. Its id; none, and nothing is
    // sent, where enough are open or one `about` the same is.
    std::optional<std::string> ask(std::string_view method, Map params, const Value& cause,
                                   std::string about, Heard heard);
    // False where no open question of ours has the id.
    bool answered(const Value& id, std::optional<Value> said);
    // The client is told that no answer is wanted any more, and none is heard.
    void withdraw(std::string_view id);
    void withdraw_because_of(const Value& cause);
    // Nothing is asked any more. What is open is taken back, and heard of as not answered.
    void give_up();
    // Nothing is asked or heard any more.
    void close();

private:
    struct Question {
        std::string id;
        Value cause;
        std::string about;
        std::int64_t until_ms = 0;
        Heard heard;
    };
    struct State {
        std::vector<Question> open;  // The oldest first.
        bool is_timed = false;
        bool closed = false;
    };
    template <class Which>
    std::vector<Question> take_back(State& state, Which which);
    void wait(std::int64_t ms);
    void expire();

    const std::shared_ptr<rpc::Connection> connection_;
    const Asking& asking_;
    sched::Guarded<State> state_;
};

}  // namespace quire::mcp
