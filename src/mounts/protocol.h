// The Model Context Protocol as its client speaks it on standard streams, without I/O: lines in,
// lines out. It opens by `initialize`, lists the tools, calls them and cancels; it offers its
// server nothing, so that whatever that asks for, but a ping, is refused.
//
// What comes from the server is not trusted: an answer that nobody waits for, a second one, one
// with an id of its own making, and what is no message at all are noise, which is counted by who
// owns this, and changes nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/value.h"

namespace quire::mounts {

// The revisions that are spoken, the one that is asked for first.
inline constexpr std::array<std::string_view, 4> kRevisions = {"2025-11-25", "2025-06-18",
                                                               "2025-03-26", "2024-11-05"};
// Of one listing.
inline constexpr std::size_t kMostPages = 64;
inline constexpr std::size_t kMostTools = 256;
inline constexpr std::size_t kLargestListing = std::size_t{32} << 20;  // Bytes, of all its pages.

// How a server introduces itself.
struct ServerInfo {
    std::string name = {};
    std::string version = {};
    std::string revision = {};  // Of the protocol.
};

struct Opened {
    ServerInfo server;
};
struct Listed {
    List tools;  // As they came, of all pages.
};
// What became of a call: the result object, or unavailable "mount_error" {code}, for invalid
// params invalid_argument, with the server's own words.
struct Answered {
    std::int64_t id = 0;
    Result<Value> result;
};
// It does not speak the protocol, or none that is known here. Nothing else comes after it.
struct Broken {
    std::string why;
};
// Nothing that was asked for.
struct Noise {};
// Likewise; it says that what it lists has changed. Whoever owns this lists anew when they want to.
struct Changed {};
using Event = std::variant<Opened, Listed, Answered, Broken, Noise, Changed>;

class Protocol {
public:
    // `version` of this program.
    explicit Protocol(std::string version) : version_(std::move(version)) {}

    // What follows happens in its own order: initialize, initialized, tools/list.
    void open();
    // Once it is open: another listing, after the one that is under way.
    void list_anew();
    bool is_open() const { return open_; }
    // Once it is open; the id by which it is answered or cancelled.
    std::int64_t call(const std::string& tool, Value arguments);
    // Nothing more is heard of the call.
    void cancel(std::int64_t id, std::string_view reason);

    // A line without its newline; what is no text in its strings is U+FFFD. O(line).
    std::vector<Event> take(std::string_view line);
    // What is to be sent, in lines, since the last time.
    std::string take_output();

private:
    enum class Asked { initialize, list, call };

    std::int64_t request(Asked what, std::string_view method, Map params);
    void send(Map message);
    void list(const std::string& cursor);
    void serve(const Value& id, std::string_view method, std::vector<Event>& out);
    void answer(const Value& message, std::size_t size, std::vector<Event>& out);
    Event opened(const Value& result);
    Event listed(Value result, std::size_t size, bool& whole);

    std::string version_;
    std::string output_;
    std::map<std::int64_t, Asked> asked_;
    std::int64_t next_id_ = 1;
    bool open_ = false;
    bool listing_ = false;
    bool list_again_ = false;
    std::size_t pages_ = 0;
    std::size_t listed_bytes_ = 0;
    List tools_;
};

}  // namespace quire::mounts
