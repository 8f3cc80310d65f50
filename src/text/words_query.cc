// One pass from left to right. Lengths are bounded before anything is parsed, since a query may
// come from a model and every term costs a search. Nothing is refused for its notation: what makes
// no sense as a term is left out, and only a query without any term is an error.
#include "text/words_query.h"

#include <algorithm>

#include "base/concat.h"
#include "base/utf8.h"

namespace quire::text {
namespace {

constexpr std::size_t kMaxBytes = 4096;
constexpr std::size_t kMaxTerms = 64;
constexpr std::string_view kLabel = "label:";
constexpr std::string_view kBlanks = " \t\r\n\f\v";

bool is_between(char32_t c, char32_t first, char32_t last) {
    return c >= first && c <= last;
}

// Returns true for letters, digits and pictures. Beyond ASCII all other characters are known by their
// block: quotation marks and dashes of Latin-1, general and CJK punctuation, blanks among them.
bool is_word_char(char32_t c) {
    if (c < 0x80) return is_between(c, '0', '9') || is_between(c | 0x20, 'a', 'z');
    const bool latin = is_between(c, 0x80, 0xA5) || c == 0xA7 || c == 0xA8 || c == 0xAB ||
                       is_between(c, 0xAC, 0xAD) || c == 0xAF || c == 0xB1 || c == 0xB4 ||
                       is_between(c, 0xB6, 0xB8) || c == 0xBB || c == 0xBF;
    return !latin && !is_between(c, 0x2000, 0x206F) && !is_between(c, 0x3000, 0x303F) &&
           !is_between(c, 0xFE00, 0xFE0F);
}

bool has_word(std::string_view term) {
    for (std::size_t at = 0; at < term.size();) {
        if (is_word_char(utf8::decode(term, at))) return true;
    }
    return false;
}

Failure too_large(std::string_view what, std::size_t limit) {
    return fail(Errc::out_of_range, "too_large",
                cat("a query has at most ", limit, " ", what, "; ask for less at once"),
                {{"limit", limit}});
}

// Removes the word or phrase at the front and returns it.
std::string take_term(std::string_view& rest) {
    if (rest.starts_with('"')) {
        rest.remove_prefix(1);
        const std::size_t end = std::min(rest.find('"'), rest.size());
        std::string phrase(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        return phrase;
    }
    const std::size_t end = std::min(rest.find_first_of(kBlanks), rest.size());
    std::string word(rest.substr(0, end));
    rest.remove_prefix(end);
    return word;
}

}  // namespace

// Terms are read from the left; a '-' or "label:" applies to the term that follows.
Result<WordsQuery> parse_words(std::string_view query) {
    if (query.size() > kMaxBytes) return too_large("bytes", kMaxBytes);
    if (!utf8::is_valid(query)) return invalid("invalid_utf8", "the query is not UTF-8");
    WordsQuery out;
    std::size_t terms_left = kMaxTerms;
    while (true) {
        query.remove_prefix(std::min(query.find_first_not_of(kBlanks), query.size()));
        if (query.empty()) break;
        // A single '-' negates nothing and is dropped below as a term without a word.
        const bool negated = query.size() > 1 && query.front() == '-';
        if (negated) query.remove_prefix(1);
        const bool of_label = query.starts_with(kLabel);
        if (of_label) query.remove_prefix(kLabel.size());
        std::string term = take_term(query);
        if (!has_word(term)) continue;
        if (terms_left-- == 0) return too_large("words and phrases", kMaxTerms);
        std::vector<std::string>& terms =
            of_label ? (negated ? out.not_in_label : out.in_label) : (negated ? out.none : out.all);
        terms.push_back(std::move(term));
    }
    if (out == WordsQuery()) {
        return invalid("empty_query", "say what to look for: words, \"phrases\", -not, label:NAME");
    }
    return out;
}

}  // namespace quire::text
