// The first lines of a connection: the client's hello and the kernel's answer to it. The client
// says:
//
//    {"quire":1,"actor":"agent:ada","profile":"model","kind":"mcp"}
//
// The kernel answers {"ok":{version,pid,store,message_bytes,reads}} or
// {"error":{code,reason,message,details}}; JSON-RPC begins with the next line. Both sides ignore
// members that they do not know.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "rpc/connection.h"

namespace quire::server {

// Reads a client's first line. A member that is absent, or no string, keeps its default. Errors:
// unsupported "unknown_hello" for a number under "quire" that is not 1; those of parsing, for a
// line over 16 KiB too.
Result<rpc::Hello> parse_hello(const std::string& line);

// The facts that a kernel tells each client.
struct Greeting {
    std::string version;
    std::string store;              // Tells this store from every other.
    std::size_t message_bytes = 0;  // The longest line that the client may send.
    Map reads = {};                 // The session's Session::reads().
};
// The answer to a hello that was accepted.
std::string hello_answer(Greeting greeting);
// The answer to one that was refused; the connection then ends.
std::string hello_refusal(const Error& error);

}  // namespace quire::server
