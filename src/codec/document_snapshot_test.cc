#include "codec/document_snapshot.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "codec/document.h"
#include "codec/open_snapshot.h"
#include "codec/snapshot.h"
#include "codec/snapshot_for_test.h"
#include "codec/snapshot_writer.h"
#include "crdt/doc/history.h"
#include "crdt/doc/inspection.h"
#include "crdt/doc/map.h"
#include "crdt/doc/text.h"
#include "crdt/ids/container_text.h"
#include "crdt/merge/style.h"

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
                EXPECT_TRUE(is_empty(expected->state)) << name << " " << to_text(id);
                continue;
            }
            join(expected->state);
            join(state->state);
            EXPECT_EQ(*state, *expected) << name << " " << to_text(id);
        }
        const std::vector<ContainerId> own = ours.containers(budget).value();
        for (const ContainerId& id : own) {
            EXPECT_NE(std::find(ids.begin(), ids.end(), id), ids.end())
                << name << " " << to_text(id);
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
    ASSERT_TRUE(one.text(one.open(id)).insert({0}, "abc").has_value());
    one.commit();
    crdt::Doc two(2);
    const ContainerId other = ContainerId::root("m", ContainerKind::map);
    for (int i = 0; i < 10; ++i) {
        ASSERT_TRUE(two.map(two.open(other)).set("k", i).has_value());
    }
    two.commit();
    ASSERT_TRUE(one.import(two.changes_since({})).has_value());
    ASSERT_TRUE(one.text(one.open(id)).insert({3}, "def").has_value());
    one.commit();

    const auto stretches = crdt::Inspection(one).stretches(one.open(id));

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

// --- styles that have lost an anchor ---

const ContainerId kStyled = ContainerId::root("t", ContainerKind::text);

// "abcd", bold from its second character to its third, with one of the atoms deleted: the text as
// positions count it is a ( b c ) d.
Bytes styled_without(std::int32_t pos, crdt::OpId deleted, std::uint8_t info) {
    const crdt::Change style{{1, 0},
                             {},
                             0,
                             0,
                             "",
                             {{kStyled, 0, crdt::TextInsert{0, "abcd"}},
                              {kStyled, 4, crdt::StyleStart{1, 3, "bold", true, info}},
                              {kStyled, 5, crdt::StyleEnd{}}}};
    const crdt::Change erase{
        {2, 0}, {{1, 5}}, 6, 0, "", {{kStyled, 0, crdt::SequenceDelete{pos, 1, deleted}}}};
    crdt::Doc doc(3);
    EXPECT_TRUE(doc.import({style, erase}).has_value());
    return encode_snapshot(doc).value();
}

// Text typed at a caret goes to the same place as in the whole document.
void expect_typing_agrees(const Bytes& blob) {
    const auto changes = decode_history(blob);
    ASSERT_TRUE(changes.has_value()) << changes.error().message();
    for (std::size_t at = 0; at <= 4; ++at) {
        crdt::Doc whole(9);
        ASSERT_TRUE(whole.import(*changes).has_value());
        crdt::Doc lazy(9);
        ASSERT_TRUE(open_snapshot(lazy, blob).value());
        const crdt::VersionVector before = whole.version();
        EXPECT_EQ(lazy.version(), before);
        for (crdt::Doc* doc : {&whole, &lazy}) {
            const crdt::Handle text = doc->open(kStyled);
            ASSERT_TRUE(doc->text(text).insert({at}, "!").has_value());
            doc->commit();
        }
        EXPECT_FALSE(lazy.history().is_loaded());
        EXPECT_EQ(lazy.text(lazy.open(kStyled)).delta(), whole.text(whole.open(kStyled)).delta());
        EXPECT_EQ(lazy.changes_since(before).changes(), whole.changes_since(before).changes())
            << at;
        ASSERT_TRUE(lazy.history().load().has_value());
        EXPECT_EQ(lazy.text(lazy.open(kStyled)).delta(), whole.text(whole.open(kStyled)).delta());
        crdt::check_invariants(lazy);
    }
}

TEST(DocumentSnapshot, AStyleWhoseStartWasDeletedIsReadBack) {
    for (const crdt::Expand expand :
         {crdt::Expand::none, crdt::Expand::before, crdt::Expand::after, crdt::Expand::both})
        expect_typing_agrees(styled_without(1, {1, 4}, crdt::info_of(expand)));
}

TEST(DocumentSnapshot, AStyleWhoseEndWasDeletedIsReadBack) {
    for (const crdt::Expand expand :
         {crdt::Expand::none, crdt::Expand::before, crdt::Expand::after, crdt::Expand::both})
        expect_typing_agrees(styled_without(4, {1, 5}, crdt::info_of(expand)));
}

// Text that was inserted between the two atoms may have put the end in front of the start.
TEST(DocumentSnapshot, AStyleThatEndsBeforeItStartsIsReadBack) {
    const auto change = [](crdt::OpId id, crdt::Frontiers deps, std::vector<crdt::Op> ops) {
        return crdt::Change{id, std::move(deps), 0, 0, "", std::move(ops)};
    };
    crdt::Doc doc(3);
    ASSERT_TRUE(doc.import({change({1, 0}, {},
                                   {{kStyled, 0, crdt::TextInsert{0, "d"}},
                                    {kStyled, 1, crdt::StyleStart{0, 0, "bold", true, 0x80}}}),
                            change({2, 0}, {{1, 1}}, {{kStyled, 0, crdt::TextInsert{0, "abc"}}}),
                            change({1, 2}, {{2, 2}}, {{kStyled, 2, crdt::StyleEnd{}}})})
                    .has_value());

    expect_typing_agrees(encode_snapshot(doc).value());
}

// Loro writes such a style so.
TEST(DocumentSnapshot, AnEndThatStandsAloneIsReadByItsHistory) {
    const Bytes blob = styled_without(1, {1, 4}, crdt::info_of(crdt::Expand::after));
    const Snapshot snapshot = Snapshot::open(blob).value();
    SnapshotWriter writer(Compression::none);
    writer.add_changes(snapshot.changes().value());
    Budget budget = snapshot.budget();
    ContainerState state = *snapshot.state(kStyled, budget).value();
    auto& text = std::get<TextState>(state.state);
    for (TextSpan& span : text.spans) {
        if (span.length == kStyleStart) span.length = kStyleEnd;
    }
    text.styles.clear();
    ASSERT_TRUE(writer.add_state(state).has_value());
    const Bytes theirs = std::move(writer).finish(snapshot.end(), snapshot.heads()).value();

    crdt::Doc doc(9);
    EXPECT_FALSE(open_snapshot(doc, theirs).value());
    ASSERT_TRUE(doc.import(decode_history(theirs).value()).has_value());
    EXPECT_EQ(doc.text(doc.open(kStyled)).rope().str(), "abcd");
}

}  // namespace
}  // namespace quire::codec
