#include "diagnostics/compile_commands.h"

#include <random>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "json/json.h"

namespace quire::diagnostics {
namespace {

using Words = std::vector<std::string>;

std::string reason(std::string_view text) {
    const auto units = parse_compile_commands(text, "/base");
    return units ? "fine" : units.error().reason();
}

TEST(CompileCommands, ACommandIsSplitAsAShellSplitsIt) {
    const struct {
        const char* command;
        Words words;
    } rows[] = {{"g++ -c a.cc", {"g++", "-c", "a.cc"}},
                {"  g++\t-c \n a.cc ", {"g++", "-c", "a.cc"}},
                {R"(g++ "-DX=\"a b\"" -c 'it''s'.cc)", {"g++", "-DX=\"a b\"", "-c", "its.cc"}},
                {R"(g++ -DA=\"q\" a\ b.cc)", {"g++", "-DA=\"q\"", "a b.cc"}},
                {R"(g++ '-D$X' "\n" $(rm) ; >x)", {"g++", "-D$X", "\\n", "$(rm)", ";", ">x"}},
                {"g++ '' \"\"", {"g++", "", ""}},
                {"", {}}};
    for (const auto& row : rows) EXPECT_EQ(split_words(row.command).value(), row.words);
    EXPECT_EQ(split_words("g++ 'a").error().reason(), "invalid_command");
    EXPECT_EQ(split_words("g++ \"a").error().reason(), "invalid_command");
}

TEST(CompileCommands, BothFormsAreOneUnitWithAbsolutePaths) {
    const auto units = parse_compile_commands(R"([
        {"directory": "/w/build", "command": "c++ -c ../src/a.cc -o a.o", "file": "../src/a.cc"},
        {"directory": "build", "arguments": ["c++", "-c", "b c.cc"], "file": "./b c.cc", "output": "x"},
        {"directory": "/w/build", "command": "c++  -c ../src/a.cc -o a.o", "file": "/w/src/a.cc"}])",
                                              "/base");
    ASSERT_TRUE(units);
    ASSERT_EQ(units->size(), 2U);  // The third is the first, written otherwise.
    EXPECT_EQ((*units)[0].directory, "/w/build");
    EXPECT_EQ((*units)[0].file, "/w/src/a.cc");
    EXPECT_EQ((*units)[1].directory, "/base/build");
    EXPECT_EQ((*units)[1].file, "/base/build/b c.cc");
    EXPECT_EQ((*units)[1].arguments, (Words{"c++", "-c", "b c.cc"}));
}

TEST(CompileCommands, AWrongEntryIsRefusedByItsNumber) {
    for (const char* const text :
         {"", "{", "{}", "[1]", R"([{"file": "a", "command": "c"}])",
          R"([{"directory": "/", "command": "c"}])", R"([{"directory": "/", "file": "a"}])",
          R"([{"directory": "/", "file": "a", "command": ""}])",
          R"([{"directory": "/", "file": "a", "command": "c 'x"}])",
          R"([{"directory": "/", "file": "a", "arguments": []}])",
          R"([{"directory": "/", "file": "a", "arguments": "c"}])",
          R"([{"directory": "/", "file": "a", "arguments": [1]}])",
          R"([{"directory": "/", "file": "a", "arguments": ["c\u0000d"]}])"})
        EXPECT_EQ(reason(text), "invalid_compile_commands") << text;
    const auto second = parse_compile_commands(
        R"([{"directory": "/", "file": "a", "command": "c"}, {"directory": "/"}])", "/");
    EXPECT_EQ(
        second.error().message(),
        "entry 1 of compile_commands.json cannot be used: `file` is missing; it must be a string");
}

