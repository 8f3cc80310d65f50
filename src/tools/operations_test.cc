#include "tools/operations.h"

#include <gtest/gtest.h>

#include "json/json.h"
#include "tools/tool.h"

namespace quire::tools {
namespace {

Operations drawer() {
    return {"operation",
            {{.name = "look", .more = {"at"}, .reads = true},
             {.name = "put",
              .needed = {"thing", "at"},
              .says = "one thing.",
              .earlier = {{"item", "thing"}}},
             {.name = "take", .needed = {"thing"}, .says = "one thing."},
             {.name = "burn", .needed = {"all"}, .more = {"why"}, .says = "everything."}}};
}

// The arguments as they are taken, or the refusal's message.
std::string settled(std::string_view arguments) {
    Value value = json::parse(arguments).value();
    const Result<void> right = settle_arguments(drawer(), value.as_map());
    return right ? json::write(value) : right.error().message();
}

TEST(Operations, EachTakesItsOwnArguments) {
    EXPECT_EQ(settled(R"({"operation":"look"})"), R"({"operation":"look"})");
    EXPECT_EQ(settled(R"({"operation":"put","thing":1,"at":2})"),
              R"({"operation":"put","thing":1,"at":2})");
    EXPECT_EQ(settled(R"({"operation":"put","thing":1})"),
              "operation put needs at; it takes thing, at");
    EXPECT_EQ(settled(R"({"operation":"look","thing":1})"),
              "operation look does not take thing; it takes nothing and maybe at");
    EXPECT_EQ(settled(R"({"operation":"burn","all":true,"at":1})"),
              "operation burn does not take at; it takes all and maybe why");
}

TEST(Operations, AnEarlierNameStandsForThatOfNow) {
    EXPECT_EQ(settled(R"({"operation":"put","item":1,"at":2})"),
              R"({"operation":"put","at":2,"thing":1})");
    EXPECT_EQ(settled(R"({"operation":"put","item":1,"thing":3,"at":2})"),
              "operation put does not take item; it takes thing, at");
    EXPECT_EQ(settled(R"({"operation":"take","item":1})"),
              "operation take needs thing; it takes thing");
}

TEST(Operations, WhatIsPublishedHasNothingOfTheOthers) {
    const ToolInfo whole{"drawer",
                         "",
                         "A drawer.",
                         json::parse(R"({"type":"object","properties":{
            "operation":{"enum":["look","put","take","burn"]},
            "thing":{},"at":{},"all":{},"why":{}},"required":["operation"]})")
                             .value(),
                         Map{},
                         {.destructive = true},
                         drawer()};
    const auto words = [&](const std::vector<std::string>& left) {
        const ToolInfo info = published(whole, left);
        std::string out = info.description + " |";
        for (const Map::Entry& each : info.input_schema.get("properties")->as_map())
            out += " " + each.key;
        return out + (info.annotations.read_only ? " reads" : "") +
               (info.annotations.destructive ? " destroys" : "");
    };
    EXPECT_EQ(words({"burn", "look", "put", "take"}),
              "A drawer. put, take: one thing. burn: everything. | operation thing at all why "
              "destroys");
    EXPECT_EQ(words({"look", "take"}), "A drawer. take: one thing. | operation thing at destroys");
    EXPECT_EQ(words({"look"}), "A drawer. | operation at reads");
    EXPECT_EQ(json::write(published(whole, {"look"}).input_schema),
              R"({"type":"object","properties":{"operation":{"enum":["look"]},"at":{}},)"
              R"("required":["operation"]})");
}

}  // namespace
}  // namespace quire::tools
