#include "mounts/server_process.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/concat.h"
#include "base/utf8.h"
#include "json/json.h"
#include "mounts/lines.h"
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
// How often, and how far apart, one that is to be told of as lost is looked at once more.
constexpr int kLooks = 25;
constexpr int kLookAgainMs = 2;
constexpr std::size_t kPart = std::size_t{64} << 10;
// Of its complaints, in a message.
constexpr std::size_t kQuotedWords = 600;

// Wakes whoever polls it. Any thread.
class Bell {
public:
    Bell() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
    Bell(const Bell&) = delete;
    Bell& operator=(const Bell&) = delete;
    ~Bell() { ::close(fd_); }
    int fd() const { return fd_; }
    void ring() const {
        const std::uint64_t one = 1;
        static_cast<void>(!::write(fd_, &one, sizeof one));
    }
    void silence() const {
        std::uint64_t count = 0;
        static_cast<void>(!::read(fd_, &count, sizeof count));
    }

private:
    const int fd_;
};

bool is_readable(int fd) {
    pollfd ready{fd, POLLIN, 0};
    return ::poll(&ready, 1, 0) > 0;
}

// Something that is wanted of the server: a call, or what it lists.
struct Order {
    ServerProcess::Call call = {};
    Reply<Value> answer = {};  // Of a call,
    Reply<Listing> list = {};  // or else.
    bool asked = false;        // Of a list: the server was.
    std::int64_t deadline_ms = 0;
    std::unique_ptr<std::stop_callback<std::function<void()>>> on_stop = {};

    bool is_cancelled() const { return call.cancelled.stop_requested(); }
    void refuse(Error error) {
        if (answer) return answer(Failure(std::move(error)));
        list(Failure(std::move(error)));
    }
};

// What came that nobody asked for, in a stretch of time.
class NoiseMeter {
public:
    explicit NoiseMeter(const ServerOptions& options)
        : lines_(options.noise_lines), bytes_(options.noise_bytes) {}
    // False where it is too much.
    bool add(std::size_t lines, std::size_t bytes, std::int64_t now_ms) {
        if (now_ms - since_ms_ >= kNoiseMs) {
            since_ms_ = now_ms;
            seen_lines_ = seen_bytes_ = 0;
        }
        seen_bytes_ += bytes;
        seen_lines_ += lines;
        return seen_lines_ <= lines_ && seen_bytes_ <= bytes_;
    }

private:
    std::size_t lines_;
    std::size_t bytes_;
    std::int64_t since_ms_ = 0;
    std::size_t seen_lines_ = 0;
    std::size_t seen_bytes_ = 0;
};

// One run of the program.
struct Run {
    Run(process::PipedProgram made, const ServerOptions& options, std::int64_t now_ms)
        : program(std::move(made)),
          protocol(options.version),
          lines(options.line_bytes),
          noise(options),
          begun_ms(now_ms) {}

    process::PipedProgram program;
    Protocol protocol;
    Lines lines;
    LastWords words;
    NoiseMeter noise;
    const std::int64_t begun_ms;
    std::string unsent;
    std::size_t sent = 0;
    ServerInfo server;
    std::optional<Listing> listing;
    bool has_changed = false;        // It says so, and has not been asked since.
    std::int64_t list_again_ms = 0;  // Not before then because of that.
    std::map<std::int64_t, Order> calls;
    std::size_t timeouts = 0;  // Since the last answer.
    bool useful = false;       // It has answered a call.
    std::string broken;        // Why it is to be ended.
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

    // On the worker that serves.
    void serve();
    bool take_orders();
    bool may_leave();
    void drop_settled();
    void drop_settled_calls(std::int64_t time);
    void start();
    void send_waiting();
    void send(Order order);
    void answer_lists();
    void look();
    void read_output();
    void read_errors();
    void write_input();
    void take(std::string line);
    void on(Opened event);
    void on(Listed event);
    void on(Answered event);
    void on(Broken event) { run_->broken = std::move(event.why); }
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

