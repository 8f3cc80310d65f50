// cat("line ", 3, " of ", name): strings and integers joined. std::format is not in g++ 12.
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

namespace quire {

inline void cat_to(std::string& out, std::string_view part) {
    out.append(part);
}
inline void cat_to(std::string& out, const char* part) {
    out.append(part);
}
inline void cat_to(std::string& out, const std::string& part) {
    out.append(part);
}
inline void cat_to(std::string& out, char part) {
    out.push_back(part);
}
template <std::integral T>
requires(!std::same_as<T, char> && !std::same_as<T, bool>) void cat_to(std::string& out, T number) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    out.append(digits, static_cast<std::size_t>(end - digits));
}

template <class... Parts>
std::string cat(const Parts&... parts) {
    std::string out;
    (cat_to(out, parts), ...);
    return out;
}

// "a, b, c".
template <class Words>
std::string joined(const Words& words, std::string_view separator = ", ") {
    std::string out;
    for (const auto& word : words) {
        if (!out.empty()) cat_to(out, separator);
        cat_to(out, word);
    }
    return out;
}

}  // namespace quire
