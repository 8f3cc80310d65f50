// Texts long enough that the rope shows the log's own bytes: what is edited, taken back, merged and
// read by others meanwhile stays what it was.
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "crdt/doc/doc.h"
#include "crdt/doc/text.h"

namespace quire::crdt {
namespace {

const ContainerId kLongText = ContainerId::root("t", ContainerKind::text);

std::string lines(int begin, int end) {
    std::string text;
    for (int i = begin; i < end; ++i) text += "line " + std::to_string(i) + " of a long text\n";
    return text;
}

const seq::Rope& text_in(Doc& doc) {
    return doc.text(doc.open(kLongText)).rope();
}

void insert(Doc& doc, std::size_t at, std::string_view text) {
    ASSERT_TRUE(doc.text(doc.open(kLongText)).insert({at}, text));
}

TEST(LongText, IsStoredOnceWhileItOnlyGrows) {
    Doc at_once(1);
    Doc by_line(2);
    std::string text;
    for (int i = 0; i < 10'000; ++i) {
        const std::string line = lines(i, i + 1);
        insert(by_line, text.size(), line);
        text += line;
        by_line.commit();
        ASSERT_EQ(text_in(by_line).bytes().n, text.size());
    }
    insert(at_once, 0, text);

    EXPECT_EQ(text_in(at_once).str(), text);
    EXPECT_EQ(text_in(by_line).str(), text);
    EXPECT_EQ(text_in(at_once).shown_bytes(), text.size());
    // But for its beginning, its end, and where one reel follows another.
    EXPECT_GT(text_in(by_line).shown_bytes(), text.size() * 3 / 4);
    check_invariants(by_line);
}

// Two replicas write and merge; one of them gives back memory at every turn, the other never.
TEST(LongText, GivingBackMemoryChangesNothing) {
    for (unsigned seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
        Doc fitted(1);
        Doc plain(1);
        Doc other(2);
        for (int step = 0; step < 60; ++step) {
            const std::size_t size = text_in(plain).bytes().n;
            const std::size_t at = below(3) == 0 ? below(size + 1) : size;
            const bool erases = at < size && below(3) == 0;
            const std::string text = lines(step, step + static_cast<int>(1 + below(20)));
            for (Doc* const doc : {&fitted, &plain}) {
                if (erases) {
                    ASSERT_TRUE(doc->text(doc->open(kLongText)).erase({at}, {1}));
                } else {
                    insert(*doc, at, text);
                }
                doc->commit();
            }
            if (below(4) == 0) {
                ASSERT_TRUE(other.import(plain.changes_since(other.version())));
                insert(other, below(text_in(other).bytes().n + 1), "from elsewhere ");
                other.commit();
            }
            if (below(8) == 0) {
                ASSERT_TRUE(fitted.import(other.changes_since(fitted.version())));
                ASSERT_TRUE(plain.import(other.changes_since(plain.version())));
            }
            if (below(2) == 0) fitted.fit();
            EXPECT_EQ(text_in(fitted).code_points(), text_in(plain).code_points());
        }
        fitted.fit();
        EXPECT_EQ(text_in(fitted).str(), text_in(plain).str());
        EXPECT_EQ(fitted.version(), plain.version());
        check_invariants(fitted);
    }
}

TEST(LongText, TextThatIsFittedIsThereOnce) {
    Doc doc(1);
    for (int i = 0; i < 200; ++i) {
        insert(doc, text_in(doc).bytes().n, lines(i, i + 1));
        doc.commit();
    }
    const std::size_t size = text_in(doc).bytes().n;
    EXPECT_LT(text_in(doc).shown_bytes(), size);

    doc.fit();

    EXPECT_EQ(text_in(doc).shown_bytes(), size);
    insert(doc, size, "and on\n");
    EXPECT_EQ(text_in(doc).str(), lines(0, 200) + "and on\n");
}

TEST(LongText, TypedByKeyContinuesFromReelToReel) {
    Doc doc(1);
    std::string text;
    for (int i = 0; text.size() < 150'000; ++i) {
        const std::string key(1, static_cast<char>('a' + i % 26));
        insert(doc, text.size(), key);
        text += key;
        if (i % 1000 == 0) doc.commit();
    }
    doc.commit();
    Doc other(2);
    ASSERT_TRUE(other.import(doc.changes_since({})));

    EXPECT_EQ(text_in(doc).str(), text);
    EXPECT_EQ(text_in(other).str(), text);
    EXPECT_EQ(*other.text(other.open(kLongText)).at({{1, 99'999}}), text.substr(0, 100'000));
    check_invariants(doc);
    check_invariants(other);
}

TEST(LongText, TypedConcurrentlyMergesAlikeOnBothSides) {
    std::vector<std::vector<Change>> histories;
    for (const PeerId peer : {PeerId{1}, PeerId{2}}) {
        Doc doc(peer);
        for (int i = 0; i < 4000; ++i) {
            insert(doc, text_in(doc).code_points().n, lines(i, i + 1));
            doc.commit({.timestamp = i * 10});
        }
        histories.push_back(doc.changes_since({}).changes());
    }
    Doc a(3);
    Doc b(4);
    for (const std::size_t first : {0, 1}) {
        Doc& doc = first == 0 ? a : b;
        ASSERT_TRUE(doc.import(histories[first]));
        EXPECT_EQ(text_in(doc).str(), lines(0, 4000));
        ASSERT_TRUE(doc.import(histories[1 - first]));
    }

    EXPECT_EQ(text_in(a).str(), lines(0, 4000) + lines(0, 4000));
    EXPECT_EQ(text_in(b).str(), text_in(a).str());
    check_invariants(a);
    check_invariants(b);
}

TEST(LongText, AnImportThatFailsLeavesWhatIsShown) {
    Doc doc(1);
    const std::string text = lines(0, 4000);
    insert(doc, 0, text);
    const OpId head{1, doc.commit().span.end - 1};
    const seq::Rope before = text_in(doc);
    const auto size = static_cast<std::uint32_t>(text.size());
    const Change good{{2, 0}, {head}, 0, 0, "", {{kLongText, 0, TextInsert{size, "good, "}}}};
    const Change bad{{2, 6}, {{2, 5}}, 0, 0, "", {{kLongText, 6, TextInsert{9 * size, "bad"}}}};

    for (int i = 0; i < 3; ++i) {
        ASSERT_FALSE(doc.import({good, bad}));
        insert(doc, text_in(doc).code_points().n, "and on ");
        doc.commit();
        ASSERT_EQ(before.str(), text);
    }

    EXPECT_EQ(text_in(doc).str(), text + "and on and on and on ");
    check_invariants(doc);
}

// Against a flat string, and snapshots read by another thread.
TEST(LongText, EqualsAFlatStringAfterRandomEdits) {
    const char* given = std::getenv("SEED");
    const unsigned first = given != nullptr ? static_cast<unsigned>(std::atoi(given)) : 1;
    for (unsigned seed = first; seed < first + 4; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
        Doc doc(1);
        const Handle text = doc.open(kLongText);
        std::string flat;
        std::vector<std::pair<seq::Rope, std::string>> snapshots;
        for (int step = 0; step < 3000; ++step) {
            // Half of the time where it ends.
            const std::size_t at = below(2) == 0 ? flat.size() : below(flat.size() + 1);
            if (below(4) > 0) {
                const std::string piece = lines(step, step + (below(10) == 0 ? 400 : 1));
                ASSERT_TRUE(doc.text(text).insert({at}, piece));
                flat.insert(at, piece);
            } else {
                const std::size_t count = std::min(flat.size() - at, below(2000));
                ASSERT_TRUE(doc.text(text).erase({at}, {count}));
                flat.erase(at, count);
            }
            if (below(3) == 0) doc.commit();
            if (below(2) == 0) {
                ASSERT_EQ(doc.text(text).rope().bytes().n, flat.size());
            }
            if (step % 500 == 499) snapshots.emplace_back(doc.text(text).rope(), flat);
        }
        doc.commit();
        bool same = true;
        std::thread reader([&] {
            for (const auto& [rope, was] : snapshots) same = same && rope.str() == was;
        });
        for (int i = 0; i < 2000; ++i) {
            ASSERT_TRUE(doc.text(text).insert({flat.size()}, "more "));
            flat += "more ";
            if (i % 50 == 0) {
                ASSERT_EQ(doc.text(text).rope().bytes().n, flat.size());
            }
        }
        reader.join();
        EXPECT_TRUE(same);
        EXPECT_TRUE(doc.text(text).rope().str() == flat);
        doc.commit();
        Doc other(2);
        ASSERT_TRUE(other.import(doc.changes_since({})));
        EXPECT_TRUE(text_in(other).str() == flat);
        doc.text(text).rope().check_invariants();
    }
}

}  // namespace
}  // namespace quire::crdt
