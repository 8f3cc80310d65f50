#include "codec/updates.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "codec/golden_for_test.h"

namespace quire::codec {
namespace {

using namespace crdt;  // NOLINT(google-build-using-namespace): the nouns of these tests.

constexpr PeerId kPeer = 7;  // The peer of every blob that one peer wrote.

Result<std::vector<Change>> changes_of(const Bytes& blob) {
    return TRY(decode_updates(blob)).changes();
}

std::vector<Change> decoded(const std::string& name) {
    auto changes = changes_of(golden(name));
    EXPECT_TRUE(changes.has_value()) << name << ": " << changes.error().message();
    return changes.value_or(std::vector<Change>{});
}

std::vector<Op> ops(const std::string& name) {
    std::vector<Op> all;
    for (const Change& change : decoded(name))
        all.insert(all.end(), change.ops.begin(), change.ops.end());
    return all;
}

std::vector<OpContent> contents(const std::string& name) {
    std::vector<OpContent> all;
    for (const Op& op : ops(name)) all.push_back(op.content);
    return all;
}

bool contains(const std::vector<OpContent>& all, const OpContent& content) {
    return std::find(all.begin(), all.end(), content) != all.end();
}

Op text_op(Counter counter, std::string text) {
    return {ContainerId::root("text", ContainerKind::text), counter,
            TextInsert{0, std::move(text)}};
}

Change change_of(OpId id, std::vector<Op> written) {
    Change change;
    change.id = id;
    change.ops = std::move(written);
    return change;
}

class Golden : public testing::TestWithParam<const char*> {};

TEST_P(Golden, LorosBlobsAreWrittenAgainByteForByte) {
    const Bytes blob = golden(GetParam());

    const auto changes = decode_updates(blob);

    ASSERT_TRUE(changes.has_value()) << changes.error().message();
    EXPECT_EQ(encode_updates(*changes), blob);
    ChangeBatch batch;
    ASSERT_TRUE(read_updates(blob, batch).has_value());
    EXPECT_EQ(batch.changes(), changes->changes());
    EXPECT_EQ(encode_updates(batch.changes()), blob) << "as objects";
    UpdatesWriter writer;
    EXPECT_EQ(writer.write(batch), blob);
    EXPECT_EQ(writer.write(batch), blob) << "what is written again differs";
}

TEST_P(Golden, WrittenUpdatesReadBackAsTheSameChanges) {
    const std::vector<Change> changes = decoded(GetParam());

    const auto again = changes_of(encode_updates(changes));

    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(*again, changes);
}

INSTANTIATE_TEST_SUITE_P(Loro, Golden, testing::ValuesIn(kGoldenNames),
                         [](const auto& golden_name) { return std::string(golden_name.param); });

TEST(Updates, ABlobWithoutBlocksIsValid) {
    EXPECT_TRUE(decoded("empty").empty());
    EXPECT_EQ(encode_updates({}), golden("empty"));
}

TEST(Updates, TextOpsKeepPositionsRunsOfBackspacesAndStyles) {
    const std::vector<Op> all = ops("text");

    const ContainerId text = ContainerId::root("text", ContainerKind::text);
    EXPECT_EQ(all[0], (Op{text, 0, TextInsert{0, "Hello, wörld 😀!"}}));
    EXPECT_EQ(all[1], (Op{text, 15, SequenceDelete{0, 2, {kPeer, 0}}}));
    EXPECT_EQ(all[2], (Op{text, 17, SequenceDelete{4, -3, {kPeer, 4}}}));
    EXPECT_EQ(all[3], (Op{text, 20, StyleStart{1, 4, "bold", true, 0x84}}));
    EXPECT_EQ(all[4], (Op{text, 21, StyleEnd{}}));
    const Value link = Map{{"url", "https://example.org"}, {"tags", List{"a", nullptr, 1.5}}};
    EXPECT_EQ(std::get<StyleStart>(all[5].content).key, "link");
    EXPECT_EQ(std::get<StyleStart>(all[5].content).value, link);
    EXPECT_EQ(std::get<StyleStart>(all[7].content).value, Value());
}

// A fuzzer found it: such changes were written as one block, which could not be read.
TEST(Updates, AChangeThatIsEarlierThanItsPeersLastHasABlockOfItsOwn) {
    const ContainerId text = ContainerId::root("t", ContainerKind::text);
    const auto typing = [&](Counter counter, crdt::Lamport lamport) {
        return Change{{1, counter}, {}, lamport, 0, "", {{text, counter, TextInsert{0, "x"}}}};
    };
    const std::vector<Change> changes{typing(0, 9), typing(1, 0), typing(2, 1)};

    EXPECT_EQ(decode_updates(encode_updates(changes)).value().changes(), changes);
}

TEST(Updates, ListValuesKeepTheirTypesAndChildrenTheirKinds) {
    const std::vector<OpContent> all = contents("list");

    std::vector<Slot> inserted;
    for (const OpContent& content : all) {
        if (const auto* insert = std::get_if<ListInsert>(&content)) {
            inserted.insert(inserted.end(), insert->values.begin(), insert->values.end());
        }
    }
    const std::vector<Slot> plain = {Value(1),
                                     Value(-70000),
                                     Value(1.5),
                                     Value("é"),
                                     Value(true),
                                     Value(false),
                                     Value(),
                                     Value(Bytes{0, 255}),
                                     Value(List{1, List{"x"}}),
                                     Value(Map{{"k", Map{{"deep", 2}}}})};
    ASSERT_EQ(inserted.size(), plain.size() + 2);
    EXPECT_TRUE(std::equal(plain.begin(), plain.end(), inserted.begin()));
    EXPECT_EQ(inserted[10], Slot(ContainerKind::text));
    EXPECT_EQ(inserted[11], Slot(ContainerKind::map));
}

TEST(Updates, MapOpsTellSettingNullFromErasingAndNameTheirChildren) {
    const std::vector<Op> all = ops("map");

    EXPECT_EQ(all[0].content, OpContent(MapSet{"a", Value(1)}));
    EXPECT_EQ(all[1].content, OpContent(MapSet{"b", Value(0.5)}));
    EXPECT_EQ(all[3].content, OpContent(MapErase{"b"}));
    const auto child = std::find_if(all.begin(), all.end(), [](const Op& op) {
        return op.content == OpContent(MapSet{"child", ContainerKind::map});
    });
    ASSERT_NE(child, all.end());
    const ContainerId child_id = ContainerId::normal({kPeer, child->counter}, ContainerKind::map);
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Op& op) {
        return op.container == child_id &&
               op.content == OpContent(MapSet{"list", ContainerKind::list});
    }));
}

