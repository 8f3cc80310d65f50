// A local socket that says lines back, and clients of it, for tests.
#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <sys/socket.h>
#include <sys/time.h>

#include "base/concat.h"
#include "server/attach.h"
#include "server/local_socket.h"
#include "server/test_workspace.h"

namespace quire::server {

using Workspace = TestWorkspace;

// The request "hold" waits for this.
struct Gate {
    std::promise<void> promise;
    std::shared_future<void> opened = promise.get_future().share();
};

// Says every line back. "big N" sends N bytes, "close" ends the connection, "pause" takes no more
// lines; "later X" says X from a task, "hold" does so once the gate is open, and "open N" keeps a
// request of N bytes open until then.
class Echo final : public rpc::Session {
public:
    Echo(std::shared_ptr<rpc::Connection> connection, sched::Scheduler& scheduler, const Gate& gate,
         std::atomic<int>& closed)
        : connection_(std::move(connection)), strand_(scheduler), gate_(gate), closed_(closed) {}
    void on_line(std::string line) override {
        if (line.rfind("big ", 0) == 0) {
            connection_->send(std::string(std::stoul(line.substr(4)), 'x'));
        } else if (line == "close") {
            connection_->send("bye");
            connection_->close();
        } else if (line.rfind("later ", 0) == 0) {
            strand_.post([to = connection_, text = line.substr(6)] { to->send(text); });
        } else if (line == "pause") {
            connection_->hold_input(true);
        } else if (line.rfind("open ", 0) == 0) {
            strand_.post(
                [to = connection_, bytes = std::stoul(line.substr(5)), opened = gate_.opened] {
                    to->open_request(bytes);
                    to->send("open");
                    opened.wait();
                    to->end_request(bytes);
                });
        } else if (line == "hold") {
            strand_.post([to = connection_, opened = gate_.opened] {
                opened.wait();
                to->send("held");
            });
        } else {
            connection_->send(std::move(line));
        }
    }
    void on_oversize(std::size_t bound, const std::string& id) override {
        connection_->send(cat("oversize ", bound, " ", id));
    }
    void on_settings_change() override { connection_->send("the settings are others"); }
    void on_close() override { ++closed_; }

private:
    std::shared_ptr<rpc::Connection> connection_;
    sched::Strand strand_;
    const Gate& gate_;
    std::atomic<int>& closed_;
};

// With two threads, as the kernel has it, unless it is told otherwise.
class Server {
public:
    enum class Threads { one, two };
    Server(const Workspace& workspace, LocalServerOptions options, Threads threads = Threads::two) {
        if (threads == Threads::two) options.pool = &pool_;
        rpc::SessionFactory factory = [this](const rpc::Hello& hello,
                                             std::shared_ptr<rpc::Connection> connection)
            -> Result<std::unique_ptr<rpc::Session>> {
            if (hello.actor == "nobody") return invalid("invalid_actor", "there is no such actor");
            return std::make_unique<Echo>(std::move(connection), pool_, gate, closed);
        };
        Result<StateDirectory> directory = StateDirectory::open(workspace.path());
        Result<std::unique_ptr<LocalServer>> opened =
            LocalServer::open(std::move(*directory), options, std::move(factory), log_);
        if (!opened) throw std::runtime_error(opened.error().message());
        server_ = std::move(*opened);
        thread_ = std::thread([this] {
            server_->run();
            ended = true;
        });
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server() {
        server_->stop();
        thread_.join();
    }
    void wait() {
        thread_.join();
        thread_ = std::thread([] {});
    }
    LocalServer& operator*() { return *server_; }

    std::atomic<int> closed{0};
    std::atomic<bool> ended{false};
    Gate gate;

private:
    sched::Pool pool_{1};
    NoLog log_;
    std::unique_ptr<LocalServer> server_;
    std::thread thread_;
};

inline LocalServerOptions patient() {
    LocalServerOptions options;
    options.linger_ms = -1;
    options.version = "test";
    return options;
}

// A client that is written to and read from as it comes.
class Client {
public:
    explicit Client(const Workspace& workspace, const std::string& actor = "agent:a") {
        Result<Attached> attached = attach({.workspace = workspace.path(),
                                            .hello = {.actor = actor},
                                            .start = false,
                                            .launch = {}});
        if (!attached) {
            refused = attached.error().reason();
            return;
        }
        version = attached->version;
        socket_ = std::move(attached->socket);
        const timeval timeout = {.tv_sec = 60, .tv_usec = 0};
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    }
    bool say(const std::string& text) {
        for (std::size_t sent = 0; sent < text.size();) {
            const ssize_t length =
                ::send(socket_.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
            if (length <= 0) return false;
            sent += static_cast<std::size_t>(length);
        }
        return true;
    }
    // "" at the end.
    std::string hear() {
        while (true) {
            if (const std::size_t newline = heard_.find('\n'); newline != std::string::npos) {
                std::string line = heard_.substr(0, newline);
                heard_.erase(0, newline + 1);
                return line;
            }
            char part[65536];
            const ssize_t length = ::recv(socket_.get(), part, sizeof part, 0);
            if (length <= 0) return "";
            heard_.append(part, static_cast<std::size_t>(length));
        }
    }
    void leave() { socket_.reset(); }

    std::string refused, version;

private:
    Fd socket_;
    std::string heard_;
};

}  // namespace quire::server
