// The kernel's door. Two threads serve all clients, and one request costs one wake.
//
// Both threads wait on one epoll set, which holds the listener, an eventfd, a signalfd and one
// socket per client. The operating system wakes one of them for an event. That thread takes the
// round's lock (sched/watched.h), reads a line and hands it to the client's session. The session
// posts its work to the pool, but while a thread tends, the first task that it posts is kept back
// as its errand. When the round is over and its lock is free, the same thread runs the errand
// itself, and the other thread waits meanwhile:
//
//     thread 0   wait ─ tend: read a line, session posts ─ errand: plan, store, answer ─ wait …
//     thread 1   wait ──────────────────────────────────── wait ─ tend the next client ─ …
//                                                                   │
//     pool       idle  <── give(): tasks of a round with more events ┘
//
// So a request of one client runs from the read of its line to the write of its answer on the
// thread that was woken for it: no hand-off to a worker, no second wake. A round that found several
// events, or several lines of one client, gives its work to the pool at once, because the first
// request would otherwise hold up the others. Answers are written by whichever thread has them
// (local_connection.h); only what the socket does not take at once waits for EPOLLOUT.
//
// Each client's socket is armed with EPOLLONESHOT: one thread at a time knows of its event, and the
// end of the round arms it anew for what it waits for then. Sessions, clients and deadlines belong
// to the round's lock and need no other. Leader/followers (Schmidt et al. 2000) is the pattern;
// here nobody is promoted, since both threads wait.
//
// Cost of a line: one epoll_wait, one recv, one epoll_ctl, one sendmsg. A slow reader costs others
// nothing: its unread answers are bounded, and its input is not read while they pile up.
#include "server/local_socket.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/concat.h"
#include "json/json.h"
#include "rpc/jsonrpc.h"
#include "rpc/line_splitter.h"
#include "sched/guarded.h"
#include "sched/watched.h"
#include "server/local_connection.h"

namespace quire::server {

namespace {

constexpr std::chrono::milliseconds kFirstClientWait{2000};

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

constexpr std::uint64_t kListener = 0, kWake = 1, kSignals = 2, kFirstClient = 3;
constexpr std::size_t kReadBytes = 64U << 10;
constexpr std::size_t kHelloBytes = 16U << 10;

sigset_t end_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    return signals;
}

std::string error_line(const Error& error) {
    return json::write(Map{{"error", rpc::error_value(error)}});
}

void take_word(const Value& message, std::string_view key, std::string& word) {
    if (const Value* value = message.get(key); value != nullptr && value->is_string())
        word = value->as_string();
}

Result<rpc::Hello> parse_hello(const std::string& line) {
    const Value message = TRY(json::parse(line, {.depth = 4, .bytes = kHelloBytes}));
    const Value* version = message.get("quire");
    if (version == nullptr || !version->is_int() || version->as_int() != 1) {
        return fail(Errc::unsupported, "unknown_hello",
                    "the first line must be {\"quire\":1,\"actor\":…,\"profile\":…,\"kind\":…}");
    }
    rpc::Hello hello;
    take_word(message, "actor", hello.actor);
    take_word(message, "profile", hello.profile);
    take_word(message, "kind", hello.kind);
    return hello;
}

struct Client {
    std::shared_ptr<LocalConnection> connection;
    int socket;  // The connection's; open as long as this entry is there.
    rpc::LineSplitter lines;
    struct Arrived {
        std::string line;  // For a line that was too long: the id of its message.
        bool oversize = false;
    };
    std::deque<Arrived> arrived;            // Lines that were not delivered yet.
    std::unique_ptr<rpc::Session> session;  // Once it has said hello.
    Clock::time_point hello_until;
    bool refused = false;  // Its hello was refused.
};

}  // namespace

