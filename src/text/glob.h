// Glob patterns for paths, in the syntax of quire.toml.
//
// A path is a string of bytes: relative, components joined by '/', none of them empty, "." or "..".
// `*`, `?` and `[...]` stay within a component; `**` crosses components. `**` as a whole component
// stands for any number of components, including none; at the end it needs at least one, so
// "src/**" is everything below src but not src itself. A pattern without '/' matches a name at any
// depth; any other is anchored at the root, and a leading '/' only anchors. `{a,b}` means either;
// `\` makes the next character literal. `?` and a class match one code point, or one byte if the
// path is not UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace quire::text {

// A compiled pattern. A value; matching is thread-safe.
class Glob {
public:
    // Errors: invalid_argument "invalid_glob" {offset}; the message says what is wrong and how to
    // write it.
    static Result<Glob> compile(std::string_view pattern);

    // O(pattern · path) for every pattern.
    bool matches(std::string_view path) const;
    const std::string& pattern() const { return pattern_; }

private:
    enum class Kind : std::uint8_t {
        literal,  // One code point.
        any,      // One code point except '/'.
        set,      // One code point except '/', given as ranges.
        star,     // Any run without '/'.
        cross,    // Any run.
        dirs,     // Any number of whole components, each with its '/'; followed by `in_dirs`.
        in_dirs,  // Inside of such a component.
    };
    struct Token {
        Kind kind = Kind::literal;
        char32_t literal = 0;
        bool negated = false;
        std::vector<std::pair<char32_t, char32_t>> ranges;
    };
    using Tokens = std::vector<Token>;
    struct Alternative {
        Tokens tokens;
        bool by_name = false;  // Compared with the last component only.
    };
    class Parser;

    static bool run(const Tokens& tokens, std::string_view subject);

    std::string pattern_;
    std::vector<Alternative> alternatives_;
};

}  // namespace quire::text
