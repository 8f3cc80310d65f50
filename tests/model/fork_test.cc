// Forks: a fork of the latest version shares what it can with its original, and from then on neither
// knows of the other. It is the document that an import of the same history makes.
#include <memory>

#include <gtest/gtest.h>

#include "base/check.h"
#include "crdt/doc/history.h"
#include "crdt/doc/text.h"
#include "tests/model/scribblers.h"

namespace quire {
namespace {

using namespace crdt;
using model::Scribblers;

constexpr PeerId kForker = 77;

Doc imported(const Doc& from, PeerId peer) {
    Doc doc(peer);
    CHECK(doc.import(from.changes_since({})));
    return doc;
}

void expect_alike(const Doc& a, const Doc& b) {
    ASSERT_EQ(a.version(), b.version());
    ASSERT_EQ(a.frontiers(), b.frontiers());
    ASSERT_TRUE(a.value() == b.value());
    const std::vector<Change> of_a = a.changes_since({}).changes();
    const std::vector<Change> of_b = b.changes_since({}).changes();
    ASSERT_EQ(of_a.size(), of_b.size());
    for (std::size_t i = 0; i < of_a.size(); ++i) {
        ASSERT_EQ(of_a[i].id, of_b[i].id);
        ASSERT_EQ(of_a[i].deps, of_b[i].deps);
        ASSERT_TRUE(same_atoms(of_a[i].ops, of_b[i].ops));
    }
}

// Histories of peers who met at times; `check` gets a document with all of one.
template <class Check>
void for_each_history(std::uint64_t runs, Check check) {
    const model::Runs given(runs);
    for (std::uint64_t run = 0; run < given.count; ++run) {
        const std::uint64_t seed = given.seed + run;
        SCOPED_TRACE("SEED=" + std::to_string(seed) + " QUIRE_STEPS=1");
        Scribblers peers(seed, 2 + seed % 3);
        for (int i = 0; i < 30; ++i) peers.step();
        peers.meet();
        // Containers are looked at, packed, or left as the import made them.
        Doc& doc = peers.doc(0);
        if (seed % 3 == 0) doc.fit();
        if (seed % 3 == 1) static_cast<void>(doc.value());
        check(peers, doc);
        if (testing::Test::HasFatalFailure()) break;
    }
}

TEST(Fork, IsWhatAnImportOfItsHistoryMakes) {
    for_each_history(60, [](Scribblers& peers, Doc& doc) {
        Doc fork = doc.fork(kForker);
        Doc plain = imported(doc, kForker);
        expect_alike(fork, plain);
        if (testing::Test::HasFatalFailure()) return;
        const Frontiers begin = doc.frontiers();
        Doc other = imported(doc, 5);
        for (int i = 0; i < 5; ++i) peers.edit(other);
        other.commit();
        Scribblers twin = peers.twin();
        for (int i = 0; i < 6; ++i) {
            peers.edit(fork);
            twin.edit(plain);
            fork.commit({.message = i < 3 ? "" : "more"});
            plain.commit({.message = i < 3 ? "" : "more"});
        }
        for (Doc* const each : {&fork, &plain}) {
            ASSERT_TRUE(each->import(other.changes_since(each->version())));
        }
        expect_alike(fork, plain);
        if (testing::Test::HasFatalFailure()) return;
        for (Doc* const each : {&fork, &plain}) ASSERT_TRUE(each->checkout(begin));
        ASSERT_TRUE(fork.value() == plain.value());
        ASSERT_TRUE(fork.value() == doc.value());
        for (Doc* const each : {&fork, &plain}) each->checkout_to_latest();
        fork.fit();
        expect_alike(fork, plain);
        check_invariants(fork);
        check_invariants(doc);
    });
}

TEST(Fork, AndItsOriginalDoNotKnowOfEachOther) {
    for_each_history(60, [](Scribblers& peers, Doc& doc) {
        const Doc before = imported(doc, 8);
        auto fork = std::make_unique<Doc>(doc.fork(kForker));
        // The original goes on; the fork stays as it is, and the other way round.
        for (int i = 0; i < 5; ++i) peers.edit(doc);
        doc.commit();
        expect_alike(*fork, before);
        if (testing::Test::HasFatalFailure()) return;
        const Doc after = imported(doc, 8);
        for (int i = 0; i < 5; ++i) peers.edit(*fork);
        fork->commit();
        expect_alike(doc, after);
        if (testing::Test::HasFatalFailure()) return;
        // Each can take in what the other wrote.
        Doc second = fork->fork(6);
        ASSERT_TRUE(second.import(doc.changes_since(second.version())));
        ASSERT_TRUE(doc.import(fork->changes_since(doc.version())));
        fork.reset();
        ASSERT_TRUE(doc.value() == second.value());
        check_invariants(doc);
        check_invariants(second);
    });
}

// Both show the text of one reel, and the original writes on behind it.
TEST(Fork, SharesTextThatTheOriginalGoesOnWriting) {
    Doc doc(1);
    const Handle text = doc.open(ContainerId::root("t", ContainerKind::text));
    ASSERT_TRUE(doc.text(text).insert({0}, std::string(70'000, 'a')));
    for (int i = 0; i < 3'000; ++i) ASSERT_TRUE(doc.text(text).insert({0}, "b"));
    doc.commit();

    Doc fork = doc.fork(2);
    const Handle same = fork.open(ContainerId::root("t", ContainerKind::text));
    const std::string before = doc.text(text).rope().str();
    for (int i = 0; i < 3'000; ++i) {
        ASSERT_TRUE(doc.text(text).insert({0}, "c"));
        ASSERT_TRUE(fork.text(same).insert({static_cast<std::size_t>(i)}, "d"));
    }
    doc.commit();
    fork.commit();

    EXPECT_EQ(doc.text(text).rope().str(), std::string(3'000, 'c') + before);
    EXPECT_EQ(fork.text(same).rope().str(), std::string(3'000, 'd') + before);
    check_invariants(doc);
    check_invariants(fork);
}

}  // namespace
}  // namespace quire
