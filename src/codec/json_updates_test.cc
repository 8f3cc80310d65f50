#include "codec/json_updates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "codec/golden_for_test.h"
#include "codec/updates.h"
#include "json/json.h"

namespace quire::codec {
namespace {

using namespace crdt;  // NOLINT(google-build-using-namespace): the nouns of these tests.

constexpr PeerId kPeer = 7;

std::vector<Change> one(OpContent content, ContainerId container) {
    return {{{kPeer, 0}, {}, 0, 0, "", {{std::move(container), 0, std::move(content)}}}};
}

std::vector<Change> again(const std::vector<Change>& changes, JsonPeers peers = JsonPeers::table) {
    const auto json = encode_json_updates(changes, {}, peers);
    EXPECT_TRUE(json.has_value());
    // Goes through text, because JSON travels as text.
    const auto text = write_json_updates(changes, {}, peers);
    EXPECT_EQ(text.value_or(""), json::write(*json));
    const auto parsed = json::parse(*text, {.depth = 600});
    EXPECT_TRUE(parsed.has_value());
    auto decoded = decode_json_updates(*parsed);
    EXPECT_TRUE(decoded.has_value()) << decoded.error().message();
    return decoded.value_or(std::vector<Change>{});
}

std::string refusal(std::string_view text) {
    const auto decoded = decode_json_updates(json::parse(text).value());
    if (decoded) return "none";
    EXPECT_EQ(decoded.error().code(), Errc::corrupt);
    return decoded.error().message();
}

// One op in one change.
std::string with_op(std::string_view container, std::string_view content) {
    return cat(R"({"schema_version":1,"start_version":{},"peers":["7"],"changes":[{"id":"0@0",)",
               R"("timestamp":0,"deps":[],"lamport":0,"msg":null,"ops":[{"container":")", container,
               R"(","counter":0,"content":)", content, "}]}]}");
}

TEST(JsonUpdates, LorosJsonReadsBackTheSameWithAndWithoutAPeerTable) {
    for (const char* name : kGoldenNames) {
        const Bytes blob = golden(name);
        std::vector<Change> changes = decode_updates(blob).value().changes();
        // JSON has no bytes.
        for (Change& change : changes) {
            for (Op& op : change.ops) {
                auto* insert = std::get_if<ListInsert>(&op.content);
                auto* set = std::get_if<MapSet>(&op.content);
                const auto plain = [](Slot& slot) {
                    if (auto* value = std::get_if<Value>(&slot);
                        value != nullptr && value->is_bytes())
                        slot = Value(List{});
                };
                if (insert != nullptr)
                    std::for_each(insert->values.begin(), insert->values.end(), plain);
                if (set != nullptr) plain(set->value);
            }
        }
        std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
            return std::tie(a.lamport, a.id) < std::tie(b.lamport, b.id);
        });
        for (Change& change : changes) std::sort(change.deps.begin(), change.deps.end());
        EXPECT_EQ(again(changes), changes) << name;
        EXPECT_EQ(again(changes, JsonPeers::inline_ids), changes) << name;
    }
}

TEST(JsonUpdates, ValuesThatJsonCannotExpressAreReplaced) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto changes = again(one(MapSet{"k", Value(List{nan, HUGE_VAL, Bytes{0, 255}, 1.0, 1})},
                                   ContainerId::root("m", ContainerKind::map)));

    EXPECT_EQ(std::get<MapSet>(changes.at(0).ops.at(0).content).value,
              Slot(Value(List{nullptr, nullptr, List{0, 255}, 1.0, 1})));
}

TEST(JsonUpdates, ACounterCountsInWholeNumbersWhereLoroDoes) {
    const ContainerId counter = ContainerId::root("c", ContainerKind::counter);
    const auto delta = [&](Value value) {
        return std::get<CounterAdd>(
                   again(one(CounterAdd{std::move(value)}, counter)).at(0).ops.at(0).content)
            .delta;
    };
    EXPECT_EQ(delta(5), Value(5));
    EXPECT_EQ(delta(5.0), Value(5));
    EXPECT_EQ(delta(0.5), Value(0.5));
    EXPECT_EQ(delta(std::int64_t{1} << 27), Value(134217728.0));
}

TEST(JsonUpdates, ACounterSaysWhichNumberItsDeltaIs) {
    const auto counted = [](std::string_view content) {
        return refusal(with_op("cid:root-c:Counter", content));
    };
    EXPECT_EQ(counted(R"({"value_type":"f64","value":2})"), "none");
    EXPECT_EQ(counted(R"({"value_type":"i64","value":2})"), "none");
    EXPECT_EQ(counted(R"({"value_type":"i64","value":2.5})"),
              "JSON updates: changes[0].ops[0].content.value is no integer from "
              "-9223372036854775808 to 9223372036854775807");
    EXPECT_EQ(counted(R"({"value_type":"f32","value":2})"),
              "JSON updates: changes[0].ops[0].content.value_type is neither \"f64\" nor \"i64\"");
    EXPECT_EQ(counted(R"({"value":2})"),
              "JSON updates: changes[0].ops[0].content has no \"value_type\"");
}

