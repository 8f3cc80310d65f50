// WordsQuery: what a person or a model asks a search for, in the language that they use for it:
//
//   word          must be there, in any case
//   "two words"   must be there side by side
//   -word         must not be there; also before a phrase and before label:
//   label:NAME    the label must have it; NAME may be a phrase
//
// All of it must hold. It says nothing about how texts are cut into words; that is for who
// searches.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace quire::text {

struct WordsQuery {
    // Words and phrases, as they were given.
    std::vector<std::string> all = {};
    std::vector<std::string> none = {};
    std::vector<std::string> in_label = {};
    std::vector<std::string> not_in_label = {};
    friend bool operator==(const WordsQuery&, const WordsQuery&) = default;
};

// A quotation mark that is not closed is closed at the end. What holds no letter, no digit and no
// picture is passed over. Errors: invalid_argument "empty_query" where nothing is left;
// "invalid_utf8"; out_of_range "too_large" {limit} beyond 4096 bytes, or 64 words and phrases.
Result<WordsQuery> parse_words(std::string_view query);

}  // namespace quire::text
