#include "diagnostics/check_config.h"

#include <gtest/gtest.h>

#include "json/json.h"

namespace quire::diagnostics {
namespace {

// "fine", or the field that is wrong.
std::string wrong(std::string_view config) {
    CheckConfig out;
    const auto fault = CheckConfig::read(json::parse(config).value(), out);
    if (!fault) return "fine";
    EXPECT_FALSE(fault->allowed.empty());
    return fault->field;
}
CheckConfig config(std::string_view text) {
    CheckConfig out;
    EXPECT_FALSE(CheckConfig::read(json::parse(text).value(), out));
    return out;
}

Finding finding(std::string path, Severity severity, std::string check = "") {
    Finding out;
    out.path = std::move(path);
    out.severity = severity;
    out.check = std::move(check);
    return out;
}

TEST(CheckConfig, WhatCannotBeFollowedIsNamed) {
    for (const char* const fine :
         {"{}", R"({"enabled": false, "minimum_severity": "note", "paths": ["src/**", "*.h"],
                    "checks": ["-W*", "!bugprone-*"], "most": 500})",
          R"({"most": 1.0})"})
        EXPECT_EQ(wrong(fine), "fine") << fine;
    EXPECT_EQ(wrong(R"({"enabled": 1})"), "enabled");
    for (const char* const text : {R"({"minimum_severity": "fatal"})", R"({"minimum_severity": 1})",
                                   R"({"minimum_severity": ""})"})
        EXPECT_EQ(wrong(text), "minimum_severity");
    for (const char* const text : {R"({"most": 0})", R"({"most": 501})", R"({"most": 1.5})",
                                   R"({"most": "1"})", R"({"most": 1e300})", R"({"most": -1})"})
        EXPECT_EQ(wrong(text), "most") << text;
    for (const char* const text :
         {R"({"paths": "src"})", R"({"paths": [1]})", R"({"paths": ["../x"]})",
          R"({"paths": ["a/../../x"]})", R"({"paths": ["[a"]})", R"({"paths": [""]})"})
        EXPECT_EQ(wrong(text), "paths") << text;
    for (const char* const text : {R"({"checks": ["a/b"]})", R"({"checks": ["!"]})",
                                   R"({"checks": {}})", R"({"checks": ["[a"]})"})
        EXPECT_EQ(wrong(text), "checks") << text;
    const Value many = Map{{"paths", List(kMostPatterns + 1, Value("a"))}};
    CheckConfig out;
    EXPECT_EQ(CheckConfig::read(many, out)->field, "paths");
}

TEST(CheckConfig, TheDefaultsOfTheFieldsAreThoseOfNoConfig) {
    Map all;
    for (const schema::Field& field : config_fields()) all.append(field.name, *field.default_value);
    EXPECT_EQ(wrong(json::write(all)), "fine");
    const CheckConfig read = config(json::write(all));
    EXPECT_EQ(read.enabled, CheckConfig().enabled);
    EXPECT_EQ(read.most, CheckConfig().most);
    EXPECT_EQ(read.minimum_severity, CheckConfig().minimum_severity);
}

TEST(CheckConfig, PathsAndChecksChooseAndErrorsComeWhateverTheirCheck) {
    const CheckConfig some = config(
        R"({"paths": ["src/**"], "checks": ["-W*", "!-Wshadow"], "minimum_severity": "note"})");
    EXPECT_TRUE(some.has(finding("src/a.cc", Severity::warning, "-Wunused")));
    EXPECT_FALSE(some.has(finding("src/a.cc", Severity::warning, "-Wshadow")));
    EXPECT_FALSE(some.has(finding("src/a.cc", Severity::warning, "bugprone-x")));
    EXPECT_FALSE(some.has(finding("src/a.cc", Severity::warning)));
    EXPECT_TRUE(some.has(finding("src/a.cc", Severity::error, "-Wshadow")));
    EXPECT_FALSE(some.has(finding("tests/a.cc", Severity::error)));
    EXPECT_FALSE(some.has_path("/usr/include/x.h"));
    EXPECT_TRUE(config("{}").has(finding("/usr/include/x.h", Severity::note)));
}

TEST(CheckConfig, TheGravestAreShownFirstAndNoMoreThanAsked) {
    const std::vector<Finding> all = {finding("a", Severity::warning), finding("b", Severity::note),
                                      finding("c", Severity::error),
                                      finding("d", Severity::warning)};
    Shown shown = show(all, config(R"({"most": 2})"));
    EXPECT_EQ(shown.errors, 1U);
    EXPECT_EQ(shown.warnings, 2U);
    EXPECT_EQ(shown.matching, 3U);
    ASSERT_EQ(shown.findings.size(), 2U);
    EXPECT_EQ(shown.findings[0].path, "c");
    EXPECT_EQ(shown.findings[1].path, "a");
    shown = show(all, config(R"({"minimum_severity": "error"})"));
    EXPECT_EQ(shown.warnings, 2U);
    EXPECT_EQ(shown.matching, 1U);
}

}  // namespace
}  // namespace quire::diagnostics
