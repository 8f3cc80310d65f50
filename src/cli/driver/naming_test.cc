// The names in requests: containers that were never made, styles without a default, undo steps that
// have nothing left to change.
#include <string>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "cli/driver/engine_for_test.h"

namespace quire::cli {
namespace {

using EngineContainers = EngineFixture;

TEST_F(EngineContainers, AnIdThatNobodyMadeIsNoContainer) {
    ok(R"({"op":"new","doc":"a","peer":"1"})");
    for (const char* op : {R"("op":"text.string","cid":"cid:5@9:Text")",
                           R"("op":"text.len","cid":"cid:5@9:Text")",
                           R"("op":"text.delta","cid":"cid:5@9:Text")",
                           R"("op":"text.insert","cid":"cid:5@9:Text","pos":0,"text":"x")",
                           R"("op":"list.insert","cid":"cid:5@9:List","pos":0,"value":1)",
                           R"("op":"map.set","cid":"cid:5@9:Map","key":"k","value":1)",
                           R"("op":"tree.nodes","cid":"cid:5@9:Tree")",
                           R"("op":"counter.add","cid":"cid:5@9:Counter","delta":1)",
                           R"("op":"value","cid":"cid:5@9:Text")",
                           R"("op":"cursor.get","cid":"cid:5@9:Text","pos":0)",
                           // A cursor in cid:5@9:Text.
                           R"("op":"cursor.pos","cursor":"AAEJCgAAAA==")"}) {
        EXPECT_EQ(error(cat(R"({"doc":"a",)", op, "}")), "no_such_container") << op;
    }
    // A root is there as soon as it is named, and one that was made and removed is no stranger.
    EXPECT_EQ(ok(R"({"op":"text.string","doc":"a","cid":"cid:root-t:Text"})"), Value(""));
    const std::string child =
        ok(R"({"op":"map.insert_container","doc":"a","cid":"cid:root-m:Map","key":"k","kind":"Text"})")
            .as_string();
    ok(cat(R"({"op":"text.insert","doc":"a","pos":0,"text":"x","cid":")", child, "\"}"));
    ok(R"({"op":"map.delete","doc":"a","cid":"cid:root-m:Map","key":"k"})");
    EXPECT_NE(ask(cat(R"({"op":"text.string","doc":"a","cid":")", child, "\"}")).get("ok"), nullptr);
    EXPECT_EQ(error(cat(R"({"op":"text.insert","doc":"a","pos":0,"text":"x","cid":")", child, "\"}")),
              "container_deleted");
    // The id of another kind at the same place was never made.
    EXPECT_EQ(error(R"({"op":"list.insert","doc":"a","cid":"cid:0@1:List","pos":0,"value":1})"),
              "no_such_container");
}

TEST_F(EngineContainers, AContainerOfAHistoryThatIsNotReadYetIsFound) {
    ok(R"({"op":"new","doc":"a","peer":"1"})");
    ok(R"({"op":"map.insert_container","doc":"a","cid":"cid:root-m:Map","key":"k","kind":"Text"})");
    ok(R"({"op":"map.insert_container","doc":"a","cid":"cid:root-m:Map","key":"gone","kind":"List"})");
    ok(R"({"op":"map.delete","doc":"a","cid":"cid:root-m:Map","key":"gone"})");
    ok(R"({"op":"commit","doc":"a"})");
    const std::string snapshot =
        ok(R"({"op":"export","doc":"a","mode":"snapshot"})").as_string();
    ok(R"({"op":"new","doc":"b","peer":"2"})");
    ok(cat(R"({"op":"import","doc":"b","bytes":")", snapshot, "\"}"));
    EXPECT_EQ(ok(R"({"op":"text.string","doc":"b","cid":"cid:0@1:Text"})"), Value(""));
    EXPECT_EQ(error(R"({"op":"text.string","doc":"b","cid":"cid:7@1:Text"})"), "no_such_container");
    EXPECT_EQ(text_of(R"({"op":"value","doc":"b","cid":"cid:1@1:List"})"), "[]");
}

TEST_F(EngineContainers, AStyleWithoutADefaultIsRefusedOnceThereIsNone) {
    ok(R"({"op":"new","doc":"a","peer":"1"})");
    ok(R"({"op":"text.insert","doc":"a","cid":"cid:root-t:Text","pos":0,"text":"abc"})");
    const std::string mark =
        R"({"op":"text.mark","doc":"a","cid":"cid:root-t:Text","start":0,"end":2,"key":"hue","value":1})";
    ok(R"({"op":"config","doc":"a","default_text_style":{"expand":"none"}})");
    ok(mark);
    // A member that is not there leaves the default as it is.
    ok(R"({"op":"config","doc":"a","merge_interval":5})");
    ok(mark);
    ok(R"({"op":"config","doc":"a","default_text_style":null})");
    EXPECT_EQ(error(mark), "unknown_style_key");
}

TEST_F(EngineContainers, UndoSaysThatItTookAStepWithNothingLeftToChange) {
    ok(R"({"op":"new","doc":"a","peer":"1"})");
    ok(R"({"op":"undo.attach","doc":"a","name":"u","merge_interval_ms":0})");
    for (const char* letter : {"a", "b"}) {
        ok(cat(R"({"op":"text.insert","doc":"a","cid":"cid:root-t:Text","pos":0,"text":")", letter,
               "\"}"));
        ok(R"({"op":"commit","doc":"a"})");
    }
    ok(R"({"op":"fork","doc":"a","as":"b","peer":"2"})");
    ok(R"({"op":"text.delete","doc":"b","cid":"cid:root-t:Text","pos":0,"len":1})");
    ok(R"({"op":"commit","doc":"b"})");
    const std::string theirs = ok(R"({"op":"export","doc":"b","mode":"updates"})").as_string();
    ok(cat(R"({"op":"import","doc":"a","bytes":")", theirs, "\"}"));
    int steps = 0;
    while (ok(R"({"op":"undo","name":"u"})") == Value(true)) ++steps;
    EXPECT_EQ(steps, 2);
    EXPECT_EQ(ok(R"({"op":"text.string","doc":"a","cid":"cid:root-t:Text"})"), Value(""));
    EXPECT_EQ(ok(R"({"op":"can_undo","name":"u"})"), Value(false));
    EXPECT_EQ(ok(R"({"op":"undo","name":"u"})"), Value(false));
}

}  // namespace
}  // namespace quire::cli
