// Imports of what was typed key by key: changes that only go on with the one before them come in
// together, and what each of them says is kept.
#include <algorithm>

#include <gtest/gtest.h>

#include "crdt/doc/doc.h"
#include "crdt/doc/text.h"

namespace quire::crdt {
namespace {

const ContainerId kTyped = ContainerId::root("t", ContainerKind::text);
const ContainerId kOther = ContainerId::root("u", ContainerKind::text);

Change change(OpId id, Frontiers deps, ContainerId into, OpContent content) {
    return {id, std::move(deps), 0, id.counter, "", {{std::move(into), id.counter, content}}};
}

// A change for each key, from position `pos` on; the first one follows `deps`.
std::vector<Change> keys(OpId id, Frontiers deps, std::uint32_t pos, std::string_view keys) {
    std::vector<Change> out;
    for (const char key : keys) {
        out.push_back(change(id, std::move(deps), kTyped, TextInsert{pos++, std::string(1, key)}));
        deps = {id};
        ++id.counter;
    }
    return out;
}

void append(std::vector<Change>& to, const std::vector<Change>& more) {
    to.insert(to.end(), more.begin(), more.end());
}

std::string read(Doc& doc) {
    return doc.text(doc.open(kTyped)).rope().str();
}

std::vector<Change> by_id(std::vector<Change> changes) {
    std::sort(changes.begin(), changes.end(),
              [](const Change& a, const Change& b) { return a.id < b.id; });
    return changes;
}

// In one import, and in one for each change.
void expect_same(const std::vector<Change>& changes, std::string_view text) {
    Doc at_once(8);
    Doc one_by_one(9);
    ASSERT_TRUE(at_once.import(changes));
    for (const Change& each : changes) {
        ASSERT_TRUE(one_by_one.import({each}));
        check_invariants(one_by_one);
    }
    check_invariants(at_once);
    EXPECT_EQ(read(at_once), text);
    EXPECT_EQ(read(one_by_one), text);
    EXPECT_EQ(at_once.frontiers(), one_by_one.frontiers());
    EXPECT_EQ(by_id(at_once.changes_since({}).changes()),
              by_id(one_by_one.changes_since({}).changes()));
}

TEST(Import, ConcurrentTypingKeyByKeyDoesNotInterleave) {
    std::vector<Change> changes = keys({1, 0}, {}, 0, "..");
    append(changes, keys({2, 0}, {{1, 1}}, 1, "two"));
    append(changes, keys({1, 2}, {{1, 1}}, 1, "one"));

    expect_same(changes, ".onetwo.");
}

TEST(Import, TypingEndsWhereAnotherOpOrContainerBegins) {
    std::vector<Change> changes = keys({1, 0}, {}, 0, "ab");
    append(changes, keys({2, 0}, {{1, 1}}, 0, "xy"));
    append(changes, keys({1, 2}, {{1, 1}}, 2, "cd"));
    changes.push_back(change({1, 4}, {{1, 3}}, kTyped, SequenceDelete{3, 1, {1, 3}}));
    append(changes, keys({1, 5}, {{1, 4}}, 3, "e"));
    changes.push_back(change({1, 6}, {{1, 5}}, kOther, TextInsert{0, "u"}));
    append(changes, keys({1, 7}, {{1, 6}}, 4, "fg"));
    append(changes, keys({1, 9}, {{1, 8}}, 1, "h"));

    expect_same(changes, "xyahbcefg");
}

TEST(Import, AChangeThatWaitsForAKeyWithinARunIsApplied) {
    std::vector<Change> changes = keys({2, 0}, {{1, 1}}, 2, "!?");
    append(changes, keys({3, 0}, {{1, 3}}, 0, "<"));
    append(changes, keys({1, 0}, {}, 0, "abcdef"));

    expect_same(changes, "<abcdef!?");
}

TEST(Import, AKeyWithoutAPlaceRefusesTheWholeImport) {
    for (const bool is_concurrent : {false, true}) {
        Doc doc(9);
        ASSERT_TRUE(doc.import(keys({1, 0}, {}, 0, "abc")));
        if (is_concurrent) {
            ASSERT_TRUE(doc.import(keys({3, 0}, {{1, 1}}, 0, "z")));
        }
        const std::string before = read(doc);
        const VersionVector version = doc.version();
        std::vector<Change> changes = keys({2, 0}, {{1, 2}}, 3, "def");
        append(changes, keys({2, 3}, {{2, 2}}, 7, "too far"));

        const auto refused = doc.import(changes);

        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code(), Errc::corrupt);
        EXPECT_EQ(read(doc), before);
        EXPECT_EQ(doc.version(), version);
        check_invariants(doc);
        changes.resize(3);
        ASSERT_TRUE(doc.import(changes));
        EXPECT_EQ(read(doc), before + "def");
        check_invariants(doc);
    }
}

}  // namespace
}  // namespace quire::crdt
