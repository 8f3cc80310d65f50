#include <string>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "cli/driver/session.h"
#include "json/json.h"

namespace quire::cli {
namespace {

class EngineTime : public testing::Test {
protected:
    Value ask(std::string_view line) { return json::parse(session.answer(line)).value(); }
    // The member "ok" of the reply as text; else the error's code.
    std::string on_a(std::string_view op, std::string_view rest = "") {
        const Value reply =
            ask(cat(R"({"doc":"a","op":")", op, "\"", rest.empty() ? "" : ",", rest, "}"));
        if (const Value* ok = reply.get("ok")) return json::write(*ok);
        return reply.get("error")->get("code")->as_string();
    }
    void SetUp() override { on_a("new", R"("peer":"1")"); }
    void type(std::string_view where, std::string_view what) {
        on_a("text.insert",
             cat(R"("cid":"cid:root-t:Text","pos":)", where, R"(,"text":")", what, "\""));
    }

    ManualClock clock;
    SeededRng rng{1};
    EngineSession session{clock, rng};
};

TEST_F(EngineTime, ADetachedDocumentIsEditedWhereTheSettingAllowsIt) {
    type("0", "ab");
    on_a("commit");
    on_a("detach");
    EXPECT_EQ(on_a("map.set", R"("cid":"cid:root-m:Map","key":"k","value":1)"), "detached");
    EXPECT_EQ(on_a("config", R"("detached_editing":true)"), "true");
    EXPECT_EQ(on_a("map.set", R"("cid":"cid:root-m:Map","key":"k","value":1)"), "true");
    EXPECT_EQ(on_a("checkout", R"("frontiers":["0@1"])"), "true");
    EXPECT_EQ(on_a("set_peer", R"("peer":"2")"), "true");
    type("1", "x");
    EXPECT_EQ(on_a("commit"), R"(["0@2"])");
    EXPECT_EQ(on_a("is_detached"), "true");
    EXPECT_EQ(on_a("text.string", R"("cid":"cid:root-t:Text")"), R"("ax")");
    EXPECT_EQ(on_a("config", R"("detached_editing":false)"), "true");
    EXPECT_EQ(on_a("map.set", R"("cid":"cid:root-m:Map","key":"k","value":1)"), "detached");
    on_a("attach");
    EXPECT_EQ(on_a("value", R"("cid":"cid:root-m:Map")"), R"({"k":1})");
}

TEST_F(EngineTime, WhatLiesBeforeTheStartOfAShallowDocumentIsRefused) {
    type("0", "ab");
    on_a("commit");
    on_a("text.delete", R"("cid":"cid:root-t:Text","pos":0,"len":1)");
    on_a("commit");
    type("1", "cd");
    on_a("commit");
    EXPECT_EQ(on_a("export", R"("mode":"shallow_snapshot")"), "invalid_argument");
    EXPECT_EQ(on_a("export", R"("mode":"shallow_snapshot","frontiers":["9@1"])"),
              "unknown_version");
    EXPECT_EQ(on_a("export", R"("mode":"state_only","frontiers":["9@1"])"), "unknown_version");
    const std::string blob = on_a("export", R"("mode":"shallow_snapshot","frontiers":["2@1"])");
    const std::string outsider = [&] {
        ask(R"({"op":"new","doc":"o","peer":"7"})");
        ask(R"({"op":"counter.add","doc":"o","cid":"cid:root-c:Counter","delta":1})");
        return json::write(*ask(R"({"op":"export","doc":"o","mode":"updates"})").get("ok"));
    }();
    on_a("drop");
    on_a("new", R"("peer":"2")");
    EXPECT_EQ(on_a("import", cat(R"("bytes":)", blob)),
              R"({"success":{"1":[0,5]},"pending":null})");
    for (const std::string_view version : {R"([])", R"(["1@1"])"}) {
        const std::string at = cat(R"("frontiers":)", version);
        EXPECT_EQ(on_a("checkout", at), "shallow_snapshot");
        EXPECT_EQ(on_a("fork_at", cat(R"("as":"f",)", at)), "shallow_snapshot");
        EXPECT_EQ(on_a("revert_to", at), "shallow_snapshot");
        EXPECT_EQ(on_a("diff", cat(R"("from":)", version, R"(,"to":["4@1"])")), "shallow_snapshot");
        for (const std::string_view mode : {"shallow_snapshot", "state_only", "snapshot_at"}) {
            EXPECT_EQ(on_a("export", cat(R"("mode":")", mode, R"(",)", at)), "shallow_snapshot");
        }
    }
    EXPECT_EQ(on_a("export", R"("mode":"updates_in_range","spans":[{"id":"0@1","len":5}])"),
              "shallow_snapshot");
    EXPECT_EQ(on_a("import", cat(R"("bytes":)", outsider)), "shallow_snapshot");
    EXPECT_EQ(on_a("text.string", R"("cid":"cid:root-t:Text")"), R"("bcd")");
    EXPECT_EQ(on_a("stats").substr(0, 8), R"({"ops":3)");
}

