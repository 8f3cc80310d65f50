#include "mounts/definition.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "json/json.h"
#include "mounts/pin.h"

namespace quire::mounts {
namespace {

Definition defined(std::string_view json) {
    return definition_of(json::parse(json).value()).value();
}

// A tool `t` of the mount `m` with such members.
Result<tools::ToolInfo> publish(std::string_view members, const std::string& argument = "") {
    return published("m", defined(cat(R"({"name":"t",)", members, "}")), argument);
}

std::string why(std::string_view members, const std::string& argument = "") {
    const auto made = publish(members, argument);
    return made ? "published" : made.error().message();
}

TEST(MountDefinition, TheDigestCoversTheApprovedParts) {
    const Definition one = defined(R"({"name":"t","description":"d","inputSchema":{"a":1,"b":2}})");
    EXPECT_EQ(
        one.digest,
        defined(
            R"({"inputSchema":{"b":2,"a":1},"name":"t","description":"d","_meta":{},"icons":[]})")
            .digest);
    for (const std::string_view other :
         {R"({"name":"t","description":"e","inputSchema":{"a":1,"b":2}})",
          R"({"name":"t","description":"d","inputSchema":{"a":1,"b":3}})",
          R"({"name":"t","title":"T","description":"d","inputSchema":{"a":1,"b":2}})",
          R"({"name":"t","description":"d","inputSchema":{"a":1,"b":2},"annotations":{}})",
          R"({"name":"t","description":"d","inputSchema":{"a":1,"b":2},"outputSchema":{}})"})
        EXPECT_NE(one.digest, defined(other).digest) << other;
}

TEST(MountDefinition, AChangeIsDescribedInWords) {
    EXPECT_EQ(
        difference(
            defined(R"({"name":"t","description":"d","inputSchema":{"a":1}})"),
            defined(R"({"name":"t","description":"e","inputSchema":{"a":2},"annotations":{}})")),
        "its description, its input schema and what it promises (annotations)");
}

TEST(MountDefinition, ALongUnchangedPartDoesNotHideAChange) {
    const std::string alike(5'000, 'a');
    const Definition before =
        *definition_of(Map{{"name", "x"}, {"description", alike + " Lists."}});
    const Definition now =
        *definition_of(Map{{"name", "x"}, {"description", alike + " Deletes; before \"Lists."}});
    const std::string told = difference_shown(before, now, 200);
    const std::string lead = cat("…", std::string(39, 'a'), " ");
    EXPECT_EQ(told, cat("its description: now \"", lead, "Deletes; before 'Lists.\", before \"",
                        lead, "Lists.\""));

    // Each of several has its share.
    const Definition other = *definition_of(
        Map{{"name", "x"}, {"title", std::string(500, 't')}, {"description", "Else."}});
    const std::string both = difference_shown(before, other, 200);
    EXPECT_NE(both.find("its title: now \"ttt"), std::string::npos) << both;
    EXPECT_NE(both.find("; its description: now \"Else.\""), std::string::npos) << both;
    EXPECT_LT(both.size(), 320U);
}

TEST(MountDefinition, TheFirstOfTwoToolsWithOneNameCounts) {
    const Listing listing = listing_of(
        json::parse(R"([{"name":"a","title":"1"},{"name":"a","title":"2"},{"title":"3"},7])")
            .value()
            .as_list());
    ASSERT_EQ(listing.tools.size(), 1U);
    EXPECT_EQ(*listing.tools[0].value.get("title"), Value("1"));
    EXPECT_EQ(listing.left_out.size(), 3U);
}

TEST(MountDefinition, ADefinitionIsBounded) {
    const Value huge = Map{{"name", "a"}, {"description", std::string(kLargestDefinition, 'x')}};
    const Listing listing = listing_of({huge});
    EXPECT_TRUE(listing.tools.empty());
    EXPECT_EQ(listing.left_out.at(0).tool, "a");
}

TEST(MountDefinition, AllOfThemAreBounded) {
    List tools;
    const std::string text(kLargestDefinition - 100, 'x');
    for (int i = 0; i < 20; ++i) tools.push_back(Map{{"name", cat("t", i)}, {"description", text}});
    tools.push_back(Map{{"name", "small"}});
    const Listing listing = listing_of(tools);
    EXPECT_EQ(listing.tools.size(), 17U);
    EXPECT_EQ(listing.tools.back().name, "small");
    ASSERT_EQ(listing.left_out.size(), 4U);
    EXPECT_EQ(listing.left_out[0].tool, "t16");
    EXPECT_EQ(listing.left_out[0].why,
              "with it the definitions of the server's tools have more than 2097152 bytes");
}

TEST(MountDefinition, AToolIsPublishedUnderTheNameOfItsMount) {
    const auto info =
        published("fs", defined(R"({"name":"a.read-it","inputSchema":{"type":"object"}})"), "");
    EXPECT_EQ(info->name, "fs_a_read-it");
    EXPECT_TRUE(info->foreign);
    for (const std::string_view name : {"a b", "a/b", "\\u00e4", "a\\u200bb"}) {
        EXPECT_FALSE(published(
            "fs", defined(cat(R"({"name":")", name, R"(","inputSchema":{"type":"object"}})")), ""))
            << name;
    }
    EXPECT_FALSE(published("fs",
                           defined(cat(R"({"name":")", std::string(126, 'a'),
                                       R"(","inputSchema":{"type":"object"}})")),
                           ""));
}

TEST(MountDefinition, ASchemaIsTranslatedAndMustBeOne) {
    const auto info = publish(
        R"("inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object",)"
        R"("properties":{"a":{"type":"array","items":[{"type":"string"}]}}})");
    EXPECT_EQ(
        json::write(info->input_schema),
        R"({"type":"object","properties":{"a":{"type":"array","prefixItems":[{"type":"string"}]}}})");
    EXPECT_EQ(why(R"("description":"d")"), "it has no input schema");
    EXPECT_EQ(why(R"("inputSchema":{})"), "its input schema is not of type object");
    EXPECT_NE(
        why(R"("inputSchema":{"type":"object","properties":{"a":{"$ref":"https://a.example/b"}}})"),
        "published");
    EXPECT_NE(why(R"("inputSchema":{"type":"object","$schema":"https://a.example/b"})"),
              "published");
    EXPECT_NE(why(R"("inputSchema":{"type":"object","properties":{"a":{"pattern":"(?<=x)y"}}})"),
              "published");
    EXPECT_EQ(why(R"("inputSchema":{"type":"object","properties":{"a":{"pattern":"^x+$"}}})"),
              "published");
    // A keyword of its own is no mistake of a stranger's.
    EXPECT_EQ(why(R"("inputSchema":{"type":"object","errorMessage":"e"})"), "published");
}

TEST(MountDefinition, InvisibleCharactersInADescriptionAreWrittenOut) {
    const auto info = publish(
        R"("description":"a\u200bb\u202ec\u001b[31m\ttab\r\nline","inputSchema":{"type":"object",)"
        R"("properties":{"p":{"description":"x\ufeffy"},"description":{"type":"string"}}})");
    EXPECT_EQ(info->description, "a\\u{200b}b\\u{202e}c\\u{1b}[31m\ttab\nline");
    EXPECT_EQ(json::write(*info->input_schema.get("properties")),
              R"({"p":{"description":"x\\u{feff}y"},"description":{"type":"string"}})");
    EXPECT_EQ(
        publish(R"("description":"\udb40\udc41","inputSchema":{"type":"object"})")->description,
        "\\u{e0041}");
}

TEST(MountDefinition, ANameWithSomethingInvisibleIsNotPublished) {
    for (const std::string_view properties :
         {R"("a\u200b":{})", R"("a":{"enum":["x\u200by"]})", R"("a":{"default":"\u202e"})"}) {
        EXPECT_EQ(why(cat(R"("inputSchema":{"type":"object","properties":{)", properties, "}}")),
                  "a name or a word in its input schema has invisible characters");
    }
    EXPECT_EQ(why(R"("inputSchema":{"type":"object","properties":{"a":{"default":"one\ntwo"}}})"),
              "published");
}

TEST(MountDefinition, ItsWordsAreBounded) {
    const std::string longer(kLongestDescription + 1, 'x');
    const auto info = publish(cat(
        R"("description":")", longer,
        R"(","inputSchema":{"type":"object","properties":{"p":{"description":")", longer, "\"}}}"));
    EXPECT_EQ(info->description, cat(std::string(kLongestDescription, 'x'), " … (cut)"));
    EXPECT_EQ(info->input_schema.get("properties")->get("p")->get("description")->as_string(),
              cat(std::string(kLongestNote, 'x'), " … (cut)"));
}

TEST(MountDefinition, ItsPromisesArePassedOnAndTheProtocolSaysTheOthers) {
    const auto bare = publish(R"("inputSchema":{"type":"object"})")->annotations;
    EXPECT_FALSE(bare.read_only);
    EXPECT_TRUE(bare.destructive);
    EXPECT_TRUE(bare.open_world);
    const auto told =
        publish(R"("inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,)"
                R"("openWorldHint":false,"idempotentHint":"yes"})")
            ->annotations;
    EXPECT_TRUE(told.read_only);
    EXPECT_FALSE(told.destructive);
    EXPECT_FALSE(told.open_world);
    EXPECT_FALSE(told.idempotent);
}

TEST(MountDefinition, ItsOperationsAreTheWordsOfItsSchema) {
    const auto info = publish(
        R"("inputSchema":{"type":"object","properties":{"action":{"anyOf":[{"const":"get"},{"enum":["put","get"]}]}}})",
        "action");
    EXPECT_EQ(info->operations.names(), (std::vector<std::string>{"get", "put"}));
    EXPECT_EQ(info->operations.argument, "action");
    EXPECT_NE(why(R"("inputSchema":{"type":"object","properties":{"action":{"type":"string"}}})",
                  "action"),
              "published");
}

TEST(MountDefinition, OnlyTheMembersOfAnOutputSchemaArePublished) {
    const auto info = publish(
        R"("inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["a"],)"
        R"("additionalProperties":false,"properties":{"a":{"$ref":"#/$defs/n"},"error":{}},"$defs":{"n":{"type":"number"}}})");
    EXPECT_EQ(
        json::write(info->output_schema),
        R"({"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"number"}}})");
    EXPECT_TRUE(publish(R"("inputSchema":{"type":"object"},"outputSchema":{"type":7})")
                    ->output_schema.is_null());
}

TEST(MountPin, AWrittenPinReadsBackTheSame) {
    Pin pin;
    pin.tools.push_back(defined(R"({"name":"a","inputSchema":{"type":"object"}})"));
    pin.server = {"fake", "1", "2025-06-18"};
    pin.at_ms = 7;
    const Pin read = pin_of(json::parse(json::write(to_value(pin))).value()).value();
    EXPECT_EQ(to_value(read), to_value(pin));
    EXPECT_EQ(read.tools[0].digest, pin.tools[0].digest);
    const std::string_view stored =
        R"({"server":{"name":"s","version":"1","revision":"2025-06-18"},"at":5,)"
        R"("tools":[{"name":"t","description":"d","inputSchema":{"type":"object"}}]})";
    EXPECT_EQ(json::write(to_value(pin_of(json::parse(stored).value()).value())), stored);
    EXPECT_EQ(pin_of(Map{{"tools", 7}}).error().code(), Errc::corrupt);
}

TEST(MountPin, ChangesInALaterListingAreFound) {
    Pin pin;
    for (const std::string_view json :
         {R"({"name":"same"})", R"({"name":"other"})", R"({"name":"gone"})"})
        pin.tools.push_back(defined(json));
    const Listing now = listing_of(
        json::parse(R"([{"name":"new"},{"name":"other","description":"d"},{"name":"same"}])")
            .value()
            .as_list());
    std::string told;
    for (const Change& each : changes(pin, now))
        cat_to(told, cat(name_of(each.kind), " ", each.tool, " ", each.what, "; "));
    EXPECT_EQ(told, "changed other its description; gone gone ; new new ; ");
    EXPECT_EQ(digest_of(now.tools), digest_of({now.tools[2], now.tools[0], now.tools[1]}));
}

}  // namespace
}  // namespace quire::mounts
