// Answers to requests that were never begun: their lines are refused unparsed.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "rpc/message_scan.h"

namespace quire::server {

// The refusal of one request: a result for a tools/call, whose client shows it to its model, and a
// JSON-RPC error for the others.
std::string refusal_of(const rpc::MessageHead& request, const Error& error);

// The refusal of a line: of its request, or of each request in its batch. "" when nobody waits for
// an answer to it.
std::string refused_line(std::string_view line, const Error& error);

}  // namespace quire::server
