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
        std::string line;  // Of one that was too long: the id of the message that it was.
        bool oversize = false;
    };
    std::deque<Arrived> arrived;            // To be delivered.
    std::unique_ptr<rpc::Session> session;  // Once it has said hello.
    Clock::time_point hello_until;
    bool refused = false;  // Its hello was.
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
        idle_since_ = Clock::now() + kFirstClientWait;
        sched::serve_watched(*this, options_.pool);
    }

    void wait(int thread, int ms) override {
        Finding& finding = findings_[static_cast<std::size_t>(thread)];
        finding.count = ::epoll_wait(epoll_.get(), finding.events.data(),
                                     static_cast<int>(finding.events.size()), ms);
        CHECK(finding.count >= 0 || errno == EINTR);
    }

    void wake() override { attention_->wake(); }

    Next tend(int thread, sched::Pool::Errand* errand) override {
        Finding& finding = findings_[static_cast<std::size_t>(thread)];
        errand_ = errand;
        // One alone waits for an answer; of several the first would hold up the others.
        if (finding.count != 1) give();
        for (int i = 0; i < finding.count; ++i) see_to(finding.events[static_cast<std::size_t>(i)]);
        drop_the_silent();
        errand_ = nullptr;
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

    void see_to(const epoll_event& event) {
        switch (event.data.u64) {
            case kListener:
                return accept_all();
            case kSignals:
                return take_signal();
            case kWake:
                return see_to_called();
            default:
                return see_to_client(event.data.u64, event.events);
        }
    }

    void take_signal() {
        signalfd_siginfo info = {};
        if (::read(signals_.get(), &info, sizeof info) != sizeof info) return;
        log_.write(LogLevel::info, cat("ends: signal ", info.ssi_signo));
        begin_end();
    }

    void see_to_called() {
        for (const std::uint64_t id : attention_->take()) see_to_client(id, 0);
        if (stop_asked_.with([](const bool& asked) { return asked; })) begin_end();
    }

    // No new clients and no new lines; what is under way may finish.
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
        for (const std::uint64_t id : all) see_to_client(id, 0);
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
        // A client may have connected just now: it is taken in, or it finds no socket and starts a
        // kernel.
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
        // While it drains, sessions say when asked whether they are busy; they do not call.
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
                // Out of descriptors or memory: those who wait in the queue are not lost.
                log_.write(LogLevel::warning,
                           cat("cannot take in a client for now: error ", errno));
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
        const auto found = clients_.find(id);
        Client client = std::move(found->second);
        clients_.erase(found);
        client.connection->abandon();
        if (client.session) client.session->on_close();
        count_.with([&](std::size_t& count) { count = clients_.size(); });
        if (clients_.empty()) idle_since_ = Clock::now();
    }

    void see_to_client(std::uint64_t id, std::uint32_t events) {
        const auto found = clients_.find(id);
        if (found == clients_.end()) return;  // Ended earlier in this round.
        Client& client = found->second;
        if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && !read(client)) return end(id);
        update(id, client);
    }

    // False when the client has gone.
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

    // One by one, for each may be the one after which no more is to come.
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

    // Writes what is queued and settles what to wait for.
    void update(std::uint64_t id, Client& client) {
        client.connection->flush();
        deliver(client);
        const LocalConnection::Wants wants = client.connection->wants();
        if (wants.over) return end(id);
        const bool listens = client.arrived.empty() && takes_input(client);
        // Each time anew: what one thread was told of, the other one is not.
        epoll_event event = {};
        event.events = EPOLLONESHOT | (listens ? std::uint32_t{EPOLLIN} : 0U) |
                       (wants.output ? std::uint32_t{EPOLLOUT} : 0U);
        event.data.u64 = id;
        CHECK(::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, client.socket, &event) == 0);
    }

    void drop_the_silent() {
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
    std::optional<Clock::time_point> accept_at_;  // While no client is taken in: when to try again.
    // What each thread was told last.
    struct Finding {
        int count = 0;
        std::array<epoll_event, 64> events = {};
    };
    std::array<Finding, 2> findings_;
    sched::Pool::Errand* errand_ = nullptr;  // Of the round, while it keeps back what is posted.
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
