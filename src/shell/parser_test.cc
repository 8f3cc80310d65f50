#include "shell/parser.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/share_for_test.h"
#include "base/test_directory.h"
#include "shell/scripts_for_test.h"

namespace quire::shell {
namespace {

std::string reason(std::string_view script, const ParseLimits& limits = {}) {
    const Result<Script> parsed = parse(script, limits);
    return parsed ? "" : parsed.error().reason();
}

// The words of a simple command that is the only one of a script, their parts as "text", or 'text'
// where they are quoted.
std::string words_of(std::string_view script) {
    const Result<Script> parsed = parse(script);
    if (!parsed) return parsed.error().message();
    std::string out;
    for (const Word& word : parsed->list.items.at(0).pipelines.at(0).commands.at(0).words) {
        out += out.empty() ? "" : " ";
        for (const Part& part : word.parts) {
            if (part.kind == PartKind::parameter) out += cat("$", part.text, part.operation);
            if (part.kind == PartKind::command) out += "$()";
            if (part.kind == PartKind::arithmetic) out += "$(())";
            if (part.kind == PartKind::process) out += cat(part.operation, "()");
            if (part.kind == PartKind::literal)
                out += part.quoted ? cat("'", part.text, "'") : part.text;
        }
    }
    return out;
}

TEST(Parser, ReadsWordsWithTheirQuotes) {
    EXPECT_EQ(words_of("echo a 'b c' \"d $e\""), "echo a 'b c' 'd '$e");
    EXPECT_EQ(words_of("r\\\nm README.md"), "rm README.md");
    EXPECT_EQ(words_of("$'\\x72\\155' $'\\u00e9'"), "'rm' 'é'");
    EXPECT_EQ(words_of("a\\ b \\$x \"\\$x \\a\""), "a' 'b '$'x '$x \\a'");
    EXPECT_EQ(words_of("${x:-a b} ${#x} ${!x} ${x@P} ${a[1]}"), "$x:- $x# $x! $x@ $a[");
    EXPECT_EQ(words_of("`a` $(b) $((1 + (2))) $((a) ) <(c) x"), "$() $() $(()) $() <() x");
    EXPECT_EQ(words_of("a\rb c"), "a\rb c");
    EXPECT_EQ(words_of("\"\" ''"), "'' ''");
    EXPECT_EQ(words_of("echo a#b # c"), "echo a#b");
    EXPECT_EQ(words_of("\"a $(echo \")\" ) b\""), "'a '$()' b'");
}

TEST(Parser, ReadsHereDocumentsAtTheNextNewline) {
    const Result<Script> parsed = parse("cat <<A <<-'B' >c\n$x\nA\n\t$y\n\tB\nls");
    ASSERT_TRUE(parsed) << parsed.error().message();
    const Command& cat = parsed->list.items.at(0).pipelines.at(0).commands.at(0);
    ASSERT_EQ(cat.redirects.size(), 3U);
    EXPECT_EQ(cat.redirects[0].target->parts.at(0).kind, PartKind::parameter);
    EXPECT_EQ(cat.redirects[1].target->parts.at(0).text, "$y\n");
    EXPECT_EQ(parsed->list.items.size(), 2U);
}

TEST(Parser, NamesTheLineOfAnError) {
    const Result<Script> parsed = parse("echo a\necho b\nif true; fi");
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().reason(), "syntax_error");
    EXPECT_EQ(*parsed.error().details().find("line"), Value(3));
    EXPECT_EQ(parsed.error().message(),
              "line 3 of the command has 'fi' where a command is expected");
}

TEST(Parser, HasLimits) {
    std::string deep;
    for (int i = 0; i < 200; ++i) deep += "(";
    EXPECT_EQ(reason(deep), "too_complex");
    std::string quoted = "x";
    for (int i = 0; i < 100; ++i) quoted = cat("$(", quoted, ")");
    EXPECT_EQ(reason(quoted), "too_complex");
    EXPECT_EQ(reason(std::string(300'000, 'x')), "too_complex");
    std::string many;
    for (int i = 0; i < 60'000; ++i) many += "a;";
    EXPECT_EQ(reason(many), "too_complex");
    EXPECT_EQ(reason(std::string_view("a\0b", 3)), "syntax_error");
}

TEST(Parser, NestedExpressionsHaveALimit) {
    for (const std::string_view token : {"$[", "$((", "\"$[", "$[ $(( "}) {
        std::string script = "echo ";
        while (script.size() < 200'000 / kRoundsShare) script += token;
        EXPECT_EQ(reason(script), "too_complex") << token;
    }
}

// A look ahead that begins anew at each byte, or at each "((", would take minutes here.
TEST(Parser, ReadsManyOfOneTokenInBoundedTime) {
    const ParseLimits limits{.bytes = 1 << 18};
    for (const std::string_view token : kTokens) {
        std::string script;
        while (script.size() < 200'000 / kRoundsShare) script += token;
        (void)reason(script, limits);
        const auto began = std::chrono::steady_clock::now();
        (void)reason(cat("echo ", script), limits);
        EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5)) << token;
    }
}

TEST(Parser, NamesOfLoopsAndFunctionsHaveAnyLength) {
    EXPECT_EQ(reason("for deployment_target in a b; do echo $deployment_target; done"), "");
    EXPECT_EQ(reason("select deployment_target in a b; do break; done"), "");
    EXPECT_EQ(reason("function deployment-target-of { ls; }"), "");
    EXPECT_EQ(reason("function deployment_target_of() { ls; }"), "");
    EXPECT_EQ(reason("coproc deployment_target { ls; }"), "");
}

TEST(Parser, TakesTheScriptsOfEverydayLife) {
    for (const std::string_view script : kGoodScripts) EXPECT_EQ(reason(script), "") << script;
}

TEST(Parser, RefusesWhatIsNoScript) {
    for (const std::string_view script : kBadScripts)
        EXPECT_EQ(reason(script), "syntax_error") << script;
}

// --- beside bash -------------------------------------------------------------------------------

// Which of the scripts bash accepts, by one process of bash that reads them from files.
std::vector<bool> accepted_by_bash(const std::vector<std::string>& scripts) {
    const TestDirectory directory;
    std::ofstream driver(directory / "driver");
    for (std::size_t i = 0; i < scripts.size(); ++i) {
        directory.put(cat("s", i), scripts[i]);
        driver << "if bash -n s" << i << " 2>e" << i << " && [ ! -s e" << i
               << " ]; then echo 1; else echo 0; fi\n";
    }
    driver.close();
    const std::string command =
        cat("cd ", directory.path(), " && LC_ALL=C.UTF-8 bash driver > answers");
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::ifstream answers(directory / "answers");
    std::vector<bool> out;
    for (char c = 0; answers.get(c);) {
        if (c != '\n') out.push_back(c == '1');
    }
    return out;
}

bool has_bash() {
    return std::system("command -v bash >/dev/null 2>&1") == 0;
}

// Good scripts with a few bytes taken out, put in or doubled.
std::vector<std::string> mutated(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
    };
    constexpr std::string_view kBytes = "(){}[];&|<>'\"`$\\\n #!=*?ifdo \t";
    std::vector<std::string> out;
    while (out.size() < count) {
        std::string script(kGoodScripts[below(std::size(kGoodScripts))]);
        for (std::size_t i = 0; i <= below(3); ++i) {
            const std::size_t at = below(script.size() + 1);
            switch (below(4)) {
                case 0:
                    script.insert(at, 1, kBytes[below(kBytes.size())]);
                    break;
                case 1:
                    script.erase(at, below(3) + 1);
                    break;
                case 2:
                    script.insert(at, script.substr(at / 2, below(6)));
                    break;
                default:
                    if (at < script.size()) script[at] = kBytes[below(kBytes.size())];
            }
        }
        out.push_back(std::move(script));
    }
    return out;
}

// A script that bash rejects is rejected. The other way round a few constructs are rejected on purpose, so
// their share has a bound.
TEST(Parser, RejectsWhatBashRejects) {
    if (!has_bash()) GTEST_SKIP() << "bash is not installed";
    const bool is_long = std::getenv("QUIRE_LONG") != nullptr;
    std::vector<std::string> scripts = mutated(is_long ? 50'000 : 1'500, is_long ? 99 : 7);
    scripts.insert(scripts.end(), std::begin(kGoodScripts), std::end(kGoodScripts));
    scripts.insert(scripts.end(), std::begin(kBadScripts), std::end(kBadScripts));
    const std::vector<bool> accepted = accepted_by_bash(scripts);
    ASSERT_EQ(accepted.size(), scripts.size());
    std::size_t good = 0;
    std::size_t stricter = 0;
    for (std::size_t i = 0; i < scripts.size(); ++i) {
        const bool ours = reason(scripts[i]).empty();
        EXPECT_TRUE(accepted[i] || !ours) << "bash rejects:\n" << scripts[i];
        good += accepted[i] ? 1 : 0;
        stricter += accepted[i] && !ours ? 1 : 0;
        if (accepted[i] && !ours && is_long) std::printf("stricter: %s\n", scripts[i].c_str());
    }
    std::printf("%zu scripts, bash accepts %zu; %zu of those are rejected here\n", scripts.size(),
                good, stricter);
    EXPECT_LT(stricter * 20, good);
}

}  // namespace
}  // namespace quire::shell
