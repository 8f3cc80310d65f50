#include "tools/typed_tool.h"

#include <gtest/gtest.h>

#include "base/concat.h"
#include "json/json.h"
#include "json/schema/schema.h"

namespace quire::tools {
namespace {

struct Args {
    std::string name;
    std::size_t count = 3;
    std::vector<conversation::Status> wanted;
    Map extra;
};

Fields<Args> fields() {
    return Fields<Args>()
        .required("name", &Args::name, "Who.")
        .optional("count", &Args::count, "", {{"minimum", 1}, {"maximum", 9}})
        .optional("wanted", &Args::wanted)
        .optional("extra", &Args::extra);
}

struct Answer {
    std::string said;
    std::optional<std::string> aside;
};

Fields<Answer> answer() {
    return Fields<Answer>().required("said", &Answer::said).optional("aside", &Answer::aside);
}

Value parsed(std::string_view text) {
    return *json::parse(text);
}

class Echo : public testing::Test {
protected:
    // Checks the arguments against the schema first, like the registry.
    EncodedResult call(Value arguments) {
        if (arguments.is_null()) arguments = Map{};
        const json::Schema schema =
            std::move(*json::Schema::compile(tool->info().input_schema, {.strict = true}));
        Result<Value> accepted = schema.accept(std::move(arguments));
        if (!accepted) return encoded(refused(accepted.error()));
        std::optional<EncodedResult> answer;
        tool->call({}, std::move(*accepted),
                   [&](Result<ToolResult> result) { answer = encoded(std::move(*result)); });
        return std::move(*answer);
    }
    const std::unique_ptr<const Tool> tool = make_tool<Args>(
        {.name = "echo", .title = "Echo", .description = "Says a name.", .annotations = {}},
        fields(), answer(), [](const Session&, const Args& args, Reply<Answered<Answer>> reply) {
            if (args.name.empty()) return reply(invalid("no_name", "there is no name"));
            reply(Answered<Answer>{{cat(args.name, args.count), {}}, args.name});
        });
    std::string message(std::string_view arguments) {
        const EncodedResult result = call(parsed(arguments));
        EXPECT_TRUE(result.is_error) << arguments;
        EXPECT_EQ(*result.structured.get("error")->get("code"), Value("invalid_argument"));
        return result.text;
    }
};

TEST_F(Echo, ATypedToolRunsOnArgumentsThatFit) {
    const EncodedResult result = call(parsed(R"({"name":"ada","count":2})"));

    EXPECT_EQ(result.structured, parsed(R"({"said":"ada2"})"));
    EXPECT_EQ(result.text, "ada");
    EXPECT_FALSE(result.is_error);
}

TEST_F(Echo, AnErrorIsARefusal) {
    const EncodedResult result = call(parsed(R"({"name":""})"));

    EXPECT_TRUE(result.is_error);
    EXPECT_EQ(*result.structured.get("error")->get("reason"), Value("no_name"));
}

TEST_F(Echo, TheOutputSchemaAllowsTheAnswerOrARefusal) {
    EXPECT_EQ(tool->info().output_schema, parsed(R"({"type":"object",
        "properties":{"said":{"type":"string"},"aside":{"type":"string"}},
        "anyOf":[{"required":["said"]},{"required":["error"]}]})"));
}

TEST_F(Echo, AnArgumentThatDoesNotFitIsNamed) {
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

TEST(OneOf, HasTheMembersOfAllFormsAndRequiresThoseThatEachRequires) {
    struct Counted {
        std::size_t said = 0;
        std::vector<std::string> names;
        std::optional<std::string> aside;
    };
    const auto counted = Fields<Counted>()
                             .required("said", &Counted::said)
                             .required("names", &Counted::names)
                             .required("aside", &Counted::aside);

    EXPECT_EQ(Value(one_of({answer().schema(), counted.schema()})), parsed(R"({"type":"object",
        "properties":{"said":{},"aside":{"type":"string"},
                      "names":{"type":"array","items":{"type":"string"}}},"required":["said"]})"));
    EXPECT_EQ(Value(one_of({answer().schema(), {}})), parsed(R"({"type":"object",
        "properties":{"said":{"type":"string"},"aside":{"type":"string"}}})"));
    // Bounds, and whether other members are allowed, are not published for answers.
    EXPECT_EQ(or_refusal(counted.schema()), parsed(R"({"type":"object",
        "properties":{"said":{"type":"integer"},"names":{"type":"array","items":{"type":"string"}},
                      "aside":{"type":"string"}},
        "anyOf":[{"required":["said","names","aside"]},{"required":["error"]}]})"));
}

TEST(Refused, SaysFirstThatNothingWasChanged) {
    const EncodedResult result = encoded(
        refused(Error(Errc::conflict, "content_mismatch", "line 4 differs", {{"start_line", 4}})));

    EXPECT_EQ(result.text, "Nothing was changed: line 4 differs.");
    EXPECT_EQ(result.structured, parsed(R"({"error":{"code":"conflict","reason":"content_mismatch",
        "message":"line 4 differs","details":{"start_line":4}}})"));
    EXPECT_TRUE(result.is_error);
}

TEST(Profiles, ReadBackAsTheyPrint) {
    for (const char* name : {"model", "full", "compat"})
        EXPECT_EQ(name_of(*parse_enum<Profile>("profile", name)), name);
    EXPECT_NE(parse_enum<Profile>("profile", "expert").error().message().find("compat"),
              std::string::npos);
}

}  // namespace
}  // namespace quire::tools
