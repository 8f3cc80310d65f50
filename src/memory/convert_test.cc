#include "memory/convert.h"

#include <gtest/gtest.h>

#include "base/concat.h"
#include "json/json.h"
#include "memory/schema_form.h"

namespace quire::memory {
namespace {

BlockSchema schema_of(std::string_view form) {
    return parse_schema(json::parse(form).value()).value();
}

// "VALUE | moved: A>B … | lost: N | unset: …".
std::string converted(std::string_view from, std::string_view value, std::string_view to,
                      std::string_view mapping = "{}") {
    const Result<Conversion> out = convert(schema_of(from), json::parse(value).value(),
                                           schema_of(to), json::parse(mapping)->as_map());
    if (!out) return out.error().reason();
    std::string text = json::write(out->value);
    for (const Conversion::Move& each : out->moved) text += cat(" ", each.from, ">", each.to);
    if (!out->lost.empty()) text += cat(" lost ", out->lost.size());
    for (const std::string& each : out->unset) text += cat(" unset ", each);
    return text;
}

constexpr std::string_view kText = R"("Text")";
constexpr std::string_view kPerson = R"({"Map":{"fields":[
    {"name":"name","field_type":"Text","required":true},{"name":"age","field_type":"Number"},
    {"name":"likes","field_type":"List"},{"name":"is_here","field_type":"Boolean"},
    {"name":"notes","field_type":"Text"}]}})";

TEST(Convert, ATextIntoTheFieldsItSpeaksOf) {
    EXPECT_EQ(
        converted(kText, R"("Name: Ada\nAge: 36\nlikes:\n- tea\n- maps\nis here: yes\n")", kPerson),
        R"({"name":"Ada","age":36,"likes":["tea","maps"],"is_here":true})"
        " name>name age>age likes>likes is here>is_here");
    EXPECT_EQ(converted(kText, R"("Called: Ada\nborn long ago\nage: old\n")", kPerson,
                        R"({"name":"called","notes":"*"})"),
              R"({"name":"Ada","notes":"born long ago\n"} called>name *>notes lost 1)");
    EXPECT_EQ(converted(kText, R"("nothing of it\n")", kPerson), R"({} lost 1 unset name)");
    EXPECT_EQ(converted(kText, R"("")", kPerson), R"({} unset name)");
    EXPECT_EQ(converted(kText, R"("name: Ada\nnotes: one\nNotes: two\n")", kPerson),
              R"({"name":"Ada","notes":"one\ntwo"} name>name notes>notes)");
}

TEST(Convert, ATextIntoSections) {
    constexpr std::string_view to = R"({"Composite":{"sections":[
        {"name":"todo","schema":"List"},{"name":"notes","schema":"Text"},
        {"name":"who","schema":{"Map":{"fields":[{"name":"age","field_type":"Number"}]}}}]}})";
    EXPECT_EQ(
        converted(kText, R"("=== todo ===\n- [x] milk\n2. bread\n# Notes\nfree\n## who\nAge: 3\n")",
                  to),
        R"({"todo":["milk","bread"],"notes":"free\n","who":{"age":3}})"
        " todo>todo notes>notes who/age>who/age");
    EXPECT_EQ(converted(kText, R"("loose\n# todo\nx\n")", to, R"({"notes":"*"})"),
              R"({"todo":["x"],"notes":"loose\n","who":{}} todo>todo *>notes)");
}

TEST(Convert, BetweenListsAndLogsAndTexts) {
    constexpr std::string_view tasks = R"({"List":{"max_items":2,"item_schema":{"Map":{"fields":[
        {"name":"title","field_type":"Text","required":true},
        {"name":"done","field_type":"Boolean"}]}}}})";
    EXPECT_EQ(converted(kText, R"("- [x] one\n- two\n\n- three\n")", tasks),
              R"([{"title":"one","done":true},{"title":"two"}] > lost 1)");
    EXPECT_EQ(converted("\"List\"", R"(["a",1])", kText), R"("- a\n- 1\n" >)");
    EXPECT_EQ(converted(kText, R"("* a\nb\n")", R"({"Log":{}})"), R"(["a","b"] >)");
    EXPECT_EQ(converted(R"({"Log":{}})",
                        R"([{"timestamp":"2025-01-01","agent_id":"x","message":"m"}])", tasks),
              "[] > lost 1");
    EXPECT_EQ(
        converted(R"({"Log":{}})", R"([{"timestamp":"2025-01-01","agent_id":"x","message":"m"}])",
                  R"({"Log":{"entry_schema":{"timestamp":true,"agent_id":true,"fields":[
                            {"name":"message","field_type":"Text","required":true}]}}})"),
        R"([{"message":"m","timestamp":"2025-01-01","agent_id":"x"}] >)");
}

