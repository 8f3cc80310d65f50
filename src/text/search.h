// Finding text line by line, in time linear in the text for every pattern (RE2).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_words.h"
#include "base/result.h"

namespace quire::text {

// A literal matches itself; a regex is in RE2's syntax.
enum class Match { literal, regex };
constexpr auto words_of(Match) {
    return word_table("literal", "regex");
}

// A compiled query. Copies share it; usable from any thread.
class Query {
public:
    // Errors: invalid_argument "empty_query", "invalid_utf8", and "invalid_regex" with RE2's
    // message; out_of_range "too_large" {limit} beyond 4096 bytes.
    static Result<Query> compile(std::string_view text, Match mode);

    // A match, in bytes within the line.
    struct Hit {
        std::size_t begin = 0;  // Bytes within the line.
        std::size_t end = 0;
    };
    // The first hit at or after byte `from` of one line (without its terminator).
    bool find(std::string_view line, std::size_t from, Hit& hit) const;

    Match mode() const;
    const std::string& text() const;  // The one given to compile().

private:
    struct Body;
    std::shared_ptr<const Body> body_;
};

}  // namespace quire::text
