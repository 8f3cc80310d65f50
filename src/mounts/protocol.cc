#include "mounts/protocol.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/concat.h"
#include "base/utf8.h"
#include "json/json.h"
#include "text/escape_hidden.h"

namespace quire::mounts {
namespace {

constexpr std::int64_t kMethodNotFound = -32601;
constexpr std::int64_t kInvalidParams = -32602;
// Of a server's words, in ours.
constexpr std::size_t kQuoted = 500;

std::string quoted(std::string_view text) {
    return text::escape_hidden(utf8::prefix(text, kQuoted));
}

std::string string_in(const Value& of, std::string_view member) {
    const Value* const value = of.get(member);
    return value != nullptr && value->is_string() ? value->as_string() : "";
}

// What an escape \uXXXX at `at` stands for; none where there is none.
std::optional<unsigned> unit_at(std::string_view text, std::size_t at) {
    constexpr std::size_t kEscape = 6;
    if (text.size() < at + kEscape || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
    unsigned unit = 0;
    const char* const end = text.data() + at + kEscape;
    const auto read = std::from_chars(text.data() + at + 2, end, unit, 16);
    return read.ptr == end ? std::optional(unit) : std::nullopt;
}

// U+FFFD in the place of what is no text: bytes that are no UTF-8, and halves of surrogate pairs.
// Programs write such that cut a string within a character, and then have no other answer.
std::string mended(std::string_view line) {
    constexpr char32_t kNoText = 0xFFFD;
    const auto is_within = [](std::optional<unsigned> unit, unsigned from) {
        return unit && *unit >= from && *unit < from + 0x400;
    };
    std::string out;
    while (!line.empty()) {
        const std::string_view text =
            line.substr(0, utf8::find_invalid(line).value_or(line.size()));
        std::size_t done = 0;
        for (std::size_t at = text.find('\\'); at < text.size(); at = text.find('\\', at)) {
            const auto unit = unit_at(text, at);
            const bool is_high = is_within(unit, 0xD800);
            if (is_high && is_within(unit_at(text, at + 6), 0xDC00)) {
                at += 12;
            } else if (is_high || is_within(unit, 0xDC00)) {
                out += text.substr(done, at - done);
                utf8::append(out, kNoText);
                done = at += 6;
            } else {
                at += 2;
            }
        }
        out += text.substr(done);
        line.remove_prefix(text.size());
        if (line.empty()) break;
        utf8::append(out, kNoText);
        line.remove_prefix(1);
    }
    return out;
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
    Result<Value> message = json::parse(line);
    if (!message) message = json::parse(mended(line));
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
