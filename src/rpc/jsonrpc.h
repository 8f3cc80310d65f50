// JSON-RPC 2.0 as MCP uses it: one object a message, ids that are strings or integers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

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

struct Fault {
    Code code = Code::internal_error;
    std::string message;
    Map data;  // Left out of the message when empty.
};

struct Message {
    enum class Kind { request, notification, response };
    Kind kind = Kind::notification;
    Value id;
    std::string method;  // "" of a response.
    Map params;
    std::optional<Value> result = {};  // Of a response; none of one that is an error.
};

// A fault and the id to answer it under: null where none could be read.
struct Rejected {
    Value id;
    Fault fault;
};

// What a message of more than `bound` bytes is answered with.
Fault too_long(std::size_t bound);
Fault answer_too_long(std::size_t bound);

tl::expected<Message, Rejected> classify(Value message);
// The id that `text` is as JSON, if a request may have it: a string or an integer. Null otherwise.
Value id_from(std::string_view text);

Value result(Value id, Map result);
Value error(Value id, Fault fault);
Value request(Value id, std::string_view method, Map params);
Value notification(std::string_view method, Map params);

}  // namespace quire::rpc
