#include "rpc/jsonrpc.h"

#include <utility>

#include "base/concat.h"
#include "json/json.h"

namespace quire::rpc {
namespace {

tl::unexpected<Rejected> rejected(Value id, Code code, std::string message) {
    return tl::unexpected(Rejected{std::move(id), {code, std::move(message), {}}});
}

bool may_be_id(const Value& value) {
    return value.is_string() || value.is_int();
}

}  // namespace

tl::expected<Message, Rejected> classify(Value message) {
    if (!message.is_map())
        return rejected({}, Code::invalid_request, "a message must be an object");
    Map& fields = message.as_map();

    Message out;
    Value* id = fields.find("id");
    const bool usable_id = id != nullptr && may_be_id(*id);
    if (usable_id) out.id = std::move(*id);

    const Value* version = fields.find("jsonrpc");
    if (version == nullptr || *version != Value("2.0")) {
        return rejected(out.id, Code::invalid_request, "\"jsonrpc\" must be \"2.0\"");
    }
    Value* method = fields.find("method");
    if (method == nullptr && (fields.contains("result") || fields.contains("error"))) {
        out.kind = Message::Kind::response;
        if (Value* result = fields.find("result")) out.result = std::move(*result);
        return out;
    }
    if (method == nullptr || !method->is_string()) {
        return rejected(out.id, Code::invalid_request, "\"method\" must be a string");
    }
    if (id != nullptr && !usable_id) {
        return rejected({}, Code::invalid_request, "\"id\" must be a string or an integer");
    }
    out.kind = usable_id ? Message::Kind::request : Message::Kind::notification;
    out.method = method->as_string();
    if (Value* params = fields.find("params")) {
        if (!params->is_map()) {
            return rejected(out.id, Code::invalid_params, "\"params\" must be an object");
        }
        out.params = std::move(params->as_map());
    }
    return out;
}

Value id_from(std::string_view text) {
    Result<Value> id = json::parse(text, {.depth = 2, .bytes = 4096});
    return id && may_be_id(*id) ? std::move(*id) : Value();
}

Fault too_long(std::size_t bound) {
    return {
        Code::invalid_request,
        cat("nothing was done: the message is longer than ", bound, " bytes. Send less at a time"),
        {{"reason", "too_large"}, {"limit", bound}}};
}

Fault answer_too_long(std::size_t bound) {
    return {Code::internal_error,
            cat("the answer is longer than ", bound,
                " bytes and was not sent. Ask for less at a time: tools that read take a range"),
            {{"reason", "too_large"}, {"limit", bound}}};
}

Value result(Value id, Map result) {
    Map message;
    message.append("jsonrpc", "2.0");
    message.append("id", std::move(id));
    message.append("result", std::move(result));
    return message;
}

Value error(Value id, Fault fault) {
    Map body;
    body.append("code", static_cast<int>(fault.code));
    body.append("message", std::move(fault.message));
    if (!fault.data.empty()) body.append("data", std::move(fault.data));
    Map message;
    message.append("jsonrpc", "2.0");
    message.append("id", std::move(id));
    message.append("error", std::move(body));
    return message;
}

Value request(Value id, std::string_view method, Map params) {
    Map message;
    message.append("jsonrpc", "2.0");
    message.append("id", std::move(id));
    message.append("method", method);
    message.append("params", std::move(params));
    return message;
}

Value notification(std::string_view method, Map params) {
    Map message;
    message.append("jsonrpc", "2.0");
    message.append("method", method);
    message.append("params", std::move(params));
    return message;
}

}  // namespace quire::rpc