    // Of whoever serves.
    std::vector<Order> waiting_;
    std::unique_ptr<Run> run_;
    std::size_t failures_ = 0;  // Runs in a row that came to nothing.
    std::int64_t not_before_ms_ = 0;
    std::string why_not_;
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

// --- on the worker ---

void ServerProcess::Body::serve() {
    while (true) {
        if (take_orders()) {
            if (run_) {
                run_->broken = "the kernel ends";
                end_run(kPatienceMs);
            }
            return refuse_waiting(unavailable("the kernel ends"));
        }
        drop_settled();
        if (run_ && !run_->broken.empty()) end_run(kLittlePatienceMs);
        if (!run_) {
            if (waiting_.empty() && may_leave()) return;
            if (!waiting_.empty()) start();
            continue;
        }
        send_waiting();
        look();
        if (!run_->broken.empty()) end_run(kLittlePatienceMs);
    }
}

// True where all of it is to end.
bool ServerProcess::Body::take_orders() {
    return inbox_.with([&](Inbox& inbox) {
        std::move(inbox.orders.begin(), inbox.orders.end(), std::back_inserter(waiting_));
        inbox.orders.clear();
        return inbox.stopping;
    });
}

bool ServerProcess::Body::may_leave() {
    return inbox_.with([&](Inbox& inbox) {
        inbox.serving = inbox.stopping || !inbox.orders.empty();
        return !inbox.serving;
    });
}

// Answers what nobody waits for any more, or was waited for too long.
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
            run_->protocol.cancel(id, "the client cancelled it");
            order.refuse(fate_unknown("the call was cancelled while it ran"));
            continue;
        }
        run_->protocol.cancel(id, "it took too long");
        order.refuse(fate_unknown(cat("the mounted server '", options_.name,
                                      "' has not answered in ", order.call.timeout_ms / 1000,
                                      " s and was told to stop", last_words())));
        if (++run_->timeouts >= kTimeoutsInARow)
            run_->broken = cat("it left ", kTimeoutsInARow, " calls in a row without an answer");
    }
}

void ServerProcess::Body::start() {
    const std::int64_t time = now();
    if (time < not_before_ms_) {
        return refuse_waiting(unavailable(
            cat(why_not_, ". It is tried again after ", (not_before_ms_ - time + 999) / 1000, " s"),
            not_before_ms_ - time));
    }
    auto program = process::PipedProgram::start(
        {options_.command, options_.directory, options_.environment, {}});
    if (!program) {
        why_not_ = program.error().message();
        not_before_ms_ = time + options_.first_pause_ms;
        shown_.with([&](State& state) { state = {.failed = why_not_}; });
        return refuse_waiting(unavailable(why_not_));
    }
    run_ = std::make_unique<Run>(std::move(*program), options_, time);
    run_->protocol.open();
    shown_.with([](State& state) { state = {.runs = true, .starts = true}; });
}

