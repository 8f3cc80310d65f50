// JSON-RPC 2.0 as MCP uses it: each message is one object, each id a string or an integer. Also the
// form in which our own errors travel: as the `data` of a fault, and in answers of our own.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "base/result.h"
#include "base/value.h"

namespace quire::rpc {

enum class Code {
    parse_error = -32700,
    invalid_request = -32600,
    method_not_found = -32601,
    invalid_params = -32602,
    internal_error = -32603,
    resource_not_found = -32002,   // MCP up to 2025-11-25.
    unsupported_version = -32022,  // MCP from 2026-07-28.
};

// The error of a response.
struct Fault {
    Code code = Code::internal_error;
    std::string message;
    Map data;  // Left out of the message when empty.
};

// A message whose form has been checked.
struct Message {
    enum class Kind { request, notification, response };
    Kind kind = Kind::notification;
    Value id;
    std::string method;  // "" for a response.
    Map params;
    std::optional<Value> result = {};  // A response's; none when it is an error.
};

// A fault and the id to answer it under: null where none could be read.
struct Rejected {
    Value id;
    Fault fault;
};

// The faults for a message, and for an answer, of more than `bound` bytes.
Fault too_long(std::size_t bound);
Fault answer_too_long(std::size_t bound);

// Checks a parsed message and takes it apart. O(1): members are moved. A response keeps its id and
// its result; an error in it is dropped, so `result` is none. Rejected: it is no object (-32600),
// or "jsonrpc", "id" or "method" (-32600) or "params" (-32602) are not as the specification has
// them.
tl::expected<Message, Rejected> classify(Value message);
// The id that `text` is as JSON, if a request may have it: a string or an integer. Null otherwise.
Value id_from(std::string_view text);

// The four kinds of messages, ready to be written. Values are moved in. A result has no `error` and
// an error no `result`, as the specification wants it.
Value result(Value id, Map result);
Value error(Value id, Fault fault);
Value request(Value id, std::string_view method, Map params);
Value notification(std::string_view method, Map params);  // Empty params are left out.

// {"code":…,"reason":…,"message":…,"details":…}, and back. A value that is no such object becomes
// an unavailable "kernel_failed", and a code that this program does not know becomes unavailable,
// with the reason and the message as they came.
Value error_value(const Error& error);
Error error_from(const Value& value);
// The error in a response: one of ours where its `data` is that, otherwise an unsupported
// "protocol_error" or data.reason, in the words of the response.
Error response_error(const Value& error);

}  // namespace quire::rpc
