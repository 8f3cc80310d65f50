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
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/concat.h"
#include "kernel/core/kernel.h"
#include "sched/guarded.h"
#include "sched/watched.h"
#include "server/event_set.h"
#include "server/hello.h"
#include "server/local_connection.h"
#include "server/refused_line.h"
#include "server/served_client.h"
#include "server/settings_watch.h"
#include "server/traffic.h"
#include "server/waiting_room.h"

namespace quire::server {

namespace {

// The time for a kernel's starter to connect, and the time for whoever removes the whole directory
// to finish, before the socket is made again.
constexpr std::chrono::milliseconds kFirstClientWait{2000};
constexpr std::chrono::milliseconds kRemovalWait{500};

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

constexpr std::uint64_t kListener = 0, kWake = 1, kSignals = 2, kSettings = 3, kState = 4,
                        kFirstClient = 5;
constexpr std::size_t kReadBytes = 64U << 10;
// So much is read of what a client had sent before the end: more than its socket holds.
constexpr int kMostPartsAtEnd = 256;

sigset_t end_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    return signals;
}

std::int64_t now_ms() {
    return std::chrono::floor<Milliseconds>(Clock::now().time_since_epoch()).count();
}

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
          traffic_(std::make_shared<Traffic>(options_.in_flight_bytes)) {
        events_.add(attention_->wake_fd(), EPOLLIN, kWake);
        const sigset_t signals = end_signals();
        signals_ = Fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
        CHECK(signals_);
        events_.add(signals_.get(), EPOLLIN, kSignals);
        if (options_.settings != nullptr && options_.settings->fd() >= 0)
            events_.add(options_.settings->fd(), EPOLLIN, kSettings);
        state_watch_ = directory_.watch_socket();
        if (state_watch_) events_.add(state_watch_.get(), EPOLLIN, kState);
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

    void wait(int thread, int ms) override { events_.wait(thread, ms); }

    void wake() override { attention_->wake(); }

    Next tend(int thread, sched::Pool::Errand* errand) override {
        const std::span<const epoll_event> found = events_.found(thread);
        errand_ = errand;
        // A single event's work is kept for this thread; that of several would hold up each other.
        if (found.size() != 1) give();
        for (const epoll_event& event : found) dispatch(event);
        drop_silent();
        retry_waiting();
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

    void dispatch(const epoll_event& event) {
        switch (event.data.u64) {
            case kListener:
                return accept_all();
            case kSignals:
                return take_signal();
            case kWake:
                return serve_called();
            case kSettings:
                options_.settings->take_events();
                return look_at_settings();
            case kState:
                return note_removal();
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

    void look_at_settings() {
        if (options_.settings == nullptr || !options_.settings->look()) return;
        for (const auto& [id, client] : clients_) {
            if (client.session) client.session->on_settings_change();
        }
    }

    // Something was removed from the state directory.
    void note_removal() {
        std::array<char, 4096> events;
        static_cast<void>(::read(state_watch_.get(), events.data(), events.size()) == 0);
        if (!end_by_ && directory_.lacks_socket()) listen_at_ = Clock::now() + kRemovalWait;
    }

    // Somebody has removed the socket of a kernel that lives: nobody would find it any more. Whoever
    // removes the whole directory has done so by now.
    void listen_again() {
        listen_at_.reset();
        if (end_by_ || !listener_ || !directory_.lacks_socket()) return;
        Result<Fd> again = directory_.listen();
        if (!again) return log_.write(LogLevel::error, again.error().message());
        log_.write(LogLevel::warning,
                   cat("somebody removed ", directory_.file("kernel.sock"), "; it is there again"));
        accept_all();  // Those who had connected to it.
        if (!accept_at_) events_.remove(listener_.get());
        listener_ = std::move(*again);
        accept_again();
    }

    // Takes no new clients. Requests that are open may finish. A request that was not begun is
    // answered so, also one that is still in a client's socket: its writing side is closed, and what
    // it has written whole is read and refused.
    void begin_end() {
        if (end_by_) return;
        end_by_ = Clock::now() + Milliseconds(options_.drain_ms);
        directory_.remove_socket();
        listener_.reset();
        std::vector<std::uint64_t> all;
        for (const auto& [id, client] : clients_) all.push_back(id);
        for (const std::uint64_t id : all) {
            ServedClient& client = clients_.find(id)->second;
            if (!client.session) {
                end(id);
                continue;
            }
            client.session->on_ending();
            ::shutdown(client.socket, SHUT_RD);
            for (int part = 0; part < kMostPartsAtEnd && !client.has_ended; ++part) {
                if (!client.read(buffer_)) client.has_ended = true;
            }
            serve_client(id, 0);
        }
    }

    bool is_done() {
        const Clock::time_point now = Clock::now();
        if (end_by_) {
            return now >= *end_by_ ||
                   std::none_of(clients_.begin(), clients_.end(), [](auto& entry) {
                       ServedClient& client = entry.second;
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
        if (options_.is_needed && options_.is_needed()) {
            idle_since_ = now;
            return false;
        }
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
        if (listen_at_) sooner(*listen_at_);
        if (clients_.empty() && options_.linger_ms >= 0)
            sooner(idle_since_ + Milliseconds(options_.linger_ms));
        if (const auto due = waiting_.due_ms()) sooner(Clock::time_point(Milliseconds(*due)));
        for (const auto& [id, client] : clients_) {
            if (!client.session) sooner(Clock::time_point(Milliseconds(client.hello_until_ms)));
        }
        if (!next) return -1;
        const auto left = std::chrono::ceil<Milliseconds>(*next - Clock::now()).count();
        return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
    }

    void accept_again() {
        events_.add(listener_.get(), EPOLLIN, kListener);
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
                events_.remove(listener_.get());
                accept_at_ = Clock::now() + Milliseconds(100);
            }
            return;
        }
    }

    void add(Fd socket) {
        const std::uint64_t id = next_id_++;
        const int fd = socket.get();
        events_.add(fd, EPOLLIN | EPOLLONESHOT, id);
        clients_.emplace(id, ServedClient{.connection = std::make_shared<LocalConnection>(
                                              id, std::move(socket), options_.output_bytes,
                                              attention_, traffic_),
                                          .socket = fd,
                                          .lines = rpc::LineSplitter(options_.line_bytes),
                                          .hello_until_ms = now_ms() + options_.hello_ms});
        count_.with([&](std::size_t& count) { count = clients_.size(); });
    }

    void end(std::uint64_t id) {
        // The session is told last, when nothing can reach the connection any more.
        const auto found = clients_.find(id);
        ServedClient client = std::move(found->second);
        clients_.erase(found);
        client.connection->abandon();
        if (client.session) client.session->on_close();
        waiting_.leave(id);
        count_.with([&](std::size_t& count) { count = clients_.size(); });
        if (clients_.empty()) idle_since_ = Clock::now();
    }

    void serve_client(std::uint64_t id, std::uint32_t events) {
        const auto found = clients_.find(id);
        if (found == clients_.end()) return;  // Ended earlier in this round.
        ServedClient& client = found->second;
        // Once the server ends, the input of clients that are still there has ended too.
        const bool is_gone = (events & (end_by_ ? EPOLLHUP | EPOLLERR : 0U)) != 0;
        const bool readable = (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0;
        if (is_gone || (readable && !client.has_ended && !client.read(buffer_))) return end(id);
        update(id, client);
    }

    // Serves those who wait for a turn or for room, where it may have come.
    void retry_waiting() {
        for (const std::uint64_t id : waiting_.due(now_ms())) serve_client(id, 0);
    }

    // One line at a time: after any of them the session may hold its input.
    void deliver(std::uint64_t id, ServedClient& client) {
        for (bool first = true; !client.arrived.empty() && takes_input(client); first = false) {
            if (!first) give();
            const ServedClient::Arrived& next = client.arrived.front();
            if (client.session && !next.oversize) {
                if (end_by_) {
                    client.refuse_next(kernel::kernel_ending());
                    continue;
                }
                const auto verdict = waiting_.ask(id, next.line.size(), now_ms());
                if (verdict == WaitingRoom::Verdict::wait) return;
                if (verdict == WaitingRoom::Verdict::refuse) {
                    client.refuse_next(waiting_.no_room());
                    continue;
                }
            }
            ServedClient::Arrived arrived = std::move(client.arrived.front());
            client.arrived.pop_front();
            if (!client.session) {
                if (!arrived.oversize && !client.refused) greet(client, arrived.line);
            } else if (arrived.oversize) {
                client.session->on_oversize(options_.line_bytes, arrived.line);
            } else {
                look_at_settings();
                client.session->on_line(std::move(arrived.line));
            }
        }
    }

    // Two reasons to wait: the session holds its input, the client does not read. At the end what
    // is there is refused without waiting.
    bool takes_input(const ServedClient& client) const {
        const LocalConnection::Wants wants = client.connection->wants();
        if (wants.closing) return false;
        return end_by_ || (!wants.held && wants.unread < options_.hold_bytes);
    }

    void greet(ServedClient& client, const std::string& line) {
        Result<std::unique_ptr<rpc::Session>> session = make_session(client, line);
        if (!session) {
            client.connection->send(hello_refusal(session.error()));
            client.connection->close();
            client.refused = true;
            return;
        }
        client.session = std::move(*session);
    }

    Result<std::unique_ptr<rpc::Session>> make_session(ServedClient& client,
                                                       const std::string& line) {
        const rpc::Hello hello = TRY(parse_hello(line));
        std::unique_ptr<rpc::Session> session = TRY(factory_(hello, client.connection));
        client.connection->send(hello_answer({.version = options_.version,
                                              .store = options_.store,
                                              .message_bytes = options_.line_bytes,
                                              .reads = session->reads()}));
        return session;
    }

    // Writes what is queued, delivers what has arrived, and arms the socket for what is next.
    void update(std::uint64_t id, ServedClient& client) {
        client.connection->flush();
        deliver(id, client);
        const LocalConnection::Wants wants = client.connection->wants();
        if (wants.over) return end(id);
        const bool listens = client.arrived.empty() && takes_input(client) && !client.has_ended &&
                             waiting_.may_send(id, client.lines.held_bytes(), now_ms());
        // Armed anew in each round: an event of a client goes to one thread only.
        events_.arm(client.socket,
                    EPOLLONESHOT | (listens ? std::uint32_t{EPOLLIN} : 0U) |
                        (wants.output ? std::uint32_t{EPOLLOUT} : 0U),
                    id);
    }

    void drop_silent() {
        const Clock::time_point now = Clock::now();
        if (accept_at_ && now >= *accept_at_ && listener_) accept_again();
        if (listen_at_ && now >= *listen_at_) listen_again();
        std::vector<std::uint64_t> silent;
        for (const auto& [id, client] : clients_) {
            if (!client.session && now_ms() >= client.hello_until_ms) silent.push_back(id);
        }
        for (const std::uint64_t id : silent) end(id);
    }

    StateDirectory directory_;
    LocalServerOptions options_;
    rpc::SessionFactory factory_;
    LogSink& log_;
    Fd listener_;
    EventSet events_;
    Fd signals_;
    Fd state_watch_;  // Readable when something is removed from the state directory.
    std::shared_ptr<Attention> attention_ = std::make_shared<Attention>();
    const std::shared_ptr<Traffic> traffic_;
    WaitingRoom waiting_{traffic_, options_.in_flight_wait_ms};
    std::map<std::uint64_t, ServedClient> clients_;
    std::uint64_t next_id_ = kFirstClient;
    Clock::time_point idle_since_ = Clock::now();
    std::optional<Clock::time_point> end_by_;
    std::optional<Clock::time_point> accept_at_;  // Set while accepting is paused.
    std::optional<Clock::time_point> listen_at_;  // Set once the socket was removed.
    sched::Pool::Errand* errand_ = nullptr;       // The round's, while it keeps back posted tasks.
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
