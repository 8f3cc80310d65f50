// Saving a document that began with a state, without its history being read: what is saved is what
// the same document saves that has all of its history.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "base/check.h"
#include "codec/document.h"
#include "codec/document_snapshot.h"
#include "codec/open_snapshot.h"
#include "codec/snapshot.h"
#include "crdt/doc/history.h"
#include "crdt/ids/container_text.h"
#include "crdt/undo/undo_history.h"
#include "tests/model/imported.h"
#include "tests/model/scribblers.h"

namespace quire {
namespace {

using namespace crdt;
using model::Scribblers;

constexpr PeerId kSaver = 77;

// How a text is cut into spans means nothing.
codec::State joined(codec::State state) {
    auto* const text = std::get_if<codec::TextState>(&state);
    if (text == nullptr) return state;
    std::vector<codec::TextSpan> spans;
    for (const codec::TextSpan& span : std::exchange(text->spans, {})) {
        if (!spans.empty() && spans.back().length > 0 && span.length > 0) {
            codec::TextSpan& last = spans.back();
            const auto end = static_cast<Lamport>(last.length);
            if (span.first.id == OpId{last.first.id.peer, last.first.id.counter + last.length} &&
                span.first.lamport == last.first.lamport + end) {
                last.length += span.length;
                continue;
            }
        }
        spans.push_back(span);
    }
    text->spans = std::move(spans);
    return state;
}

std::map<ContainerId, codec::ContainerState> states(const codec::Snapshot& snapshot) {
    std::map<ContainerId, codec::ContainerState> states;
    codec::Budget budget = snapshot.budget();
    const std::vector<ContainerId> ids = snapshot.containers(budget).value();
    for (const ContainerId& id : ids) {
        codec::ContainerState state = *snapshot.state(id, budget).value();
        state.state = joined(std::move(state.state));
        states.emplace(id, std::move(state));
    }
    return states;
}

// The changes, those that only continue the one before joined with it: a save may cut elsewhere.
std::vector<Change> joined(std::vector<Change> changes) {
    std::sort(changes.begin(), changes.end(),
              [](const Change& a, const Change& b) { return a.id < b.id; });
    std::vector<Change> all;
    for (Change& change : changes) {
        if (!all.empty()) {
            Change& last = all.back();
            const OpId next{last.id.peer, last.id.counter + atom_count(last)};
            if (change.id == next && change.timestamp == last.timestamp &&
                change.message == last.message &&
                change.deps == Frontiers{{next.peer, next.counter - 1}}) {
                last.ops.insert(last.ops.end(), change.ops.begin(), change.ops.end());
                continue;
            }
        }
        all.push_back(std::move(change));
    }
    return all;
}

void expect_same_changes(const std::vector<Change>& a, const std::vector<Change>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        ASSERT_EQ(a[i].id, b[i].id);
        ASSERT_EQ(a[i].deps, b[i].deps);
        ASSERT_EQ(a[i].lamport, b[i].lamport);
        ASSERT_EQ(a[i].message, b[i].message);
        ASSERT_TRUE(same_atoms(a[i].ops, b[i].ops));
    }
}

// CHECKs that two snapshots hold the same, and that a document that is opened from the first is the
// given one.
void expect_same_blobs(const Bytes& saved, const Bytes& plain, Doc& full) {
    const auto a = codec::Snapshot::open(saved);
    const auto b = codec::Snapshot::open(plain);
    ASSERT_TRUE(a.has_value()) << a.error().message();
    const auto verified = a->verify();
    ASSERT_TRUE(verified.has_value()) << verified.error().message();
    ASSERT_EQ(a->end(), b->end());
    ASSERT_EQ(a->heads(), b->heads());
    expect_same_changes(joined(a->changes().value()), joined(b->changes().value()));
    if (testing::Test::HasFatalFailure()) return;
    const auto of_a = states(*a);
    const auto of_b = states(*b);
    for (const auto& [id, state] : of_b) {
        const auto at = of_a.find(id);
        ASSERT_TRUE(at != of_a.end()) << to_text(id);
        ASSERT_TRUE(at->second == state) << to_text(id);
    }
    ASSERT_EQ(of_a.size(), of_b.size());
    Doc again(5);
    ASSERT_TRUE(codec::open_snapshot(again, saved).value());
    ASSERT_TRUE(again.value() == full.value());
    ASSERT_TRUE(again.history().load());
    ASSERT_TRUE(again.value() == full.value());
    ASSERT_EQ(again.version(), full.version());
    ASSERT_EQ(again.frontiers(), full.frontiers());
    check_invariants(again);
}

// Snapshots of what two to four peers wrote; `check` looks at one, its scribbler, the document
// opened from it and the one that has its history.
template <class Check>
void for_each_snapshot(std::uint64_t runs, Check check) {
    const model::Runs given(runs);
    std::size_t opened = 0;
    for (std::uint64_t run = 0; run < given.count; ++run) {
        const std::uint64_t seed = given.seed + run;
        SCOPED_TRACE("SEED=" + std::to_string(seed) + " QUIRE_STEPS=1");
        Scribblers peers(seed, 2 + seed % 3);
        for (int i = 0; i < 30; ++i) peers.step();
        peers.meet();
        const Bytes blob = codec::encode_snapshot(peers.doc(0)).value();
        Doc doc(kSaver);
        if (!codec::open_snapshot(doc, blob).value()) continue;
        ++opened;
        Doc full = model::imported(blob, kSaver);
        check(peers, blob, doc, full);
        if (testing::Test::HasFatalFailure()) break;
    }
    EXPECT_GT(opened, 0U);
}

TEST(Saving, AnUnchangedDocumentIsSavedAsItsBytes) {
    for_each_snapshot(30, [](Scribblers&, const Bytes& blob, Doc& doc, Doc&) {
        ASSERT_EQ(codec::encode_snapshot(doc).value(), blob);
        ASSERT_FALSE(doc.history().is_loaded());
        // A reader's look at it changes nothing, nor does the history once it is read.
        static_cast<void>(doc.value());
        ASSERT_TRUE(doc.history().load());
        Doc full = model::imported(blob, 1);
        expect_same_blobs(codec::encode_snapshot(doc).value(), blob, full);
    });
}

// Opened, edited and saved again and again. Each save is opened for the next.
TEST(Saving, EditsAreSavedAsWithTheHistory) {
    std::size_t unread = 0;
    for_each_snapshot(60, [&](Scribblers& peers, const Bytes& blob, Doc&, Doc& full) {
        Bytes saved = blob;
        for (int generation = 0; generation < 4; ++generation) {
            Doc doc(kSaver);
            if (!codec::open_snapshot(doc, saved).value()) return;
            // Another writer every second time, who may be one of those before.
            const PeerId peer = generation % 2 == 0 ? kSaver : peers.doc(0).peer();
            doc.set_peer(peer);
            full.set_peer(peer);
            Scribblers twin = peers.twin();
            for (int i = 0; i < 6; ++i) {
                peers.edit(doc);
                twin.edit(full);
                if (i % 3 != 2) continue;
                doc.commit({.message = i == 2 ? "" : "more"});
                full.commit({.message = i == 2 ? "" : "more"});
            }
            const bool was_loaded = doc.history().is_loaded();
            saved = codec::encode_snapshot(doc).value();
            ASSERT_EQ(doc.history().is_loaded(), was_loaded);
            unread += was_loaded ? 0 : 1;
            expect_same_blobs(saved, codec::encode_snapshot(full).value(), full);
            if (testing::Test::HasFatalFailure()) return;
        }
    });
    EXPECT_GT(unread, 0U);
}

TEST(Saving, OthersChangesAndTimeTravelAreSavedAsWithTheHistory) {
    for_each_snapshot(40, [](Scribblers& peers, const Bytes& blob, Doc& doc, Doc& full) {
        Doc other = model::imported(blob, 5);
        for (int i = 0; i < 5; ++i) peers.edit(other);
        other.commit();
        const std::vector<Change> theirs =
            other.changes_since(model::imported(blob, 9).version()).changes();
        Scribblers twin = peers.twin();
        UndoHistory undo(doc);
        UndoHistory undo_full(full);
        const auto edit = [&] {
            peers.edit(doc);
            twin.edit(full);
            undo.committed(doc.commit(), 0);
            undo_full.committed(full.commit(), 0);
        };
        const auto same = [&] {
            expect_same_blobs(codec::encode_snapshot(doc).value(),
                              codec::encode_snapshot(full).value(), full);
        };
        edit();
        same();
        if (testing::Test::HasFatalFailure()) return;
        ASSERT_EQ(undo.undo(0), undo_full.undo(0));
        same();
        if (testing::Test::HasFatalFailure()) return;
        ASSERT_TRUE(doc.import(theirs));
        ASSERT_TRUE(full.import(theirs));
        same();
        if (testing::Test::HasFatalFailure()) return;
        const Frontiers past = peers.moments().front().frontiers;
        for (Doc* const each : {&doc, &full}) {
            ASSERT_TRUE(each->checkout(past));
            each->checkout_to_latest();
        }
        edit();
        same();
    });
}

}  // namespace
}  // namespace quire