class LocalServer::Body final : public sched::Watched {
public:
    Body(StateDirectory directory, LocalServerOptions options, rpc::SessionFactory factory,
         LogSink& log, Fd listener)
        : directory_(std::move(directory)),
          options_(std::move(options)),
          factory_(std::move(factory)),
          log_(log),
          listener_(std::move(listener)),
          epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
        CHECK(epoll_);
        watch_new(attention_->wake_fd(), EPOLLIN, kWake);
        const sigset_t signals = end_signals();
        signals_ = Fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
        CHECK(signals_);
        watch_new(signals_.get(), EPOLLIN, kSignals);
        accept_again();
    }

    ~Body() override {
        directory_.remove_socket();
        while (!clients_.empty()) end(clients_.begin()->first);
    }

    Body(const Body&) = delete;
    Body& operator=(const Body&) = delete;

    void run() {
        // The client that started this kernel has not had its turn to connect yet.
        // The linger time begins later for a kernel that has just been started.
        idle_since_ = Clock::now() + kFirstClientWait;
        sched::serve_watched(*this, options_.pool);
    }

    void wait(int thread, int ms) override {
        Round& round = rounds_[static_cast<std::size_t>(thread)];
        round.count = ::epoll_wait(epoll_.get(), round.events.data(),
                                   static_cast<int>(round.events.size()), ms);
        CHECK(round.count >= 0 || errno == EINTR);
    }

    void wake() override { attention_->wake(); }

    Next tend(int thread, sched::Pool::Errand* errand) override {
        Round& round = rounds_[static_cast<std::size_t>(thread)];
        errand_ = errand;
        // A single event's work is kept for this thread; that of several would hold up each other.
        if (round.count != 1) give();
        for (int i = 0; i < round.count; ++i) dispatch(round.events[static_cast<std::size_t>(i)]);
        drop_silent();
        errand_ = nullptr;
        // Checked at the end of each round: the last answer may have been written in it.
        const bool over = is_done();
        return {over, over ? 0 : wait_ms()};
    }

    void stop() {
        stop_asked_.with([](bool& asked) { asked = true; });
        attention_->wake();
    }

    std::size_t connections() const {
        return count_.with([](const std::size_t& count) { return count; });
    }

