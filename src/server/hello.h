// The first lines of a connection: the client's hello and the kernel's answer to it.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "rpc/connection.h"

namespace quire::server {

// Reads a client's first line. Errors: unsupported "unknown_hello"; those of parsing.
Result<rpc::Hello> parse_hello(const std::string& line);

// The answer to a hello that was accepted. `message_bytes` is the longest line that the client may
// send, and `reads` the session's Session::reads().
std::string hello_answer(const std::string& version, std::size_t message_bytes, Map reads);
// The answer to one that was refused; the connection then ends.
std::string hello_refusal(const Error& error);

}  // namespace quire::server
