// ServedClient: one client of the LocalServer, and what has come from it. It belongs to the lock of
// the server's round, but for the connection, which any thread may use.
#pragma once

#include <cerrno>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/socket.h>

#include "rpc/line_splitter.h"
#include "server/local_connection.h"
#include "server/refused_line.h"

namespace quire::server {

struct ServedClient {
    // A line that is whole, in the order of arrival. Lines that were too long keep their place
    // among them, so that their refusals come in order.
    struct Arrived {
        std::string line;  // For a line that was too long: the id of its message.
        bool oversize = false;
    };
    std::shared_ptr<LocalConnection> connection;
    int socket;  // The connection's; open as long as this is there.
    rpc::LineSplitter lines;
    std::deque<Arrived> arrived = {};            // Lines that were not delivered yet.
    std::unique_ptr<rpc::Session> session = {};  // Once it has said hello.
    std::int64_t hello_until_ms = 0;             // When it must have said it.
    bool refused = false;                        // Its hello was refused.
    bool has_ended = false;                      // Nothing more can be read from it.

    // Reads what its socket has, at most a buffer of it, and cuts it into lines. False when the
    // client has disconnected; an interrupted or an empty read is no end. Bytes after the last
    // newline stay in `lines`.
    bool read(std::vector<char>& buffer) {
        const ssize_t length = ::recv(socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (length < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
        if (length == 0) return false;
        lines.feed(
            std::string_view(buffer.data(), static_cast<std::size_t>(length)),
            [&](std::string line) { arrived.push_back({std::move(line)}); },
            [&](std::string id) {
                arrived.push_back({std::move(id), true});
            });
        return true;
    }
    // Answers its next line, which was not begun. There is one, and it is not too long.
    // Notifications and answers in it are dropped without a word.
    void refuse_next(const Error& why) {
        std::string answer = refused_line(arrived.front().line, why);
        arrived.pop_front();
        if (!answer.empty()) connection->send(std::move(answer));
    }
};

}  // namespace quire::server
