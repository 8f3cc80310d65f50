// LineSplitter: splits a stream of bytes into lines of bounded length.
// IdScan: finds the id of a JSON-RPC message that is too long to be kept, while its bytes go by:
// its sender waits for an answer under that id, wherever in the message it stands.
//
// IdScan is a second scanner beside message_scan.h because it must do what that one cannot: it
// holds state between pieces and keeps nothing else of the message. It looks at every byte, while
// the other one skips strings with memchr; only lines that are refused anyway pay for that.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace quire::rpc {

class IdScan {
public:
    // Takes the next bytes of the message. O(bytes), in the memory of the longest id.
    void feed(std::string_view bytes);
    // The member "id" of the object, as compact JSON: 7, "a"; the last one when there are several.
    // "" when there is none, or the bytes are no object.
    const std::string& id() const { return id_; }

private:
    void take(char byte);
    void take_in_string(char byte);
    // Returns true if the bytes here are part of a key or of the id.
    bool keeps() const { return in_value_ ? is_id_ : depth_ == 1; }
    void keep(char byte);
    void end_key();
    void end_member();

    std::string kept_;  // The current key or value of the outermost object.
    std::string id_;
    std::size_t depth_ = 0;
    bool begun_ = false;
    bool over_ = false;  // The object is complete, or the bytes are none.
    bool in_string_ = false;
    bool escaped_ = false;
    bool in_value_ = false;  // In the value of a member of the outermost object.
    bool is_id_ = false;     // That member is "id".
};

class LineSplitter {
public:
    explicit LineSplitter(std::size_t bound) : bound_(bound) {}

    // Takes the next bytes: calls `line(std::string)` for each line that ends in them, without its
    // newline (nor a '\r' before it) and not for empty ones; `oversize(std::string)` for each that
    // is longer than the bound, once it has ended, with the id of the message that it was (see
    // IdScan::id()). Of such a line no more than the bound is ever held. O(bytes).
    template <class Line, class Oversize>
    void feed(std::string_view bytes, Line&& line, Oversize&& oversize) {
        while (!bytes.empty()) {
            const std::size_t newline = bytes.find('\n');
            take(bytes.substr(0, newline));
            if (newline == std::string_view::npos) return;
            bytes.remove_prefix(newline + 1);
            if (is_skipping_) {
                is_skipping_ = false;
                oversize(std::exchange(scan_, {})->id());
                continue;
            }
            scan_.reset();
            scanned_ = 0;
            std::string whole = std::exchange(held_, {});
            if (!whole.empty() && whole.back() == '\r') whole.pop_back();
            if (!whole.empty()) line(std::move(whole));
        }
    }

    // The line that is arriving is too long already.
    bool is_skipping() const { return is_skipping_; }
    // How much of the line that is arriving is held.
    std::size_t held_bytes() const { return held_.size(); }
    // Another bound, which holds for the line that is arriving too. Bytes that are held already
    // stay; the line is dropped with the next ones if it is too long by then.
    void set_bound(std::size_t bound) { bound_ = bound; }

private:
    void take(std::string_view part);
    void scan_held();

    std::size_t bound_;
    std::string held_;
    std::optional<IdScan> scan_;  // Set for a line that is long, or too long.
    std::size_t scanned_ = 0;     // How much of held_ it has seen.
    bool is_skipping_ = false;    // The rest of a line that is too long goes by.
};

}  // namespace quire::rpc
