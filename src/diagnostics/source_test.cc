#include "diagnostics/source.h"

#include <set>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "diagnostics/project_for_test.h"
#include "json/json.h"
#include "sched/manual_for_test.h"

namespace quire::diagnostics {
namespace {

class LateClock final : public Clock {
public:
    std::int64_t wall_ms() const override { return system_.wall_ms() + later_ms; }
    std::int64_t steady_ms() const override { return system_.steady_ms(); }
    std::int64_t later_ms = 0;

private:
    SystemClock system_;
};

// A source over a project, on a scheduler that moves when told.
class Bench {
public:
    explicit Bench(std::int64_t timeout_ms = 60'000, std::int64_t progress_ms = 60'000)
        : source({.root = project.path(),
                  .compile_commands = "compile_commands.json",
                  .tool = project.tool(),
                  .scratch = project.path() + "/.scratch",
                  .writable = {project.path()},
                  .timeout_ms = timeout_ms,
                  .jobs = 2,
                  .look_ms = 1000,
                  .progress_ms = progress_ms},
                 workers, clock) {
        source.start([this] { ++told; });
    }
    static Value config(std::string_view text = "{}") { return json::parse(text).value(); }
    void attend(std::string_view text = "{}") {
        source.attend(config(text));
        workers.run_all();
    }
    void run(std::string_view text = "{}") {
        source.run(config(text));
        workers.run_all();
    }
    Value fed(std::string_view text = "{}") {
        return *source.feed(config(text)).get("diagnostics");
    }
    std::string status(std::string_view text = "{}") {
        return fed(text).get("status")->as_string();
    }
    // "src/a.cc:1 bad; …"; "-" where it says nothing of findings.
    std::string findings(std::string_view text = "{}") {
        const Value all = fed(text);
        if (all.get("findings") == nullptr) return "-";
        std::string out;
        for (const Value& each : all.get("findings")->as_list()) {
            out += cat(out.empty() ? "" : "; ", each.get("path")->as_string(), ":",
                       each.get("line")->as_int(), " ", each.get("message")->as_string());
        }
        return out;
    }
    std::string judged(std::string_view text) {
        const memory::ConfigAnswer answer = source.judge(config(text));
        switch (answer.kind) {
            case memory::ConfigAnswer::Kind::applied:
                return "applied";
            case memory::ConfigAnswer::Kind::pending:
                return "pending";
            case memory::ConfigAnswer::Kind::rejected:
                return cat("rejected ", answer.field);
        }
        return "";
    }

