// Protocol: the client's side of the Model Context Protocol on standard streams, without I/O: lines
// in, lines out. It opens with `initialize`, lists the tools, calls them and cancels calls. It
// offers the server nothing: every request of the server except `ping` is refused.
//
// The server is not trusted. An answer that no open request waits for, a second answer, and a line
// that is no message are noise: they change nothing, and the owner counts them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/value.h"
#include "rpc/client.h"

namespace quire::mounts {

// The revisions that are spoken, the requested one first.
inline constexpr std::array<std::string_view, 4> kRevisions = {"2025-11-25", "2025-06-18",
                                                               "2025-03-26", "2024-11-05"};
// The bounds of one listing.
inline constexpr std::size_t kMostPages = 64;
inline constexpr std::size_t kMostTools = 256;
inline constexpr std::size_t kLargestListing = std::size_t{32} << 20;  // Bytes, of all its pages.

// How a server introduces itself.
struct ServerInfo {
    std::string name = {};
    std::string version = {};
    std::string revision = {};  // The protocol's.
};

// The handshake is complete.
struct Opened {
    ServerInfo server;
};
// A listing is complete.
struct Listed {
    List tools;  // The entries of all pages, as they came.
};
// The answer to a call: the result object, or an unavailable "mount_error" {code} in the server's
// own words (invalid_argument where the server says that the params are invalid).
struct Answered {
    std::int64_t id = 0;
    Result<Value> result;
};
// The peer does not speak a supported revision. This is the last event.
struct Broken {
    std::string why;
};
// A message that nothing asked for.
struct Noise {};
// Noise that says that the server's list has changed. The owner decides when to list again.
struct Changed {};
using Event = std::variant<Opened, Listed, Answered, Broken, Noise, Changed>;

class Protocol {
public:
    // `version` of this program.
    explicit Protocol(std::string version) : version_(std::move(version)) {}

    // Begins the handshake: initialize, initialized, tools/list.
    void open();
    // Lists again, after the listing that is under way. Requires is_open().
    void list_anew();
    bool is_open() const { return open_; }
    // Returns the id under which the call is answered or cancelled. Requires is_open().
    std::int64_t call(const std::string& tool, Value arguments);
    // No event comes for the call any more.
    void cancel(std::int64_t id, std::string_view reason);

    // Takes a line without its newline. Bytes in it that are not UTF-8 read as U+FFFD. O(line).
    std::vector<Event> take(std::string_view line);
    // The lines to be sent.
    rpc::LineQueue& output() { return client_.output(); }

private:
    // Asks for a page of the tools; "" is the first.
    void list(const std::string& cursor);
    // Answers a request of the server. It is noise all the same.
    void serve(const Value& id, std::string_view method, std::vector<Event>& out);
    void answer(rpc::Client::Response response, std::size_t size, std::vector<Event>& out);
    Event opened(const Value& result);
    Event listed(Value result, std::size_t size, bool& whole);

    std::string version_;
    rpc::Client client_;
    std::int64_t opening_id_ = 0;  // The id of `initialize`.
    std::int64_t listing_id_ = 0;  // The id of the last tools/list.
    bool open_ = false;
    bool listing_ = false;
    bool list_again_ = false;
    std::size_t pages_ = 0;
    std::size_t listed_bytes_ = 0;
    List tools_;
};

}  // namespace quire::mounts
