#include "edits/occurrences.h"

#include <string>

#include "base/check.h"

namespace quire::edits {

// Text is searched in windows that overlap by one byte less than the needle.
std::vector<text::Byte> occurrences(const seq::Rope& text, std::string_view needle,
                                    std::size_t limit) {
    CHECK(!needle.empty());
    constexpr std::size_t kWindow = 64 << 10;
    std::vector<text::Byte> out;
    std::string window;
    std::size_t window_at = 0;
    const auto search = [&] {
        std::size_t at = window.find(needle);
        while (at != std::string::npos && out.size() < limit) {
            out.push_back({window_at + at});
            at = window.find(needle, at + 1);
        }
        // Keeps the bytes that may be the beginning of a match.
        const std::size_t keep = std::min(window.size(), needle.size() - 1);
        window_at += window.size() - keep;
        window.erase(0, window.size() - keep);
    };
    text.for_each_chunk({0}, text.bytes(), [&](std::string_view chunk) {
        window.append(chunk);
        if (window.size() >= kWindow + needle.size()) search();
        return out.size() < limit;
    });
    if (out.size() < limit) search();
    return out;
}

}  // namespace quire::edits