    Project project;
    sched::ManualScheduler workers;
    LateClock clock;
    int told = 0;
    DiagnosticsSource source;
};

TEST(DiagnosticsSource, NoCheckRunsBeforeSomebodyAsks) {
    Bench bench;
    bench.project.write("src/a.cc", "BAD\n");
    bench.project.list({"src/a.cc"});

    bench.workers.advance(10'000);

    EXPECT_EQ(bench.project.checked(), "");
    EXPECT_EQ(bench.status(), "not run since the kernel started");
    EXPECT_EQ(bench.findings(), "-");
}

TEST(DiagnosticsSource, TheFirstReadBeginsARunAndItsEndIsReported) {
    Bench bench;
    bench.project.write("src/h.h", "\nODD\n");
    bench.project.write("src/a.cc", "#include \"h.h\"\nBAD\n");
    bench.project.write("src/b.cc", "#include \"h.h\"\n");
    bench.project.list({"src/a.cc", "src/b.cc"});

    bench.source.attend(Bench::config());
    EXPECT_EQ(bench.told, 0);
    EXPECT_TRUE(bench.source.state().running);
    EXPECT_EQ(bench.findings(), "-");
    bench.workers.run_all();

    EXPECT_EQ(bench.told, 1);
    EXPECT_FALSE(bench.source.state().running);
    EXPECT_EQ(bench.status(), "checked 2 files");
    EXPECT_EQ(bench.findings(), "src/a.cc:2 bad; src/h.h:2 odd");
    EXPECT_EQ(*bench.fed().get("errors"), Value(1));
    EXPECT_EQ(*bench.fed().get("warnings"), Value(1));
}

TEST(DiagnosticsSource, ARunSaysHowFarItIs) {
    Bench bench(60'000, 0);
    for (const char* const file : {"src/a.cc", "src/b.cc", "src/c.cc"})
        bench.project.write(file, "\n");
    bench.project.list({"src/a.cc", "src/b.cc", "src/c.cc"});
    std::string said;
    bench.source.start([&] { said += bench.status() + "; "; });
    bench.attend();
    EXPECT_EQ(said, "running 1 of 3; running 2 of 3; checked 3 files; ");
}

TEST(DiagnosticsSource, OnlyWhatHasChangedIsCheckedAgain) {
    Bench bench;
    bench.project.write("src/h.h", "\n");
    bench.project.write("src/a.cc", "#include \"h.h\"\n");
    bench.project.write("src/b.cc", "\n");
    bench.project.write("src/c.cc", "#include \"h.h\"\nBAD\n");
    bench.project.list({"src/a.cc", "src/b.cc", "src/c.cc"});
    bench.attend();
    EXPECT_EQ(bench.project.checked(), "a.cc b.cc c.cc");

    bench.run();
    EXPECT_EQ(bench.project.checked(), "");
    bench.attend();
    EXPECT_EQ(bench.project.checked(), "");
    bench.project.write("src/h.h", "// longer\n");
    bench.run();
    EXPECT_EQ(bench.project.checked(), "a.cc c.cc");
    bench.project.list({"src/b.cc"});
    bench.run();
    EXPECT_EQ(bench.project.checked(), "");
    EXPECT_EQ(bench.findings(), "");
}

TEST(DiagnosticsSource, AChangeOnTheDiskBeginsARunOnceItHasSettled) {
    Bench bench;
    bench.project.write("src/a.cc", "BAD\n");
    bench.project.list({"src/a.cc"});
    bench.attend();
    EXPECT_EQ(bench.project.checked(), "a.cc");
    bench.workers.advance(5000);
    EXPECT_EQ(bench.project.checked(), "");

    bench.project.write("src/a.cc", "// good\n");
    bench.workers.advance(1000);
    bench.project.write("src/a.cc", "// good now\n");
    bench.workers.advance(1000);
    EXPECT_EQ(bench.project.checked(), "");
    bench.workers.advance(1000);

    EXPECT_EQ(bench.project.checked(), "a.cc");
    EXPECT_EQ(bench.findings(), "");
}

TEST(DiagnosticsSource, AHeaderThatWasMissingIsWaitedFor) {
    Bench bench;
    bench.project.write("src/a.cc", "#include \"h.h\"\n");
    bench.project.list({"src/a.cc"});
    bench.attend();
    EXPECT_EQ(bench.findings(), "src/a.cc:1 h.h: No such file or directory");

    bench.project.write("src/h.h", "\n");
    bench.workers.advance(3000);

    EXPECT_EQ(bench.findings(), "");
}

TEST(DiagnosticsSource, TheListOfFilesIsWatchedEvenIfItDidNotExist) {
    Bench bench;
    bench.project.write("src/a.cc", "BAD\n");
    bench.attend();
    EXPECT_EQ(bench.status().substr(0, 20), "failed: cannot read ");
    EXPECT_TRUE(bench.source.state().failed);

    bench.project.list({"src/a.cc"});
    bench.workers.advance(3000);
    EXPECT_EQ(bench.findings(), "src/a.cc:1 bad");
    EXPECT_FALSE(bench.source.state().failed);
    bench.project.write("compile_commands.json", "[{}]");
    bench.workers.advance(3000);
    EXPECT_EQ(bench.status(),
              "failed: entry 0 of compile_commands.json cannot be used: `directory` is missing; it "
              "must be a "
              "string");
}

TEST(DiagnosticsSource, AnEditIsAppliedWhereAllItChoosesIsKnown) {
    Bench bench;
    bench.project.write("src/a.cc", "ODD\nBAD\n");
    bench.project.write("src/b.cc", "ODD\n");
    bench.project.list({"src/a.cc", "src/b.cc"});
    EXPECT_EQ(bench.judged(R"({"minimum_severity": "error"})"), "pending");
    EXPECT_EQ(bench.judged(R"({"minimum_severity": "eror"})"), "rejected minimum_severity");
    EXPECT_EQ(bench.judged(R"({"enabled": false})"), "applied");

    const char* const only_a = R"({"paths": ["src/a.cc"]})";
    bench.attend(only_a);
    EXPECT_EQ(bench.project.checked(), "a.cc");
    EXPECT_EQ(bench.judged(R"({"paths": ["src/a.cc"], "minimum_severity": "error"})"), "applied");
    EXPECT_EQ(bench.findings(R"({"paths": ["src/a.cc"], "minimum_severity": "error"})"),
              "src/a.cc:2 bad");
    EXPECT_EQ(bench.judged("{}"), "pending");
    bench.attend();
    EXPECT_EQ(bench.project.checked(), "b.cc");
    EXPECT_EQ(bench.judged(only_a), "applied");
    EXPECT_EQ(bench.judged("{}"), "applied");
    EXPECT_EQ(bench.findings(R"({"checks": ["!-Wodd"]})"), "src/a.cc:2 bad");
    EXPECT_EQ(bench.findings(R"({"most": 1})"), "src/a.cc:2 bad");
}

TEST(DiagnosticsSource, AConfigBeyondTheBoundsIsNotFollowedAndReported) {
    Bench bench;
    bench.project.write("src/a.cc", "BAD\n");
    bench.project.list({"src/a.cc"});
    const std::string beyond = cat(R"({"paths": [")", std::string(300, 'x'), R"("]})");
    EXPECT_EQ(bench.judged(beyond), "rejected paths");
    // An imported block may hold it.
    bench.attend(beyond);
    EXPECT_EQ(bench.project.checked(), "a.cc");
    EXPECT_EQ(bench.findings(beyond), "src/a.cc:1 bad");
    const std::string said =
        "checked 1 file; config is not followed, and the default is: config.paths is to be at most";
    EXPECT_EQ(bench.status(beyond).substr(0, said.size()), said);
    EXPECT_EQ(bench.source.state().text.substr(0, said.size()), said);
}

TEST(DiagnosticsSource, AnExpensiveChoiceOfFilesIsLeftToARun) {
    Bench bench;
    bench.project.write("src/a.cc", "\n");
    // 20,000 paths of 200 bytes, and 4 KiB of globs on them.
    std::string text = "[";
    for (int i = 0; i < 20'000; ++i) {
        text += cat(i == 0 ? "" : ",", R"({"directory":")", bench.project.path(),
                    R"(","arguments":["c++"],"file":"src/)", i, std::string(200, 'a'), "\"}");
    }
    bench.project.write("compile_commands.json", text + "]");
    bench.run(R"({"paths": ["none"]})");
    std::string globs;
    for (int i = 0; i < 16; ++i)
        globs += cat(i == 0 ? "\"" : ",\"", i, "**", std::string(250, 'a'), "b\"");
    const std::string much = cat(R"({"paths": [)", globs, "]}");
    EXPECT_EQ(bench.judged(R"({"paths": ["src/none"]})"), "applied");
    EXPECT_EQ(bench.judged(much), "pending");
    // A stop ends the choice, too.
    bench.source.run(Bench::config(much));
    bench.source.stop();
    const auto began = std::chrono::steady_clock::now();
    bench.workers.run_all();
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
}

TEST(DiagnosticsSource, NoCheckRunsWhileTheSourceIsOff) {
    Bench bench;
    bench.project.write("src/a.cc", "BAD\n");
    bench.project.list({"src/a.cc"});
    bench.attend(R"({"enabled": false})");
    bench.run(R"({"enabled": false})");
    EXPECT_EQ(bench.project.checked(), "");
    EXPECT_EQ(bench.status(R"({"enabled": false})"), "off: enabled is false in config");
    // Also what has begun already.
    bench.source.attend(Bench::config());
    bench.source.attend(Bench::config(R"({"enabled": false})"));
    bench.workers.run_all();
    EXPECT_EQ(bench.project.checked(), "");
    bench.attend();
    EXPECT_EQ(bench.project.checked(), "a.cc");
}

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
    DiagnosticsSource source;
};

TEST(DiagnosticsSource, ACompilerThatAgentsMayWriteIsNotRun) {
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

TEST(DiagnosticsSource, ACommandThatNamesAFileAgentsMayWriteIsNotRun) {
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

TEST(DiagnosticsSource, PermissionToWriteTheListIsCheckedAtEachReading) {
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

TEST(DiagnosticsSource, AListThatIsNoFileIsReportedAndNotWaitedFor) {
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

TEST(DiagnosticsSource, EntriesOutsideTheWorkspaceAreCounted) {
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

TEST(DiagnosticsSource, ANewerRunTakesThePlaceOfTheOneUnderWay) {
    Bench bench;
    bench.project.write("src/a.cc", "\n");
    bench.project.write("src/b.cc", "\n");
    bench.project.list({"src/a.cc", "src/b.cc"});

    bench.source.run(Bench::config());
    bench.workers.run_one();  // It has looked at what there is to do.
    bench.source.run(Bench::config(R"({"paths": ["src/b.cc"]})"));
    bench.workers.run_all();

    EXPECT_EQ(bench.project.checked(), "b.cc");
    EXPECT_EQ(bench.told, 1);
}

TEST(DiagnosticsSource, ACheckThatTakesTooLongIsReportedAndTriedAgain) {
    Bench bench(1500);
    bench.project.write("src/a.cc", "SLOW\n");
    bench.project.write("src/b.cc", "BAD\n");
    bench.project.list({"src/a.cc", "src/b.cc"});
    bench.attend();
    EXPECT_EQ(bench.status(),
              "checked 1 file; 1 could not be: src/a.cc: it took longer than 1.5 s");
    EXPECT_EQ(bench.findings(), "src/b.cc:1 bad");
    EXPECT_EQ(bench.project.checked(), "a.cc b.cc");
    bench.run();
    EXPECT_EQ(bench.project.checked(), "a.cc");
}

TEST(DiagnosticsSource, AllOfACheckHasOneDeadline) {
    Bench bench(1500);
    // A second run lists the files that it read, and takes as long as the first.
    bench.project.write("tool", "#!/bin/sh\necho run >> checked\nexec sleep 60\n");
    bench.project.write("src/a.cc", "\n");
    bench.project.list({"src/a.cc"});
    auto began = std::chrono::steady_clock::now();
    bench.attend();
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(2700));
    EXPECT_EQ(bench.project.checked(), "run");

    bench.project.write("tool",
                        "#!/bin/sh\necho run >> checked\n[ -e once ] && exec sleep 60\n"
                        "touch once\nsleep 1\n");
    began = std::chrono::steady_clock::now();
    bench.run();
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(2400));
    EXPECT_EQ(bench.project.checked(), "run run");
    EXPECT_NE(bench.status().find("it took longer than 1.5 s"), std::string::npos);
}

TEST(DiagnosticsSource, ARunThatCouldNotCheckAllHasFailed) {
    Bench bench(300);
    bench.project.write("src/a.cc", "SLOW\n");
    bench.project.write("src/b.cc", "BAD\n");
    bench.project.list({"src/a.cc", "src/b.cc"});
    bench.source.attend(Bench::config());
    EXPECT_FALSE(bench.source.state().failed);
    bench.workers.run_all();
    EXPECT_TRUE(bench.source.state().failed);
    const char* const only_b = R"({"paths": ["src/b.cc"]})";
    bench.run(only_b);
    EXPECT_EQ(bench.source.state().text, "checked 1 file");
    EXPECT_FALSE(bench.source.state().failed);
    // Nothing at all, where there is something.
    bench.run(R"({"paths": ["src/c.cc"]})");
    EXPECT_EQ(bench.source.state().text, "checked 0 files");
    EXPECT_TRUE(bench.source.state().failed);
    bench.project.list({"../c.cc"});
    bench.run();
    EXPECT_EQ(bench.source.state().text, "checked 0 files; 1 entry is outside the workspace");
    EXPECT_TRUE(bench.source.state().failed);
    bench.project.write("compile_commands.json", "[]");
    bench.run();
    EXPECT_FALSE(bench.source.state().failed);
}

TEST(DiagnosticsSource, AMissingToolIsReported) {
    Bench bench;
    bench.project.write("src/a.cc", "\n");
    bench.project.list({"src/a.cc"});
    bench.project.remove("tool");
    bench.attend();
    EXPECT_NE(bench.status().find("could not be: src/a.cc: cannot run "), std::string::npos)
        << bench.status();
}

TEST(DiagnosticsSource, FindingsThatAreFoundAgainAreNoNews) {
    Bench bench;
    bench.project.write("src/a.cc", "BAD\n");
    bench.project.list({"src/a.cc"});
    bench.attend();
    EXPECT_EQ(bench.project.checked(), "a.cc");
    const Value before = bench.fed();
    bench.clock.later_ms += 60'000;
    bench.project.write("src/a.cc", "BAD, and longer\n");
    bench.run();
    EXPECT_EQ(bench.project.checked(), "a.cc");
    EXPECT_EQ(bench.fed(), before);
    bench.project.write("src/a.cc", "\nBAD, and further down\n");
    bench.run();
    EXPECT_NE(*bench.fed().get("last_run"), *before.get("last_run"));
}

TEST(DiagnosticsSource, AFileWrittenDuringItsCheckIsCheckedOnceMore) {
    Bench bench;
    bench.project.write("src/h.h", "\n");
    bench.project.write("src/a.cc", "#include \"h.h\"\nGROW\n");
    bench.project.list({"src/a.cc"});
    bench.attend();
    EXPECT_EQ(bench.findings(), "");  // It was BAD only when it had been read.
    bench.workers.advance(5000);
    EXPECT_EQ(bench.findings(), "src/h.h:2 bad");
}

TEST(DiagnosticsSource, AfterItsStopNothingIsRunOrTold) {
    Bench bench;
    bench.project.write("src/a.cc", "BAD\n");
    bench.project.list({"src/a.cc"});
    bench.source.attend(Bench::config());
    bench.source.stop();
    bench.workers.run_all();
    bench.run();
    bench.workers.advance(10'000);
    EXPECT_EQ(bench.project.checked(), "");
    EXPECT_EQ(bench.told, 0);
}

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
    DiagnosticsSource source_;
};

TEST(DiagnosticsSource, TheCompilerOfTheEntryIsUnderstood) {
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

TEST(DiagnosticsSource, ClangTidyIsUnderstood) {
    RealTool real("clang-tidy");
    real.project.write(".clang-tidy", "Checks: '-*,modernize-use-nullptr'\n");
    real.project.write("src/a.cc", "int* f() { return 0; }\n");
    const Value fed = real.run();
    ASSERT_EQ(*fed.get("warnings"), Value(1)) << json::write(fed);
    const Value& found = fed.get("findings")->as_list().front();
    EXPECT_EQ(found.get("path")->as_string(), "src/a.cc");
    EXPECT_EQ(found.get("check")->as_string(), "modernize-use-nullptr");
}

TEST(DiagnosticsSource, ClangTidyGoesByNoConfigThatAgentsMayWrite) {
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

TEST(DiagnosticsSource, FlagsThatAgentsMayWriteKeepClangTidyFromRunning) {
    // Agents may write the file, so it does not matter that no flags are in it yet.
    RealTool real("clang-tidy", {"compile_flags.txt"});
    real.project.write("src/a.cc", "\n");
    const std::string status = real.run().get("status")->as_string();
    EXPECT_EQ(status.substr(0, 77),
              "off: agents may write compile_flags.txt, which clang-tidy reads in place of c");
}

TEST(DiagnosticsSource, ClangTidyNeedsAListThatItFinds) {
    Project project;
    sched::ManualScheduler workers;
    SystemClock clock;
    DiagnosticsSource source({.root = project.path(),
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
TEST(DiagnosticsSource, ACheckWritesNoFileThatItsCommandNames) {
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

TEST(DiagnosticsSource, ClangTidysOptionsDoNotReachTheWorkspace) {
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
