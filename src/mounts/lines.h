// Lines of bounded length out of what a program writes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace quire::mounts {

class Lines {
public:
    explicit Lines(std::size_t bound) : bound_(bound) {}

    // Takes the next bytes and calls line(std::string) for each line that ends in them, without its
    // line end, and not for empty ones. False where one is longer than the bound: who wrote it is
    // not read on.
    template <class Line>
    bool feed(std::string_view bytes, Line&& line) {
        while (true) {
            const std::size_t newline = bytes.find('\n');
            const std::string_view part = bytes.substr(0, newline);
            if (part.size() > bound_ - held_.size()) return false;
            held_ += part;
            if (newline == std::string_view::npos) return true;
            bytes.remove_prefix(newline + 1);
            std::string whole = std::exchange(held_, {});
            if (!whole.empty() && whole.back() == '\r') whole.pop_back();
            if (!whole.empty()) line(std::move(whole));
        }
    }

private:
    std::size_t bound_;
    std::string held_;
};

// The last of what a program complains of.
class LastWords {
public:
    static constexpr std::size_t kKept = 2048;

    void add(std::string_view bytes) {
        text_ += bytes.substr(bytes.size() - std::min(bytes.size(), kKept));
        if (text_.size() > kKept) text_.erase(0, text_.size() - kKept);
    }
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

}  // namespace quire::mounts
