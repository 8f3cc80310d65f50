// The first lines of a connection: the client's hello and the kernel's answer to it.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "rpc/connection.h"

namespace quire::server {

// Reads a client's first line. Errors: unsupported "unknown_hello"; those of parsing.
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