TEST_F(EngineTime, ValuesInJson) {
    const auto set = [&](std::string_view value) {
        on_a("map.set", cat(R"("cid":"cid:root-m:Map","key":"k","value":)", value));
        return on_a("value", R"("cid":"cid:root-m:Map")");
    };
    EXPECT_EQ(set("9223372036854775807"), R"({"k":9223372036854775807})");
    EXPECT_EQ(set("9223372036854775808"), R"({"k":9223372036854775808.0})");
}

TEST_F(EngineTime, AskingForTheVersionDoesNotEndTheTransaction) {
    type("0", "ab");
    on_a("commit");
    type("2", "cd");

    EXPECT_EQ(on_a("frontiers"), R"(["3@1"])");
    EXPECT_EQ(on_a("oplog_frontiers"), R"(["3@1"])");
    EXPECT_EQ(on_a("vv"), R"({"1":4})");
    EXPECT_EQ(on_a("oplog_vv"), R"({"1":4})");

    EXPECT_EQ(on_a("commit", R"("message":"hi")"), R"(["3@1"])");
    EXPECT_NE(on_a("changes").find(R"("message":"hi")"), std::string::npos);
}

TEST_F(EngineTime, LookingAtTheDocumentDoesNotEndTheTransaction) {
    type("0", "ab");
    on_a("commit");
    type("2", "cd");

    EXPECT_EQ(on_a("value_with_ids"), R"({"t":{"cid":"cid:root-t:Text","value":"abcd"}})");
    EXPECT_EQ(on_a("changes"),
              R"([{"id":"0@1","timestamp":0,"deps":[],"lamport":0,"message":null,"len":2}])");
    EXPECT_TRUE(on_a("stats").starts_with(R"({"ops":4,"changes":1,"containers":1,)"));

    on_a("commit", R"("message":"hi")");
    EXPECT_NE(on_a("changes").find(R"("message":"hi")"), std::string::npos);
}

TEST_F(EngineTime, ARootIsThereAsSoonAsItIsNamed) {
    EXPECT_EQ(on_a("value"), "{}");
    EXPECT_EQ(on_a("text.string", R"("cid":"cid:root-t:Text")"), R"("")");
    EXPECT_EQ(on_a("value", R"("cid":"cid:root-m:Map")"), "{}");

    EXPECT_EQ(on_a("value"), R"({"m":{},"t":""})");
    EXPECT_EQ(
        on_a("value_with_ids"),
        R"({"m":{"cid":"cid:root-m:Map","value":{}},"t":{"cid":"cid:root-t:Text","value":""}})");
    on_a("fork", R"("as":"b","peer":"2")");
    EXPECT_EQ(json::write(*ask(R"({"doc":"b","op":"value"})").get("ok")), R"({"m":{},"t":""})");
}

