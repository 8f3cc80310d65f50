#include "diagnostics/diagnostics_feed.h"

#include <memory>
#include <stop_token>

#include <gtest/gtest.h>

#include "diagnostics/feed_bench_for_test.h"
#include "diagnostics/units.h"

namespace quire::diagnostics {
namespace {

TEST(DiagnosticsFeed, NoCheckRunsBeforeSomebodyAsks) {
    Bench bench;
    bench.project.write("src/a.cc", "BAD\n");
    bench.project.list({"src/a.cc"});

    bench.workers.advance(10'000);

    EXPECT_EQ(bench.project.checked(), "");
    EXPECT_EQ(bench.status(), "not run since the kernel started");
    EXPECT_EQ(bench.findings(), "-");
}

TEST(DiagnosticsFeed, TheFirstReadBeginsARunAndItsEndIsReported) {
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

TEST(DiagnosticsFeed, ARunSaysHowFarItIs) {
    Bench bench(60'000, 0);
    for (const char* const file : {"src/a.cc", "src/b.cc", "src/c.cc"})
        bench.project.write(file, "\n");
    bench.project.list({"src/a.cc", "src/b.cc", "src/c.cc"});
    std::string said;
    bench.source.start([&] { said += bench.status() + "; "; });
    bench.attend();
    EXPECT_EQ(said, "running 1 of 3; running 2 of 3; checked 3 files; ");
}

TEST(DiagnosticsFeed, OnlyWhatHasChangedIsCheckedAgain) {
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

TEST(DiagnosticsFeed, AChangeOnTheDiskBeginsARunOnceItHasSettled) {
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

TEST(DiagnosticsFeed, AHeaderThatWasMissingIsWaitedFor) {
    Bench bench;
    bench.project.write("src/a.cc", "#include \"h.h\"\n");
    bench.project.list({"src/a.cc"});
    bench.attend();
    EXPECT_EQ(bench.findings(), "src/a.cc:1 h.h: No such file or directory");

    bench.project.write("src/h.h", "\n");
    bench.workers.advance(3000);

    EXPECT_EQ(bench.findings(), "");
}

TEST(DiagnosticsFeed, TheListOfFilesIsWatchedEvenIfItDidNotExist) {
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

TEST(DiagnosticsFeed, AnEditIsAppliedWhereAllItChoosesIsKnown) {
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

TEST(DiagnosticsFeed, AConfigBeyondTheBoundsIsNotFollowedAndReported) {
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

TEST(DiagnosticsFeed, AnExpensiveChoiceOfFilesIsLeftToARun) {
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
    // A run that was stopped before it began reads and chooses nothing.
    bench.source.run(Bench::config(much));
    bench.source.stop();
    const auto began = std::chrono::steady_clock::now();
    bench.workers.run_all();
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
}

TEST(Units, AStopEndsTheChoiceOfFiles) {
    Units listed;
    listed.listed.push_back({{}, "src/a.cc", "a"});
    const auto units = std::make_shared<const Units>(std::move(listed));
    std::stop_source stop;
    EXPECT_NE(choose(units, {}, stop.get_token()), nullptr);
    stop.request_stop();
    EXPECT_EQ(choose(units, {}, stop.get_token()), nullptr);
}

TEST(DiagnosticsFeed, NoCheckRunsWhileTheSourceIsOff) {
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

TEST(DiagnosticsFeed, ANewerRunTakesThePlaceOfTheOneUnderWay) {
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

TEST(DiagnosticsFeed, ACheckThatTakesTooLongIsReportedAndTriedAgain) {
    // Long enough for the other check on a slow machine.
    Bench bench(6000);
    bench.project.write("src/a.cc", "SLOW\n");
    bench.project.write("src/b.cc", "BAD\n");
    bench.project.list({"src/a.cc", "src/b.cc"});
    bench.attend();
    EXPECT_EQ(bench.status(), "checked 1 file; 1 could not be: src/a.cc: it took longer than 6 s");
    EXPECT_EQ(bench.findings(), "src/b.cc:1 bad");
    EXPECT_EQ(bench.project.checked(), "a.cc b.cc");
    bench.run();
    EXPECT_EQ(bench.project.checked(), "a.cc");
}

TEST(DiagnosticsFeed, AllOfACheckHasOneDeadline) {
    Bench bench(5000);
    // A second run lists the files that it read, and takes as long as the first: with deadlines of
    // their own they would take ten seconds.
    bench.project.write("tool", "#!/bin/sh\necho run >> checked\nexec sleep 60\n");
    bench.project.write("src/a.cc", "\n");
    bench.project.list({"src/a.cc"});
    auto began = std::chrono::steady_clock::now();
    bench.attend();
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(9));
    EXPECT_EQ(bench.project.checked(), "run");

    bench.project.write("tool",
                        "#!/bin/sh\necho run >> checked\n[ -e once ] && exec sleep 60\n"
                        "touch once\nsleep 4\n");
    began = std::chrono::steady_clock::now();
    bench.run();
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(8500));
    EXPECT_EQ(bench.project.checked(), "run run");
    EXPECT_NE(bench.status().find("it took longer than 5 s"), std::string::npos);
}

TEST(DiagnosticsFeed, ARunThatCouldNotCheckAllHasFailed) {
    Bench bench(6000);
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

TEST(DiagnosticsFeed, AMissingToolIsReported) {
    Bench bench;
    bench.project.write("src/a.cc", "\n");
    bench.project.list({"src/a.cc"});
    bench.project.remove("tool");
    bench.attend();
    EXPECT_NE(bench.status().find("could not be: src/a.cc: cannot run "), std::string::npos)
        << bench.status();
}

TEST(DiagnosticsFeed, FindingsThatAreFoundAgainAreNoNews) {
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

TEST(DiagnosticsFeed, AFileWrittenDuringItsCheckIsCheckedOnceMore) {
    Bench bench;
    bench.project.write("src/h.h", "\n");
    bench.project.write("src/a.cc", "#include \"h.h\"\nGROW\n");
    bench.project.list({"src/a.cc"});
    bench.attend();
    EXPECT_EQ(bench.findings(), "");  // It was BAD only when it had been read.
    bench.workers.advance(5000);
    EXPECT_EQ(bench.findings(), "src/h.h:2 bad");
}

TEST(DiagnosticsFeed, AfterItsStopNothingIsRunOrTold) {
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

}  // namespace
}  // namespace quire::diagnostics
