#include "codec/document_snapshot.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "codec/container_ids.h"
#include "codec/document.h"
#include "codec/mergeable.h"
#include "codec/snapshot.h"
#include "codec/snapshot_for_test.h"

namespace quire::codec {
namespace {

using crdt::ContainerId;
using crdt::ContainerKind;

crdt::Doc document(const std::string& name) {
    crdt::Doc doc(1);
    EXPECT_TRUE(doc.import(decode_history(snapshot_golden(name)).value()).has_value()) << name;
    return doc;
}

// How a text is cut into spans means nothing.
void join(State& state) {
    auto* text = std::get_if<TextState>(&state);
    if (text == nullptr) return;
    std::vector<TextSpan> joined;
    for (const TextSpan& span : text->spans) {
        if (!joined.empty() && joined.back().length > 0 && span.length > 0) {
            TextSpan& last = joined.back();
            const StampedId next{{last.first.id.peer, last.first.id.counter + last.length},
                                 last.first.lamport + static_cast<crdt::Lamport>(last.length)};
            if (next == span.first) {
                last.length += span.length;
                continue;
            }
        }
        joined.push_back(span);
    }
    text->spans = std::move(joined);
}

bool is_empty(const State& state) {
    if (const auto* map = std::get_if<MapState>(&state)) return map->registers.empty();
    if (const auto* list = std::get_if<ListState>(&state)) return list->values.empty();
    if (const auto* text = std::get_if<TextState>(&state)) return text->spans.empty();
    if (const auto* movable = std::get_if<MovableListState>(&state)) return movable->slots.empty();
    if (const auto* tree = std::get_if<TreeState>(&state)) return tree->nodes.empty();
    if (const auto* counter = std::get_if<CounterState>(&state)) return counter->value == 0;
    return std::get<UnknownState>(state).bytes.empty();
}

TEST(DocumentSnapshot, HoldsTheStatesThatLoroWroteOfTheSameHistory) {
    for (const std::string name : kSnapshotNames) {
        if (name.starts_with("trimmed")) continue;
        const Bytes golden = snapshot_golden(name);
        const Bytes written = encode_snapshot(document(name)).value();
        const Snapshot theirs = Snapshot::open(golden).value();
        const Snapshot ours = Snapshot::open(written).value();

        EXPECT_TRUE(ours.verify().has_value()) << name;
        EXPECT_EQ(ours.end(), theirs.end());
        EXPECT_EQ(ours.heads(), theirs.heads());
        Budget budget = theirs.budget();
        const std::vector<ContainerId> ids = theirs.containers(budget).value();
        for (const ContainerId& id : ids) {
            auto expected = theirs.state(id, budget).value();
            auto state = ours.state(id, budget).value();
            if (!state) {
                EXPECT_TRUE(is_empty(expected->state)) << name << " " << container_name(id);
                continue;
            }
            join(expected->state);
            join(state->state);
            EXPECT_EQ(*state, *expected) << name << " " << container_name(id);
        }
        const std::vector<ContainerId> own = ours.containers(budget).value();
        for (const ContainerId& id : own) {
            EXPECT_NE(std::find(ids.begin(), ids.end(), id), ids.end())
                << name << " " << container_name(id);
        }
    }
}

TEST(DocumentSnapshot, ADocumentOpenedFromItIsTheSame) {
    for (const std::string name : kSnapshotNames) {
        if (name.starts_with("trimmed")) continue;
        const crdt::Doc doc = document(name);
        crdt::Doc again(2);
        ASSERT_TRUE(again.import(decode_history(encode_snapshot(doc).value()).value()).has_value());
        EXPECT_EQ(again.version(), doc.version()) << name;
        EXPECT_EQ(again.value(), doc.value()) << name;
    }
}

// Peer 1 writes a word, peer 2 a longer one in the middle of history that peer 1 knows late: ids
// count up where lamports do not.
TEST(DocumentSnapshot, AStretchEndsWhereLamportsJump) {
    const ContainerId id = ContainerId::root("t", ContainerKind::text);
    crdt::Doc one(1);
    ASSERT_TRUE(one.text_insert(one.open(id), {0}, "abc").has_value());
    one.commit();
    crdt::Doc two(2);
    const ContainerId other = ContainerId::root("m", ContainerKind::map);
    for (int i = 0; i < 10; ++i) {
        ASSERT_TRUE(two.map_set(two.open(other), "k", i).has_value());
    }
    two.commit();
    ASSERT_TRUE(one.import(two.changes_since({})).has_value());
    ASSERT_TRUE(one.text_insert(one.open(id), {3}, "def").has_value());
    one.commit();

    const auto stretches = one.stretches(one.open(id));

    ASSERT_EQ(stretches.size(), 2U);
    EXPECT_EQ(stretches[0].text, "abc");
    EXPECT_EQ(stretches[0].lamport, 0U);
    EXPECT_EQ(stretches[1].text, "def");
    EXPECT_EQ(stretches[1].first, (crdt::OpId{1, 3}));
    EXPECT_EQ(stretches[1].lamport, 10U);
}

TEST(DocumentSnapshot, AHistoryThatLeadsInACircleHasNoStateForIt) {
    const ContainerId self = ContainerId::normal({1, 0}, ContainerKind::map);
    crdt::Change change{{1, 0}, {}, 0, 0, "", {{self, 0, crdt::MapSet{"k", ContainerKind::map}}}};
    crdt::Doc doc(2);
    ASSERT_TRUE(doc.import({change}).has_value());

    EXPECT_TRUE(container_states(doc).empty());
    EXPECT_TRUE(encode_snapshot(doc).has_value());
}

TEST(Mergeable, ANameSaysWhichMapItBelongsTo) {
    const auto parent = [](std::string name) {
        const auto id = mergeable_parent(ContainerId::root(std::move(name), ContainerKind::text));
        return id ? container_name(*id) : "none";
    };
    EXPECT_EQ(parent("\U0001F91D:$m>k"), "cid:root-m:Map");
    EXPECT_EQ(parent("\U0001F91D:$m>k>l"), "cid:root-\U0001F91D:$m>k:Map");
    EXPECT_EQ(parent("\U0001F91D:$a\\>b\\\\>k\\>l"), "cid:root-a>b\\:Map");
    EXPECT_EQ(parent("\U0001F91D:@z:10>k"), "cid:36@35:Map");
    EXPECT_EQ(parent("\U0001F91D:$m"), "none");
    EXPECT_EQ(parent("\U0001F91D:>k"), "none");
    EXPECT_EQ(parent("\U0001F91D:@z>k"), "none");
    EXPECT_EQ(parent("m>k"), "none");
}

}  // namespace
}  // namespace quire::codec