TEST_F(EngineTime, ADiffTellsANullFromAKeyThatIsGone) {
    on_a("map.set", R"("cid":"cid:root-m:Map","key":"n","value":null)");
    on_a("map.set", R"("cid":"cid:root-m:Map","key":"k","value":1)");
    on_a("commit");
    on_a("map.delete", R"("cid":"cid:root-m:Map","key":"k")");
    on_a("map.set", R"("cid":"cid:root-m:Map","key":"o","value":null)");
    on_a("commit");

    const std::string diff = on_a("diff", R"("from":["1@1"],"to":["3@1"])");
    EXPECT_EQ(
        diff,
        R"([{"cid":"cid:root-m:Map","diff":{"map":{"updated":{"k":null,"o":null},"nulls":["o"]}}}])");
    ask(R"({"doc":"b","op":"new","peer":"2"})");
    ask(R"({"doc":"b","op":"map.set","cid":"cid:root-m:Map","key":"k","value":2})");
    ask(cat(R"({"doc":"b","op":"apply_diff","diff":)", diff, "}"));
    EXPECT_EQ(json::write(*ask(R"({"doc":"b","op":"value"})").get("ok")), R"({"m":{"o":null}})");
    EXPECT_EQ(
        on_a("apply_diff",
             R"("diff":[{"cid":"cid:root-m:Map","diff":{"map":{"updated":{},"nulls":[1]}}}])"),
        "invalid_argument");
}

TEST_F(EngineTime, AnUndoHistoryBeginsWithWhatIsWrittenAfterIt) {
    type("0", "ab");
    on_a("undo.attach", R"("name":"u")");
    type("2", "cd");
    on_a("commit");

    EXPECT_EQ(on_a("undo", R"("name":"u")"), "true");
    EXPECT_EQ(on_a("text.string", R"("cid":"cid:root-t:Text")"), R"("ab")");
    EXPECT_EQ(on_a("undo", R"("name":"u")"), "false");
}

TEST_F(EngineTime, ACheckoutShowsItsVersionUntilTheLatestIsShownAgain) {
    type("0", "ab");
    EXPECT_EQ(on_a("commit"), R"(["1@1"])");
    type("2", "c");

    EXPECT_EQ(on_a("checkout", R"("frontiers":["0@1"])"), "true");

    EXPECT_EQ(on_a("is_detached"), "true");
    EXPECT_EQ(on_a("value"), R"({"t":"a"})");
    EXPECT_EQ(on_a("frontiers"), R"(["0@1"])");
    EXPECT_EQ(on_a("oplog_frontiers"), R"(["2@1"])");
    EXPECT_EQ(on_a("vv"), R"({"1":1})");
    EXPECT_EQ(on_a("oplog_vv"), R"({"1":3})");
    EXPECT_EQ(on_a("map.set", R"("cid":"cid:root-m:Map","key":"k","value":1)"), "detached");
    EXPECT_EQ(on_a("checkout", R"("frontiers":["7@1"])"), "unknown_version");
    EXPECT_EQ(on_a("fork_at", R"("as":"b","peer":"2","frontiers":["1@1"])"), "true");
    EXPECT_EQ(json::write(*ask(R"({"doc":"b","op":"value"})").get("ok")), R"({"t":"ab","m":{}})");
    EXPECT_EQ(on_a("checkout_to_latest"), "true");
    EXPECT_EQ(on_a("value"), R"({"t":"abc","m":{}})");
    EXPECT_EQ(on_a("is_detached"), "false");
}

TEST_F(EngineTime, ASnapshotOfAVersionHasItAndNothingLater) {
    type("0", "ab");
    on_a("commit");
    type("2", "c");
    on_a("map.set", R"("cid":"cid:root-m:Map","key":"k","value":1)");
    on_a("commit");
    const std::string blob = on_a("export", R"("mode":"snapshot_at","frontiers":["1@1"])");
    ask(R"({"op":"new","doc":"b","peer":"2"})");
    ask(cat(R"({"doc":"b","op":"import","bytes":)", blob, "}"));
    EXPECT_EQ(json::write(*ask(R"({"doc":"b","op":"value"})").get("ok")), R"({"t":"ab"})");
    EXPECT_EQ(json::write(*ask(R"({"doc":"b","op":"oplog_vv"})").get("ok")), R"({"1":2})");
    EXPECT_EQ(on_a("export", R"("mode":"snapshot_at")"), "invalid_argument");
    EXPECT_EQ(on_a("export", R"("mode":"snapshot_at","frontiers":["9@1"])"), "unknown_version");
    // The document itself stays where it was.
    EXPECT_EQ(on_a("value"), R"({"t":"abc","m":{"k":1}})");
}

