// WordsQuery: a search in the notation of people and models:
//
//   word          must occur, in any case
//   "two words"   must occur side by side
//   -word         must not occur; also before a phrase and before label:
//   label:NAME    the label must contain it; NAME may be a phrase
//
// All conditions must hold. Cutting texts into words is left to the search itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace quire::text {

// The conditions of a query.
struct WordsQuery {
    // Words and phrases as written.
    std::vector<std::string> all = {};
    std::vector<std::string> none = {};
    std::vector<std::string> in_label = {};
    std::vector<std::string> not_in_label = {};
    friend bool operator==(const WordsQuery&, const WordsQuery&) = default;
};

// An open quotation mark is closed at the end. Terms without letter, digit or picture are ignored.
// Errors: invalid_argument "empty_query" if nothing is left; "invalid_utf8"; out_of_range
// "too_large" {limit} beyond 4096 bytes, or 64 words and phrases.
Result<WordsQuery> parse_words(std::string_view query);

}  // namespace quire::text
