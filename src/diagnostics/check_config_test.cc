#include "diagnostics/check_config.h"

#include <chrono>

#include <gtest/gtest.h>

#include "base/concat.h"
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

TEST(CheckConfig, AConfigThatCannotBeFollowedIsNamed) {
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
    for (const memory::Field& field : config_fields()) all.append(field.name, *field.default_value);
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

TEST(CheckConfig, PatternsAreBoundedInLengthNumberAndSum) {
    const auto globs = [](const char* field, std::size_t number, const std::string& glob) {
        List all(number, Value(glob));
        return Value(Map{{field, std::move(all)}});
    };
    CheckConfig out;
    for (const char* const field : {"paths", "checks"}) {
        EXPECT_FALSE(CheckConfig::read(globs(field, 16, std::string(256, 'a')), out));
        EXPECT_FALSE(CheckConfig::read(globs(field, 64, std::string(64, 'a')), out));
        const struct {
            std::size_t number;
            std::string glob;
            const char* said;
        } rows[] = {
            {1, std::string(257, 'a'), "a glob of 257 bytes"},
            {65, "a", "65 globs"},
            {64, std::string(8192, '*'), "a glob of 8192 bytes"},
            {17, std::string(256, 'a'), "4352 bytes of globs"},
            // Braces multiply: this counts like 64 globs of 100 bytes.
            {1, "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}" + std::string(70, 'a'), "6400 bytes of globs"}};
        for (const auto& row : rows) {
            const auto fault = CheckConfig::read(globs(field, row.number, row.glob), out);
            ASSERT_TRUE(fault) << row.said;
            EXPECT_EQ(fault->field, field);
            EXPECT_EQ(fault->value, Value(row.said));
            EXPECT_NE(fault->allowed.find("at most 64 globs of at most 256 bytes"),
                      std::string::npos);
        }
    }
    // Both lists are one sum.
    Value both = globs("paths", 10, std::string(256, 'a'));
    both.as_map().set("checks", List(10, Value(std::string(256, 'a'))));
    EXPECT_EQ(CheckConfig::read(both, out)->field, "checks");
}

TEST(CheckConfig, PathsWithoutEndAreNotMatchedWithoutEnd) {
    // 40,000 paths of 600 bytes against 4 KiB of globs: 10^11 steps, were each matched.
    std::vector<Finding> all;
    for (int i = 0; i < 40'000; ++i)
        all.push_back(finding(cat(i, std::string(600, 'a')), Severity::warning));
    CheckConfig wanted;
    List globs(16, Value("**" + std::string(253, 'a') + "b"));
    ASSERT_FALSE(CheckConfig::read(Value(Map{{"paths", std::move(globs)}}), wanted));
    const auto began = std::chrono::steady_clock::now();
    EXPECT_LT(show(all, wanted).matching, all.size());
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
}

}  // namespace
}  // namespace quire::diagnostics