TEST_F(EngineTime, ADiffIsWrittenAsItWasRead) {
    type("0", "ab");
    on_a("map.set", R"("cid":"cid:root-m:Map","key":"k","value":{"$bytes":"AA=="})");
    on_a("list.insert_container", R"("cid":"cid:root-l:List","pos":0,"kind":"Map")");
    on_a("map.set", R"("cid":"cid:3@1:Map","key":"in","value":1.0)");
    const std::string now = on_a("commit");

    const std::string diff = on_a("diff", cat(R"("from":[],"to":)", now));

    EXPECT_EQ(
        diff,
        R"([{"cid":"cid:root-t:Text","diff":{"text":[{"insert":"ab"}]}},)"
        R"({"cid":"cid:root-m:Map","diff":{"map":{"updated":{"k":{"$bytes":"AA=="}}}}},)"
        R"({"cid":"cid:root-l:List","diff":{"list":[{"insert":[{"$container":"cid:3@1:Map"}]}]}},)"
        R"({"cid":"cid:3@1:Map","diff":{"map":{"updated":{"in":1.0}}}}])");
    EXPECT_EQ(on_a("fork_at", R"("as":"b","peer":"2","frontiers":[])"), "true");
    ask(cat(R"({"doc":"b","op":"apply_diff","diff":)", diff, "}"));
    EXPECT_EQ(json::write(*ask(R"({"doc":"b","op":"value"})").get("ok")), on_a("value"));
    EXPECT_EQ(
        on_a("apply_diff", R"("diff":[{"cid":"cid:root-t:Text","diff":{"text":[{"delete":9}]}}])"),
        "invalid_diff");
    EXPECT_EQ(on_a("apply_diff", R"("diff":[{"cid":"cid:root-t:Text","diff":{"words":[]}}])"),
              "invalid_argument");
}

TEST_F(EngineTime, EventsAreTakenInOrderAndOnce) {
    EXPECT_EQ(on_a("events.start"), "true");
    type("0", "ab");
    on_a("commit", R"("origin":"o","message":"m")");
    on_a("checkout", R"("frontiers":[])");

    EXPECT_EQ(
        on_a("events.take"),
        R"([{"by":"local","origin":"o","message":"m","from":[],"to":["1@1"],)"
        R"("diffs":[{"cid":"cid:root-t:Text","path":["t"],"diff":{"text":[{"insert":"ab"}]}}]},)"
        R"({"by":"checkout","origin":"checkout","message":null,"from":["1@1"],"to":[],)"
        R"("diffs":[{"cid":"cid:root-t:Text","path":["t"],"diff":{"text":[{"delete":2}]}}]}])");
    EXPECT_EQ(on_a("events.take"), "[]");
}

TEST_F(EngineTime, TheMergeIntervalSaysWhichCommitsAreOneChange) {
    type("0", "a");
    on_a("commit", R"("timestamp":100)");
    type("0", "b");
    on_a("commit", R"("timestamp":1100)");
    on_a("config", R"("merge_interval":5)");
    type("0", "c");
    on_a("commit", R"("timestamp":1101)");

    const Value changes = *ask(R"({"doc":"a","op":"changes"})").get("ok");

    ASSERT_EQ(changes.as_list().size(), 2U);
    EXPECT_EQ(*changes.as_list()[0].get("len"), Value(2));
}

}  // namespace
}  // namespace quire::cli