TEST(Updates, MovableListOpsNameElementsByLamportAndPeer) {
    const std::vector<OpContent> all = contents("movable_list");

    EXPECT_TRUE(contains(all, ListMove{0, 2, {kPeer, 0}}));
    EXPECT_TRUE(contains(all, ListMove{3, 0, {kPeer, 3}}));
    EXPECT_TRUE(contains(all, ListSet{{kPeer, 1}, Value("B")}));
    EXPECT_TRUE(contains(all, ListSet{{kPeer, 3}, ContainerKind::map}));
}

TEST(Updates, TreeOpsTellCreatingFromMovingAndErasing) {
    const std::vector<OpContent> all = contents("tree");

    EXPECT_TRUE(contains(all, TreeCreate{{kPeer, 0}, std::nullopt, {0x80}}));
    EXPECT_TRUE(contains(all, TreeCreate{{kPeer, 2}, OpId{kPeer, 0}, {0x80}}));
    EXPECT_TRUE(contains(all, TreeMove{{kPeer, 2}, OpId{kPeer, 1}, {0x80}}));
    EXPECT_TRUE(contains(all, TreeErase{{kPeer, 0}}));
}

TEST(Updates, CountersKeepWholeNumbersAndFloatsApart) {
    EXPECT_EQ(
        contents("counter"),
        (std::vector<OpContent>{CounterAdd{Value(3)}, CounterAdd{Value(-1)}, CounterAdd{Value(0.5)},
                                CounterAdd{Value(std::ldexp(1.0, 40))}}));
}

TEST(Updates, OpsOfAnUnknownContainerAreCarriedAsTheyCame) {
    const std::vector<Op> all = ops("unknown_container");

    ASSERT_EQ(all.size(), 4U);
    EXPECT_EQ(static_cast<int>(all[0].container.kind), 9);
    EXPECT_EQ(all[0].content, OpContent(UnknownOp{0, 3, {3}}));
    EXPECT_EQ(all[2].content, OpContent(UnknownOp{0, 4, {0x3F, 0xE0, 0, 0, 0, 0, 0, 0}}));
}

