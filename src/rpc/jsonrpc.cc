// Messages are checked here once; after classify() their types are the proof. Members are moved out
// of the parsed value, so that a large request is never copied. Our errors have a fixed form, which
// commands, the relay and the starter of a kernel read back.
#include "rpc/jsonrpc.h"

#include <utility>

#include "base/concat.h"
#include "base/enum_words.h"
#include "json/json.h"

namespace quire::rpc {
namespace {

tl::unexpected<Rejected> rejected(Value id, Code code, std::string message) {
    return tl::unexpected(Rejected{std::move(id), {code, std::move(message), {}}});
}

// The member as a string; null where it is none.
const std::string* text_member(const Value& object, std::string_view name) {
    const Value* const member = object.get(name);
    return member != nullptr && member->is_string() ? &member->as_string() : nullptr;
}

// MCP forbids null ids and ids that are not whole numbers.
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

    // The id is read first, so that every refusal below is answered under it.
    const Value* version = fields.find("jsonrpc");
    if (version == nullptr || *version != Value("2.0")) {
        return rejected(out.id, Code::invalid_request, "\"jsonrpc\" must be \"2.0\"");
    }
    Value* method = fields.find("method");
    // A message without a method is a response to a request of ours.
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

// The bounds are those of an id that a scan keeps: a longer one was cut.
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
    if (!params.empty()) message.append("params", std::move(params));
    return message;
}

Value error_value(const Error& error) {
    return Map{{"code", name_of(error.code())},
               {"reason", error.reason()},
               {"message", error.message()},
               {"details", error.details()}};
}

Error error_from(const Value& value) {
    const std::string* const code = text_member(value, "code");
    const std::string* const reason = text_member(value, "reason");
    const std::string* const message = text_member(value, "message");
    const Value* const details = value.get("details");
    if (code == nullptr || reason == nullptr || message == nullptr) {
        return Error(Errc::unavailable, "kernel_failed",
                     cat("the kernel sent an error that cannot be read: ", json::write(value)));
    }
    // A code that a newer kernel may send is not known here; its message still says what to do.
    return Error(enum_named<Errc>(*code).value_or(Errc::unavailable), *reason, *message,
                 details != nullptr && details->is_map() ? details->as_map() : Map());
}

Error response_error(const Value& error) {
    const Value* const data = error.get("data");
    if (data != nullptr && data->get("code") != nullptr && data->get("message") != nullptr)
        return error_from(*data);
    const std::string* const message = text_member(error, "message");
    const std::string* const reason = data == nullptr ? nullptr : text_member(*data, "reason");
    return Error(Errc::unsupported, reason != nullptr ? *reason : "protocol_error",
                 message != nullptr ? *message : json::write(error),
                 data != nullptr && data->is_map() ? data->as_map() : Map());
}

}  // namespace quire::rpc
