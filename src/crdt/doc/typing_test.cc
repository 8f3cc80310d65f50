// Typing: letters and backspaces that go on where the edit before stopped take a short way, which
// must lead to what any other edit leads to.
#include <array>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "base/cat.h"
#include "crdt/doc/doc.h"

namespace quire::crdt {
namespace {

constexpr std::size_t kFar = ~std::size_t{0};

struct Page {
    Doc doc{1};
    Handle text = doc.open(ContainerId::root("t", ContainerKind::text));

    bool type(std::size_t at, std::string_view what) {
        return doc.text_insert(text, {at}, what).has_value();
    }
    bool erase(std::size_t at, std::size_t count) {
        return doc.text_erase(text, {at}, {count}).has_value();
    }
    std::string read() const { return doc.text(text).str(); }
};

TEST(Typing, LettersAndBackspacesGoOnWhereTheyStopped) {
    Page page;
    for (std::size_t i = 0; i < 6; ++i) EXPECT_TRUE(page.type(i, std::string(1, "abcdef"[i])));
    for (std::size_t at : {5, 4, 3}) EXPECT_TRUE(page.erase(at, 1));
    EXPECT_EQ(page.read(), "abc");
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(page.erase(0, 1));
    EXPECT_EQ(page.read(), "");

    page.doc.commit();
    page.doc.check_invariants();
    // A run of letters, one of backspaces and one of deletes.
    const std::vector<Change> changes = page.doc.changes_since({});
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].ops.size(), 3U);
}

TEST(Typing, EndsWhereTheTextDoes) {
    Page page;
    EXPECT_TRUE(page.type(0, "a"));
    EXPECT_TRUE(page.type(1, "b"));
    EXPECT_FALSE(page.type(kFar, "x"));
    EXPECT_FALSE(page.type(3, "x"));
    EXPECT_TRUE(page.erase(1, 1));
    EXPECT_FALSE(page.type(kFar, "x"));
    EXPECT_FALSE(page.erase(1, 1));
    EXPECT_TRUE(page.erase(0, 1));
    EXPECT_FALSE(page.erase(0, 1));
    EXPECT_FALSE(page.erase(kFar, 1));
    EXPECT_FALSE(page.type(kFar, "x"));
    EXPECT_TRUE(page.type(0, "c"));
    EXPECT_FALSE(page.type(1, "\x80"));
    EXPECT_TRUE(page.type(1, "é"));
    EXPECT_TRUE(page.type(2, "d"));
    EXPECT_EQ(page.read(), "céd");
    page.doc.check_invariants();
}

TEST(Typing, IsInOneContainer) {
    Page page;
    const Handle other = page.doc.open(ContainerId::root("u", ContainerKind::text));
    EXPECT_TRUE(page.type(0, "a"));
    EXPECT_FALSE(page.doc.text_insert(other, {1}, "x"));
    EXPECT_TRUE(page.doc.text_insert(other, {0}, "x"));
    EXPECT_TRUE(page.type(1, "b"));
    EXPECT_TRUE(page.erase(0, 2));
    EXPECT_TRUE(page.doc.text_erase(other, {0}, {1}));
    EXPECT_FALSE(page.erase(0, 1));
    EXPECT_EQ(page.read() + page.doc.text(other).str(), "");
    page.doc.check_invariants();
}

// Everything that comes between, at random, beside a plain string.
TEST(TypingRandom, LeadsWhereAnyEditLeads) {
    const unsigned first = std::random_device{}();
    for (unsigned seed = first; seed < first + 60; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto below = [&](std::size_t n) { return random() % n; };
        Page page;
        Doc other(2);
        const Handle map = page.doc.open(ContainerId::root("m", ContainerKind::map));
        const Handle there = other.open(ContainerId::root("t", ContainerKind::text));
        std::string plain;
        for (int step = 0; step < 300; ++step) {
            const std::size_t at = below(plain.size() + 1);
            switch (below(12)) {
                case 0:
                    page.doc.commit();
                    break;
                case 1:
                    ASSERT_EQ(page.read(), plain);
                    break;
                case 2:
                    ASSERT_TRUE(page.doc.map_set(map, "k", static_cast<std::int64_t>(step)));
                    break;
                case 3:
                    page.doc.commit();
                    ASSERT_TRUE(other.import(page.doc.changes_since(other.version())));
                    ASSERT_TRUE(other.text_insert(there, {at}, "o"));
                    other.commit();
                    ASSERT_TRUE(page.doc.import(other.changes_since(page.doc.version())));
                    plain.insert(at, "o");
                    break;
                case 4:
                    if (below(4) != 0 || plain.empty()) break;
                    ASSERT_TRUE(page.doc.text_mark(page.text, {0}, {plain.size()}, "bold",
                                                   static_cast<std::int64_t>(step)));
                    break;
                case 5:
                case 6:
                case 7: {  // A word, letter by letter.
                    std::size_t to = at;
                    for (std::size_t n = 1 + below(20); n > 0; --n) {
                        const std::string letter(1, static_cast<char>('a' + below(26)));
                        ASSERT_TRUE(page.type(to, letter));
                        plain.insert(to++, letter);
                    }
                    break;
                }
                case 8:
                case 9: {  // Backspaces.
                    std::size_t from = at;
                    for (std::size_t n = below(12); n > 0 && from > 0; --n) {
                        ASSERT_TRUE(page.erase(--from, 1));
                        plain.erase(from, 1);
                    }
                    break;
                }
                default:  // Deletes forward, up to the end and beyond.
                    for (std::size_t n = below(12); n > 0; --n) {
                        ASSERT_EQ(page.erase(at, 1), at < plain.size());
                        if (at < plain.size()) plain.erase(at, 1);
                    }
            }
        }
        page.doc.commit();
        ASSERT_EQ(page.read(), plain);
        page.doc.check_invariants();
        Doc again(3);
        ASSERT_TRUE(again.import(page.doc.changes_since({})));
        ASSERT_EQ(again.value(), page.doc.value());
    }
}

}  // namespace
}  // namespace quire::crdt
