// Three requests are sent: one `initialize`, `tools/list` for each page of a listing, and
// tools/call. rpc::Client matches the answers; an answer whose id is neither the opening's nor the
// listing's is that of a call. A line costs one parse, and a second one when it is not UTF-8:
// programs that cut a string within a character write such lines and have no other answer to give.
#include "mounts/protocol.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/concat.h"
#include "base/utf8.h"
#include "json/json.h"
#include "json/members.h"
#include "rpc/jsonrpc.h"
#include "text/escape_hidden.h"

namespace quire::mounts {
namespace {

// The longest quotation of a server's words in ours.
constexpr std::size_t kQuoted = 500;

std::string quoted(std::string_view text) {
    return text::escape_hidden(utf8::prefix(text, kQuoted));
}

// The code unit of the escape \uXXXX at `at`; none when there is no escape.
std::optional<unsigned> unit_at(std::string_view text, std::size_t at) {
    constexpr std::size_t kEscape = 6;
    if (text.size() < at + kEscape || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
    unsigned unit = 0;
    const char* const end = text.data() + at + kEscape;
    const auto read = std::from_chars(text.data() + at + 2, end, unit, 16);
    return read.ptr == end ? std::optional(unit) : std::nullopt;
}

// The line with U+FFFD in place of bytes that are not UTF-8, and of halves of surrogate pairs.
std::string mended(std::string_view line) {
    constexpr char32_t kNoText = 0xFFFD;
    // JSON writes a character beyond U+FFFF as two escapes, D800 to DBFF and DC00 to DFFF. One
    // without the other is no character.
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
    const Value* const member = fault.get("code");
    const std::int64_t code = member != nullptr && member->is_int() ? member->as_int() : 0;
    const std::string message = json::text_in(fault, "message");
    // Only this code says that the caller is to change something. Any other is a failure of the
    // server.
    const bool is_invalid = code == static_cast<std::int64_t>(rpc::Code::invalid_params);
    return {is_invalid ? Errc::invalid_argument : Errc::unavailable,
            "mount_error",
            message.empty() ? cat("error ", code) : quoted(message),
            {{"code", code}}};
}

}  // namespace

void Protocol::open() {
    opening_id_ = client_.request("initialize",
                                  {{"protocolVersion", kRevisions.front()},
                                   {"capabilities", Map{}},
                                   {"clientInfo", Map{{"name", "quire"}, {"version", version_}}}});
}

void Protocol::list(const std::string& cursor) {
    listing_ = true;
    Map params;
    if (!cursor.empty()) params.append("cursor", cursor);
    listing_id_ = client_.request("tools/list", std::move(params));
}

std::int64_t Protocol::call(const std::string& tool, Value arguments) {
    return client_.request("tools/call", {{"name", tool}, {"arguments", std::move(arguments)}});
}

void Protocol::cancel(std::int64_t id, std::string_view reason) {
    // An answer that was already taken needs no cancellation, and the server would not know the id.
    if (client_.forget(id))
        client_.notify("notifications/cancelled", {{"requestId", id}, {"reason", reason}});
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
        // An id that is not open any more, because the call was cancelled or answered, is noise as
        // well.
        auto response = client_.match(std::move(*message));
        if (!response) {
            out.emplace_back(Noise{});
        } else {
            answer(std::move(*response), line.size(), out);
        }
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

// One listing at a time: requests that come meanwhile are served by one more.
void Protocol::list_anew() {
    if (listing_) {
        list_again_ = true;
    } else {
        list("");
    }
}

void Protocol::serve(const Value& id, std::string_view method, std::vector<Event>& out) {
    out.emplace_back(Noise{});
    // An answer needs an id that JSON-RPC allows.
    if (!id.is_string() && !id.is_int()) return;
    // Servers may use it to see whether we are alive.
    if (method == "ping") return client_.send(rpc::result(id, {}));
    client_.send(rpc::error(
        id, {rpc::Code::method_not_found,
             cat("quire does not serve ", quoted(method), " to the servers that it mounts"),
             {}}));
}

void Protocol::answer(rpc::Client::Response response, std::size_t size, std::vector<Event>& out) {
    const bool good = !response.error && response.result.is_map();
    const auto failure = [&] { return error_of(response.error.value_or(Value())); };
    const bool is_opening = response.id == opening_id_;
    // An error answer to a call belongs to that call. One to the handshake or to a listing leaves
    // nothing to go on with.
    if (!is_opening && response.id != listing_id_) {
        out.emplace_back(Answered{response.id, good ? Result<Value>(std::move(response.result))
                                                    : Result<Value>(Failure(failure()))});
    } else if (!good) {
        out.emplace_back(Broken{cat("it answers ", is_opening ? "initialize" : "tools/list",
                                    " with an error: ", failure().message())});
    } else if (is_opening) {
        out.push_back(opened(response.result));
    } else {
        bool whole = false;
        Event event = listed(std::move(response.result), size, whole);
        if (whole || std::holds_alternative<Broken>(event)) out.push_back(std::move(event));
    }
}

// The server chooses the revision; one that is not known here ends the run.
Event Protocol::opened(const Value& result) {
    ServerInfo server;
    server.revision = json::text_in(result, "protocolVersion");
    if (std::find(kRevisions.begin(), kRevisions.end(), server.revision) == kRevisions.end()) {
        return Broken{cat("it wants revision '", quoted(server.revision),
                          "' of the protocol; known are ", kRevisions.back(), " to ",
                          kRevisions.front())};
    }
    const Value* const offered = result.get("capabilities");
    if (offered == nullptr || offered->get("tools") == nullptr)
        return Broken{"it says that it has no tools"};
    if (const Value* info = result.get("serverInfo")) {
        server.name = quoted(json::text_in(*info, "name"));
        server.version = quoted(json::text_in(*info, "version"));
    }
    open_ = true;
    client_.notify("notifications/initialized", {});
    list("");
    return Opened{std::move(server)};
}

Event Protocol::listed(Value result, std::size_t size, bool& whole) {
    Value* const tools = result.as_map().find("tools");
    if (tools == nullptr || !tools->is_list())
        return Broken{"its answer to tools/list has no list of tools"};
    // The bounds hold for all pages together, and a page counts as it came.
    listed_bytes_ += size;
    if (listed_bytes_ > kLargestListing)
        return Broken{cat("its list of tools has more than ", kLargestListing, " bytes")};
    for (Value& each : tools->as_list()) tools_.push_back(std::move(each));
    if (tools_.size() > kMostTools) return Broken{cat("it has more than ", kMostTools, " tools")};
    const std::string next = json::text_in(result, "nextCursor");
    if (!next.empty()) {
        if (++pages_ == kMostPages)
            return Broken{cat("its list of tools has more than ", kMostPages, " pages")};
        // The listing is one event, after its last page: half a list would look like tools that are
        // gone.
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