TEST(Updates, ChangesKeepDependenciesTimesAndMessages) {
    const PeerId other = (PeerId{1} << 63) + 5;
    std::vector<Change> changes = decoded("several_peers");
    std::sort(changes.begin(), changes.end(),
              [](const Change& a, const Change& b) { return a.id < b.id; });

    ASSERT_EQ(changes.size(), 5U);
    EXPECT_EQ(changes[0].message, "first");
    EXPECT_EQ(changes[0].timestamp, 1000);
    EXPECT_TRUE(changes[0].deps.empty());
    EXPECT_EQ(changes[1].deps, (Frontiers{{other, 9}}));
    EXPECT_EQ(changes[1].lamport, 10U);
    EXPECT_EQ(changes[2].deps, (Frontiers{{1, 6}}));
    EXPECT_EQ(changes[2].message, "");
    EXPECT_EQ(changes[3].message, "zweiter ö");
    EXPECT_EQ(changes[4].deps, (Frontiers{{1, 5}, {other, 5}}));
    EXPECT_EQ(changes[4].timestamp, 2'000'000'001);
}

TEST(Updates, ChangesOfOnePeerShareABlockOnlyWhereTheyFollowEachOther) {
    const std::vector<Change> apart = {change_of({kPeer, 5}, {text_op(5, "later")}),
                                       change_of({kPeer, 0}, {text_op(0, "abc")}),
                                       change_of({kPeer, 3}, {text_op(3, "d")})};

    const auto again = changes_of(encode_updates(apart));

    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(*again, (std::vector<Change>{apart[1], apart[2], apart[0]}));
}

TEST(Updates, ExtremeNumbersReadBack) {
    Change change = change_of({~PeerId{0} - 1, INT32_MAX - 2}, {text_op(INT32_MAX - 2, "a")});
    change.lamport = UINT32_MAX - 2;
    change.timestamp = INT64_MIN;
    change.deps = {{0, INT32_MAX - 1}, {change.id.peer, INT32_MAX - 3}};
    Change before = change_of({change.id.peer, INT32_MAX - 3}, {text_op(INT32_MAX - 3, "b")});
    before.timestamp = INT64_MAX;
    const std::vector<Change> changes = {before, change};

    const auto again = changes_of(encode_updates(changes));

    ASSERT_TRUE(again.has_value()) << again.error().message();
    EXPECT_EQ(*again, changes);
}

TEST(Updates, ManyContainersAndKeysReadBack) {
    std::vector<Op> many;
    for (Counter i = 0; i < 2000; ++i) {
        const ContainerId map =
            i % 3 == 0 ? ContainerId::root(cat("root ", i % 50), ContainerKind::map)
                       : ContainerId::normal({PeerId(i % 30), i % 70}, ContainerKind::map);
        many.push_back(
            {map, i, MapSet{cat("key ", i % 40), Value(Map{{cat("inner ", i % 60), i}})}});
    }
    const std::vector<Change> changes = {change_of({kPeer, 0}, many)};

    const auto again = changes_of(encode_updates(changes));

    ASSERT_TRUE(again.has_value()) << again.error().message();
    EXPECT_EQ(*again, changes);
}

TEST(Updates, APayloadOfTheFutureWithKeysSurvivesANewTable) {
    // A value {"a": 1}, kept with its key spelled out, in an op that comes after other keys.
    const ContainerId future = ContainerId::normal({kPeer, 0}, static_cast<ContainerKind>(200));
    const UnknownOp value{-5, 11, from_hex("08 01 01 61 03 01")};
    const UnknownOp opaque{1 << 30, 0x91, from_hex("02 ab cd")};
    const std::vector<Change> changes = {change_of(
        {kPeer, 1}, {{ContainerId::root("m", ContainerKind::map), 1, MapSet{"first", Value(1)}},
                     {future, 2, value},
                     {future, 3, opaque}})};

    const auto again = changes_of(encode_updates(changes));

    ASSERT_TRUE(again.has_value()) << again.error().message();
    EXPECT_EQ(*again, changes);
}

TEST(Updates, ASnapshotIsUnsupportedAsUpdates) {
    Bytes blob = golden("empty");
    blob[21] = 3;

    const auto changes = changes_of(resealed(blob));

    ASSERT_FALSE(changes.has_value());
    EXPECT_EQ(changes.error().code(), Errc::unsupported);
}

TEST(Updates, ADamagedBlobIsCorrupt) {
    Bytes blob = golden("text");
    blob.back() ^= 1;

    const auto changes = decode_updates(blob);

    ASSERT_FALSE(changes.has_value());
    EXPECT_EQ(changes.error().code(), Errc::corrupt);
    EXPECT_NE(changes.error().message().find("checksum"), std::string::npos);
}

}  // namespace
}  // namespace quire::codec
