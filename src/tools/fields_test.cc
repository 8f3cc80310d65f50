#include "tools/fields.h"

#include <gtest/gtest.h>

#include "base/cat.h"
#include "json/json.h"
#include "json/schema.h"
#include "tools/typed_tool.h"

namespace quire::tools {
namespace {

struct Args {
    std::string name;
    std::size_t count = 3;
    bool loud = false;
    std::optional<std::string> note;
    std::vector<blocks::Status> wanted;
    Map extra;
    blocks::Role role = blocks::Role::tool;
};

Fields<Args> fields() {
    return Fields<Args>()
        .required("name", &Args::name, "Who.")
        .optional("count", &Args::count, "", {{"minimum", 1}, {"maximum", 9}})
        .optional("loud", &Args::loud)
        .optional("note", &Args::note)
        .optional("wanted", &Args::wanted)
        .optional("extra", &Args::extra)
        .optional("role", &Args::role);
}

Value parsed(std::string_view text) {
    return *json::parse(text);
}

TEST(Fields, DescribeThemselves) {
    EXPECT_EQ(Value(fields().schema()), parsed(R"({"type":"object","properties":{
        "name":{"type":"string","description":"Who."},
        "count":{"type":"integer","minimum":1,"maximum":9,"default":3},
        "loud":{"type":"boolean","default":false},
        "note":{"type":"string"},
        "wanted":{"type":"array","items":{"enum":["pending","running","done","error"]}},
        "extra":{"type":"object"},
        "role":{"enum":["user","model","system","tool"],"default":"tool"}},
        "required":["name"],"additionalProperties":false})"));
}

TEST(Fields, DecodeWhatTheyDescribe) {
    const Args args = fields().decode(parsed(
        R"({"name":"ada","count":7,"loud":true,"note":"n","wanted":["done","error"],"extra":{"x":[1]},"role":"user"})"));

    EXPECT_EQ(args.name, "ada");
    EXPECT_EQ(args.count, 7U);
    EXPECT_TRUE(args.loud);
    EXPECT_EQ(args.note, "n");
    EXPECT_EQ(args.wanted,
              (std::vector<blocks::Status>{blocks::Status::done, blocks::Status::error}));
    EXPECT_EQ(Value(args.extra), parsed(R"({"x":[1]})"));
    EXPECT_EQ(args.role, blocks::Role::user);
}

TEST(Fields, WhatIsAbsentIsTheDefault) {
    const Args args = fields().decode(parsed(R"({"name":"ada"})"));

    EXPECT_EQ(args.count, 3U);
    EXPECT_EQ(args.role, blocks::Role::tool);
    EXPECT_FALSE(args.note.has_value());
}

class Echo : public testing::Test {
protected:
    // As the registry does: what the schema takes.
    ToolResult call(Value arguments) {
        const auto tool = make_tool<Args>(
            {.name = "echo",
             .title = "Echo",
             .description = "Says a name.",
             .annotations = {},
             .output_schema = Map{{"type", "object"}}},
            fields(), [](const Session&, const Args& args, Reply<ToolResult> reply) {
                reply(ToolResult{Map{{"said", cat(args.name, args.count)}}, args.name, false});
            });
        if (arguments.is_null()) arguments = Map{};
        const json::Schema schema =
            std::move(*json::Schema::compile(tool->info().input_schema, {.strict = true}));
        Result<Value> accepted = schema.accept(std::move(arguments));
        if (!accepted) return refused(accepted.error());
        std::optional<ToolResult> answer;
        tool->call({}, std::move(*accepted),
                   [&](Result<ToolResult> result) { answer = std::move(*result); });
        return std::move(*answer);
    }
    std::string message(std::string_view arguments) {
        const ToolResult result = call(parsed(arguments));
        EXPECT_TRUE(result.is_error) << arguments;
        EXPECT_EQ(*result.structured.get("error")->get("code"), Value("invalid_argument"));
        return result.text;
    }
};

TEST_F(Echo, ATypedToolRunsOnWhatFits) {
    EXPECT_EQ(call(parsed(R"({"name":"ada","count":2})")).structured, parsed(R"({"said":"ada2"})"));
}

TEST_F(Echo, WhatDoesNotFitIsRefusedByName) {
    EXPECT_NE(message(R"({"name":"ada","cuont":2})").find("'cuont'"), std::string::npos);
    EXPECT_NE(message(R"({"count":2})").find("name"), std::string::npos);
    EXPECT_NE(message(R"({"name":5})").find("name"), std::string::npos);
    EXPECT_NE(message(R"({"name":"a","count":10})").find("count"), std::string::npos);
    EXPECT_NE(message(R"({"name":"a","wanted":["finished"]})").find("running"), std::string::npos);
    EXPECT_NE(message("null").find("name"), std::string::npos)
        << "no arguments are an empty object";
    EXPECT_NE(message("[]").find("object"), std::string::npos);
}

TEST_F(Echo, AnObjectInAStringIsUnwrapped) {
    EXPECT_FALSE(call(parsed(R"({"name":"ada","extra":"{\"x\":1}"})")).is_error);
    EXPECT_FALSE(call(parsed(R"({"name":"{\"x\":1}"})")).is_error);
}

TEST(Refused, SaysFirstThatNothingWasChanged) {
    const ToolResult result =
        refused(Error(Errc::conflict, "content_mismatch", "line 4 differs", {{"start_line", 4}}));

    EXPECT_EQ(result.text, "Nothing was changed: line 4 differs.");
    EXPECT_EQ(result.structured, parsed(R"({"error":{"code":"conflict","reason":"content_mismatch",
        "message":"line 4 differs","details":{"start_line":4}}})"));
    EXPECT_TRUE(result.is_error);
}

TEST(Profiles, ReadBackAsTheyPrint) {
    for (const char* name : {"model", "full", "compat"})
        EXPECT_EQ(profile_name(*parse_profile(name)), name);
    EXPECT_NE(parse_profile("expert").error().message().find("compat"), std::string::npos);
}

}  // namespace
}  // namespace quire::tools
