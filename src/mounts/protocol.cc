#include "mounts/protocol.h"

#include <algorithm>
#include <utility>

#include "base/cat.h"
#include "base/utf8.h"
#include "json/json.h"
#include "policy/shown.h"

namespace quire::mounts {
namespace {

constexpr std::int64_t kMethodNotFound = -32601;
constexpr std::int64_t kInvalidParams = -32602;
// Of a server's words, in ours.
constexpr std::size_t kQuoted = 500;

std::string quoted(std::string_view text) {
    return policy::shown(utf8::prefix(text, kQuoted));
}

std::string string_in(const Value& of, std::string_view member) {
    const Value* const value = of.get(member);
    return value != nullptr && value->is_string() ? value->as_string() : "";
}

Error error_of(const Value& fault) {
    const Value* const given = fault.get("code");
    const std::int64_t code = given != nullptr && given->is_int() ? given->as_int() : 0;
    const std::string said = string_in(fault, "message");
    return {code == kInvalidParams ? Errc::invalid_argument : Errc::unavailable,
            "mount_error",
            said.empty() ? cat("error ", code) : quoted(said),
            {{"code", code}}};
}

}  // namespace

void Protocol::send(Map message) {
    Map whole{{"jsonrpc", "2.0"}};
    for (Map::Entry& each : message) whole.append(std::move(each.key), std::move(each.value));
    output_ += json::write(whole);
    output_ += '\n';
}

std::int64_t Protocol::request(Asked what, std::string_view method, Map params) {
    const std::int64_t id = next_id_++;
    asked_.emplace(id, what);
    send({{"id", id}, {"method", method}, {"params", std::move(params)}});
    return id;
}

void Protocol::open() {
    request(Asked::initialize, "initialize",
            {{"protocolVersion", kRevisions.front()},
             {"capabilities", Map{}},
             {"clientInfo", Map{{"name", "quire"}, {"version", version_}}}});
}

void Protocol::list(const std::string& cursor) {
    listing_ = true;
    Map params;
    if (!cursor.empty()) params.append("cursor", cursor);
    request(Asked::list, "tools/list", std::move(params));
}

std::int64_t Protocol::call(const std::string& tool, Value arguments) {
    return request(Asked::call, "tools/call",
                   {{"name", tool}, {"arguments", std::move(arguments)}});
}

void Protocol::cancel(std::int64_t id, std::string_view reason) {
    if (asked_.erase(id) == 0) return;
    send({{"method", "notifications/cancelled"},
          {"params", Map{{"requestId", id}, {"reason", reason}}}});
}

std::string Protocol::take_output() {
    return std::exchange(output_, {});
}

std::vector<Event> Protocol::take(std::string_view line) {
    std::vector<Event> out;
    const Result<Value> message = json::parse(line);
    if (!message || !message->is_map()) {
        out.emplace_back(Noise{});
        return out;
    }
    const Value* const method = message->get("method");
    if (method == nullptr) {
        answer(*message, line.size(), out);
    } else if (!method->is_string()) {
        out.emplace_back(Noise{});
    } else if (const Value* id = message->get("id")) {
        serve(*id, method->as_string(), out);
    } else {
        const bool changed = method->as_string() == "notifications/tools/list_changed" && open_;
        out.push_back(changed ? Event(Changed{}) : Event(Noise{}));
    }
    return out;
}

void Protocol::list_anew() {
    if (listing_) {
        list_again_ = true;
    } else {
        list("");
    }
}

void Protocol::serve(const Value& id, std::string_view method, std::vector<Event>& out) {
    out.emplace_back(Noise{});
    if (!id.is_string() && !id.is_int()) return;
    if (method == "ping") return send({{"id", id}, {"result", Map{}}});
    send({{"id", id},
          {"error", Map{{"code", kMethodNotFound},
                        {"message", cat("quire does not serve ", quoted(method),
                                        " to the servers that it mounts")}}}});
}

void Protocol::answer(const Value& message, std::size_t size, std::vector<Event>& out) {
    const Value* const id = message.get("id");
    if (id == nullptr || !id->is_int()) {
        out.emplace_back(Noise{});
        return;
    }
    const auto at = asked_.find(id->as_int());
    if (at == asked_.end()) {
        out.emplace_back(Noise{});
        return;
    }
    const Asked what = at->second;
    asked_.erase(at);
    const Value* const fault = message.get("error");
    const Value* const result = message.get("result");
    const bool good = fault == nullptr && result != nullptr && result->is_map();
    if (what == Asked::call) {
        if (good) {
            out.emplace_back(Answered{id->as_int(), *result});
        } else {
            out.emplace_back(
                Answered{id->as_int(), Failure(error_of(fault != nullptr ? *fault : Value()))});
        }
        return;
    }
    if (!good) {
        out.emplace_back(Broken{
            cat("it answers ", what == Asked::initialize ? "initialize" : "tools/list",
                " with an error: ", error_of(fault != nullptr ? *fault : Value()).message())});
        return;
    }
    if (what == Asked::initialize) {
        out.push_back(opened(*result));
        return;
    }
    bool whole = false;
    Event event = listed(*result, size, whole);
    if (whole || std::holds_alternative<Broken>(event)) out.push_back(std::move(event));
}

Event Protocol::opened(const Value& result) {
    ServerInfo server;
    server.revision = string_in(result, "protocolVersion");
    if (std::find(kRevisions.begin(), kRevisions.end(), server.revision) == kRevisions.end()) {
        return Broken{cat("it wants revision '", quoted(server.revision),
                          "' of the protocol; known are ", kRevisions.back(), " to ",
                          kRevisions.front())};
    }
    const Value* const offered = result.get("capabilities");
    if (offered == nullptr || offered->get("tools") == nullptr)
        return Broken{"it says that it has no tools"};
    if (const Value* info = result.get("serverInfo")) {
        server.name = quoted(string_in(*info, "name"));
        server.version = quoted(string_in(*info, "version"));
    }
    open_ = true;
    send({{"method", "notifications/initialized"}});
    list("");
    return Opened{std::move(server)};
}

Event Protocol::listed(Value result, std::size_t size, bool& whole) {
    Value* const tools = result.as_map().find("tools");
    if (tools == nullptr || !tools->is_list()) return Broken{"its list of tools is none"};
    listed_bytes_ += size;
    if (listed_bytes_ > kLargestListing)
        return Broken{cat("its list of tools has more than ", kLargestListing, " bytes")};
    for (Value& each : tools->as_list()) tools_.push_back(std::move(each));
    if (tools_.size() > kMostTools) return Broken{cat("it has more than ", kMostTools, " tools")};
    const std::string next = string_in(result, "nextCursor");
    if (!next.empty()) {
        if (++pages_ == kMostPages)
            return Broken{cat("its list of tools has more than ", kMostPages, " pages")};
        list(next);
        return Noise{};
    }
    whole = true;
    pages_ = 0;
    listed_bytes_ = 0;
    listing_ = false;
    Listed out{std::exchange(tools_, {})};
    if (std::exchange(list_again_, false)) list("");
    return out;
}

}  // namespace quire::mounts
