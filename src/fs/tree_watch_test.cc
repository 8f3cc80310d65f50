// Changes below a directory, as a TreeWatch reports them.
#include "fs/tree_watch.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs/disk_files.h"
#include "fs/watched_directory_for_test.h"

namespace quire::fs {
namespace {

TEST(TreeWatch, ABurstOfWritesIsOneChangeOnceItIsQuiet) {
    Watched it([](const auto& directory) { directory.put("a.txt", "0"); });

    for (int i = 0; i < 50; ++i) {
        it.directory.put("a.txt", std::to_string(i));
        EXPECT_EQ(it.after(10), Words{});
    }

    EXPECT_EQ(it.after(150), Words{"Modified a.txt"});
    EXPECT_EQ(it.after(3000), Words{});
}

TEST(TreeWatch, UnrestIsReportedAfterTheCap) {
    Watched it([](const auto& directory) { directory.put("log", "0"); });
    Words seen;

    for (int i = 0; i < 220; ++i) {
        it.directory.put("log", std::to_string(i));
        for (const std::string& line : it.after(10)) seen.push_back(line);
    }

    EXPECT_EQ(seen, Words({"Modified log", "Modified log"}));
}

TEST(TreeWatch, AFileThatIsEmptiedAndWrittenNeverShowsAsEmpty) {
    Watched it([](const auto& directory) { directory.put("a.txt", "full"); });

    it.directory.put("a.txt", "");
    EXPECT_EQ(it.after(500), Words{});
    it.directory.put("a.txt", "full again");

    EXPECT_EQ(it.after(200), Words{"Modified a.txt"});
    EXPECT_EQ(it.watch->seen("a.txt")->size, 10U);
    it.directory.put("a.txt", "");
    EXPECT_EQ(it.after(990), Words{});
    EXPECT_EQ(it.after(100), Words{"Modified a.txt"});
}

TEST(TreeWatch, FilesInNewFoldersAreFoundHoweverDeep) {
    Watched it;

    it.run("mkdir -p a/b/c && echo x > a/b/c/f && echo y > a/g");
    EXPECT_EQ(it.after(200), Words({"Created a/b/c/f", "Created a/g"}));
    it.run("echo z >> a/b/c/f");

    EXPECT_EQ(it.after(200), Words{"Modified a/b/c/f"});
    it.run("rm -r a");
    EXPECT_EQ(it.after(1200), Words({"Deleted a/b/c/f", "Deleted a/g"}));
    EXPECT_EQ(it.watch->status().folders, 1U);
}

TEST(TreeWatch, AFolderThatIsMovedTakesItsFilesWithIt) {
    Watched it([](const auto& directory) {
        directory.put("a/x", "1");
        directory.put("a/deep/y", "2");
    });

    it.run("mv a b");
    EXPECT_EQ(it.after(200), Words({"Renamed a/deep/y -> b/deep/y", "Renamed a/x -> b/x"}));
    it.run("echo 3 >> b/deep/y && mkdir a && echo 4 > a/x");

    EXPECT_EQ(it.after(200), Words({"Created a/x", "Modified b/deep/y"}));
}

TEST(TreeWatch, AFileThatIsRenamedAndWrittenIsTheSameFile) {
    Watched it([](const auto& directory) { directory.put("a.txt", "one"); });

    it.run("mv a.txt b.txt && echo two >> b.txt");

    EXPECT_EQ(it.after(200), Words{"Renamed a.txt -> b.txt"});
}

TEST(TreeWatch, TwoCandidatesAreNoRename) {
    Watched it([](const auto& directory) { directory.put("a.txt", "one"); });

    it.run("ln a.txt b.txt && ln a.txt c.txt && rm a.txt");

    EXPECT_EQ(it.after(1200), Words({"Deleted a.txt", "Created b.txt", "Created c.txt"}));
}

TEST(TreeWatch, ContentThatIsKnownTellsARenameFromADeletion) {
    Watched it([](const auto& directory) {
        directory.put("a.txt", "one");
        directory.put("b.txt", "two");
    });
    it.hashes["a.txt"] = Hash::of("one");
    it.hashes["b.txt"] = Hash::of("two");

    it.run("cp a.txt copy && rm a.txt");
    EXPECT_EQ(it.after(1200), Words{"Renamed a.txt -> copy"});
    it.run("cp b.txt c1 && cp b.txt c2 && rm b.txt");

    EXPECT_EQ(it.after(1200), Words({"Deleted b.txt", "Created c1", "Created c2"}));
}

TEST(TreeWatch, LostEventsEndInALookAtTheWholeTree) {
    Watched it([](const auto& directory) {
        for (int i = 0; i < 20; ++i) directory.put(cat("d", i % 4, "/f", i), "x");
    });
    it.faults->loses_all = true;

    it.run("echo y > d1/f1 && rm d2/f2 && mkdir -p new/er && echo z > new/er/file");

    EXPECT_EQ(it.after(1200), Words({"Modified d1/f1", "Deleted d2/f2", "Created new/er/file"}));
    EXPECT_GE(it.watch->status().overflows, 1U);
    it.faults->loses_all = false;
    it.run("echo w > new/er/file");
    EXPECT_EQ(it.after(200), Words{"Modified new/er/file"});
}

TEST(TreeWatch, ARealOverflowIsNoticed) {
    Watched it;
    for (int i = 0; i < 12'000; ++i) it.directory.put(cat("f", i % 3000), std::to_string(i));

    EXPECT_EQ(it.changes_after(1500).size(), 3000U);
    EXPECT_GE(it.watch->status().overflows, 1U);
}

TEST(TreeWatch, FoldersWithoutAWatchArePolledAndNamed) {
    const auto faults = std::make_shared<FaultySource::Faults>();
    TestDirectory directory;
    for (const char* name : {"a/f", "b/f", "c/d/f"}) directory.put(name, "1");
    ManualClock clock;
    TreeWatch::Options options;
    faults->watches = 2;
    options.source = std::make_unique<FaultySource>(faults);
    const auto watch = std::move(TreeWatch::open(directory.path(), std::move(options), clock).value());
    watch->round();
    EXPECT_EQ(watch->status().state, WatchState::polling);
    EXPECT_FALSE(watch->status().polled.empty());

    for (const char* name : {"a/f", "b/f", "c/d/f", "c/d/new/g"}) directory.put(name, "22");
    Words lines;
    for (int i = 0; i < 150; ++i, clock.advance(10)) {
        for (const std::string& line : lines_of(watch->round().changes)) lines.push_back(line);
    }

    std::ranges::sort(lines);
    EXPECT_EQ(lines, Words({"Created c/d/new/g", "Modified a/f", "Modified b/f", "Modified c/d/f"}));
    faults->watches = 1 << 20;
    clock.advance(1000);
    watch->round();
    EXPECT_EQ(watch->status().state, WatchState::watching);
}

TEST(TreeWatch, ARootThatIsGoneOrReplacedIsDetachedAndNothingIsDeleted) {
    TestDirectory around;
    around.put("root/a.txt", "one");
    ManualClock clock;
    const auto watch = std::move(TreeWatch::open(around / "root", {}, clock).value());
    watch->round();

    std::filesystem::rename(around / "root", around / "moved");
    watch->round();
    EXPECT_EQ(watch->status().state, WatchState::detached);
    around.put("root/other.txt", "two");
    clock.advance(5000);
    EXPECT_TRUE(watch->round().changes.empty());
    EXPECT_EQ(watch->status().state, WatchState::detached);
    around.erase("root");
    around.put("moved/b.txt", "three");
    std::filesystem::rename(around / "moved", around / "root");
    clock.advance(5000);
    watch->round();
    clock.advance(500);

    EXPECT_EQ(lines_of(watch->round().changes), Words{"Created b.txt"});
    EXPECT_EQ(watch->status().state, WatchState::watching);
}

TEST(TreeWatch, IgnoredFilesAreNotReportedButThoseThatAreKept) {
    Watched it([](const auto& directory) {
        directory.put(".gitignore", "build/\n*.log\n");
        directory.put("build/deep/x.h", "1");
        directory.put("build/deep/y.h", "1");
        directory.put("a.log", "1");
        directory.put("b.log", "1");
    });
    it.watch->keep("build/deep/x.h");
    it.watch->keep("a.log");
    it.watch->keep("build/later/z.h");

    it.run("for f in build/deep/x.h build/deep/y.h a.log b.log .git/c .quire/d; do "
           "mkdir -p $(dirname $f); echo 22 > $f; done");
    EXPECT_EQ(it.after(200), Words({"Modified a.log", "Modified build/deep/x.h"}));
    it.run("mkdir build/later && echo 1 > build/later/z.h && echo 1 > build/later/w.h");
    EXPECT_EQ(it.after(200), Words{"Created build/later/z.h"});
    it.run("rm -r build && mkdir -p build/deep && echo 333 > build/deep/x.h");

    EXPECT_EQ(it.after(1200), Words({"Modified build/deep/x.h", "Deleted build/later/z.h"}));
}

TEST(TreeWatch, FilesThatIgnoreFilesIncludeOrLeaveOutAreNoNews) {
    Watched it([](const auto& directory) {
        directory.put(".gitignore", "out/\n*.tmp\n");
        directory.put("out/a", "1");
        directory.put("b.tmp", "1");
        directory.put("src/c.cc", "1");
    });

    it.directory.put(".gitignore", "*.cc\n");
    EXPECT_EQ(it.after(300), Words{"Modified .gitignore"});
    EXPECT_EQ(it.watch->seen("src/c.cc"), nullptr);
    it.run("echo 22 > out/a && echo 22 > b.tmp && echo 22 > src/c.cc");

    EXPECT_EQ(it.after(300), Words({"Modified b.tmp", "Modified out/a"}));
    it.directory.put("src/.loroignore", "!c.cc\n");
    EXPECT_EQ(it.after(300), Words{"Created src/.loroignore"});
    it.run("echo 333 > src/c.cc");
    EXPECT_EQ(it.after(300), Words{"Modified src/c.cc"});
}

TEST(TreeWatch, AKeptFileWithSeveralNamesIsPolled) {
    TestDirectory elsewhere;
    Watched it([&](const auto& directory) {
        directory.put("a.txt", "1");
        std::filesystem::create_hard_link(directory / "a.txt", elsewhere / "other");
    });
    it.watch->keep("a.txt");

    elsewhere.put("other", "22");

    EXPECT_EQ(it.after(1200), Words{"Modified a.txt"});
    elsewhere.put("other", "333");
    EXPECT_EQ(it.after(1200), Words{"Modified a.txt"});
}

TEST(TreeWatch, AFolderThatTookTheNameOfAnotherIsWatchedAfterLostEvents) {
    Watched it([](const auto& directory) { directory.put("a/f", "1"); });
    it.faults->loses_all = true;
    it.run("mv a b && mkdir a && echo 1 > a/g");
    EXPECT_EQ(it.after(1200), Words({"Created a/g", "Renamed a/f -> b/f"}));
    it.faults->loses_all = false;

    it.run("echo 22 > a/g && echo 22 > b/f");

    EXPECT_EQ(it.after(200), Words({"Modified a/g", "Modified b/f"}));
}

TEST(TreeWatch, ASyncIsReachedWhenEarlierChangesAreReported) {
    Watched it([](const auto& directory) { directory.put("a/f", "1"); });

    it.run("echo 22 > a/f && mkdir b && echo 1 > b/g");

    EXPECT_EQ(it.sync(), Words({"Modified a/f", "Created b/g"}));
    EXPECT_EQ(it.sync(), Words{});
    EXPECT_TRUE(std::filesystem::is_empty(it.directory / ".quire/watch"));
}

TEST(TreeWatch, ASyncFindsChangesWithoutAnEvent) {
    Watched it([](const auto& directory) { directory.put("a/f", "1"); });
    it.faults->is_silent = true;

    it.run("echo 22 > a/f && mkdir b && echo 1 > b/g");
    EXPECT_EQ(it.after(500), Words{});

    EXPECT_EQ(it.sync(), Words({"Modified a/f", "Created b/g"}));
}

TEST(TreeWatch, ASyncWaitsForAFileThatIsBeingWritten) {
    Watched it([](const auto& directory) { directory.put("f", "1"); });
    const int fd = ::open((it.directory / "f").c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    ASSERT_EQ(::write(fd, "half", 4), 4);
    const std::uint64_t number = it.watch->ask_sync();

    EXPECT_TRUE(it.watch->round().changes.empty());
    EXPECT_LT(it.watch->reached_sync(), number);
    ASSERT_EQ(::write(fd, " and whole", 10), 10);
    ::close(fd);

    const auto changes = it.watch->round().changes;
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes.front().stamp.size, 14U);
    EXPECT_EQ(it.watch->reached_sync(), number);
}

TEST(TreeWatch, AChangeOfTheModeIsUnsure) {
    Watched it([](const auto& directory) { directory.put("f", "1"); });
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    it.watch->ask_sync();
    it.after(100);

    ASSERT_EQ(::chmod((it.directory / "f").c_str(), 0755), 0);

    const auto changes = it.changes_after(200);
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_TRUE(changes.front().is_unsure);
}

// Types a letter into nano once it shows its name, writes the file, and leaves once it says that it did.
constexpr const char* kTypeIntoNano =
    "screen=/tmp/quire-nano.$$; : > $screen; "
    "await() { for i in $(seq 1200); do grep -q \"$1\" $screen && return; sleep 0.05; done; }; "
    "{ await nano; printf 'X\\017\\r'; await Wrote; printf '\\030'; } | "
    "TERM=xterm script -qfc 'nano -I f' $screen >/dev/null; rm -f $screen";

// Each program saves in its own way; the file is modified, and nothing else is left to tell.
TEST(TreeWatch, ProgramsThatEditAFileModifyIt) {
    const std::map<std::string, std::string> programs = {
        {"sed", "sed -i s/one/ONE/ f"},
        {"perl", "perl -pi -e s/one/ONE/ f"},
        {"truncate-write", "echo other > f"},
        {"append", "echo more >> f"},
        {"rename-over", "echo other > .f.tmp && mv .f.tmp f"},
        {"backup", "mv f f~ && echo other > f && rm f~"},
        {"vim", "vim -es -u NONE -c '%s/one/ONE/' -c wq f </dev/null"},
        {"nano", kTypeIntoNano},
        {"ed", "printf ',s/one/ONE/\\nw\\nq\\n' | ed -s f"},
        {"patch", "printf -- '--- f\\n+++ f\\n@@ -1 +1 @@\\n-one\\n+ONE\\n' | patch -s f"},
        {"install", "echo other > /tmp/quire-source.$$ && install -m 644 /tmp/quire-source.$$ f"},
        {"git", "git checkout -q other -- f"},
    };
    for (const auto& [name, command] : programs) {
        const std::string program = command.substr(0, command.find(' '));
        const bool is_tool = name == program || name == "ed" || name == "patch" || name == "nano";
        if (is_tool && std::system(cat("command -v ", name, " >/dev/null 2>&1").c_str()) != 0) {
            std::printf("skipped: there is no %s\n", name.c_str());
            continue;
        }
        Watched it([&name = name](const TestDirectory& directory) {
            directory.put("f", "one\n");
            if (name != "git") return;
            const std::string git = "git -c user.name=n -c user.email=e@x ";
            ASSERT_EQ(std::system(cat("cd ", directory.path(), " && { git init -q && git add f && ",
                                      git, "commit -qm 1 && git checkout -qb other && echo 2 > f && ",
                                      git, "commit -qam 2 && git checkout -q -; } >/dev/null 2>&1")
                                      .c_str()),
                      0);
        });
        it.run(command);
        EXPECT_EQ(it.after(1300), Words{"Modified f"}) << name;
    }
}

}  // namespace
}  // namespace quire::fs
