// cat("line ", 3, " of ", name) joins strings and integers. std::format does not exist in g++ 12.
//
// Floats and bools are left out on purpose: a float has no one spelling that suits messages and
// formats alike, and a bool would be printed as a number. Each caller spells them itself.
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

namespace quire {

// Appends one part. Floats and bools are not accepted. Another type is converted by a function of
// its own first.
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
    // Room for 20 digits and a sign.
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    out.append(digits, static_cast<std::size_t>(end - digits));
}

// The parts as one string. The string grows as it goes: for messages, not for inner loops.
template <class... Parts>
std::string cat(const Parts&... parts) {
    std::string out;
    (cat_to(out, parts), ...);
    return out;
}

// The words with the separator between them: "a, b, c". Empty words before the first that is not
// empty get no separator.
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