private:
    void give() {
        if (errand_ != nullptr) std::exchange(errand_, nullptr)->give();
    }

    void watch_new(int fd, std::uint32_t events, std::uint64_t id) {
        epoll_event event = {};
        event.events = events;
        event.data.u64 = id;
        CHECK(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0);
    }

    void dispatch(const epoll_event& event) {
        switch (event.data.u64) {
            case kListener:
                return accept_all();
            case kSignals:
                return take_signal();
            case kWake:
                return serve_called();
            default:
                return serve_client(event.data.u64, event.events);
        }
    }

    void take_signal() {
        signalfd_siginfo info = {};
        if (::read(signals_.get(), &info, sizeof info) != sizeof info) return;
        log_.write(LogLevel::info, cat("ends: signal ", info.ssi_signo));
        begin_end();
    }

    void serve_called() {
        for (const std::uint64_t id : attention_->take()) serve_client(id, 0);
        if (stop_asked_.with([](const bool& asked) { return asked; })) begin_end();
    }

    // Takes no new clients and no new lines. Requests that are open may finish.
    void begin_end() {
        if (end_by_) return;
        end_by_ = Clock::now() + Milliseconds(options_.drain_ms);
        directory_.remove_socket();
        listener_.reset();
        std::vector<std::uint64_t> all;
        for (const auto& [id, client] : clients_) {
            all.push_back(id);
            if (client.session) client.session->on_ending();
        }
        for (const std::uint64_t id : all) serve_client(id, 0);
    }

    bool is_done() {
        const Clock::time_point now = Clock::now();
        if (end_by_) {
            return now >= *end_by_ ||
                   std::none_of(clients_.begin(), clients_.end(), [](auto& entry) {
                       Client& client = entry.second;
                       client.connection->flush();
                       return client.connection->wants().output ||
                              (client.session && client.session->is_busy());
                   });
        }
        if (!clients_.empty() || options_.linger_ms < 0 ||
            now < idle_since_ + Milliseconds(options_.linger_ms))
            return false;
        // A client may have connected just now. It is either accepted here, or finds no socket and
        // starts a kernel of its own.
        accept_all();
        if (!clients_.empty()) return false;
        log_.write(LogLevel::info, "ends: its last client has left");
        return true;
    }

    int wait_ms() const {
        std::optional<Clock::time_point> next = end_by_;
        const auto sooner = [&](Clock::time_point time) {
            next = next ? std::min(*next, time) : time;
        };
        // While the server drains, sessions must be asked whether they are busy: they do not call.
        if (end_by_) sooner(Clock::now() + Milliseconds(5));
        if (accept_at_) sooner(*accept_at_);
        if (clients_.empty() && options_.linger_ms >= 0)
            sooner(idle_since_ + Milliseconds(options_.linger_ms));
        for (const auto& [id, client] : clients_) {
            if (!client.session) sooner(client.hello_until);
        }
        if (!next) return -1;
        const auto left = std::chrono::ceil<Milliseconds>(*next - Clock::now()).count();
        return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
    }

    void accept_again() {
        watch_new(listener_.get(), EPOLLIN, kListener);
        accept_at_.reset();
    }

    void accept_all() {
        while (listener_) {
            Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
            if (socket) {
                add(std::move(socket));
                continue;
            }
            if (errno == EINTR || errno == ECONNABORTED) continue;
            if (errno != EAGAIN && errno != EWOULDBLOCK && !accept_at_) {
                // Out of descriptors or memory. Clients in the listener's queue are not lost.
                log_.write(LogLevel::warning, cat("cannot accept a client for now: error ", errno));
                ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, listener_.get(), nullptr);
                accept_at_ = Clock::now() + Milliseconds(100);
            }
            return;
        }
    }

    void add(Fd socket) {
        const std::uint64_t id = next_id_++;
        const int fd = socket.get();
        watch_new(fd, EPOLLIN | EPOLLONESHOT, id);
        clients_.emplace(id, Client{.connection = std::make_shared<LocalConnection>(
                                        id, std::move(socket), options_.output_bytes, attention_),
                                    .socket = fd,
                                    .lines = rpc::LineSplitter(options_.line_bytes),
                                    .arrived = {},
                                    .session = nullptr,
                                    .hello_until = Clock::now() + Milliseconds(options_.hello_ms),
                                    .refused = false});
        count_.with([&](std::size_t& count) { count = clients_.size(); });
    }

    void end(std::uint64_t id) {
        // The session is told last, when nothing can reach the connection any more.
        const auto found = clients_.find(id);
        Client client = std::move(found->second);
        clients_.erase(found);
        client.connection->abandon();
        if (client.session) client.session->on_close();
        count_.with([&](std::size_t& count) { count = clients_.size(); });
        if (clients_.empty()) idle_since_ = Clock::now();
    }

    void serve_client(std::uint64_t id, std::uint32_t events) {
        const auto found = clients_.find(id);
        if (found == clients_.end()) return;  // Ended earlier in this round.
        Client& client = found->second;
        if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && !read(client)) return end(id);
        update(id, client);
    }

    // False when the client has disconnected.
    bool read(Client& client) {
        const ssize_t length = ::recv(client.socket, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
        if (length < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
        if (length == 0) return false;
        client.lines.feed(
            std::string_view(buffer_.data(), static_cast<std::size_t>(length)),
            [&](std::string line) { client.arrived.push_back({std::move(line)}); },
            [&](std::string id) {
                client.arrived.push_back({std::move(id), true});
            });
        return true;
    }

    // One line at a time: after any of them the session may hold its input.
    void deliver(Client& client) {
        for (bool first = true; !client.arrived.empty() && takes_input(client); first = false) {
            if (!first) give();
            Client::Arrived arrived = std::move(client.arrived.front());
            client.arrived.pop_front();
            if (client.session) {
                if (arrived.oversize) {
                    client.session->on_oversize(options_.line_bytes, arrived.line);
                } else {
                    client.session->on_line(std::move(arrived.line));
                }
            } else if (!arrived.oversize && !client.refused) {
                greet(client, arrived.line);
            }
        }
    }

    // Three reasons to wait: the server ends, the session holds its input, the client does not
    // read.
    bool takes_input(const Client& client) const {
        const LocalConnection::Wants wants = client.connection->wants();
        return !end_by_ && !wants.held && !wants.closing && wants.unread < options_.hold_bytes;
    }

    void greet(Client& client, const std::string& line) {
        Result<std::unique_ptr<rpc::Session>> session = make_session(client, line);
        if (!session) {
            client.connection->send(error_line(session.error()));
            client.connection->close();
            client.refused = true;
            return;
        }
        client.session = std::move(*session);
    }

    Result<std::unique_ptr<rpc::Session>> make_session(Client& client, const std::string& line) {
        const rpc::Hello hello = TRY(parse_hello(line));
        std::unique_ptr<rpc::Session> session = TRY(factory_(hello, client.connection));
        client.connection->send(
            json::write(Map{{"ok", Map{{"version", options_.version},
                                       {"pid", static_cast<std::int64_t>(::getpid())},
                                       {"reads", session->reads()}}}}));
        return session;
    }

    // Writes what is queued, delivers what has arrived, and arms the socket for what is next.
    void update(std::uint64_t id, Client& client) {
        client.connection->flush();
        deliver(client);
        const LocalConnection::Wants wants = client.connection->wants();
        if (wants.over) return end(id);
        const bool listens = client.arrived.empty() && takes_input(client);
        // Armed anew in each round: an event of a client goes to one thread only.
        epoll_event event = {};
        event.events = EPOLLONESHOT | (listens ? std::uint32_t{EPOLLIN} : 0U) |
                       (wants.output ? std::uint32_t{EPOLLOUT} : 0U);
        event.data.u64 = id;
        CHECK(::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, client.socket, &event) == 0);
    }

    void drop_silent() {
        const Clock::time_point now = Clock::now();
        if (accept_at_ && now >= *accept_at_ && listener_) accept_again();
        std::vector<std::uint64_t> silent;
        for (const auto& [id, client] : clients_) {
            if (!client.session && now >= client.hello_until) silent.push_back(id);
        }
        for (const std::uint64_t id : silent) end(id);
    }

    StateDirectory directory_;
    LocalServerOptions options_;
    rpc::SessionFactory factory_;
    LogSink& log_;
    Fd listener_;
    Fd epoll_;
    Fd signals_;
    std::shared_ptr<Attention> attention_ = std::make_shared<Attention>();
    std::map<std::uint64_t, Client> clients_;
    std::uint64_t next_id_ = kFirstClient;
    Clock::time_point idle_since_ = Clock::now();
    std::optional<Clock::time_point> end_by_;
    std::optional<Clock::time_point> accept_at_;  // Set while accepting is paused.
    // The events that a thread's last wait returned.
    struct Round {
        int count = 0;
        std::array<epoll_event, 64> events = {};
    };
    std::array<Round, 2> rounds_;
    sched::Pool::Errand* errand_ = nullptr;  // The round's, while it keeps back posted tasks.
    sched::Guarded<bool> stop_asked_;
    sched::Guarded<std::size_t> count_;
    std::vector<char> buffer_ = std::vector<char>(kReadBytes);
};

Result<std::unique_ptr<LocalServer>> LocalServer::open(StateDirectory directory,
                                                       LocalServerOptions options,
                                                       rpc::SessionFactory factory, LogSink& log) {
    Fd listener = TRY(directory.listen());
    return std::unique_ptr<LocalServer>(new LocalServer(std::make_unique<Body>(
        std::move(directory), std::move(options), std::move(factory), log, std::move(listener))));
}

LocalServer::LocalServer(std::unique_ptr<Body> body) : body_(std::move(body)) {}
LocalServer::~LocalServer() = default;

void LocalServer::block_end_signals() {
    const sigset_t signals = end_signals();
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

void LocalServer::run() {
    body_->run();
}
void LocalServer::stop() {
    body_->stop();
}
std::size_t LocalServer::connections() const {
    return body_->connections();
}

}  // namespace quire::server
