// The source with the tools themselves: the machine's compiler and clang-tidy.
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "diagnostics/feed_bench_for_test.h"

namespace quire::diagnostics {
namespace {

// With the tools themselves.
class RealTool {
public:
    explicit RealTool(std::string tool, std::set<std::string> theirs = {})
        : source_({.root = project.path(),
                   .compile_commands = "compile_commands.json",
                   .tool = std::move(tool),
                   .scratch = project.path() + "/.scratch",
                   .agents_write = [theirs = std::move(theirs)](
                                       const std::string& path) { return theirs.contains(path); }},
                  workers_, clock_) {
        project.list({"src/a.cc"});
    }
    Value run() {
        source_.run(Map{});
        workers_.run_all();
        return *source_.feed(Map{}).get("diagnostics");
    }
    Project project;

private:
    sched::ManualScheduler workers_;
    SystemClock clock_;
    DiagnosticsFeed source_;
};

TEST(DiagnosticsFeed, TheCompilerOfTheEntryIsUnderstood) {
    RealTool real("");
    real.project.write("src/h.h", "inline int f() { return missing; }\n");
    real.project.write("src/a.cc", "#include \"h.h\"\n#include <string>\nint main() {}\n");
    Value fed = real.run();
    ASSERT_EQ(*fed.get("errors"), Value(1)) << json::write(fed);
    const Value& found = fed.get("findings")->as_list().front();
    EXPECT_EQ(found.get("path")->as_string(), "src/h.h");
    EXPECT_EQ(found.get("line")->as_int(), 1);

    real.project.write("src/h.h", "inline int f() { return 1234; }\n");
    fed = real.run();
    EXPECT_EQ(*fed.get("errors"), Value(0)) << json::write(fed);
    real.project.write("src/h.h", "inline int f() { return 12 }\n");
    EXPECT_EQ(*real.run().get("errors"), Value(1));
    EXPECT_FALSE(std::filesystem::exists(real.project.path() + "/x.o"));
}

TEST(DiagnosticsFeed, ClangTidyIsUnderstood) {
    RealTool real("clang-tidy");
    real.project.write(".clang-tidy", "Checks: '-*,modernize-use-nullptr'\n");
    real.project.write("src/a.cc", "int* f() { return 0; }\n");
    const Value fed = real.run();
    ASSERT_EQ(*fed.get("warnings"), Value(1)) << json::write(fed);
    const Value& found = fed.get("findings")->as_list().front();
    EXPECT_EQ(found.get("path")->as_string(), "src/a.cc");
    EXPECT_EQ(found.get("check")->as_string(), "modernize-use-nullptr");
}

TEST(DiagnosticsFeed, ClangTidyGoesByNoConfigThatAgentsMayWrite) {
    const auto warnings = [](const Value& fed) {
        std::string out = fed.get("status")->as_string() + ":";
        if (fed.get("findings") == nullptr) return out;
        for (const Value& each : fed.get("findings")->as_list())
            out += cat(" ", each.get("check") ? each.get("check")->as_string() : "?");
        return out;
    };
    // A check that their config asks for, and not ours.
    const char* const ours = "Checks: '-*,modernize-use-nullptr'\n";
    const char* const theirs = "Checks: '-*,modernize-use-auto,readability-named-parameter'\n";
    RealTool real("clang-tidy", {"src/.clang-tidy"});
    real.project.write("src/.clang-tidy", theirs);
    real.project.write("src/a.cc", "int* f(int) { return 0; }\n");
    EXPECT_EQ(warnings(real.run()), "checked 1 file:");
    real.project.write(".clang-tidy", ours);
    real.project.write("src/a.cc", "int* f(int) { return 0; }  // once more\n");
    EXPECT_EQ(warnings(real.run()), "checked 1 file: modernize-use-nullptr");
    // It is read when it changes.
    real.project.write(".clang-tidy", "Checks: '-*,readability-named-parameter'\n");
    EXPECT_EQ(warnings(real.run()), "checked 1 file: readability-named-parameter");
    real.project.write(".clang-tidy", cat("InheritParentConfig: true\n", ours));
    EXPECT_NE(warnings(real.run()).find(".clang-tidy says InheritParentConfig, and agents may "),
              std::string::npos);
}

TEST(DiagnosticsFeed, FlagsThatAgentsMayWriteKeepClangTidyFromRunning) {
    // Agents may write the file, so it does not matter that no flags are in it yet.
    RealTool real("clang-tidy", {"compile_flags.txt"});
    real.project.write("src/a.cc", "\n");
    const std::string status = real.run().get("status")->as_string();
    EXPECT_EQ(status.substr(0, 77),
              "off: agents may write compile_flags.txt, which clang-tidy reads in place of c");
}

TEST(DiagnosticsFeed, ClangTidyNeedsAListThatItFinds) {
    Project project;
    sched::ManualScheduler workers;
    SystemClock clock;
    DiagnosticsFeed source({.root = project.path(),
                            .compile_commands = "build/commands.json",
                            .tool = "/usr/bin/clang-tidy-14",
                            .scratch = project.path() + "/.scratch"},
                           workers, clock);
    source.run(Map{});
    workers.run_all();
    EXPECT_EQ(source.state().text.substr(0, 70),
              "off: clang-tidy reads no list that is not called compile_commands.json");
    EXPECT_TRUE(source.state().failed);
    EXPECT_EQ(source.judge(Map{{"most", 1}}).kind, memory::ConfigAnswer::Kind::pending);
    EXPECT_EQ(source.judge(Map{{"most", 0}}).kind, memory::ConfigAnswer::Kind::rejected);
}

// Agents may write files that tell a compiler where to write; this must have no effect.
TEST(DiagnosticsFeed, ACheckWritesNoFileThatItsCommandNames) {
    RealTool real("");
    std::filesystem::create_directories(real.project.path() + "/.quire");
    real.project.write(".quire/secret.h", "#error hidden\n");
    real.project.write("src/a.cc", "#include \"../.quire/secret.h\"\nint main() {}\n");
    real.project.write("src/flags.rsp", "-Wp,-MD,stolen -wrapper /bin/sh,-c,\"echo x>stolen2\"");
    real.project.write("compile_commands.json",
                       cat(R"([{"directory":")", real.project.path(),
                           R"(","command":"c++ -Wp,-MD,stolen -c src/a.cc","file":"src/a.cc"},)",
                           R"({"directory":")", real.project.path(),
                           R"(","command":"c++ @src/flags.rsp -c src/b.cc","file":"src/b.cc"}])"));
    real.project.write("src/b.cc", "int g();\n");
    const Value fed = real.run();
    EXPECT_EQ(json::write(fed).find("hidden"), std::string::npos) << json::write(fed);
    EXPECT_FALSE(std::filesystem::exists(real.project.path() + "/stolen"));
    EXPECT_FALSE(std::filesystem::exists(real.project.path() + "/stolen2"));
}

TEST(DiagnosticsFeed, ClangTidysOptionsDoNotReachTheWorkspace) {
    RealTool real("clang-tidy");
    real.project.write("kept", "kept\n");
    real.project.write(
        "src/.clang-tidy",
        cat("ExtraArgs: [\"-Xclang\",\"-dependency-file\",\"-Xclang\",\"", real.project.path(),
            "/kept\",\"-Xclang\",\"-MT\",\"-Xclang\",\"x\"]\n"));
    real.project.write("src/a.cc", "int f();\n");
    real.run();
    std::ifstream kept(real.project.path() + "/kept");
    std::string line;
    std::getline(kept, line);
    EXPECT_EQ(line, "kept");
}

}  // namespace
}  // namespace quire::diagnostics
