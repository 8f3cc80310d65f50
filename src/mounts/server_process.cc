// Orders, calls and requests for the list, come from any thread into an inbox. The first one posts
// serve() to a worker, which then owns the run until nothing is left to do: it starts the program,
// hands it what waits, sleeps in poll() until the program, the bell or a deadline wakes it, and
// answers. Only the inbox and the shown state are shared; all else belongs to that worker.
//
//     post() ──> inbox ──> waiting ──> calls of the run ──> answered
//                             │              │
//                             └── refused ───┴── fate_unknown: sent, and the program was lost
//
// An order costs one wake of the worker. A call that was sent is never sent again.
#include "mounts/server_process.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/concat.h"
#include "json/json.h"
#include "mounts/server_channel.h"
#include "process/piped.h"
#include "sched/guarded.h"
#include "sched/scheduler.h"

namespace quire::mounts {
namespace {

// How long a program is given to end by itself: when the kernel ends, and when it is not wanted.
constexpr std::int64_t kPatienceMs = 1000;
constexpr std::int64_t kLittlePatienceMs = 200;
// The longest wait: how late the end of a program is seen that keeps its output open.
constexpr std::int64_t kSliceMs = 1000;

// A call, or a request for what the server lists.
struct Order {
    ServerProcess::Call call = {};
    Reply<Value> answer = {};  // For a call;
    Reply<Listing> list = {};  // for the list.
    bool requested = false;    // The server has been asked for the list.
    std::int64_t deadline_ms = 0;
    std::unique_ptr<std::stop_callback<std::function<void()>>> on_stop = {};

    bool is_cancelled() const { return call.cancelled.stop_requested(); }
    // An order has one of the two replies.
    void refuse(Error error) {
        if (answer) return answer(Failure(std::move(error)));
        list(Failure(std::move(error)));
    }
};

// One run of the program.
struct Run {
    Run(process::PipedProgram program, const ServerOptions& options, const Clock& clock)
        : channel(std::move(program), options, clock), begun_ms(clock.steady_ms()) {}

    ServerChannel channel;
    const std::int64_t begun_ms;
    ServerInfo server;
    std::optional<Listing> listing;
    bool has_changed = false;        // The server says so, and has not been asked since.
    std::int64_t list_again_ms = 0;  // The next listing for that reason is not before this time.
    std::map<std::int64_t, Order> calls;
    std::size_t timeouts = 0;  // Since the last answer.
    bool useful = false;       // It has answered a call.
};

}  // namespace

class ServerProcess::Body : public std::enable_shared_from_this<Body> {
public:
    Body(ServerOptions options, sched::Scheduler& workers, const Clock& clock,
         std::function<void(const ServerInfo&, const Listing&)> listed)
        : options_(std::move(options)),
          workers_(workers),
          clock_(clock),
          listed_(std::move(listed)) {}

    void post(Order order);
    void stop();
    State state() const {
        return shown_.with([](const State& state) { return state; });
    }
    std::int64_t now() const { return clock_.steady_ms(); }
    const std::shared_ptr<Bell>& bell() const { return bell_; }
    const ServerOptions& options() const { return options_; }

private:
    struct Inbox {
        std::vector<Order> orders;
        bool serving = false;  // A worker is in serve().
        bool stopping = false;
    };

    // The loop of the worker that serves, and its parts.
    void serve();
    bool take_orders();
    bool may_leave();
    void drop_settled();
    void drop_settled_calls(std::int64_t time);
    void start();
    void send_waiting();
    void send(Order order);
    void answer_lists();
    void exchange();
    void on(Opened event);
    void on(Listed event);
    void on(Answered event);
    void on(Broken) {}  // The channel has failed.
    void on(Noise) {}
    void on(Changed) { run_->has_changed = true; }
    void end_run(std::int64_t patience_ms);
    void refuse_waiting(const Error& error);
    int wait_ms() const;
    Error unavailable(std::string_view why, std::int64_t retry_after_ms = 0) const;
    Error fate_unknown(std::string_view why) const;
    std::string last_words() const;

