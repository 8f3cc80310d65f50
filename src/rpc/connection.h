// Connection and Session: the border between a transport, which moves lines, and a protocol, which
// understands them. A transport makes a Connection for each client and gets a Session for it from
// the SessionFactory.
//
// Each line after the first is one JSON-RPC message in UTF-8 without its newline (MCP's stdio
// framing).
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/function.h"
#include "base/result.h"

namespace quire::rpc {

// A client's first line: {"quire":1,"actor":"agent:x","profile":"model","kind":"mcp"}. The session
// factory checks the words.
struct Hello {
    std::string actor = "agent:local";
    std::string profile = {};  // "": the actor's profile in the settings.
    std::string kind = "mcp";  // "mcp": an MCP client; "cli": one of our own commands.
};

// Sends to the client. Every member may be called from any thread, at any time, even after the end.
class Connection {
public:
    virtual ~Connection() = default;
    // Queues one line without a newline. Never blocks. Lines leave in the order of the calls.
    // Returns false and drops the line when the connection is over. A client that leaves more than
    // the transport's bound unread is cut off.
    virtual bool send(std::string line) = 0;
    // While held, no further line is delivered: for a session with enough open requests. A call
    // from on_line() takes effect after that line. (While much output is unread, the transport
    // holds the input by itself.)
    virtual void hold_input(bool held) = 0;
    // Ends the connection once the queued lines are written, or the client does not read them in
    // time.
    virtual void close() = 0;
    // A request of so many bytes is open, or was answered: the transport bounds what is open over
    // all its clients.
    virtual void open_request(std::size_t bytes) { static_cast<void>(bytes); }
    virtual void end_request(std::size_t bytes) { static_cast<void>(bytes); }
};

// Receives from one client. The transport calls it serially, on its own thread, so a session must
// not block. It is destroyed on that thread after on_close(); replies that come later should hold
// the Connection only.
class Session {
public:
    virtual ~Session() = default;
    virtual void on_line(std::string line) = 0;
    // A line was longer than the bound and was dropped. `id` is the id of its message, as JSON
    // text; "" for none. The next line follows as usual.
    virtual void on_oversize(std::size_t bound, const std::string& id) = 0;
    // The requests that change nothing, in the form of mcp/repeatable.h. Part of the answer to the
    // hello: a relay may send these again when the kernel is lost before it has answered.
    virtual Map reads() const { return {}; }
    // Returns true if answers are still to come. A kernel that ends waits for them, but not for
    // long.
    virtual bool is_busy() const { return false; }
    // The kernel is about to end: the session stops waiting for people, so that a call which waits
    // for one is answered now and does not hold the end up.
    virtual void on_ending() {}
    // The workspace's settings have changed: what the session publishes may differ.
    virtual void on_settings_change() {}
    // The client has disconnected, or close() is complete. The last call. Bytes after the last
    // newline are not a line.
    virtual void on_close() = 0;
};

// Makes the session of a client that said `hello`, on the transport's thread. The session sends
// nothing before its first line. After an error the client gets
// {"error":{code,reason,message,details}}, and the connection ends.
using SessionFactory = Function<Result<std::unique_ptr<Session>>(
    const Hello& hello, std::shared_ptr<Connection> connection)>;

}  // namespace quire::rpc
