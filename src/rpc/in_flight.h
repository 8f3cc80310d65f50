// InFlight: the open requests of one connection. Answer: answers one of them. Batch: collects the
// answers to a JSON-RPC batch.
//
// A request is answered once or, after its cancellation, not at all. Answers come from any thread,
// and may come after the session is gone. Cost: a look-up by id for the begin and the end of each
// request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/value.h"
#include "rpc/connection.h"
#include "rpc/jsonrpc.h"
#include "sched/guarded.h"

namespace quire::rpc {

// The answers to one JSON-RPC batch, sent as one array when its last owner lets go of it: the
// session while it reads the batch, and each request that is open. Nothing is sent for a batch
// without answers.
class Batch {
public:
    // An answer with which the array would be longer than `longest` is replaced by a short error.
    // Only an array that has many of those can be longer.
    Batch(std::shared_ptr<Connection> connection, std::size_t longest)
        : connection_(std::move(connection)), longest_(longest) {}
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;
    ~Batch();
    void add(const Value& answer);

private:
    const std::shared_ptr<Connection> connection_;
    const std::size_t longest_;
    sched::Guarded<std::string> answers_;  // JSON texts, with commas between them.
};

class InFlight;

// Answers one request. All copies answer the same request, and the first use of any of them counts.
class Answer {
public:
    // Sends the answer, or adds it to its batch. Does nothing for a request that is not open.
    void result(Map result) const;
    void error(Fault fault) const;
    // Says that the request waits for a person, maybe for long, or waits no more: while it does, it
    // does not keep the kernel from ending.
    void waits(bool for_a_person) const;
    // Stops when the client cancels the request or disconnects.
    const std::stop_token& cancelled() const { return cancelled_; }
    const Value& id() const { return id_; }

private:
    friend class InFlight;
    void send(Value message) const;

    std::shared_ptr<InFlight> owner_;
    Value id_;
    std::uint64_t number_ = 0;
    std::stop_token cancelled_;
};

class InFlight : public std::enable_shared_from_this<InFlight> {
public:
    // Above `most` open requests the connection's input is held until half are left. An answer
    // above `longest` bytes, which the client could not read, is replaced by an error.
    InFlight(std::shared_ptr<Connection> connection, std::size_t most,
             std::size_t longest = SIZE_MAX);
    InFlight(const InFlight&) = delete;
    InFlight& operator=(const InFlight&) = delete;
    ~InFlight();

    // A batch whose array is bound by `longest`, as an answer of its own is.
    std::shared_ptr<Batch> make_batch() const;

    // Opens a request that came in `bytes`. Calls hold_input() when there are too many. None when a
    // request with this id is still open; the caller then refuses this one, and the open one goes
    // on. `batch` may be null; otherwise the answer waits there for the others.
    std::optional<Answer> begin(const Value& id, std::shared_ptr<Batch> batch,
                                std::size_t bytes = 0);
    // Cancels the request: it gets no answer, and its stop token stops. Callbacks of that token run
    // before this returns. Returns false when no request with this id is open, as when the answer
    // has just gone out.
    bool cancel(const Value& id);
    // Cancels every request: the client is gone.
    void cancel_all();
    // The request stays open until it is cancelled; no answer will come. It counts as open, but
    // is_busy() passes over it: it is a subscription and not work.
    void leave_open(const Value& id);
    // Returns true if answers are still to come that do not wait for a person.
    bool is_busy() const;

    Connection& connection() { return *connection_; }

private:
    friend class Answer;
    struct State;
    // Removes the request; false when it is not open any more.
    bool finish(const Value& id, std::uint64_t number, std::shared_ptr<Batch>& batch);
    void set_waiting(const Value& id, std::uint64_t number, bool waits);

    std::shared_ptr<Connection> connection_;
    std::size_t most_;
    const std::size_t longest_;
    std::unique_ptr<sched::Guarded<State>> state_;
};

}  // namespace quire::rpc