TEST(Convert, FieldsAndSectionsIntoATextAndBack) {
    const std::string_view values = R"({"name":"Ada","likes":["tea","maps"],"is_here":true})";
    const std::string_view text = R"("name: Ada\nlikes:\n- tea\n- maps\nis_here: true\n")";
    EXPECT_EQ(converted(kPerson, values, kText), cat(text, " >"));
    EXPECT_EQ(converted(kText, text, kPerson),
              cat(values, " name>name likes>likes is here>is_here"));
    EXPECT_EQ(converted(R"({"Composite":{"sections":[{"name":"a","schema":"Text"},
                            {"name":"b","schema":"List"}]}})",
                        R"({"a":"one","b":["x"]})", kText),
              R"("a: one\nb:\n- x\n" >)");
}

TEST(Convert, FieldsAreRenamedByTheMapping) {
    constexpr std::string_view from = R"({"Map":{"fields":[{"name":"state","field_type":"Text"},
        {"name":"n","field_type":"Text"},{"name":"old","field_type":"Number"}]}})";
    constexpr std::string_view to = R"({"Map":{"fields":[{"name":"status","field_type":"Text"},
        {"name":"n","field_type":"Counter","default":2}]}})";
    EXPECT_EQ(converted(from, R"({"state":"busy","n":"7","old":1})", to, R"({"status":"state"})"),
              R"({"n":7,"status":"busy"} state>status n>n lost 1)");
    EXPECT_EQ(converted(from, R"({"n":"seven"})", to), R"({"n":2} lost 1)");
    EXPECT_EQ(converted(from, "{}", to, R"({"status":"nowhere"})"), "invalid_mapping");
    EXPECT_EQ(converted(from, "{}", to, R"({"nowhere":"state"})"), "invalid_mapping");
    EXPECT_EQ(converted(from, "{}", to, R"({"status":1})"), "invalid_mapping");
}

TEST(Convert, AddedFieldsNeedNoConversion) {
    const auto additive = [](std::string_view from, std::string_view to) {
        return is_additive(schema_of(from), schema_of(to));
    };
    constexpr std::string_view one = R"({"Map":{"fields":[{"name":"a","field_type":"Text"}]}})";
    constexpr std::string_view two = R"({"Map":{"fields":[{"name":"b","field_type":"List"},
        {"name":"a","description":"new","field_type":"Text"}]}})";
    EXPECT_TRUE(additive(one, two));
    EXPECT_FALSE(additive(two, one));
    EXPECT_FALSE(additive(one, kText));
    EXPECT_FALSE(
        additive(one, R"({"Map":{"fields":[{"name":"a","field_type":"Text","required":true}]}})"));
    EXPECT_TRUE(additive(R"({"List":{"max_items":3}})", "\"List\""));
    EXPECT_FALSE(additive("\"List\"", R"({"List":{"max_items":3}})"));
    EXPECT_TRUE(additive(R"({"Composite":{"sections":[{"name":"s","schema":"Text"}]}})",
                         R"({"Composite":{"sections":[{"name":"t","schema":"Log"},
                             {"name":"s","schema":"Text"}]}})"));
}

TEST(Convert, ReadOnlyPartsMustStayUnchanged) {
    const auto breach = [](std::string_view from, std::string_view value, std::string_view to,
                           std::string_view now) {
        const auto found = read_only_breach(schema_of(from), json::parse(value).value(),
                                            schema_of(to), json::parse(now).value());
        return found ? found->name : std::string();
    };
    constexpr std::string_view from = R"({"Map":{"fields":[
        {"name":"origin","field_type":"Text","read_only":true},{"name":"a","field_type":"Text"}]}})";
    constexpr std::string_view open = R"({"Map":{"fields":[
        {"name":"origin","field_type":"Text"},{"name":"a","field_type":"Text"}]}})";
    EXPECT_EQ(breach(from, R"({"origin":"x","a":"y"})", from, R"({"origin":"x","a":"z"})"), "");
    EXPECT_EQ(breach(from, R"({"origin":"x"})", open, R"({"origin":"x"})"), "origin");
    EXPECT_EQ(breach(from, R"({"origin":"x"})", from, R"({"origin":"y"})"), "origin");
    EXPECT_EQ(breach(from, R"({"origin":"x"})", kText, R"("origin: x")"), "origin");
    EXPECT_EQ(breach(open, R"({"origin":"x"})", from, R"({"origin":"x"})"), "origin");
    EXPECT_EQ(breach(open, R"({"a":"x"})", from, R"({"a":"x"})"), "");
}

}  // namespace
}  // namespace quire::memory
