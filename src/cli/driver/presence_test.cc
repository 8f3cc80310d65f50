// ephemeral.*: stores of presence on the pipe.
#include <string>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "cli/driver/engine_for_test.h"

namespace quire::cli {
namespace {

using EngineStore = EngineFixture;

TEST_F(EngineStore, TwoStoresShowEachOthersEntries) {
    ok(R"({"op":"ephemeral.new","store":"a"})");
    ok(R"({"op":"ephemeral.new","store":"b","timeout_ms":5000})");
    ok(R"({"op":"ephemeral.set","store":"a","key":"ada","value":{"at":[1,2.5,{"$bytes":"AQI="}]}})");
    ok(R"({"op":"ephemeral.set","store":"a","key":"bob","value":null})");
    const std::string bytes =
        ok(R"({"op":"ephemeral.encode","store":"a"})").as_string();
    ok(cat(R"({"op":"ephemeral.apply","store":"b","bytes":")", bytes, "\"}"));
    EXPECT_EQ(text_of(R"({"op":"ephemeral.states","store":"b"})"),
              R"({"ada":{"at":[1,2.5,{"$bytes":"AQI="}]},"bob":null})");

    ok(R"({"op":"ephemeral.delete","store":"a","key":"bob"})");
    const std::string erased =
        ok(R"({"op":"ephemeral.encode","store":"a","key":"bob"})").as_string();
    clock.advance(1);
    ok(cat(R"({"op":"ephemeral.apply","store":"b","bytes":")", erased, "\"}"));
    EXPECT_EQ(text_of(R"({"op":"ephemeral.states","store":"b"})"),
              R"({"ada":{"at":[1,2.5,{"$bytes":"AQI="}]}})");

    clock.advance(5001);
    EXPECT_EQ(text_of(R"({"op":"ephemeral.states","store":"b"})"), "{}");
    EXPECT_NE(text_of(R"({"op":"ephemeral.states","store":"a"})"), "{}");
    ok(R"({"op":"ephemeral.drop","store":"b"})");
    EXPECT_EQ(error(R"({"op":"ephemeral.states","store":"b"})"), "no_such_store");
}

TEST_F(EngineStore, SaysWhatIsWrong) {
    ok(R"({"op":"ephemeral.new","store":"a"})");
    EXPECT_EQ(error(R"({"op":"ephemeral.new","store":"a"})"), "store_exists");
    EXPECT_EQ(error(R"({"op":"ephemeral.new","store":"b","timeout_ms":-1})"), "invalid_argument");
    EXPECT_EQ(error(R"({"op":"ephemeral.set","store":"a","key":"k"})"), "invalid_argument");
    EXPECT_EQ(error(R"({"op":"ephemeral.apply","store":"a","bytes":"AQ=="})"), "corrupt");
    EXPECT_EQ(error(R"({"op":"ephemeral.states"})"), "invalid_argument");
    EXPECT_EQ(text_of(R"({"op":"ephemeral.states","store":"a"})"), "{}");
}

}  // namespace
}  // namespace quire::cli
