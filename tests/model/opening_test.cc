// Documents that begin with a state: what they show, what is done to them and what they send is
// what it would be with all of their history, before that is read and afterwards.
#include <map>

#include <gtest/gtest.h>

#include "base/check.h"
#include "codec/document.h"
#include "codec/document_snapshot.h"
#include "codec/open_snapshot.h"
#include "codec/updates.h"
#include "crdt/doc/history.h"
#include "crdt/doc/inspection.h"
#include "crdt/doc/list.h"
#include "crdt/doc/text.h"
#include "json/json.h"
#include "tests/model/imported.h"
#include "tests/model/model.h"
#include "tests/model/scribblers.h"

namespace quire {
namespace {

using namespace crdt;
using model::Scribblers;

constexpr PeerId kEditor = 77;

// The deltas by container: two diffs may list containers that do not hold each other in any order.
std::map<ContainerId, Delta> deltas(const Diff& diff) {
    std::map<ContainerId, Delta> deltas;
    for (const ContainerDiff& part : diff) deltas.emplace(part.container, part.delta);
    return deltas;
}

class Opening : public testing::Test {
protected:
    // Snapshots of what two to four peers wrote; `check` looks at one and its scribbler. How many
    // could be opened by their states.
    template <class Check>
    static std::size_t for_each_snapshot(std::uint64_t runs, Check check) {
        const model::Runs given(runs);
        std::size_t opened = 0;
        for (std::uint64_t run = 0; run < given.count; ++run) {
            const std::uint64_t seed = given.seed + run;
            SCOPED_TRACE("SEED=" + std::to_string(seed) + " QUIRE_STEPS=1");
            Scribblers peers(seed, 2 + seed % 3);
            for (int i = 0; i < 30; ++i) peers.step();
            peers.meet();
            const Bytes blob = codec::encode_snapshot(peers.doc(0)).value();
            Doc doc(kEditor);
            const Result<bool> done = codec::open_snapshot(doc, blob);
            if (!done) ADD_FAILURE() << done.error().message();
            if (!done || !*done) continue;
            ++opened;
            check(peers, blob, doc);
            if (testing::Test::HasFatalFailure()) break;
        }
        return opened;
    }
};

TEST_F(Opening, AStateShowsWhatItsHistoryShows) {
    const std::size_t opened =
        for_each_snapshot(60, [](Scribblers& peers, const Bytes& blob, Doc& doc) {
            Doc full = model::imported(blob, kEditor);
            for (const Handle container : crdt::Inspection(full).written()) {
                const ContainerId& id = full.id_of(container);
                const Handle same = doc.open(id);
                ASSERT_EQ(doc.is_alive(same), full.is_alive(container));
                if (!full.is_alive(container)) continue;
                ASSERT_TRUE(doc.value(same) == full.value(container))
                    << json::write(doc.value(same)) << "\n"
                    << json::write(full.value(container));
                if (id.kind == ContainerKind::text) {
                    ASSERT_TRUE(doc.text(same).delta() == full.text(container).delta());
                }
            }
            ASSERT_EQ(doc.version(), full.version());
            ASSERT_EQ(doc.frontiers(), full.frontiers());
            ASSERT_EQ(doc.history().op_count(), full.history().op_count());
            ASSERT_FALSE(doc.history().is_loaded());
            ASSERT_TRUE(doc.value() == full.value());
            static_cast<void>(peers);
        });
    EXPECT_GT(opened, 0U);
}

TEST_F(Opening, EditsMakeTheOpsThatTheyWouldMakeWithTheHistory) {
    for_each_snapshot(60, [](Scribblers& peers, const Bytes& blob, Doc& doc) {
        Doc full = model::imported(blob, kEditor);
        Doc other = model::imported(blob, 5);
        const VersionVector before = doc.version();
        Scribblers twin = peers.twin();
        for (int i = 0; i < 8; ++i) {
            peers.edit(doc);
            twin.edit(full);
            if (i % 3 != 2) continue;
            const Commit a = doc.commit({.want_diff = true});
            const Commit b = full.commit({.want_diff = true});
            ASSERT_EQ(a.span, b.span);
            ASSERT_TRUE(deltas(a.diff) == deltas(b.diff));
        }
        doc.commit();
        full.commit();
        ASSERT_FALSE(doc.history().is_loaded());
        ASSERT_TRUE(doc.changes_since(before).changes() == full.changes_since(before).changes());
        ASSERT_TRUE(doc.value() == full.value());
        ASSERT_TRUE(other.import(doc.changes_since(before)));
        ASSERT_TRUE(other.value() == full.value());
        // With its history, it is the document that always had it.
        ASSERT_TRUE(doc.history().load());
        ASSERT_TRUE(doc.value() == full.value());
        ASSERT_TRUE(doc.changes_since({}).changes() == full.changes_since({}).changes());
        crdt::check_invariants(doc);
    });
}

TEST_F(Opening, ATransactionGoesOnWhenTheHistoryComesIn) {
    for_each_snapshot(60, [](Scribblers& peers, const Bytes& blob, Doc& doc) {
        Doc full = model::imported(blob, kEditor);
        const VersionVector before = doc.version();
        Scribblers twin = peers.twin();
        const auto edit = [&] {
            for (int i = 0; i < 3; ++i) {
                peers.edit(doc);
                twin.edit(full);
            }
        };
        edit();
        ASSERT_TRUE(doc.history().load());
        ASSERT_TRUE(doc.value() == full.value());
        edit();
        const Commit a = doc.commit({.want_diff = true});
        const Commit b = full.commit({.want_diff = true});
        ASSERT_EQ(a.span, b.span);
        ASSERT_TRUE(deltas(a.diff) == deltas(b.diff));
        ASSERT_TRUE(doc.changes_since(before).changes() == full.changes_since(before).changes());
        crdt::check_invariants(doc);
    });
}

// Found with SEED=2560230899 QUIRE_STEPS=1.
TEST_F(Opening, ADeleteThatBeganBeforeTheHistoryCameInIsLengthened) {
    const ContainerId list = ContainerId::root("list", ContainerKind::list);
    const ContainerId text = ContainerId::root("text", ContainerKind::text);
    Doc written(1);
    for (int i = 0; i < 6; ++i)
        ASSERT_TRUE(written.list(written.open(list)).insert(static_cast<std::size_t>(i), i));
    ASSERT_TRUE(written.text(written.open(text)).insert({0}, "abcdef"));
    written.commit();
    const Bytes blob = codec::encode_snapshot(written).value();
    for (const bool backward : {false, true}) {
        Doc doc(kEditor);
        ASSERT_TRUE(codec::open_snapshot(doc, blob).value());
        Doc full = model::imported(blob, kEditor);
        const VersionVector before = doc.version();
        const auto erase = [&](std::size_t at) {
            for (Doc* const each : {&doc, &full}) {
                ASSERT_TRUE(each->list(each->open(list)).erase(at, 1));
            }
        };
        erase(3);
        ASSERT_FALSE(doc.history().is_loaded());
        ASSERT_TRUE(doc.history().load());
        erase(backward ? 2 : 3);
        for (Doc* const each : {&doc, &full})
            ASSERT_TRUE(each->text(each->open(text)).erase({1}, {2}));
        doc.commit();
        full.commit();
        EXPECT_TRUE(doc.changes_since(before).changes() == full.changes_since(before).changes());
        EXPECT_EQ(doc.changes_since(before).changes().at(0).ops.size(), 2U);
        EXPECT_TRUE(doc.value() == full.value());
        crdt::check_invariants(doc);
    }
}

TEST_F(Opening, OthersChangesMeetTheHistory) {
    for_each_snapshot(40, [](Scribblers& peers, const Bytes& blob, Doc& doc) {
        Doc full = model::imported(blob, kEditor);
        Doc other = model::imported(blob, 5);
        Scribblers twin = peers.twin();
        peers.edit(doc);
        twin.edit(full);
        doc.commit();
        full.commit();
        for (int i = 0; i < 5; ++i) peers.edit(other);
        other.commit();
        const std::vector<Change> theirs =
            other.changes_since(model::imported(blob, 9).version()).changes();
        ASSERT_TRUE(doc.import(theirs));
        ASSERT_TRUE(full.import(theirs));
        ASSERT_TRUE(doc.value() == full.value());
        ASSERT_EQ(doc.frontiers(), full.frontiers());
        crdt::check_invariants(doc);
    });
}

}  // namespace
}  // namespace quire