TEST(JsonUpdates, ANodeNamesItsParent) {
    const auto moved = [](std::string_view content) {
        return refusal(with_op("cid:root-tree:Tree", content));
    };
    EXPECT_EQ(moved(R"({"type":"create","target":"0@0","parent":null})"), "none");
    for (const std::string_view type : {"create", "move"}) {
        EXPECT_EQ(moved(cat(R"({"type":")", type, R"(","target":"0@0"})")),
                  "JSON updates: changes[0].ops[0].content has no \"parent\"");
    }
    EXPECT_EQ(moved(R"({"type":"create","target":"0@0","parent":null,"fractional_index":null})"),
              "JSON updates: changes[0].ops[0].content.fractional_index is no string");
}

// The binary form knows no other difference between the two, either.
TEST(JsonUpdates, AMoveOfTheNodeThatItIsTheIdOfMakesIt) {
    const auto changes =
        decode_json_updates(json::parse(with_op("cid:root-tree:Tree",
                                                R"({"type":"move","target":"0@0","parent":null})"))
                                .value());
    EXPECT_EQ(changes.value().at(0).ops.at(0).content,
              OpContent(TreeCreate{{kPeer, 0}, std::nullopt, {0x80}}));
}

TEST(JsonUpdates, PayloadsFromTheFutureReadBackTheSame) {
    const ContainerId future = ContainerId::root("x", static_cast<ContainerKind>(9));
    const auto kept = [&](std::uint8_t kind, Bytes payload) {
        const OpContent op = UnknownOp{-3, kind, std::move(payload)};
        return again(one(op, future)).at(0).ops.at(0).content == op;
    };
    EXPECT_TRUE(kept(0, {}));
    EXPECT_TRUE(kept(3, {0x7F}));
    EXPECT_TRUE(kept(4, {0x3F, 0xF8, 0, 0, 0, 0, 0, 0}));
    EXPECT_TRUE(kept(5, {2, 'a', 'b'}));
    EXPECT_TRUE(kept(6, {2, 0, 0xFF}));
    EXPECT_TRUE(kept(8, {}));
    EXPECT_TRUE(kept(11, {8, 1, 1, 'k', 7, 2, 1, 3, 5}));
    EXPECT_TRUE(kept(11, {9, 4}));
    EXPECT_TRUE(kept(11, {8, 1, 1, 'k', 7, 2, 9, 200, 3, 5}));
    EXPECT_TRUE(kept(14, {1, 2, 3}));
    EXPECT_TRUE(kept(0x80 | 20, {3, 1, 2, 3}));
}

// Its kind may be what the next value's tag looks like, and then counts what is not there.
TEST(JsonUpdates, AContainerInAPayloadFromTheFutureHasTheIdOfItsOp) {
    const auto json =
        encode_json_updates(one(UnknownOp{0, 11, {7, 2, 9, 7, 3, 5}},
                                ContainerId::root("x", static_cast<ContainerKind>(9))),
                            {});

    ASSERT_TRUE(json.has_value());
    const Value& op = json->get("changes")->as_list()[0].get("ops")->as_list()[0];
    EXPECT_EQ(*op.get("content")->get("value"),
              Value(List{cat("\U0001F99C:cid:0@", kPeer, ":Unknown(7)"), 5}));
}

TEST(JsonUpdates, AnInsertCannotCountBeyondTheLastId) {
    const auto inserting = [](std::string_view values) {
        return cat(R"({"schema_version":1,"start_version":{},"peers":null,)",
                   R"("changes":[{"id":"2147483645@7",)",
                   R"("timestamp":0,"deps":[],"lamport":0,"ops":[{"container":"cid:root-l:List",)",
                   R"("counter":2147483645,"content":{"type":"insert","pos":0,"value":)", values,
                   "}}]}]}");
    };
    EXPECT_EQ(refusal(inserting("[1]")), "none");
    EXPECT_EQ(refusal(inserting("[1,2,3]")),
              "JSON updates: changes[0].ops[0].content.value counts beyond the last id");
}

TEST(JsonUpdates, APayloadThatPointsIntoItsBlockHasNoForm) {
    const auto json =
        encode_json_updates(one(UnknownOp{0, 12, {0x84, 1, 1, 'k', 1}},
                                ContainerId::root("x", static_cast<ContainerKind>(9))),
                            {});
    ASSERT_FALSE(json.has_value());
    EXPECT_EQ(json.error().reason(), "no_json_form");
}

TEST(JsonUpdates, ARefusalNamesThePlace) {
    EXPECT_EQ(refusal("[]"), "JSON updates: the whole is no object");
    EXPECT_EQ(refusal(R"({"schema_version":1.0})"), "JSON updates: schema_version is not 1");
    EXPECT_EQ(
        refusal(R"({"schema_version":1,"start_version":{},"peers":null,"changes":[{"id":"0@7",)"
                R"("timestamp":0,"deps":["1@2","?"]}]})"),
        "JSON updates: changes[0].deps[1] is no id (counter@peer)");
}

TEST(JsonUpdates, AStringThatOnlyBeginsLikeAContainerIsAString) {
    const std::vector<Change> changes =
        one(MapSet{"k", Value("\U0001F99C:nothing")}, ContainerId::root("m", ContainerKind::map));
    EXPECT_EQ(again(changes), changes);
}

}  // namespace
}  // namespace quire::codec
