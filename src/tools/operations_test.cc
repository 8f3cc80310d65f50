#include "tools/operations.h"

#include <gtest/gtest.h>

#include "json/json.h"
#include "tools/tool.h"

namespace quire::tools {
namespace {

Map taking(const std::vector<std::string>& needed, const std::vector<std::string>& more = {}) {
    Map properties;
    for (const std::string& name : needed) properties.append(name, Map{});
    for (const std::string& name : more) properties.append(name, Map{});
    return {{"type", "object"},
            {"properties", std::move(properties)},
            {"required", List(needed.begin(), needed.end())}};
}

Operations drawer() {
    return {"operation",
            {{.name = "look", .reads = true, .arguments = taking({}, {"at"})},
             {.name = "put",
              .says = "one thing.",
              .renamed = {{"item", "thing"}},
              .arguments = taking({"thing", "at"})},
             {.name = "take", .says = "one thing.", .arguments = taking({"thing"})},
             {.name = "burn", .says = "everything.", .arguments = taking({"all"}, {"why"})}}};
}

// The arguments as they are taken, or the refusal's message.
std::string settled(std::string_view arguments) {
    Value value = json::parse(arguments).value();
    const Result<void> right = drawer().settle(value.as_map());
    return right ? json::write(value) : right.error().message();
}

TEST(Operations, EachTakesItsOwnArguments) {
    EXPECT_EQ(settled(R"({"operation":"look"})"), R"({"operation":"look"})");
    EXPECT_EQ(settled(R"({"operation":"put","thing":1,"at":2})"),
              R"({"operation":"put","thing":1,"at":2})");
    EXPECT_EQ(settled(R"({"operation":"put","thing":1})"),
              "operation put needs at; call it as put(thing, at)");
    EXPECT_EQ(settled(R"({"operation":"look","thing":1})"),
              "operation look does not take thing; call it as look(at?)");
    EXPECT_EQ(settled(R"({"operation":"burn","all":true,"at":1})"),
              "operation burn does not take at; call it as burn(all, why?)");
}

TEST(Operations, AnEarlierNameStandsForThatOfNow) {
    EXPECT_EQ(settled(R"({"operation":"put","item":1,"at":2})"),
              R"({"operation":"put","at":2,"thing":1})");
    EXPECT_EQ(settled(R"({"operation":"put","item":1,"thing":3,"at":2})"),
              "operation put does not take item; call it as put(thing, at)");
    EXPECT_EQ(settled(R"({"operation":"take","item":1})"),
              "operation take needs thing; call it as take(thing)");
}

TEST(Operations, APublishedToolShowsNothingOfRemovedOperations) {
    const ToolInfo whole{"drawer",    "",
                         "A drawer.", drawer().input_schema(drawer().names()),
                         Map{},       {.destructive = true},
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
              "A drawer.\nlook(at?)\nput(thing, at): one thing.\ntake(thing): one thing.\n"
              "burn(all, why?): everything. | operation thing at all why destroys");
    EXPECT_EQ(words({"look", "take"}),
              "A drawer.\nlook(at?)\ntake(thing): one thing. | operation thing at destroys");
    EXPECT_EQ(words({"look"}), "A drawer.\nlook(at?) | operation at reads");
    EXPECT_EQ(json::write(published(whole, {"look"}).input_schema),
              R"({"type":"object","properties":{"operation":{"enum":["look"]},"at":{}},)"
              R"("required":["operation"],"additionalProperties":false})");
}

}  // namespace
}  // namespace quire::tools