TEST(CompileCommands, ACheckMakesNothingButADepfile) {
    const CompileUnit unit{"/w/build",
                           "/w/a.cc",
                           {"ccache",
                            "/usr/bin/c++",
                            "-I../x",
                            "-MD",
                            "-MT",
                            "t",
                            "-MF",
                            "a.d",
                            "-MQtarget",
                            "-oa.o",
                            "-o",
                            "a.o",
                            "-Wp,-MMD,x.d",
                            "-save-temps",
                            "--coverage",
                            "-fstack-usage",
                            "-fdump-tree-original",
                            "-aux-info",
                            "f",
                            "-fopt-info-all=f",
                            "-time=f",
                            "-c",
                            "-std=c++20",
                            "/w/a.cc"}};
    EXPECT_EQ(check_command(unit, "", "/tmp/d"),
              (Words{"/usr/bin/c++", "-I../x", "-std=c++20", "/w/a.cc", "-fsyntax-only",
                     "-fno-diagnostics-show-caret", "-fdiagnostics-color=never", "-MD", "-MF",
                     "/tmp/d"}));
    EXPECT_EQ(check_command(unit, "clang++", "/tmp/d").front(), "clang++");
    EXPECT_EQ(tidy_command(unit, "clang-tidy", "/w/build", ""),
              (Words{"clang-tidy", "--quiet", "--use-color=false",
                     "--extra-arg=-Wno-unknown-warning-option", "--config={}", "-p", "/w/build",
                     "/w/a.cc"}));
    EXPECT_EQ(tidy_command(unit, "clang-tidy", "/w/build", "/w/.clang-tidy")[4],
              "--config-file=/w/.clang-tidy");
    // A program that is called like a launcher and nothing else is the program.
    EXPECT_EQ(check_command({"/", "/a", {"ccache"}}, "", "d").front(), "ccache");
}

TEST(CompileCommands, HeadersAreLookedForBesideTheFileAndWhereTheFlagsSay) {
    const CompileUnit unit{
        "/w/build", "/w/src/a.cc", {"c++", "-I../x", "-I", "y", "-isystem", "/z", "-iquoteq"}};
    EXPECT_EQ(include_directories(unit),
              (Words{"/w/src", "/w/x", "/w/build/y", "/z", "/w/build/q"}));
}

TEST(CompileCommands, ADepfileNamesWhatWasRead) {
    EXPECT_EQ(parse_depfile("a.o: a.cc b\\ c.h \\\n ../d.h \\\r\n e$$f.h\n\nx.h:\ny.h:\n"),
              (Words{"a.cc", "b c.h", "../d.h", "e$f.h"}));
    EXPECT_EQ(parse_depfile(""), Words{});
    EXPECT_EQ(parse_depfile("no rule here"), Words{});
}

// Random bytes, and bytes that nearly are what is expected: nothing but a Result comes of them.
TEST(CompileCommands, AnyBytesAreReadOrRefused) {
    const std::uint32_t seed = std::random_device()();
    SCOPED_TRACE(cat("seed ", seed));
    std::mt19937 random(seed);
    const std::string_view letters = "[]{}\":,\\'\" \n-cofile/.x\xC3\xFF$:";
    const std::string good =
        R"([{"directory": "/w", "command": "c++ -c 'a b.cc' -o a.o", "file": "a b.cc"}])";
    for (int round = 0; round < 3000; ++round) {
        std::string bytes = round % 2 == 0 ? good : std::string();
        for (auto i = random() % 40; i > 0; --i) {
            const char c = letters[random() % letters.size()];
            const std::size_t at = random() % (bytes.size() + 1);
            if (round % 2 == 0 && at < bytes.size()) {
                bytes[at] = c;
            } else {
                bytes.insert(at, 1, c);
            }
        }
        if (const auto units = parse_compile_commands(bytes, "/base")) {
            for (const CompileUnit& unit : *units) {
                EXPECT_EQ(unit.file.front(), '/');
                EXPECT_FALSE(unit.arguments.empty());
                EXPECT_GE(check_command(unit, "", "d").size(), 6U);
            }
        }
        static_cast<void>(split_words(bytes));
        static_cast<void>(parse_depfile(bytes));
    }
}

}  // namespace
}  // namespace quire::diagnostics
