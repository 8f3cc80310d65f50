#include "codec/container_state.h"

#include <gtest/gtest.h>

#include "base/words_for_test.h"
#include "codec/container_ids.h"

namespace quire::codec {
namespace {

using crdt::ContainerId;
using crdt::ContainerKind;

Bytes written(const ContainerState& container) {
    ByteWriter out;
    write_container_state(out, container);
    return std::move(out).take();
}

ContainerState root(ContainerKind kind, State state) {
    return {ContainerId::root("r", kind), 1, std::nullopt, std::move(state)};
}

StampedId atom(crdt::PeerId peer, crdt::Counter counter, crdt::Lamport lamport) {
    return {{peer, counter}, lamport};
}

// "" when `container` is written and read back as it is.
std::string round_trip(const ContainerState& container) {
    const Bytes bytes = written(container);
    Budget budget(bytes.size());
    const auto again = read_container_state(container.id, bytes, budget);
    if (!again) return again.error().message();
    return *again == container ? "" : "it differs";
}

std::string refusal(ContainerKind kind, const Bytes& state) {
    ByteWriter out;
    out.byte(static_cast<std::uint8_t>(kind));
    out.byte(1);
    out.byte(0);
    out.append(state);
    Budget budget(out.size());
    const auto read = read_container_state(ContainerId::root("r", kind), out.bytes(), budget);
    if (read) return "";
    EXPECT_EQ(read.error().code(), Errc::corrupt);
    return read.error().message();
}

TEST(ContainerState, EveryKindReadsBackAsItWasWritten) {
    const ContainerId child = ContainerId::normal({9, 3}, ContainerKind::movable_list);
    const Value deep =
        List{Value(1), Value(1.0), Value(Map{{"k", Value(Bytes{1, 2})}, {"", Value()}})};
    EXPECT_EQ(
        round_trip(root(ContainerKind::map, MapState{{{"", Value(true), {4, 1}},
                                                      {"child", child, {0xFFFF'FFFE, 2}},
                                                      {"erased", std::nullopt, {3, 1}},
                                                      {"\xEE\x80\x80", deep, {3, 7}},
                                                      {"\xF0\x90\x80\x80", Value("x"), {3, 1}}}})),
        "");
    EXPECT_EQ(round_trip(root(ContainerKind::list,
                              ListState{{Value(1), child, deep},
                                        {{atom(5, 0, 9), 2}, {atom(3, 7, 0xFFFF'FFFE), 1}}})),
              "");
    EXPECT_EQ(round_trip(root(ContainerKind::text, TextState{"a\xF0\x9F\x98\x80z",
                                                             {{atom(1, 0, 0), 1},
                                                              {atom(1, 5, 5), kStyleStart},
                                                              {atom(2, 1, 1), 2},
                                                              {atom(1, 6, 6), kStyleEnd}},
                                                             {{"bold", Value(true), 0x84}}})),
              "");
    EXPECT_EQ(round_trip(root(
                  ContainerKind::movable_list,
                  MovableListState{{{atom(1, 0, 0), false},
                                    {atom(1, 4, 4), true},
                                    {atom(1, 2, 2), false},
                                    {atom(2, 3, 9), true}},
                                   {{{1, 1}, {8, 2}, child}, {{9, 2}, {9, 2}, Value("own")}}})),
              "");
    EXPECT_EQ(round_trip(root(ContainerKind::tree, TreeState{})), "");
    EXPECT_EQ(round_trip(root(ContainerKind::counter, CounterState{-0.0})), "");
    ContainerState unknown = root(static_cast<ContainerKind>(6), UnknownState{{1, 2}});
    unknown.depth = 300;
    unknown.parent = ContainerId::root("p", static_cast<ContainerKind>(250));
    EXPECT_EQ(round_trip(unknown), "");
}

// A deleted subtree follows the live ones; siblings go by position, then by their last move.
TEST(ContainerState, NodesOfATreeAreWrittenGroupByGroup) {
    const auto node = [](crdt::Counter counter, std::optional<crdt::OpId> parent,
                         std::uint8_t position) {
        return TreeNode{{1, counter},
                        parent,
                        atom(1, counter, static_cast<crdt::Lamport>(counter)),
                        {position}};
    };
    const crdt::OpId a{1, 10}, b{1, 9}, a1{1, 8}, gone{1, 6};
    const TreeState shuffled{{node(1, gone, 9), node(6, kDeletedTreeRoot, 1), node(7, a1, 0),
                              node(9, std::nullopt, 2), node(8, a, 5), node(10, std::nullopt, 1),
                              node(2, b, 5), node(4, a, 5)}};
    const Bytes bytes = written(root(ContainerKind::tree, shuffled));
    Budget budget(bytes.size());
    const auto read =
        read_container_state(ContainerId::root("r", ContainerKind::tree), bytes, budget);
    ASSERT_TRUE(read.has_value()) << read.error().message();

    std::vector<crdt::Counter> order;
    for (const TreeNode& each : std::get<TreeState>(read->state).nodes)
        order.push_back(each.id.counter);
    EXPECT_EQ(order, (std::vector<crdt::Counter>{10, 9, 4, 8, 7, 2, 6, 1}));
}

// History may be cut between the two atoms of a style, and one of them may be deleted.
TEST(ContainerState, AStyleMayStartWithoutEndingAndEndWithoutStarting) {
    TextState text{"ab",
                   {{atom(1, 0, 0), 1}, {atom(1, 2, 2), kStyleStart}, {atom(1, 1, 1), 1}},
                   {{"b", Value(true), 0x80}}};
    EXPECT_EQ(round_trip(root(ContainerKind::text, text)), "");
    text.spans[1].length = kStyleEnd;
    text.styles.clear();
    EXPECT_EQ(round_trip(root(ContainerKind::text, text)), "");
    text.spans[1].first = atom(2, 0, 2);
    EXPECT_TRUE(holds(round_trip(root(ContainerKind::text, text)),
                      "end of a style (as its peer's first atom)"));
}

TEST(ContainerState, SpansCoverTheirTextExactly) {
    for (const std::int32_t length : {2, 4}) {
        const TextState text{"abc", {{atom(1, 0, 0), length}}, {}};
        EXPECT_TRUE(holds(round_trip(root(ContainerKind::text, text)), "span")) << length;
    }
}

TEST(ContainerState, AnAtomIsInAStateOnce) {
    EXPECT_TRUE(holds(
        round_trip(root(ContainerKind::list, ListState{{Value(1), Value(2), Value(3)},
                                                       {{atom(1, 0, 0), 2}, {atom(1, 1, 1), 1}}})),
        "there twice"));
    EXPECT_TRUE(
        holds(round_trip(root(ContainerKind::text,
                              TextState{"abc", {{atom(1, 0, 0), 2}, {atom(1, 1, 1), 1}}, {}})),
              "there twice"));
    EXPECT_TRUE(
        holds(round_trip(root(ContainerKind::movable_list,
                              MovableListState{{{atom(1, 0, 0), true}, {atom(1, 0, 0), false}},
                                               {{{0, 1}, {0, 1}, Value(1)}}})),
              "there twice"));
    EXPECT_TRUE(
        holds(round_trip(
                  root(ContainerKind::movable_list,
                       MovableListState{{{atom(1, 0, 0), true}, {atom(1, 5, 5), true}},
                                        {{{0, 1}, {0, 1}, Value(1)}, {{0, 1}, {0, 1}, Value(2)}}})),
              "there twice"));
}

Bytes tree_of(std::initializer_list<std::uint8_t> ids,
              std::initializer_list<std::uint8_t> parents) {
    // One peer; ids and parents as the deltas of their columns, in one literal segment each.
    ByteWriter out;
    const auto rows = static_cast<std::uint8_t>(ids.size());
    const auto literal = [&](std::initializer_list<std::uint8_t> deltas) {
        out.byte(static_cast<std::uint8_t>(1 + rows));
        out.byte(static_cast<std::uint8_t>(2 * rows - 1));
        out.append(std::span(deltas.begin(), deltas.size()));
    };
    const auto zeros = [&] {
        out.byte(2);
        out.byte(static_cast<std::uint8_t>(2 * rows));
        out.byte(0);
    };
    out.byte(1);
    out.u64_le(7);
    out.byte(4);
    out.byte(2);
    zeros();
    literal(ids);
    out.byte(5);
    literal(parents);
    zeros();
    zeros();
    zeros();
    out.byte(static_cast<std::uint8_t>(1 + rows));
    out.byte(rows);
    for (int i = 0; i < rows; ++i) out.byte(0);
    const std::uint8_t positions[] = {8, 1, 2, 2, 2, 0, 2, 1, 0};
    out.byte(8);
    out.append(std::span(positions).subspan(1));
    out.byte(0);
    return std::move(out).take();
}

TEST(ContainerState, ANodeIsNotItsOwnAncestor) {
    // Deltas are zigzag: 2 is one more, 4 two more, 1 one less.
    EXPECT_EQ(refusal(ContainerKind::tree, tree_of({0, 2}, {0, 4})), "");
    EXPECT_TRUE(holds(refusal(ContainerKind::tree, tree_of({0, 2}, {6, 1})), "its own ancestor"));
    EXPECT_TRUE(holds(refusal(ContainerKind::tree, tree_of({0, 2}, {4, 0})), "its own ancestor"));
    EXPECT_TRUE(holds(refusal(ContainerKind::tree, tree_of({0, 0}, {0, 0})), "there twice"));
    EXPECT_TRUE(holds(refusal(ContainerKind::tree, tree_of({0, 2}, {0, 8})), "parent of a node"));
}

TEST(ContainerState, ACounterIsEightBytesOrNone) {
    EXPECT_EQ(refusal(ContainerKind::counter, {}), "");
    EXPECT_EQ(refusal(ContainerKind::counter, Bytes(8)), "");
    for (const std::size_t size : {1, 7, 9}) {
        EXPECT_TRUE(holds(refusal(ContainerKind::counter, Bytes(size)), "counter")) << size;
    }
}

TEST(ContainerState, ABillionHiddenSlotsInAFewBytes) {
    // No values, one peer, and a first row which says that a billion slots follow.
    ByteWriter out;
    out.byte(0);
    out.byte(1);
    out.u64_le(7);
    out.byte(4);
    out.byte(3);
    const std::uint8_t rows[] = {6, 2, 0x80, 0xA8, 0xD6, 0xB9, 0x07, 2, 0, 1, 2, 0, 1};
    out.append(rows);
    out.byte(3);
    const std::uint8_t run[] = {6, 0x80, 0xA8, 0xD6, 0xB9, 0x07, 0};
    for (int column = 0; column < 3; ++column) out.append(run);
    const std::uint8_t none[] = {2, 0, 0, 2, 0, 0};
    out.append(none);

    EXPECT_TRUE(
        holds(refusal(ContainerKind::movable_list, std::move(out).take()), "number of slots"));
}

TEST(ContainerState, ErrorsNameTheirContainer) {
    EXPECT_TRUE(holds(refusal(ContainerKind::text, {}),
                      "the state of cid:root-r:Text: bad text at byte 3"));
}

TEST(ContainerState, TheKindOfTheKeyIsThatOfTheState) {
    const Bytes bytes = written(root(ContainerKind::counter, CounterState{}));
    Budget budget(bytes.size());
    EXPECT_FALSE(read_container_state(ContainerId::root("r", ContainerKind::map), bytes, budget)
                     .has_value());
}

TEST(ContainerKey, ReadsBackAndIsSpelledInOneWay) {
    for (const ContainerId& id :
         {ContainerId::root("", ContainerKind::map), ContainerId::root("é", ContainerKind::counter),
          ContainerId::normal({1, 2}, ContainerKind::tree),
          ContainerId::normal({0xFFFF'FFFF'FFFF'FFFE, 0x7FFF'FFFE},
                              static_cast<ContainerKind>(127))}) {
        EXPECT_EQ(read_container_key(container_key(id)).value(), id);
    }
    EXPECT_EQ(container_key(ContainerId::normal({0x0102, 3}, ContainerKind::movable_list)),
              (Bytes{4, 2, 1, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0}));
    const Bytes bad[] = {
        {},        {0x80},   {0x80, 1}, {0x80, 1, 'a', 'b'}, {0x80, 0x81, 0, 'a'}, {0x80, 1, 0xFF},
        Bytes(12), Bytes(14)};
    for (const Bytes& key : bad) EXPECT_FALSE(read_container_key(key).has_value());
    Bytes negative(13);
    negative[12] = 0x80;
    EXPECT_FALSE(read_container_key(negative).has_value());
    Bytes reserved(13, 0xFF);
    reserved[0] = reserved[12] = 0;
    EXPECT_FALSE(read_container_key(reserved).has_value());
}

}  // namespace
}  // namespace quire::codec