void ServerProcess::Body::send_waiting() {
    if (!run_->listing) return;
    if (run_->has_changed && now() >= run_->list_again_ms) {
        run_->has_changed = false;
        run_->list_again_ms = now() + kListAgainMs;
        run_->protocol.list_anew();
    }
    for (Order& order : std::exchange(waiting_, {})) {
        if (!order.list) {
            send(std::move(order));
            continue;
        }
        // What it lists now, and not what it did when it began.
        if (!std::exchange(order.asked, true)) run_->protocol.list_anew();
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
        run_->protocol.call(order.call.tool, std::exchange(order.call.arguments, {}));
    run_->calls.emplace(id, std::move(order));
}

int ServerProcess::Body::wait_ms() const {
    std::int64_t until = now() + kSliceMs;
    for (const Order& order : waiting_) until = std::min(until, order.deadline_ms);
    for (const auto& [id, order] : run_->calls) until = std::min(until, order.deadline_ms);
    if (run_->has_changed && run_->listing) until = std::min(until, run_->list_again_ms);
    return static_cast<int>(std::max<std::int64_t>(0, until - now()));
}

// Waits for something to happen, and sees to it.
void ServerProcess::Body::look() {
    run_->unsent += run_->protocol.take_output();
    if (run_->unsent.size() - run_->sent > 2 * options_.line_bytes) {
        run_->broken = "it does not read what it is sent";
        return;
    }
    const process::PipedProgram& program = run_->program;
    pollfd ready[] = {
        {bell_->fd(), POLLIN, 0},
        {program.output(), POLLIN, 0},
        {program.errors(), POLLIN, 0},
        {run_->unsent.empty() ? -1 : program.input(), POLLOUT, 0},
    };
    if (::poll(ready, std::size(ready), wait_ms()) > 0) {
        if (ready[0].revents != 0) bell_->silence();
        // Its complaints first: they say why it ends.
        if (ready[2].revents != 0) read_errors();
        if (ready[1].revents != 0) read_output();
        if (ready[3].revents != 0) write_input();
    }
    if (!run_->broken.empty()) return;
    // What it wrote before it ended is read first.
    if (program.has_ended() && !is_readable(program.output())) {
        run_->broken = "it ended";
    } else if (!run_->listing && now() - run_->begun_ms > options_.start_ms) {
        run_->broken = cat("it did not list its tools in ", options_.start_ms / 1000, " s");
    }
}

void ServerProcess::Body::read_output() {
    std::string part(kPart, '\0');
    const ssize_t count = ::read(run_->program.output(), part.data(), part.size());
    if (count < 0) return;
    if (count == 0) {
        run_->broken = "it closed its output";
        return;
    }
    const bool bounded =
        run_->lines.feed(std::string_view(part).substr(0, static_cast<std::size_t>(count)),
                         [&](std::string line) { take(std::move(line)); });
    if (!bounded && run_->broken.empty())
        run_->broken = cat("it wrote a line of more than ", options_.line_bytes, " bytes");
}

void ServerProcess::Body::take(std::string line) {
    if (!run_->broken.empty()) return;
    for (Event& event : run_->protocol.take(line)) {
        const bool is_noise =
            std::holds_alternative<Noise>(event) || std::holds_alternative<Changed>(event);
        if (is_noise && !run_->noise.add(1, line.size(), now())) {
            run_->broken = "it floods its output with what nobody asked for";
            return;
        }
        std::visit([&](auto& each) { on(std::move(each)); }, event);
    }
}

void ServerProcess::Body::on(Opened event) {
    run_->server = std::move(event.server);
}

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

void ServerProcess::Body::read_errors() {
    std::string part(kPart, '\0');
    const ssize_t count = ::read(run_->program.errors(), part.data(), part.size());
    if (count == 0) run_->program.close_errors();
    if (count <= 0) return;
    const auto size = static_cast<std::size_t>(count);
    run_->words.add(std::string_view(part).substr(0, size));
    if (!run_->noise.add(0, size, now())) run_->broken = "it floods its standard error";
}

void ServerProcess::Body::write_input() {
    std::string& unsent = run_->unsent;
    const ssize_t count =
        ::write(run_->program.input(), unsent.data() + run_->sent, unsent.size() - run_->sent);
    if (count > 0) {
        run_->sent += static_cast<std::size_t>(count);
        if (run_->sent < unsent.size()) return;
        unsent.clear();
        run_->sent = 0;
    } else if (count < 0 && errno != EAGAIN && errno != EINTR) {
        run_->broken = "it closed its input";
    }
}

std::string ServerProcess::Body::last_words() const {
    if (!run_ || run_->words.text().empty()) return "";
    std::string_view text = run_->words.text();
    text.remove_prefix(text.size() - std::min(text.size(), kQuotedWords));
    while (!text.empty() && !utf8::is_boundary(text.front())) text.remove_prefix(1);
    while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    return cat("; it said: ", visible(text, kQuotedWords));
}

void ServerProcess::Body::end_run(std::int64_t patience_ms) {
    // What it complained of last is still in the pipe.
    const int errors = run_->program.errors();
    pollfd more{errors, POLLIN, 0};
    while (errors >= 0 && run_->program.errors() >= 0 && ::poll(&more, 1, 0) > 0 &&
           run_->words.text().size() < LastWords::kKept)
        read_errors();
    // One that closed its output is likely to be ending.
    for (int look = 0; look < kLooks && !run_->program.has_ended(); ++look)
        ::poll(nullptr, 0, kLookAgainMs);
    const bool ended = run_->program.has_ended();
    const std::string how = run_->program.end(patience_ms, clock_);
    const std::string why =
        cat(run_->broken, ended ? cat(" (", how, ")") : std::string(), last_words());
    for (auto& [id, order] : run_->calls) {
        order.refuse(fate_unknown(
            cat("the mounted server '", options_.name, "' was lost before it answered: ", why)));
    }
    const bool listed = run_->listing.has_value();
    failures_ = run_->useful ? 0 : failures_ + 1;
    run_.reset();
    why_not_ = why;
    if (failures_ > 0) {
        const std::size_t doublings = std::min<std::size_t>(failures_ - 1, 16);
        not_before_ms_ =
            now() + std::min(options_.longest_pause_ms, options_.first_pause_ms << doublings);
    }
    shown_.with([&](State& state) { state = {.failed = why}; });
    // What was not sent is for the next run, unless this one has not come to anything.
    for (Order& order : std::exchange(waiting_, {})) {
        if (!listed || order.asked) {
            order.refuse(unavailable(why));
        } else {
            waiting_.push_back(std::move(order));
        }
    }
}

void ServerProcess::Body::refuse_waiting(const Error& error) {
    for (Order& order : std::exchange(waiting_, {})) order.refuse(error);
}

// --- the door ---

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
    const std::size_t limit = body_->options().line_bytes / 2;
    if (const std::size_t size = json::write(what.arguments).size(); size > limit) {
        return reply(fail(Errc::out_of_range, "too_large",
                          cat("the arguments have ", size, " bytes, more than ", limit),
                          {{"limit", limit}}));
    }
    Order order;
    order.answer = std::move(reply);
    order.deadline_ms = body_->now() + what.timeout_ms;
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