    const ServerOptions options_;
    sched::Scheduler& workers_;
    const Clock& clock_;
    const std::function<void(const ServerInfo&, const Listing&)> listed_;
    const std::shared_ptr<Bell> bell_ = std::make_shared<Bell>();
    sched::Guarded<Inbox> inbox_;
    sched::Guarded<State> shown_;

    // Owned by the worker that serves.
    std::vector<Order> waiting_;
    std::unique_ptr<Run> run_;
    std::size_t failures_ = 0;  // Runs in a row that answered no call.
    std::int64_t not_before_ms_ = 0;
    std::string why_down_;
};

// --- from any thread ---

void ServerProcess::Body::post(Order order) {
    bool refused = false;
    const bool begin = inbox_.with([&](Inbox& inbox) {
        if (inbox.stopping) {
            refused = true;
            return false;
        }
        inbox.orders.push_back(std::move(order));
        return !std::exchange(inbox.serving, true);
    });
    if (refused) return order.refuse(unavailable("the kernel ends"));
    bell_->ring();
    // A worker is taken by the first order and kept while the program runs; orders that find one
    // serving only ring its bell.
    if (begin) workers_.post([self = shared_from_this()] { self->serve(); });
}

void ServerProcess::Body::stop() {
    inbox_.with([](Inbox& inbox) { inbox.stopping = true; });
    bell_->ring();
}

Error ServerProcess::Body::unavailable(std::string_view why, std::int64_t retry_after_ms) const {
    Map details{{"mount", options_.name}};
    if (retry_after_ms > 0) details.append("retry_after_ms", retry_after_ms);
    return {Errc::unavailable, "mount_unavailable",
            cat("the mounted server '", options_.name, "' cannot be reached: ", why),
            std::move(details)};
}

Error ServerProcess::Body::fate_unknown(std::string_view why) const {
    return {Errc::unavailable,
            "fate_unknown",
            cat("it is not known whether this was done: ", why,
                ". Look before you repeat it; it was not repeated for you"),
            {{"mount", options_.name}}};
}

// --- on the worker that serves ---

void ServerProcess::Body::serve() {
    while (true) {
        if (take_orders()) {
            if (run_) {
                run_->channel.fail("the kernel ends");
                end_run(kPatienceMs);
            }
            return refuse_waiting(unavailable("the kernel ends"));
        }
        drop_settled();
        // A fault may come from a deadline above: the run ends before anything else is sent.
        if (run_ && !run_->channel.fault().empty()) end_run(kLittlePatienceMs);
        if (!run_) {
            if (waiting_.empty() && may_leave()) return;
            if (!waiting_.empty()) start();
            continue;
        }
        send_waiting();
        exchange();
        if (!run_->channel.fault().empty()) end_run(kLittlePatienceMs);
    }
}

// True when the kernel ends.
bool ServerProcess::Body::take_orders() {
    return inbox_.with([&](Inbox& inbox) {
        std::move(inbox.orders.begin(), inbox.orders.end(), std::back_inserter(waiting_));
        inbox.orders.clear();
        return inbox.stopping;
    });
}

// Under the inbox's lock, so that an order that comes now starts another worker.
bool ServerProcess::Body::may_leave() {
    return inbox_.with([&](Inbox& inbox) {
        inbox.serving = inbox.stopping || !inbox.orders.empty();
        return !inbox.serving;
    });
}

// Refuses orders that were cancelled or are past their deadline.
void ServerProcess::Body::drop_settled() {
    const std::int64_t time = now();
    for (Order& order : std::exchange(waiting_, {})) {
        if (order.is_cancelled()) {
            order.refuse({Errc::unavailable, "cancelled",
                          "the call was cancelled before it was sent; nothing was done"});
        } else if (order.deadline_ms <= time) {
            order.refuse(unavailable(cat("it was not ready in time", last_words())));
        } else {
            waiting_.push_back(std::move(order));
        }
    }
    if (run_) drop_settled_calls(time);
}

void ServerProcess::Body::drop_settled_calls(std::int64_t time) {
    std::vector<std::int64_t> settled;
    for (const auto& [id, order] : run_->calls) {
        if (order.is_cancelled() || order.deadline_ms <= time) settled.push_back(id);
    }
    for (const std::int64_t id : settled) {
        Order order = std::move(run_->calls.extract(id).mapped());
        if (order.is_cancelled()) {
            run_->channel.protocol().cancel(id, "the client cancelled it");
            order.refuse(fate_unknown("the call was cancelled while it ran"));
            continue;
        }
        run_->channel.protocol().cancel(id, "it took too long");
        order.refuse(fate_unknown(cat("the mounted server '", options_.name,
                                      "' has not answered in ", order.call.timeout_ms / 1000,
                                      " s and was told to stop", last_words())));
        // A program that answers nothing any more would keep every caller waiting for the whole
        // time.
        if (++run_->timeouts >= kTimeoutsInARow)
            run_->channel.fail(
                cat("it left ", kTimeoutsInARow, " calls in a row without an answer"));
    }
}

void ServerProcess::Body::start() {
    const std::int64_t time = now();
    // Calls during the pause are refused at once: an agent should not wait for a broken program.
    if (time < not_before_ms_) {
        return refuse_waiting(unavailable(cat(why_down_, ". It is tried again after ",
                                              (not_before_ms_ - time + 999) / 1000, " s"),
                                          not_before_ms_ - time));
    }
    auto program = process::PipedProgram::start(
        {options_.command, options_.directory, options_.environment, {}});
    if (!program) {
        why_down_ = program.error().message();
        not_before_ms_ = time + options_.first_pause_ms;
        shown_.with([&](State& state) { state = {.failed = why_down_}; });
        return refuse_waiting(unavailable(why_down_));
    }
    run_ = std::make_unique<Run>(std::move(*program), options_, clock_);
    shown_.with([](State& state) { state = {.runs = true, .starts = true}; });
}

void ServerProcess::Body::send_waiting() {
    // A call needs the listing, because its definition is compared first.
    if (!run_->listing) return;
    if (run_->has_changed && now() >= run_->list_again_ms) {
        run_->has_changed = false;
        run_->list_again_ms = now() + kListAgainMs;
        run_->channel.protocol().list_anew();
    }
    for (Order& order : std::exchange(waiting_, {})) {
        if (!order.list) {
            send(std::move(order));
            continue;
        }
        // A list is always a fresh one, not that of the run's beginning.
        if (!std::exchange(order.requested, true)) run_->channel.protocol().list_anew();
        waiting_.push_back(std::move(order));
    }
}

void ServerProcess::Body::answer_lists() {
    for (Order& order : std::exchange(waiting_, {})) {
        if (order.list) {
            order.list(*run_->listing);
        } else {
            waiting_.push_back(std::move(order));
        }
    }
}

void ServerProcess::Body::send(Order order) {
    const Definition* const tool = run_->listing->find(order.call.tool);
    // The definition is compared with the last list of this run. A server that defines a tool
    // otherwise without saying so is found out by its next list.
    if (tool == nullptr || tool->digest != order.call.digest) {
        return order.refuse({Errc::conflict,
                             "definition_differs",
                             cat("the server defines ", order.call.tool, " otherwise"),
                             {{"mount", options_.name}, {"tool", order.call.tool}}});
    }
    if (run_->calls.size() >= kMostCalls) {
        return order.refuse({Errc::unavailable,
                             "mount_busy",
                             cat("the mounted server '", options_.name, "' has ", kMostCalls,
                                 " calls under way; wait for some of them"),
                             {{"mount", options_.name}}});
    }
    const std::int64_t id =
        run_->channel.protocol().call(order.call.tool, std::exchange(order.call.arguments, {}));
    run_->calls.emplace(id, std::move(order));
}

int ServerProcess::Body::wait_ms() const {
    // The next deadline of anybody, so that one poll waits for everything.
    std::int64_t until = now() + kSliceMs;
    for (const Order& order : waiting_) until = std::min(until, order.deadline_ms);
    for (const auto& [id, order] : run_->calls) until = std::min(until, order.deadline_ms);
    if (run_->has_changed && run_->listing) until = std::min(until, run_->list_again_ms);
    return static_cast<int>(std::max<std::int64_t>(0, until - now()));
}

void ServerProcess::Body::exchange() {
    for (Event& event : run_->channel.exchange(*bell_, wait_ms()))
        std::visit([&](auto& each) { on(std::move(each)); }, event);
    if (!run_->listing && now() - run_->begun_ms > options_.start_ms)
        run_->channel.fail(cat("it did not list its tools in ", options_.start_ms / 1000, " s"));
}

void ServerProcess::Body::on(Opened event) {
    run_->server = std::move(event.server);
}

// A new list replaces that of the run. Orders for the list are answered with it, also those that
// came while it was under way.
void ServerProcess::Body::on(Listed event) {
    run_->listing = listing_of(event.tools);
    shown_.with([&](State& state) { state = {.runs = true, .server = run_->server}; });
    listed_(run_->server, *run_->listing);
    answer_lists();
}

void ServerProcess::Body::on(Answered event) {
    run_->timeouts = 0;
    run_->useful = true;
    auto call = run_->calls.extract(event.id);
    if (call) call.mapped().answer(std::move(event.result));
}

std::string ServerProcess::Body::last_words() const {
    return run_ ? run_->channel.last_words() : "";
}

void ServerProcess::Body::end_run(std::int64_t patience_ms) {
    const std::string why = run_->channel.end(patience_ms);
    // These were sent. Nobody knows whether they were carried out, so none of them is repeated.
    for (auto& [id, order] : run_->calls) {
        order.refuse(fate_unknown(
            cat("the mounted server '", options_.name, "' was lost before it answered: ", why)));
    }
    const bool listed = run_->listing.has_value();
    failures_ = run_->useful ? 0 : failures_ + 1;
    run_.reset();
    why_down_ = why;
    // Doubling, up to the longest pause.
    if (failures_ > 0) {
        const std::size_t doublings = std::min<std::size_t>(failures_ - 1, 16);
        not_before_ms_ =
            now() + std::min(options_.longest_pause_ms, options_.first_pause_ms << doublings);
    }
    shown_.with([&](State& state) { state = {.failed = why}; });
    // Orders that were not sent wait for the next run, unless this one never listed its tools.
    for (Order& order : std::exchange(waiting_, {})) {
        if (!listed || order.requested) {
            order.refuse(unavailable(why));
        } else {
            waiting_.push_back(std::move(order));
        }
    }
}

void ServerProcess::Body::refuse_waiting(const Error& error) {
    for (Order& order : std::exchange(waiting_, {})) order.refuse(error);
}

// --- the public class ---

ServerProcess::ServerProcess(ServerOptions options, sched::Scheduler& workers, const Clock& clock,
                             std::function<void(const ServerInfo&, const Listing&)> listed)
    : body_(std::make_shared<Body>(std::move(options), workers, clock, std::move(listed))) {}
ServerProcess::~ServerProcess() {
    stop();
}

void ServerProcess::contact(std::int64_t timeout_ms, Reply<Listing> reply) {
    Order order;
    order.list = std::move(reply);
    order.deadline_ms = body_->now() + timeout_ms;
    body_->post(std::move(order));
}

void ServerProcess::call(Call what, Reply<Value> reply) {
    // The other half is for what a message has around them, and for escapes.
    const std::size_t limit = body_->options().line_bytes / 2;
    if (const std::size_t size = json::write(what.arguments).size(); size > limit) {
        return reply(fail(Errc::out_of_range, "too_large",
                          cat("the arguments have ", size, " bytes, more than ", limit),
                          {{"limit", limit}}));
    }
    Order order;
    order.answer = std::move(reply);
    order.deadline_ms = body_->now() + what.timeout_ms;
    // A cancellation only rings the bell: the worker looks at all orders when it wakes.
    order.on_stop = std::make_unique<std::stop_callback<std::function<void()>>>(
        what.cancelled, [bell = body_->bell()] { bell->ring(); });
    order.call = std::move(what);
    body_->post(std::move(order));
}

void ServerProcess::stop() {
    body_->stop();
}

ServerProcess::State ServerProcess::state() const {
    return body_->state();
}

}  // namespace quire::mounts
