#include "text/words_query.h"

#include <gtest/gtest.h>

namespace quire::text {
namespace {

WordsQuery parsed(std::string_view query) {
    Result<WordsQuery> out = parse_words(query);
    EXPECT_TRUE(out) << query;
    return out ? *out : WordsQuery();
}

TEST(WordsQuery, WordsPhrasesAndExclusions) {
    EXPECT_EQ(parsed("red  \"big house\"\tblue"),
              (WordsQuery{.all = {"red", "big house", "blue"}}));
    EXPECT_EQ(parsed("red -blue -\"old car\""),
              (WordsQuery{.all = {"red"}, .none = {"blue", "old car"}}));
    EXPECT_EQ(parsed("label:notes -label:\"old notes\" x"),
              (WordsQuery{.all = {"x"}, .in_label = {"notes"}, .not_in_label = {"old notes"}}));
    EXPECT_EQ(parsed("-red"), (WordsQuery{.none = {"red"}}));
}

TEST(WordsQuery, SyntaxOfOtherSearchesIsText) {
    EXPECT_EQ(parsed("a AND NOT b*"), (WordsQuery{.all = {"a", "AND", "NOT", "b*"}}));
    EXPECT_EQ(parsed("(x) NEAR/2 col:y ^z"), (WordsQuery{.all = {"(x)", "NEAR/2", "col:y", "^z"}}));
    EXPECT_EQ(parsed("well-known a\"b\"c"), (WordsQuery{.all = {"well-known", "a\"b\"c"}}));
    EXPECT_EQ(parsed("\"never closed"), (WordsQuery{.all = {"never closed"}}));
    EXPECT_EQ(parsed("- -- x !!! \"\" \"...\" label:"), (WordsQuery{.all = {"x"}}));
    EXPECT_EQ(parsed("größe — 好 🎉 ±"), (WordsQuery{.all = {"größe", "好", "🎉"}}));
}

TEST(WordsQuery, AQueryWithoutAWordIsRefused) {
    for (const std::string_view query :
         {"", "   ", "-", "\"", "!? -- \"*\"", "label:", "— „…“ « 。"})
        EXPECT_EQ(parse_words(query).error().reason(), "empty_query") << query;
    EXPECT_EQ(parse_words("\xff").error().reason(), "invalid_utf8");
}

TEST(WordsQuery, AQueryHasItsBounds) {
    std::string words;
    for (int i = 0; i < 64; ++i) words += "a ";
    EXPECT_EQ(parsed(words + "...").all.size(), 64U);
    EXPECT_EQ(parse_words(words + "a").error().reason(), "too_large");
    EXPECT_EQ(parsed(std::string(4096, 'x')).all.size(), 1U);
    for (const std::string piece : {"x", "x ", "\"", "(", "-", "🎉"}) {
        std::string query;
        while (query.size() < 100'000) query += piece;
        EXPECT_EQ(parse_words(query).error().reason(), "too_large") << piece;
    }
}

}  // namespace
}  // namespace quire::text
