// The source runs no program, plugin or configuration that agents may write.
#include <filesystem>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "diagnostics/feed_bench_for_test.h"

namespace quire::diagnostics {
namespace {

// A source over a project of one entry, where agents may write some paths.
class Guarded {
public:
    explicit Guarded(std::string agents_write, std::string compile_commands = "list.json")
        : source({.root = project.path(),
                  .compile_commands = std::move(compile_commands),
                  .scratch = project.path() + "/.scratch",
                  .writable = {project.path()},
                  .agents_write = [theirs = std::move(agents_write)](
                                      const std::string& path) { return path == theirs; }},
                 workers, clock) {
        project.write("src/a.cc", "BAD\n");
    }
    // The status after a run of `command`.
    std::string status(const std::string& command, const std::string& directory = "") {
        project.write("list.json",
                      cat(R"([{"directory":")", directory.empty() ? project.path() : directory,
                          R"(","command":")", command, R"(","file":"src/a.cc"}])"));
        return status();
    }
    std::string status() {
        source.run(Map{});
        workers.run_all();
        return source.state().text;
    }
    void link(const std::string& target, const std::string& name) const {
        std::filesystem::create_symlink(target, project.path() + "/" + name);
    }

    Project project;
    sched::ManualScheduler workers;
    SystemClock clock;
    DiagnosticsFeed source;
};

TEST(DiagnosticsFeed, ACompilerThatAgentsMayWriteIsNotRun) {
    Guarded bench("tool");
    bench.link("tool", "linked");
    bench.link(bench.project.path(), "alias");
    const std::string alias = bench.project.path() + "/alias";
    for (const char* const program :
         {"src/../tool", "./tool", "linked", "alias/linked", "src/../alias/src/../linked"}) {
        const std::string named = cat("./", program);
        EXPECT_NE(bench.status(named + " -c src/a.cc").find("agents may write its compiler"),
                  std::string::npos)
            << program;
    }
    EXPECT_NE(bench.status("./tool -c src/a.cc", alias).find("agents may write its compiler"),
              std::string::npos);
    EXPECT_EQ(bench.project.checked(), "");

    // A link that they may turn elsewhere.
    Guarded other("linked");
    other.link("tool", "linked");
    other.link("linked", "twice");
    EXPECT_NE(other.status("./twice -c src/a.cc").find("agents may write its compiler"),
              std::string::npos);
    EXPECT_EQ(other.project.checked(), "");
    EXPECT_EQ(other.status("./tool -c src/a.cc"), "checked 1 file");
    EXPECT_EQ(other.project.checked(), "a.cc");
}

TEST(DiagnosticsFeed, ACommandThatNamesAFileAgentsMayWriteIsNotRun) {
    Guarded bench("src/theirs");
    bench.project.write("src/theirs", "-O2\n");
    bench.project.write("ours", "-DX=1 @src/theirs\n");
    bench.project.write("fine", "-DX=1 -specs=/usr/lib/x.specs\n");
    bench.link("src/theirs", "linked");
    for (const char* const flag :
         {"@src/theirs", "@linked", "-wrapper echo,src/theirs", "-specs=src/theirs",
          "--specs=linked", "-fplugin=src/theirs", "-Xclang -load -Xclang src/theirs",
          "-fpass-plugin=./src/theirs", "-Bsrc/theirs", "-B src/theirs", "--config src/theirs"}) {
        const std::string first = std::string(flag).substr(0, std::string(flag).find(' '));
        const std::string named = first == "-Xclang" ? "-load" : first;
        EXPECT_EQ(bench.status(cat("./tool ", flag, " -c src/a.cc")),
                  cat("checked 0 files; 1 could not be: src/a.cc: its command names ", named,
                      ", which agents may write"));
    }
    EXPECT_EQ(bench.status("./tool @ours -c src/a.cc"),
              "checked 0 files; 1 could not be: src/a.cc: its command names @src/theirs, which "
              "agents may write");
    EXPECT_EQ(bench.project.checked(), "");
    EXPECT_EQ(bench.status("./tool -B/usr/bin @fine -fplugin-arg-x-y=src/theirs -c src/a.cc"),
              "checked 1 file");

    Guarded below("theirs/cc1plus");
    EXPECT_NE(below.status("./tool -Btheirs -c src/a.cc").find("its command names -Btheirs"),
              std::string::npos);
    EXPECT_EQ(below.project.checked(), "");
}

TEST(DiagnosticsFeed, PermissionToWriteTheListIsCheckedAtEachReading) {
    Guarded bench("src/theirs.json", "build.json");
    bench.project.write("src/theirs.json", "");
    EXPECT_EQ(bench.status("./tool -c src/a.cc").substr(0, 19), "failed: cannot read");
    bench.link("list.json", "build.json");
    EXPECT_EQ(bench.status(), "checked 1 file");
    EXPECT_EQ(bench.project.checked(), "a.cc");
    bench.project.remove("build.json");
    std::filesystem::rename(bench.project.path() + "/list.json",
                            bench.project.path() + "/src/theirs.json");
    bench.project.write("src/a.cc", "ODD, and longer\n");
    bench.link("src/theirs.json", "build.json");
    EXPECT_EQ(bench.status().substr(0, 65),
              "off: agents may write src/theirs.json, which says what is run. A ");
    EXPECT_TRUE(bench.source.state().failed);
    EXPECT_EQ(bench.project.checked(), "");
}

TEST(DiagnosticsFeed, AListThatIsNoFileIsReportedAndNotWaitedFor) {
    Bench bench;
    const std::string list = bench.project.path() + "/compile_commands.json";
    ASSERT_EQ(::mkfifo(list.c_str(), 0600), 0);
    bench.attend();
    EXPECT_EQ(bench.status(), cat("failed: cannot read ", list, ": it is no regular file"));
    bench.project.remove("compile_commands.json");
    std::filesystem::create_directory(list);
    bench.run();
    EXPECT_EQ(bench.status(),
              cat("failed: cannot read ", list, ": it is a directory; name the file in it"));
    bench.project.remove("compile_commands.json");
    bench.project.write("compile_commands.json", "");
    bench.run();
    EXPECT_EQ(bench.status(), cat("failed: cannot read ", list, ": it is empty"));
    bench.project.remove("compile_commands.json");
    bench.run();
    EXPECT_EQ(bench.status().substr(0, 90),
              cat("failed: cannot read ", list, "; let the build system write it").substr(0, 90));
}

TEST(DiagnosticsFeed, EntriesOutsideTheWorkspaceAreCounted) {
    Bench bench;
    Project other;
    other.write("b.cc", "BAD\n");
    bench.project.write("src/a.cc", "BAD\n");
    const std::string& root = bench.project.path();
    // The workspace by another name is the workspace.
    std::filesystem::create_directory_symlink(root, other.path() + "/alias");
    std::filesystem::create_symlink(other.path() + "/b.cc", root + "/src/away.cc");
    const auto entry = [](const std::string& directory, const std::string& file) {
        return cat(R"({"directory":")", directory, R"(","command":"c++ -c )", file, R"(","file":")",
                   file, "\"}");
    };
    bench.project.write(
        "compile_commands.json",
        cat("[", entry(other.path() + "/alias", other.path() + "/alias/src/a.cc"), ",",
            entry(other.path(), "b.cc"), ",", entry(root, "src/away.cc"), "]"));
    bench.run();
    EXPECT_EQ(bench.status(), "checked 1 file; 2 entries are outside the workspace");
    EXPECT_EQ(bench.findings(R"({"paths": ["src/*.cc"]})"), "src/a.cc:1 bad");
}

}  // namespace
}  // namespace quire::diagnostics
