// OutputTail: keeps the last bytes of a program's output and counts its lines.
//
// The output may be endless and is kept in memory, so the front is dropped. Line numbers stay those
// of the whole output, so that a reader who asks for the next lines need not know of the drop.
// Bytes are kept as they come.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace quire::kernel {

// Line numbers count from 0 over the whole output. add() costs O(1) for each byte.
class OutputTail {
public:
    explicit OutputTail(std::size_t most) : most_(most) {}

    void add(std::string_view bytes) {
        kept_ += bytes;
        // A cut moves the bytes that stay, so it is made only at twice the limit.
        if (kept_.size() > 2 * most_) cut();
    }

    // Counts all lines of the output. The last line need not have ended.
    std::size_t line_count() const {
        const auto ends = std::count(kept_.begin(), kept_.end(), '\n');
        return dropped_ + static_cast<std::size_t>(ends) +
               (!kept_.empty() && kept_.back() != '\n' ? 1 : 0);
    }
    // The number of the first line that is kept, even if only its end is.
    std::size_t first_line() const { return dropped_; }
    const std::string& text() const { return kept_; }
    // Returns the kept text from that line on.
    // The view is valid until the next add(). O(kept bytes).
    std::string_view from(std::size_t line) const {
        std::size_t at = 0;
        for (std::size_t now = dropped_; now < line; ++now) {
            const std::size_t end = kept_.find('\n', at);
            if (end == std::string::npos) return {};
            at = end + 1;
        }
        return std::string_view(kept_).substr(at);
    }

private:
    // Cuts at a line end if there is one.
    void cut() {
        std::size_t at = kept_.size() - most_;
        const std::size_t end = kept_.find('\n', at - 1);
        if (end != std::string::npos && end + 1 < kept_.size()) at = end + 1;
        const auto cut = kept_.begin() + static_cast<std::ptrdiff_t>(at);
        dropped_ += static_cast<std::size_t>(std::count(kept_.begin(), cut, '\n'));
        kept_.erase(kept_.begin(), cut);
    }

    const std::size_t most_;
    std::string kept_ = {};
    std::size_t dropped_ = 0;
};

}  // namespace quire::kernel
