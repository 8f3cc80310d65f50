// OutputTail: the end of what a program wrote, of which only so much is kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace quire::kernel {

// Lines are counted from 0 over all that was written. O(1) a byte.
class OutputTail {
public:
    explicit OutputTail(std::size_t most) : most_(most) {}

    void add(std::string_view bytes) {
        kept_ += bytes;
        // Cut now and then, for a cut moves what stays.
        if (kept_.size() > 2 * most_) cut();
    }

    // The lines of all that was written; a last one need not have ended.
    std::size_t line_count() const {
        const auto ends = std::count(kept_.begin(), kept_.end(), '\n');
        return dropped_ + static_cast<std::size_t>(ends) +
               (!kept_.empty() && kept_.back() != '\n' ? 1 : 0);
    }
    // The first line that is kept, if only its end.
    std::size_t first_line() const { return dropped_; }
    const std::string& text() const { return kept_; }
    // The text that is kept, from that line on.
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
    // Keeps whole lines where it can.
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
