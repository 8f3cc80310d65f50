// LineSplitter: a stream of bytes as lines of bounded length.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rpc/id_scan.h"

namespace quire::rpc {

class LineSplitter {
public:
    explicit LineSplitter(std::size_t bound) : bound_(bound) {}

    // Takes the next bytes: `line(std::string)` for each line that ends in them, without its
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
            if (skipped_) {
                oversize(std::exchange(skipped_, {})->id());
                continue;
            }
            std::string whole = std::exchange(held_, {});
            if (!whole.empty() && whole.back() == '\r') whole.pop_back();
            if (!whole.empty()) line(std::move(whole));
        }
    }

    bool is_in_line() const { return skipped_ || !held_.empty(); }

private:
    void take(std::string_view part);

    std::size_t bound_;
    std::string held_;
    std::optional<IdScan>
        skipped_;  // The line is too long: what follows, up to its newline, is not kept.
};

}  // namespace quire::rpc
