// A line becomes messages, and a message is served by the row of its method. The row says in which
// era the method exists; `_meta` or the handshake says in which era the request is. Requests are
// served at once and answered from any thread, in any order (rpc/in_flight.h). A line costs one
// parse; the copy of it is dropped before it is served.
//
//   initialize or ping, without modern _meta                                  ->  legacy
//   after initialize, without modern _meta, unless only `modern` has the row  ->  legacy
//   anything else                                                             ->  modern
//
// One connection may use both eras, request by request. Session members are touched on the
// transport's thread alone; what is answered later holds the service and the connection, and never
// the session.
#include "mcp/mcp_session.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/concat.h"
#include "base/utf8.h"
#include "json/json.h"
#include "mcp/open_questions.h"
#include "mcp/repeatable.h"
#include "rpc/message_scan.h"
#include "rpc/method.h"

namespace quire::mcp {

using rpc::Code;
using rpc::Fault;

namespace {

// Unanswered requests of one client before its input is held.
constexpr std::size_t kMostInFlight = 2048;
// Well below what a connection may leave unread before it is cut off, and others' answers with it.
constexpr std::size_t kLongestAnswer = 48U << 20;
constexpr std::string_view kBatchVersion = "2025-03-26";
// The first revision in which a server asks a client's user. There are no batches in it.
constexpr std::string_view kAskingVersion = "2025-06-18";

// The fault in the members by which a modern tools/call continues an earlier one; "" if there is
// none.
std::string_view wrong_answers(const std::optional<std::string>& state,
                               const std::optional<Map>& answers) {
    if (state && state->empty()) return "requestState must be the string that a result had";
    if (answers && !state)
        return "requestState must come with inputResponses, as the result had it";
    return "";
}

constexpr std::string_view kToolsListChanged = "toolsListChanged";
constexpr std::string_view kResourceSubscriptions = "resourceSubscriptions";

// Compares what a list publishes. O(size of the schemas), so the lists are compared by their
// address first.
bool are_published_alike(const tools::ToolInfo& one, const tools::ToolInfo& other) {
    return one.name == other.name && one.description == other.description &&
           one.input_schema == other.input_schema && one.output_schema == other.output_schema &&
           one.annotations == other.annotations;
}

// The fault for a call that reached no tool.
Fault fault_of(const Error& error) {
    Map data = error.details();
    data.set("reason", error.reason());
    return {Code::invalid_params, error.message(), std::move(data)};
}

// A service's error outside of tools: the params are at fault, or we are.
rpc::Fault service_fault(const Error& error) {
    const bool ours = error.code() == Errc::unavailable;
    return {ours ? Code::internal_error : Code::invalid_params,
            error.message(),
            {{"reason", error.reason()}}};
}

// The id of a line that is not JSON, if a scan of its outermost members finds one: its sender waits
// for an answer under that id.
Value id_of(std::string_view broken) {
    const auto heads = rpc::scan_messages(broken);
    return heads.size() == 1 ? rpc::id_from(heads.front().id) : Value();
}

}  // namespace

struct McpSession::Method {
    bool legacy;
    bool modern;
    rpc::Method<McpSession, Responder> row;
};

const McpSession::Method McpSession::kMethods[] = {
    {true, false,
     rpc::method<&McpSession::initialize>("initialize", "protocolVersion", "capabilities")},
    {true, false, rpc::method<&McpSession::ping>("ping")},
    {true, false, rpc::method<&McpSession::set_level>("logging/setLevel", "level")},
    {false, true, rpc::method<&McpSession::discover>("server/discover")},
    {true, true, rpc::method<&McpSession::list_tools>("tools/list", "cursor")},
    {true, false, rpc::method<&McpSession::call_tool>("tools/call", "name", "arguments")},
    {false, true,
     rpc::method<&McpSession::call_tool_modern>("tools/call", "name", "arguments", "_meta",
                                                "requestState", "inputResponses")},
    {true, true, rpc::method<&McpSession::list_resources>("resources/list", "cursor")},
    {true, true, rpc::method<&McpSession::list_templates>("resources/templates/list", "cursor")},
    {true, true, rpc::method<&McpSession::read_resource>("resources/read", "uri")},
    {true, false, rpc::method<&McpSession::subscribe>("resources/subscribe", "uri")},
    {true, false, rpc::method<&McpSession::unsubscribe>("resources/unsubscribe", "uri")},
    {true, true, rpc::method<&McpSession::list_prompts>("prompts/list", "cursor")},
    {true, true, rpc::method<&McpSession::get_prompt>("prompts/get", "name", "arguments")},
    {true, true, rpc::method<&McpSession::complete>("completion/complete", "ref", "argument")},
    {false, true, rpc::method<&McpSession::listen>("subscriptions/listen", "notifications")},
};

const McpSession::Method* McpSession::find_method(std::string_view name, Era era) {
    for (const Method& method : kMethods) {
        if (method.row.name == name && (era == Era::legacy ? method.legacy : method.modern)) {
            return &method;
        }
    }
    return nullptr;
}

McpSession::McpSession(std::unique_ptr<Service> service,
                       std::shared_ptr<rpc::Connection> connection, Implementation server,
                       const ElicitationContext* elicitation)
    : service_(std::move(service)),
      connection_(std::move(connection)),
      in_flight_(std::make_shared<rpc::InFlight>(connection_, kMostInFlight, kLongestAnswer)),
      calls_(std::make_shared<ToolCalls>(service_, connection_, elicitation)),
      news_(std::make_shared<ResourceNews>(service_, connection_)),
      server_(std::make_shared<const Implementation>(std::move(server))) {
    // People's answers come in the same input, which is held while too many requests are open. Open
    // questions alone must never hold it.
    CHECK(elicitation == nullptr || elicitation->most_questions < kMostInFlight / 2);
}

McpSession::~McpSession() {
    McpSession::on_close();
}

void McpSession::on_ending() {
    calls_->give_up();
}

// A call that still runs finds itself cancelled, and asks nobody.
void McpSession::on_close() {
    in_flight_->cancel_all();
    calls_->close();
}

Map McpSession::reads() const {
    return Repeatable::reads_of(*service_->tools());
}

void McpSession::on_oversize(std::size_t bound, const std::string& id) {
    refuse({rpc::id_from(id), rpc::too_long(bound)}, nullptr);
}

void McpSession::on_line(std::string line) {
    // Blank lines are allowed between messages.
    if (line.find_first_not_of(" \t\r") == std::string::npos) return;
    line_bytes_ = line.size();
    // A number that a double would round must not reach a tool: the call is refused, while the rest
    // of the message, its id above all, is still read.
    auto parsed = json::parse(line, {.exact_integers = true});
    inexact_.reset();
    if (!parsed && parsed.error().reason() == "inexact_number") {
        inexact_ = std::move(parsed).error();
        parsed = json::parse(line);
    }
    if (!parsed) {
        Map data = parsed.error().details();
        data.set("reason", parsed.error().reason());
        return refuse({id_of(line),
                       {Code::parse_error, cat("nothing was done: ", parsed.error().message()),
                        std::move(data)}},
                      nullptr);
    }
    line = std::string();  // A large message would otherwise be held twice.
    if (!parsed->is_list()) return receive(std::move(*parsed), nullptr);

    if (legacy_version_ != kBatchVersion) {
        return refuse(
            {{},
             {Code::invalid_request,
              cat("a message must be one object; batches are of ", kBatchVersion, " only"),
              {}}},
            nullptr);
    }
    if (parsed->as_list().empty()) {
        return refuse({{}, {Code::invalid_request, "the batch is empty", {}}}, nullptr);
    }
    // The batch is answered when its last request is; notifications have no part in it.
    const auto batch = in_flight_->make_batch();
    for (Value& message : parsed->as_list()) receive(std::move(message), batch);
}

void McpSession::receive(Value message, const std::shared_ptr<rpc::Batch>& batch) {
    auto classified = rpc::classify(std::move(message));
    if (!classified) return refuse(std::move(classified).error(), batch);
    switch (classified->kind) {
        case rpc::Message::Kind::request:
            return serve(std::move(*classified), batch);
        case rpc::Message::Kind::notification:
            return notice(*classified);
        case rpc::Message::Kind::response:
            if (!calls_->on_response(classified->id, std::move(classified->result)))
                log_debug("a response came to no open request of ours and was ignored");
            return;
    }
}

void McpSession::refuse(rpc::Rejected rejected, const std::shared_ptr<rpc::Batch>& batch) {
    Value message = rpc::error(std::move(rejected.id), std::move(rejected.fault));
    if (batch != nullptr) {
        batch->add(message);
    } else {
        connection_->send(json::write(message));
    }
}

void McpSession::serve(rpc::Message message, const std::shared_ptr<rpc::Batch>& batch) {
    // A request is open before it is looked at, so that even a refusal is its one answer.
    // The first request of a batch stands for the bytes of all.
    auto answer = in_flight_->begin(message.id, batch, std::exchange(line_bytes_, 0));
    if (!answer) {
        return refuse({std::move(message.id),
                       {Code::invalid_request, "a request with this id is still being served", {}}},
                      batch);
    }
    const std::string_view name = message.method;
    const Method* legacy = find_method(name, Era::legacy);
    const Method* modern = find_method(name, Era::modern);
    // `initialize` and `ping` may come before a version is agreed on. Other requests are legacy
    // only after the handshake.
    const bool opening = name == "initialize" || name == "ping";
    const bool is_legacy = !has_modern_meta(message.params) &&
                           (opening || (!legacy_version_.empty() && (legacy || !modern)));

    if (!is_legacy && (legacy || modern)) {
        if (auto fault = check_modern_meta(message.params)) return answer->error(std::move(*fault));
    }
    // A method of the other era only is refused as not found, in words that say so.
    const Method* method = is_legacy ? legacy : modern;
    if (method == nullptr) {
        return answer->error({Code::method_not_found,
                              cat("there is no method ", utf8::prefix(name, 80),
                                  legacy || modern ? " in this revision of the protocol" : ""),
                              {{"method", utf8::prefix(name, 80)}}});
    }
    if (batch != nullptr && name == "initialize") {
        return answer->error({Code::invalid_request, "initialize may not be part of a batch", {}});
    }
    const std::string_view version = is_legacy ? legacy_version_ : kModernVersions.front();
    const Era era = is_legacy ? Era::legacy : Era::modern;
    const Responder responder{std::move(*answer), era, version, server_};
    const auto& row = method->row;
    if (const auto fault = row.serve(*this, responder, std::move(message.params), row.params))
        responder.refuse(cat(fault->path, " must be ", fault->wanted));
}

void McpSession::notice(const rpc::Message& message) {
    if (message.method == "notifications/cancelled") {
        const Value* id = message.params.find("requestId");
        if (id != nullptr) std::erase(subscriptions_, *id);
        if (id != nullptr) news_->unfollow(*id);
        if (id == nullptr || !in_flight_->cancel(*id)) {
            log_debug("a cancellation named no request that is being served");
        } else {
            calls_->on_cancelled(*id);
        }
    } else if (message.method != "notifications/initialized") {
        log_debug(cat("notification ", utf8::prefix(message.method, 80), " was ignored"));
    }
}

void McpSession::log_debug(std::string_view what) {
    if (!debug_) return;
    connection_->send(json::write(rpc::notification(
        "notifications/message", {{"level", "debug"}, {"logger", "quire"}, {"data", what}})));
}

void McpSession::Responder::result(Map result, Caching caching) const {
    answer.result(era == Era::legacy ? std::move(result)
                                     : modern_result(std::move(result), caching, *server));
}

void McpSession::Responder::refuse(std::string_view what) const {
    answer.error({Code::invalid_params, cat("params.", what), {}});
}

void McpSession::initialize(const Responder& responder, std::string protocol_version,
                            std::optional<Value> capabilities) {
    legacy_version_ = negotiate(protocol_version);
    takes_forms_ = takes_forms(capabilities ? &*capabilities : nullptr);
    listed_ = service_->tools();
    responder.result(initialize_result(legacy_version_, *server_, service_->guidance()),
                     Caching::none);
}

void McpSession::ping(const Responder& responder) {
    responder.result({}, Caching::none);
}

void McpSession::set_level(const Responder& responder, LogLevel level) {
    debug_ = level == LogLevel::debug;
    responder.result({}, Caching::none);
}

void McpSession::discover(const Responder& responder) {
    responder.result(discover_result(service_->guidance()), Caching::hour);
}

void McpSession::list_tools(const Responder& responder, std::optional<Value> cursor) {
    // All tools are one page: no cursor was ever given.
    if (cursor) return responder.refuse("cursor is not one that this list gave");
    listed_ = service_->tools();
    responder.result(tools_result(*listed_, responder.version),
                     service_->has_changing_tools() ? Caching::never : Caching::minutes);
}

void McpSession::call_tool(const Responder& responder, std::string name,
                           std::optional<Value> arguments) {
    ToolCalls::Call call;
    call.name = std::move(name);
    if (takes_forms_ && responder.version >= kAskingVersion)
        call.route = ToolCalls::Route::by_request;
    run(responder, std::move(call), std::move(arguments));
}

void McpSession::call_tool_modern(const Responder& responder, std::string name,
                                  std::optional<Value> arguments, Map meta,
                                  std::optional<std::string> state, std::optional<Map> answers) {
    if (const auto wrong = wrong_answers(state, answers); !wrong.empty())
        return responder.refuse(wrong);
    ToolCalls::Call call;
    call.name = std::move(name);
    if (takes_forms(client_capabilities(meta))) call.route = ToolCalls::Route::by_result;
    call.state = state.value_or("");
    if (const Value* response = answers ? answer_in(*answers) : nullptr) call.response = *response;
    run(responder, std::move(call), std::move(arguments));
}

void McpSession::run(const Responder& responder, ToolCalls::Call call,
                     std::optional<Value> arguments) {
    if (call.name.empty()) return responder.refuse("name must be the name of a tool");
    // An earlier call, of this client or another, may have changed what the tools follow.
    if (service_->has_changing_tools()) tell_tools_changed();
    if (inexact_) {
        // The error's position is that in the whole message.
        return responder.result(call_result(tools::refused(*inexact_), responder.version),
                                Caching::none);
    }
    call.request = responder.answer;
    call.version = responder.version;
    const bool has_arguments = arguments && !arguments->is_null();
    call.arguments = has_arguments ? std::move(*arguments) : Value(Map{});
    calls_->call(std::move(call), [responder](Result<ToolCalls::Outcome> outcome) {
        if (!outcome) return responder.error(fault_of(outcome.error()));
        if (auto* result = std::get_if<tools::ToolResult>(&*outcome))
            return responder.result(call_result(std::move(*result), responder.version),
                                    Caching::none);
        auto& more = std::get<ToolCalls::InputRequired>(*outcome);
        responder.result(input_required_result(std::move(more.question), std::move(more.state)),
                         Caching::none);
    });
}

void McpSession::list_resources(const Responder& responder, std::optional<std::string> cursor) {
    service_->list_resources(
        cursor.value_or(""), responder.answer.cancelled(), [responder](Result<ResourcePage> page) {
            if (!page) return responder.error(service_fault(page.error()));
            responder.result(resources_result(std::move(*page)), Caching::never);
        });
}

void McpSession::list_templates(const Responder& responder, std::optional<Value> cursor) {
    if (cursor) return responder.refuse("cursor is not one that this list gave");
    responder.result(templates_result(service_->resource_templates()), Caching::minutes);
}

void McpSession::read_resource(const Responder& responder, std::string uri) {
    if (uri.empty()) return responder.refuse("uri must be the URI of a resource");
    service_->read_resource(
        uri, responder.answer.cancelled(), [responder, uri](Result<ResourceText> text) {
            if (!text) return responder.error(resource_fault(text.error(), uri, responder.era));
            responder.result(read_result(std::move(*text)), Caching::never);
        });
}

void McpSession::subscribe(const Responder& responder, std::string uri) {
    news_->follow({}, uri, responder.answer.cancelled(), [responder, uri](Result<void> done) {
        if (!done) return responder.error(resource_fault(done.error(), uri, responder.era));
        responder.result({}, Caching::none);
    });
}

void McpSession::unsubscribe(const Responder& responder, std::string uri) {
    news_->unfollow({}, uri);
    responder.result({}, Caching::none);
}

void McpSession::list_prompts(const Responder& responder, std::optional<Value> cursor) {
    if (cursor) return responder.refuse("cursor is not one that this list gave");
    responder.result(prompts_result(service_->prompts(), responder.version), Caching::minutes);
}

void McpSession::get_prompt(const Responder& responder, std::string name,
                            std::optional<Map> arguments) {
    Map given = std::move(arguments).value_or(Map());
    const std::vector<Prompt> prompts = service_->prompts();
    const auto prompt = std::ranges::find(prompts, name, &Prompt::name);
    if (prompt == prompts.end()) return responder.refuse("name must be the name of a prompt");
    if (auto fault = check_prompt_arguments(*prompt, given))
        return responder.error(std::move(*fault));
    service_->get_prompt(std::move(name), std::move(given), responder.answer.cancelled(),
                         [responder](Result<PromptText> text) {
                             if (!text) return responder.error(service_fault(text.error()));
                             responder.result(prompt_result(std::move(*text)), Caching::none);
                         });
}

void McpSession::complete(const Responder& responder, Map ref, Map argument) {
    auto typing = typing_in(ref, argument);
    if (!typing) return responder.error(std::move(typing).error());
    service_->complete(std::move(*typing), responder.answer.cancelled(),
                       [responder](Result<Completions> found) {
                           if (!found) return responder.error(service_fault(found.error()));
                           responder.result(completion_result(std::move(*found)), Caching::none);
                       });
}

void McpSession::listen(const Responder& responder, Map notifications) {
    const Value& id = responder.answer.id();
    in_flight_->leave_open(id);
    // The list of tools is all that changes as a list. The request stays unanswered until it is
    // cancelled.
    Map honoured;
    if (const Value* wanted = notifications.find(kToolsListChanged);
        wanted != nullptr && *wanted == Value(true)) {
        honoured.append(std::string(kToolsListChanged), true);
        subscriptions_.push_back(id);
        if (listed_ == nullptr) listed_ = service_->tools();
    }
    std::vector<std::string> uris;
    if (const Value* wanted = notifications.find(kResourceSubscriptions);
        wanted != nullptr && wanted->is_list()) {
        for (const Value& uri : wanted->as_list()) {
            if (uri.is_string()) uris.push_back(uri.as_string());
        }
    }
    news_->follow_all(
        id, std::move(uris), responder.answer.cancelled(),
        [connection = connection_, id, honoured = std::move(honoured)](List followed) mutable {
            if (!followed.empty())
                honoured.append(std::string(kResourceSubscriptions), std::move(followed));
            connection->send(json::write(rpc::notification(
                "notifications/subscriptions/acknowledged",
                {{"_meta", subscription_meta(id)}, {"notifications", std::move(honoured)}})));
        });
}

void McpSession::on_settings_change() {
    tell_tools_changed();
}

void McpSession::tell_tools_changed() {
    if (listed_ == nullptr) return;  // The client knows no list yet.
    tools::ToolList now = service_->tools();
    if (now == listed_ || std::ranges::equal(*now, *listed_, are_published_alike)) return;
    listed_ = std::move(now);
    constexpr std::string_view kMethod = "notifications/tools/list_changed";
    if (!legacy_version_.empty()) connection_->send(json::write(rpc::notification(kMethod, {})));
    for (const Value& id : subscriptions_) {
        connection_->send(
            json::write(rpc::notification(kMethod, {{"_meta", subscription_meta(id)}})));
    }
}

}  // namespace quire::mcp
