#include "text/search.h"

#include <gtest/gtest.h>

namespace quire::text {
namespace {

std::vector<std::pair<std::size_t, std::size_t>> all(const Query& query, std::string_view line) {
    std::vector<std::pair<std::size_t, std::size_t>> hits;
    Query::Hit hit;
    for (std::size_t from = 0; query.find(line, from, hit); from = hit.end) {
        hits.emplace_back(hit.begin, hit.end);
        if (hit.end == hit.begin) break;
    }
    return hits;
}

using Hits = std::vector<std::pair<std::size_t, std::size_t>>;

TEST(Search, ALiteralMeansItself) {
    const auto query = Query::compile("a.b", Match::literal);

    EXPECT_EQ(all(*query, "axb a.b a.b"), (Hits{{4, 7}, {8, 11}}));
}

TEST(Search, ARegexFindsEachPlaceInTurn) {
    const auto query = Query::compile("a.b", Match::regex);

    EXPECT_EQ(all(*query, "axb a.b"), (Hits{{0, 3}, {4, 7}}));
}

TEST(Search, AnAnchorMatchesTheLineNotTheStartOfTheSearch) {
    const auto query = Query::compile("^a", Match::regex);

    EXPECT_EQ(all(*query, "aaa"), (Hits{{0, 1}}));
}

TEST(Search, AWordBoundarySeesTheTextBeforeTheStart) {
    const auto query = Query::compile("\\bab", Match::regex);

    EXPECT_EQ(all(*query, "abab"), (Hits{{0, 2}}));
}

TEST(Search, ABrokenRegexNamesItsFault) {
    const auto query = Query::compile("(a", Match::regex);

    ASSERT_FALSE(query);
    EXPECT_EQ(query.error().reason(), "invalid_regex");
    EXPECT_NE(query.error().message().find("missing"), std::string::npos)
        << query.error().message();
}

TEST(Search, ARegexThatWouldGrowTooLargeIsRefused) {
    EXPECT_EQ(Query::compile("((((a{100}){100}){100}){100})", Match::regex).error().reason(),
              "invalid_regex");
}

TEST(Search, AnEmptyQueryIsRefused) {
    EXPECT_EQ(Query::compile("", Match::regex).error().reason(), "empty_query");
}

TEST(Search, APatternThatMakesBacktrackersHangIsQuick) {
    const auto query = Query::compile("(a+)+$", Match::regex);
    const std::string line = std::string(20000, 'a') + "b";
    Query::Hit hit;

    EXPECT_FALSE(query->find(line, 0, hit));
}

}  // namespace
}  // namespace quire::text
