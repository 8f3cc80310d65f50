#include "diagnostics/findings.h"

#include <random>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/utf8.h"
#include "json/json.h"

namespace quire::diagnostics {
namespace {

const RunPlace kPlace{"/w", "/w/build", "/w/src/a.cc"};

std::string shown(const std::vector<Finding>& findings) {
    List all;
    for (const Finding& each : findings) all.push_back(to_value(each));
    return json::write(all);
}
std::string parsed(std::string_view output) {
    return shown(parse_findings(output, kPlace));
}

TEST(Findings, FindingsOfGccAreReadWithTheirNotes) {
    EXPECT_EQ(parsed("In file included from ../src/b.h:3,\n"
                     "                 from /w/src/a.cc:1:\n"
                     "../src/c.h: In function 'int f()':\n"
                     "../src/c.h:7:12: error: expected ';' before '}' token\n"
                     "    7 |     return 1\n"
                     "      |            ^\n"
                     "/w/src/a.cc:4:9: warning: unused variable 'x' [-Wunused-variable]\n"
                     "/w/src/a.cc:3:5: note: declared here\n"
                     "b.h:2: note: and there\n"
                     "cc1plus: all warnings being treated as errors\n"),
              R"([{"path":"src/c.h","line":7,"column":12,"severity":"error",)"
              R"("message":"expected ';' before '}' token"},)"
              R"({"path":"src/a.cc","line":4,"column":9,"severity":"warning",)"
              R"("message":"unused variable 'x'","check":"-Wunused-variable",)"
              R"("notes":["src/a.cc:3:5: declared here","build/b.h:2: and there"]}])");
}

TEST(Findings, FindingsOfClangTidyAreReadToo) {
    EXPECT_EQ(parsed("2 warnings generated.\n"
                     "/w/src/a.cc:1:2: warning: do it so [bugprone-x,-warnings-as-errors]\n"
                     "/w/src/a.cc:2:2: error: no 'y' [clang-diagnostic-error]\n"
                     "/w/src/a.cc:3:2: error: z [-Werror,-Wshadow]\n"
                     "/w/src/a.cc:4:2: error: z [-Werror=shadow]\n"
                     "/w/src/a.cc:5:2: error: index [0] of [3 4]\n"),
              R"([{"path":"src/a.cc","line":1,"column":2,"severity":"warning",)"
              R"("message":"do it so","check":"bugprone-x"},)"
              R"({"path":"src/a.cc","line":2,"column":2,"severity":"error","message":"no 'y'",)"
              R"("check":"clang-diagnostic-error"},)"
              R"({"path":"src/a.cc","line":3,"column":2,"severity":"error","message":"z",)"
              R"("check":"-Wshadow"},)"
              R"({"path":"src/a.cc","line":4,"column":2,"severity":"error","message":"z",)"
              R"("check":"-Wshadow"},)"
              R"({"path":"src/a.cc","line":5,"column":2,"severity":"error",)"
              R"("message":"index [0] of [3 4]"}])");
}

TEST(Findings, APathOutsideIsKeptAndOddNamesAreRead) {
    EXPECT_EQ(parse_findings("/usr/include/x.h:1:2: error: m\n", kPlace)[0].path,
              "/usr/include/x.h");
    EXPECT_EQ(parse_findings("/ww/x.h:1:2: error: m\n", kPlace)[0].path, "/ww/x.h");
    const auto odd = parse_findings("/w/a: b:3.cc:1:2: error: m: note: n\n", kPlace);
    ASSERT_EQ(odd.size(), 1U);
    EXPECT_EQ(odd[0].path, "a: b:3.cc");
    EXPECT_EQ(odd[0].message, "m: note: n");
}

TEST(Findings, AProgramThatSpeaksForItselfSpeaksOfTheUnit) {
    const auto found = parse_findings(
        "g++: error: unrecognized option '-x'\n"
        "a.cc:9:1: fatal error: b.h: No such file or directory\n"
        "compilation terminated.\n",
        kPlace);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].path, "src/a.cc");
    EXPECT_EQ(found[0].line, 0);
    EXPECT_EQ(found[1].severity, Severity::error);
    EXPECT_EQ(found[1].message, "b.h: No such file or directory");
}

TEST(Findings, AFindingInAHeaderOfManyUnitsIsGivenOnce) {
    std::vector<Finding> all;
    for (const char* const unit : {"/w/src/b.cc", "/w/src/a.cc"}) {
        for (Finding& each : parse_findings(cat("/w/src/h.h:2:1: warning: w [-Wx]\n", unit,
                                                ":9:1: error: e\n/w/src/h.h:2:1: error: e\n"),
                                            {"/w", "/w", unit}))
            all.push_back(std::move(each));
    }
    sort_findings(all);
    std::string order;
    for (const Finding& each : all) order += cat(each.path, ":", each.line, each.message, " ");
    EXPECT_EQ(order, "src/a.cc:9e src/b.cc:9e src/h.h:2e src/h.h:2w ");
}

TEST(Findings, TheKeptFindingsAreBounded) {
    std::string output;
    for (int i = 0; i < 2000; ++i) output += cat("a.cc:", i + 1, ":1: error: e\n");
    EXPECT_EQ(parse_findings(output, kPlace).size(), kMostOfOneRun);
    output = "a.cc:1:1: error: e\n";
    for (int i = 0; i < 50; ++i) output += "a.cc:1:1: note: n\n";
    EXPECT_EQ(parse_findings(output, kPlace)[0].notes.size(), kMostNotes);
    const auto lengthy =
        parse_findings(cat("a.cc:1:1: error: ", std::string(5000, 'x'), "\n"), kPlace);
    EXPECT_EQ(lengthy[0].message.size(), kLongestText);
}

// A tool may write any bytes; the findings that are kept can always stand in a block.
TEST(Findings, AnyBytesGiveFindingsThatCanBeKept) {
    const std::uint32_t seed = std::random_device()();
    SCOPED_TRACE(cat("seed ", seed));
    std::mt19937 random(seed);
    const std::string_view pieces[] = {
        "a.cc", ":",         "1",    "99999999999", " ",      "error: ",
        "[",    "warning: ", "]",    "note: ",      "\n",     "\r\n",
        "\xFF", "\xE2\x80",  "\x1b", "[-Wx]",       "/w/../", "fatal error: "};
    for (int round = 0; round < 3000; ++round) {
        std::string output;
        for (auto i = random() % 60; i > 0; --i) output += pieces[random() % std::size(pieces)];
        output += '\0';
        for (const Finding& each : parse_findings(output, kPlace)) {
            for (const std::string& text : {each.path, each.message, each.check}) {
                EXPECT_TRUE(utf8::is_valid(text));
                EXPECT_EQ(text.find_first_of(std::string_view("\n\r\0\x1b", 4)), text.npos);
            }
            EXPECT_FALSE(each.path.empty());
            EXPECT_GE(each.line, 0);
        }
    }
}

}  // namespace
}  // namespace quire::diagnostics
