// Signatures, and what queries need of them: that nothing is ruled out which a search would find is
// held against the search itself, on random texts and queries.
#include "text/signature.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/share_for_test.h"
#include "text/needs.h"
#include "text/search.h"

namespace quire::text {
namespace {

std::vector<std::uint64_t> signature_of(std::string_view text) {
    SignatureMaker maker;
    maker.add(text);
    return maker.finish();
}

bool may_match(std::string_view text, std::string_view query, Match mode) {
    Needs needs(Query::compile(query, mode).value());
    return needs.may_match(signature_of(text));
}

bool matches(std::string_view text, const Query& query) {
    Query::Hit hit;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        if (query.find(text.substr(at, end - at), 0, hit)) return true;
        at = end + 1;
    }
    return false;
}

constexpr std::string_view kText = "int main() {\n    return Answer(42);  // naïve 検索エンジン\n}\n";

TEST(Signature, RulesOutTextsThatLackPartOfALiteral) {
    EXPECT_TRUE(may_match(kText, "return Answer", Match::literal));
    EXPECT_FALSE(may_match(kText, "return Question", Match::literal));
    EXPECT_TRUE(may_match(kText, "検索エンジン", Match::literal));
    EXPECT_FALSE(may_match(kText, "検索サーバー", Match::literal));
    EXPECT_TRUE(may_match(kText, "zz", Match::literal)) << "too short to tell";
}

TEST(Signature, RulesOutTextsThatLackWhatARegexNeeds) {
    EXPECT_TRUE(may_match(kText, "ret.*Answ", Match::regex));
    EXPECT_FALSE(may_match(kText, "ret.*Question", Match::regex));
    EXPECT_TRUE(may_match(kText, "Question|Answer", Match::regex));
    EXPECT_FALSE(may_match(kText, "Question|Problem", Match::regex));
    EXPECT_TRUE(may_match(kText, "(?i)RETURN ANSWER", Match::regex));
    EXPECT_TRUE(may_match(kText, "[a-z]+", Match::regex));
    EXPECT_FALSE(may_match(kText, "検索サーバ+", Match::regex));
    EXPECT_TRUE(may_match("", ".*", Match::regex));
    EXPECT_FALSE(may_match("", "abc", Match::regex));
}

// U+212A and U+017F are the letters beyond ASCII that are a case of an ASCII letter.
TEST(Signature, LettersWhoseLowerCaseIsAsciiAreFoundAsThat) {
    EXPECT_TRUE(may_match("12 \u212Aelvin", "(?i)kelvin", Match::regex));
    EXPECT_TRUE(may_match("12 \u212Aelvin", "\u212Aelvin", Match::literal));
    EXPECT_TRUE(may_match("12 \u212Aelvin", "\u212Aelvin", Match::regex));
    EXPECT_TRUE(may_match("\u0130stanbul", "\u0130stanbul", Match::regex));
    EXPECT_TRUE(may_match("\u0130stanbul", "\u0130stanbul", Match::literal));
    EXPECT_TRUE(may_match("ma\u017F\u017Fe", "(?i)masse", Match::regex));
    EXPECT_TRUE(may_match("ma\u017F\u017Fe", "ma\u017F\u017Fe", Match::literal));
}

TEST(Signature, TakesAByteForEachTrigramAndFindsFewOthers) {
    SeededRng rng(7);
    std::string text;
    for (int i = 0; i < 30000; ++i) text += static_cast<char>('a' + rng.next() % 26);
    const auto signature = signature_of(text);
    const std::size_t different = grams_of(text).size();

    EXPECT_LE(signature.size() * 8, different + 64);
    std::size_t absent = 0;
    std::size_t found = 0;
    for (Gram gram = 0; gram < 1 << 16; ++gram) {
        const std::vector<Gram> digits = {0x30'00'00U + gram};
        ++absent;
        if (may_have(signature, digits)) ++found;
    }
    EXPECT_LT(found * 100, absent * 6);
}

std::string random_text(SeededRng& rng, std::size_t most) {
    constexpr std::string_view kPieces[] = {"a", "b", "B", "c", "x", "\n", " ", "k", "\u212A", "\u0130",
                                            "i", "é", "É", "検", "索", "s", "\u017F", "0"};
    std::string text;
    for (std::size_t i = rng.next() % most; i > 0; --i)
        text += kPieces[rng.next() % std::size(kPieces)];
    return text;
}

std::string random_pattern(SeededRng& rng, int depth) {
    const auto literal = [&] {
        std::string text = random_text(rng, 6);
        std::erase(text, '\n');
        return text.empty() ? std::string("ab") : text;
    };
    if (depth == 0) return literal();
    const std::string one = random_pattern(rng, depth - 1);
    const std::string other = random_pattern(rng, depth - 1);
    switch (rng.next() % 8) {
        case 0:
            return one + "|" + other;
        case 1:
            return "(" + one + ")*" + other;
        case 2:
            return "(?i:" + one + ")" + other;
        case 3:
            return one + ".+" + other;
        case 4:
            return "[ab0k]" + one + "?";
        case 5:
            return "(?:" + one + "|" + other + "){1,2}" + literal();
        case 6:
            return "\\b" + one + "$";
        default:
            return one + other;
    }
}

TEST(Signature, NothingIsRuledOutThatASearchFinds) {
    SeededRng rng(91);
    int found = 0;
    int ruled_out = 0;
    for (int round = 0; round < 20'000 / kRoundsShare; ++round) {
        const std::string text = random_text(rng, 60);
        const bool is_regex = rng.next() % 3 != 0;
        std::string pattern = random_pattern(rng, is_regex ? static_cast<int>(rng.next() % 3) : 0);
        // A literal is often one that is there.
        if (!is_regex && !text.empty() && rng.next() % 2 == 0) {
            const std::size_t newline = text.find('\n');
            pattern = text.substr(0, std::min<std::size_t>(newline, text.size()));
            if (pattern.empty()) continue;
        }
        const auto query = Query::compile(pattern, is_regex ? Match::regex : Match::literal);
        ASSERT_TRUE(query) << pattern;
        Needs needs(*query);
        const bool may = needs.may_match(signature_of(text));
        const bool does = matches(text, *query);
        ASSERT_TRUE(may || !does) << "'" << pattern << "' in '" << text << "'";
        found += does ? 1 : 0;
        ruled_out += may ? 0 : 1;
    }
    EXPECT_GT(found, 1000 / kRoundsShare);
    EXPECT_GT(ruled_out, 1000 / kRoundsShare);
}

}  // namespace
}  // namespace quire::text
