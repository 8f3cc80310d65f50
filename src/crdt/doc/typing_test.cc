// Typing: letters and backspaces that go on where the edit before stopped take a short way, which
// must lead to what any other edit leads to.
#include <array>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "crdt/doc/doc.h"
#include "crdt/doc/map.h"
#include "crdt/doc/text.h"

namespace quire::crdt {
namespace {

constexpr std::size_t kFar = ~std::size_t{0};

struct Sheet {
    Doc doc{1};
    Handle text = doc.open(ContainerId::root("t", ContainerKind::text));

    bool type(std::size_t at, std::string_view what) {
        return doc.text(text).insert({at}, what).has_value();
    }
    bool erase(std::size_t at, std::size_t count) {
        return doc.text(text).erase({at}, {count}).has_value();
    }
    std::string read() const { return doc.text(text).rope().str(); }
};

TEST(Typing, LettersAndBackspacesGoOnWhereTheyStopped) {
    Sheet sheet;
    for (std::size_t i = 0; i < 6; ++i) EXPECT_TRUE(sheet.type(i, std::string(1, "abcdef"[i])));
    for (std::size_t at : {5, 4, 3}) EXPECT_TRUE(sheet.erase(at, 1));
    EXPECT_EQ(sheet.read(), "abc");
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(sheet.erase(0, 1));
    EXPECT_EQ(sheet.read(), "");

    sheet.doc.commit();
    check_invariants(sheet.doc);
    // A run of letters, one of backspaces and one of deletes.
    const std::vector<Change> changes = sheet.doc.changes_since({}).changes();
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].ops.size(), 3U);
}

TEST(Typing, EndsWhereTheTextDoes) {
    Sheet sheet;
    EXPECT_TRUE(sheet.type(0, "a"));
    EXPECT_TRUE(sheet.type(1, "b"));
    EXPECT_FALSE(sheet.type(kFar, "x"));
    EXPECT_FALSE(sheet.type(3, "x"));
    EXPECT_TRUE(sheet.erase(1, 1));
    EXPECT_FALSE(sheet.type(kFar, "x"));
    EXPECT_FALSE(sheet.erase(1, 1));
    EXPECT_TRUE(sheet.erase(0, 1));
    EXPECT_FALSE(sheet.erase(0, 1));
    EXPECT_FALSE(sheet.erase(kFar, 1));
    EXPECT_FALSE(sheet.type(kFar, "x"));
    EXPECT_TRUE(sheet.type(0, "c"));
    EXPECT_FALSE(sheet.type(1, "\x80"));
    EXPECT_TRUE(sheet.type(1, "é"));
    EXPECT_TRUE(sheet.type(2, "d"));
    EXPECT_EQ(sheet.read(), "céd");
    check_invariants(sheet.doc);
}

TEST(Typing, IsInOneContainer) {
    Sheet sheet;
    const Handle other = sheet.doc.open(ContainerId::root("u", ContainerKind::text));
    EXPECT_TRUE(sheet.type(0, "a"));
    EXPECT_FALSE(sheet.doc.text(other).insert({1}, "x"));
    EXPECT_TRUE(sheet.doc.text(other).insert({0}, "x"));
    EXPECT_TRUE(sheet.type(1, "b"));
    EXPECT_TRUE(sheet.erase(0, 2));
    EXPECT_TRUE(sheet.doc.text(other).erase({0}, {1}));
    EXPECT_FALSE(sheet.erase(0, 1));
    EXPECT_EQ(sheet.read() + sheet.doc.text(other).rope().str(), "");
    check_invariants(sheet.doc);
}

// Everything that comes between, at random, beside a plain string.
TEST(TypingRandom, EndsInTheTextThatSeparateEditsGive) {
    const unsigned first = std::random_device{}();
    for (unsigned seed = first; seed < first + 60; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto below = [&](std::size_t n) { return random() % n; };
        Sheet sheet;
        Doc other(2);
        const Handle map = sheet.doc.open(ContainerId::root("m", ContainerKind::map));
        const Handle there = other.open(ContainerId::root("t", ContainerKind::text));
        std::string plain;
        for (int step = 0; step < 300; ++step) {
            const std::size_t at = below(plain.size() + 1);
            switch (below(12)) {
                case 0:
                    sheet.doc.commit();
                    break;
                case 1:
                    ASSERT_EQ(sheet.read(), plain);
                    break;
                case 2:
                    ASSERT_TRUE(sheet.doc.map(map).set("k", static_cast<std::int64_t>(step)));
                    break;
                case 3:
                    sheet.doc.commit();
                    ASSERT_TRUE(other.import(sheet.doc.changes_since(other.version())));
                    ASSERT_TRUE(other.text(there).insert({at}, "o"));
                    other.commit();
                    ASSERT_TRUE(sheet.doc.import(other.changes_since(sheet.doc.version())));
                    plain.insert(at, "o");
                    break;
                case 4:
                    if (below(4) != 0 || plain.empty()) break;
                    ASSERT_TRUE(
                        sheet.doc.text(sheet.text)
                            .mark({0}, {plain.size()}, "bold", static_cast<std::int64_t>(step)));
                    break;
                case 5:
                case 6:
                case 7: {  // A word, letter by letter.
                    std::size_t to = at;
                    for (std::size_t n = 1 + below(20); n > 0; --n) {
                        const std::string letter(1, static_cast<char>('a' + below(26)));
                        ASSERT_TRUE(sheet.type(to, letter));
                        plain.insert(to++, letter);
                    }
                    break;
                }
                case 8:
                case 9: {  // Backspaces.
                    std::size_t from = at;
                    for (std::size_t n = below(12); n > 0 && from > 0; --n) {
                        ASSERT_TRUE(sheet.erase(--from, 1));
                        plain.erase(from, 1);
                    }
                    break;
                }
                default:  // Deletes forward, up to the end and beyond.
                    for (std::size_t n = below(12); n > 0; --n) {
                        ASSERT_EQ(sheet.erase(at, 1), at < plain.size());
                        if (at < plain.size()) plain.erase(at, 1);
                    }
            }
        }
        sheet.doc.commit();
        ASSERT_EQ(sheet.read(), plain);
        check_invariants(sheet.doc);
        Doc again(3);
        ASSERT_TRUE(again.import(sheet.doc.changes_since({})));
        ASSERT_EQ(again.value(), sheet.doc.value());
    }
}

}  // namespace
}  // namespace quire::crdt
