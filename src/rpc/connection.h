// Connection and Session: the border between a transport, which moves lines, and a protocol, which
// understands them. A transport owns the connection; server/mcp gives it a session for each.
//
// A line, the first one apart, is one JSON-RPC message in UTF-8 without its newline (MCP's stdio
// framing).
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/function.h"
#include "base/result.h"

namespace quire::rpc {

// A client's first line: {"quire":1,"actor":"agent:x","profile":"model","kind":"mcp"}. The words
// are passed on as they came; the session factory checks them.
struct Hello {
    std::string actor = "agent:local";
    std::string profile = {};  // "" for the one that the settings give the actor.
    std::string kind = "mcp";  // "mcp": an MCP client; "cli": one of our own commands.
};

// The way to the client. Every member may be called from any thread, at any time, also after the
// end.
class Connection {
public:
    virtual ~Connection() = default;
    // Queues one line, which holds no newline. Never blocks. Lines leave in the order of the calls.
    // False, and the line is dropped, when the connection is over; a client that lets more than the
    // transport's bound pile up unread is cut off.
    virtual bool send(std::string line) = 0;
    // While held, no further line is delivered: for a session that has enough in flight. When it is
    // called from on_line(), that line is the last. (While much output is unread the transport
    // holds by itself.)
    virtual void hold_input(bool held) = 0;
    // Ends the connection once what is queued has been written, or the client does not take it in
    // time.
    virtual void close() = 0;
};

// What the transport tells of one client: serially, on its own thread, so a session must not block
// there. It is destroyed on that thread after on_close(); replies still under way should hold the
// Connection only.
class Session {
public:
    virtual ~Session() = default;
    virtual void on_line(std::string line) = 0;
    // A line was longer than the bound. It was thrown away, and the next line follows as usual.
    // `id` is that of the message that it was, as JSON text; "" where it had none.
    virtual void on_oversize(std::size_t bound, const std::string& id) = 0;
    // Which of its requests change nothing, in the words of server/repeatable.h; told with the
    // answer to the hello.
    virtual Map reads() const { return {}; }
    // Whether answers are still to come. A kernel that is told to end waits for them, but not for
    // long.
    virtual bool is_busy() const { return false; }
    // The kernel has been told to end: nothing that may take long is waited for any more.
    virtual void on_ending() {}
    // The client has gone, or close() has run its course: the last call. Bytes after the last
    // newline are not a line.
    virtual void on_close() = 0;
};

// Makes the session of a client that said `hello`, on the transport's thread; it sends nothing
// before its first line. An error is told to the client as
// {"error":{code,reason,message,details}}, and the connection ends.
using SessionFactory = Function<Result<std::unique_ptr<Session>>(
    const Hello& hello, std::shared_ptr<Connection> connection)>;

}  // namespace quire::rpc
