// Glob patterns over paths, as quire.toml writes them.
//
// A path is bytes: relative, components joined by '/', with no empty, "." or ".." component. `*`,
// `?` and `[...]` stay within a component; `**` crosses. As a whole component `**` stands for any
// number of components, none included, except at the end, where "src/**" is everything below src
// and not src itself. A pattern without '/' matches the name at any depth; any other is anchored at
// the root, and a leading '/' only anchors. `{a,b}` is either; `\` takes the next character as it
// is. `?` and a class match one code point, or one byte where the path is not UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace quire::text {

class Glob {
public:
    // Errors: invalid_argument "invalid_glob" {offset}: the message says what is wrong and what to
    // write.
    static Result<Glob> compile(std::string_view pattern);

    // O(pattern · path), whatever the pattern.
    bool matches(std::string_view path) const;
    const std::string& pattern() const { return pattern_; }

private:
    enum class Kind : std::uint8_t {
        literal,  // One code point.
        any,      // One code point but '/'.
        set,      // One code point but '/', by ranges.
        star,     // Any run without '/'.
        cross,    // Any run.
        dirs,     // Any number of whole components, each with its '/'; followed by `in_dirs`.
        in_dirs,  // Inside one of them.
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
        bool by_name = false;  // Compared with the last component alone.
    };
    class Parser;

    static bool run(const Tokens& tokens, std::string_view subject);

    std::string pattern_;
    std::vector<Alternative> alternatives_;
};

}  // namespace quire::text
