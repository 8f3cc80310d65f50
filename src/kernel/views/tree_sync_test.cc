// Landing and refreshing on a real disk: what a tree changes reaches the workspace as its actor's work, what others
// change reaches the tree, and where both changed the same words each keeps its own until they agree.
#include "kernel/views/tree_sync.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "fs/draft_names.h"
#include "kernel/commands/command_journal.h"
#include "kernel/views/views_test.h"

namespace quire::kernel {
namespace {

namespace disk = std::filesystem;

TEST_F(Views, WhatTheTreeChangedIsLandedAsItsActorsWork) {
    const std::string tree = adopted();
    put(tree, "src/a.c", "int x;\n");
    put(tree, "src/new/c.c", "int c;\n");
    disk::remove(tree + "/src/b.c");

    EXPECT_EQ(told(land(tree)), "done; modified src/a.c; deleted src/b.c; created src/new/c.c");
    EXPECT_EQ(directory.get("src/a.c"), "int x;\n");
    EXPECT_EQ(directory.get("src/new/c.c"), "int c;\n");
    EXPECT_FALSE(directory.has("src/b.c"));
    EXPECT_EQ(newest_actor("src/a.c"), "agent:ada");
    EXPECT_EQ(told(land(tree)), "done");
    EXPECT_EQ(told(refresh(tree)), "done");
}

TEST_F(Views, WhatOthersChangedReachesTheTree) {
    const std::string tree = adopted();
    directory.put("src/a.c", "int y;\n");
    directory.put("src/deep/d.c", "int d;\n");
    disk::remove(directory / "src/b.c");

    EXPECT_EQ(told(refresh(tree)), "done; modified src/a.c; deleted src/b.c; created src/deep/d.c");
    EXPECT_EQ(get(tree, "src/a.c"), "int y;\n");
    EXPECT_EQ(get(tree, "src/deep/d.c"), "int d;\n");
    EXPECT_FALSE(has(tree, "src/b.c"));
    EXPECT_EQ(told(land(tree)), "done");
    EXPECT_EQ(told(refresh(tree)), "done");
}

TEST_F(Views, ChangesOfBothSidesMeetInBoth) {
    directory.put("src/a.c", "one\ntwo\nthree\nfour\n");
    const std::string tree = adopted();
    put(tree, "src/a.c", "ONE\ntwo\nthree\nfour\n");
    directory.put("src/a.c", "one\ntwo\nthree\nFOUR\n");

    EXPECT_EQ(told(land(tree)), "done; modified src/a.c");
    EXPECT_EQ(directory.get("src/a.c"), "ONE\ntwo\nthree\nFOUR\n");
    EXPECT_EQ(get(tree, "src/a.c"), "ONE\ntwo\nthree\nfour\n");
    EXPECT_EQ(told(refresh(tree)), "done; modified src/a.c");
    EXPECT_EQ(get(tree, "src/a.c"), "ONE\ntwo\nthree\nFOUR\n");
    EXPECT_EQ(told(land(tree)), "done");
}

TEST_F(Views, ARefreshBeforeTheLandKeepsTheUnlandedEdit) {
    directory.put("src/a.c", "one\ntwo\nthree\nfour\n");
    const std::string tree = adopted();
    put(tree, "src/a.c", "ONE\ntwo\nthree\nfour\n");
    directory.put("src/a.c", "one\ntwo\nthree\nFOUR\n");

    EXPECT_EQ(told(refresh(tree)), "done; modified src/a.c");
    EXPECT_EQ(get(tree, "src/a.c"), "ONE\ntwo\nthree\nFOUR\n");
    EXPECT_EQ(directory.get("src/a.c"), "one\ntwo\nthree\nFOUR\n");
    EXPECT_EQ(report(tree).to_land, std::vector<std::string>{"src/a.c"});
    EXPECT_EQ(told(land(tree)), "done; modified src/a.c");
    EXPECT_EQ(directory.get("src/a.c"), "ONE\ntwo\nthree\nFOUR\n");
}

// F4: two trees change one word.
TEST_F(Views, WhereTwoTreesChangedOneWordTheSecondKeepsItAsAConflict) {
    directory.put("src/a.c", "one\ntwo\nthree\nfour\nfive\n");
    const std::string first = adopted("ada"), second = adopted("bob");
    put(first, "src/a.c", "one\nTWO\nthree\nfour\nfive\n");
    put(second, "src/a.c", "one\ndeux\nthree\nfour\nFIVE\n");

    EXPECT_EQ(told(land(first)), "done; modified src/a.c");
    const auto landed = land(second);
    EXPECT_EQ(told(landed), "conflict; modified src/a.c; tie src/a.c");
    EXPECT_EQ(directory.get("src/a.c"), "one\nTWO\nthree\nfour\nFIVE\n");
    const TreeConflict& tie = landed->conflicts.front();
    EXPECT_EQ(tie.base, "two\n");
    EXPECT_EQ(tie.tree, "deux\n");
    EXPECT_EQ(tie.shared, "TWO\n");
    EXPECT_EQ(tie.start, 1U);
    EXPECT_EQ(report(second).conflicts.size(), 1U);

    // Neither side is written over, however often it is tried.
    EXPECT_EQ(told(refresh(second)), "conflict; tie src/a.c");
    EXPECT_EQ(get(second, "src/a.c"), "one\ndeux\nthree\nfour\nFIVE\n");
    EXPECT_EQ(told(land(second)), "conflict; tie src/a.c");

    // It ends where one side takes the other's words.
    put(second, "src/a.c", "one\nTWO\nthree\nfour\nFIVE\n");
    EXPECT_EQ(told(land(second)), "done");
    EXPECT_TRUE(report(second).conflicts.empty());
    EXPECT_EQ(told(refresh(second)), "done");
}

// F5: both wrote most of the file anew.
TEST_F(Views, TwoRewritesAreAConflictAndNoBlend) {
    directory.put("src/a.c", "one\ntwo\nthree\nfour\n");
    const std::string tree = adopted();
    put(tree, "src/a.c", "un\ndeux\ntrois\nquatre\n");
    directory.put("src/a.c", "eins\nzwei\ndrei\nvier\n");

    const auto landed = land(tree);
    EXPECT_EQ(told(landed), "conflict; tie src/a.c");
    EXPECT_EQ(landed->conflicts.front().kind, files::ConflictKind::whole);
    EXPECT_EQ(landed->conflicts.front().tree, "un\ndeux\ntrois\nquatre\n");
    EXPECT_EQ(directory.get("src/a.c"), "eins\nzwei\ndrei\nvier\n");
    EXPECT_EQ(get(tree, "src/a.c"), "un\ndeux\ntrois\nquatre\n");
}

// F9: a file of never_merge is taken whole.
TEST_F(Views, AFileThatIsNeverMergedIsAConflictWhereBothChangedIt) {
    FileRules rules = *gate->rules();
    rules.never_merge = {text::Glob::compile("src/*.lock").value()};
    gate->set_rules(std::move(rules));
    directory.put("src/x.lock", "one\ntwo\nthree\nfour\n");
    const std::string tree = adopted();
    put(tree, "src/x.lock", "ONE\ntwo\nthree\nfour\n");
    directory.put("src/x.lock", "one\ntwo\nthree\nFOUR\n");

    EXPECT_EQ(told(land(tree)), "conflict; tie src/x.lock");
    EXPECT_EQ(directory.get("src/x.lock"), "one\ntwo\nthree\nFOUR\n");
    EXPECT_EQ(told(refresh(tree)), "conflict; tie src/x.lock");
    EXPECT_EQ(get(tree, "src/x.lock"), "ONE\ntwo\nthree\nfour\n");
}

// Edits of others that are not saved yet are what everybody sees of the file.
TEST_F(Views, EditsThatAreNotSavedAreMergedOrTied) {
    directory.put("src/a.c", "one\ntwo\nthree\nfour\nfive\n");
    const std::string tree = adopted();
    const auto edited = ask<FileEdited>([&](auto reply) {
        const auto plan = [](const seq::Rope&, std::uint64_t) -> Result<edits::Planned> {
            return edits::Planned{{{{0}, {3}, "uno"}}, {}, true};
        };
        calls->edit({{policy::ActorKind::agent, "bob"}, 0, {}}, "src/a.c", "splice", plan,
                    std::move(reply));
    });
    ASSERT_TRUE(edited);
    put(tree, "src/a.c", "eins\ntwo\nthree\nfour\nFIVE\n");
    EXPECT_EQ(told(land(tree)), "conflict; modified src/a.c; tie src/a.c");
    EXPECT_EQ(directory.get("src/a.c"), "uno\ntwo\nthree\nfour\nFIVE\n");
}

// F12: what was undone is not landed again, and a refresh takes it out of the tree.
TEST_F(Views, UndoneWorkIsNotLandedAgain) {
    const std::string tree = adopted();
    put(tree, "src/a.c", "int a;\nint more;\n");
    EXPECT_EQ(told(land(tree)), "done; modified src/a.c");
    const auto undone = ask<Undone>([&](auto reply) {
        calls->undo(by(""), "src/a.c", last_of("agent:ada", UndoScope::own, false),
                    std::move(reply));
    });
    ASSERT_TRUE(undone) << undone.error().message();
    ASSERT_TRUE(
        ask<FileSaved>([&](auto reply) { calls->save(by(""), "src/a.c", std::move(reply)); }));
    EXPECT_EQ(directory.get("src/a.c"), "int a;\n");

    EXPECT_EQ(told(land(tree)), "done");
    EXPECT_EQ(directory.get("src/a.c"), "int a;\n");
    EXPECT_EQ(told(refresh(tree)), "done; modified src/a.c");
    EXPECT_EQ(get(tree, "src/a.c"), "int a;\n");
}

// F2: a file that is being written waits, and nothing is landed of it.
TEST_F(Views, AHalfWrittenFileIsNotLanded) {
    const std::string tree = adopted();
    put(tree, "src/b.c", "int bb;\n");
    const Fd writer(::open((tree + "/src/a.c").c_str(), O_WRONLY | O_TRUNC));
    ASSERT_EQ(::write(writer.get(), "int ha", 6), 6);
    std::jthread writing([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            ASSERT_EQ(::pwrite(writer.get(), "int ha", 6, 0), 6);
        }
    });
    EXPECT_EQ(told(land(tree)), "busy; left src/a.c");
    EXPECT_EQ(directory.get("src/b.c"), "int b;\n");
    writing.request_stop();
    writing.join();
    ASSERT_EQ(::write(writer.get(), "lf;\n", 4), 4);
    put(tree, "src/a.c", "int half;\n");
    EXPECT_EQ(land(tree)->outcome, SyncOutcome::done);
    EXPECT_EQ(directory.get("src/a.c"), "int half;\n");
}

// F19: permissions, links, hard links and bytes that are no text.
TEST_F(Views, LinksPermissionsAndBinariesTravelBothWays) {
    directory.put("src/tool", "#!/bin/sh\n");
    const std::string tree = adopted();
    put(tree, "src/bin", std::string_view("a\0b", 3));
    disk::create_symlink("a.c", tree + "/src/l");
    ASSERT_EQ(::chmod((tree + "/src/tool").c_str(), 0755), 0);
    ASSERT_EQ(::link((tree + "/src/a.c").c_str(), (tree + "/src/hard").c_str()), 0);

    EXPECT_EQ(told(land(tree)),
              "done; created src/bin; created src/hard; link src/l; mode src/tool");
    EXPECT_EQ(directory.get("src/bin"), std::string("a\0b", 3));
    EXPECT_EQ(disk::read_symlink(directory / "src/l"), "a.c");
    struct stat status {};
    ASSERT_EQ(::stat((directory / "src/tool").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0111, 0111U);
    ASSERT_EQ(::stat((directory / "src/hard").c_str(), &status), 0);
    EXPECT_EQ(status.st_nlink, 1U);
    EXPECT_EQ(told(land(tree)), "done");
    EXPECT_EQ(told(refresh(tree)), "done");

    disk::remove(directory / "src/l");
    disk::create_symlink("b.c", directory / "src/l");
    ASSERT_EQ(::chmod((directory / "src/tool").c_str(), 0644), 0);
    directory.put("src/bin", std::string("c\0d", 3));
    EXPECT_EQ(told(refresh(tree)), "done; modified src/bin; link src/l; mode src/tool");
    EXPECT_EQ(disk::read_symlink(tree + "/src/l"), "b.c");
    EXPECT_EQ(get(tree, "src/bin"), std::string("c\0d", 3));
    ASSERT_EQ(::stat((tree + "/src/tool").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0111, 0U);
    disk::remove(directory / "src/l");
    EXPECT_EQ(told(refresh(tree)), "done; deleted src/l");
    EXPECT_FALSE(has(tree, "src/l"));
}

TEST_F(Views, WhatTheActorMayNotReadStaysOutOfItsTree) {
    const std::string tree = copy_for("ada");
    disk::remove_all(tree + "/secret");
    ASSERT_TRUE(adopt(tree, "ada"));
    directory.put("secret/key", "other\n");
    EXPECT_EQ(told(refresh(tree)), "done");
    EXPECT_FALSE(has(tree, "secret"));
}

TEST_F(Views, ADifferenceWithoutACommonTextIsAConflict) {
    directory.put("src/a.c", "ours\n");
    const std::string tree = copy_for("ada");
    put(tree, "src/a.c", "theirs\n");
    directory.put("src/a.c", "ours, later\n");
    ASSERT_TRUE(adopt(tree, "ada"));
    EXPECT_EQ(told(land(tree)), "conflict; tie src/a.c");
    EXPECT_EQ(told(refresh(tree)), "conflict; tie src/a.c");
    EXPECT_EQ(directory.get("src/a.c"), "ours, later\n");
    EXPECT_EQ(get(tree, "src/a.c"), "theirs\n");
}

TEST_F(Views, AnEditMadeBeforeTheAdoptionIsLanded) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::string tree = copy_for("ada");
    put(tree, "src/a.c", "int early;\n");
    ASSERT_TRUE(adopt(tree, "ada"));
    EXPECT_EQ(told(land(tree)), "done; modified src/a.c");
    EXPECT_EQ(directory.get("src/a.c"), "int early;\n");
}

TEST_F(Views, TreesAreThereAfterARestart) {
    directory.put("src/a.c", "one\ntwo\nthree\nfour\n");
    const std::string tree = adopted();
    put(tree, "src/a.c", "ONE\ntwo\nthree\nfour\n");
    directory.put("src/a.c", "one\ntwo\nthree\nFOUR\n");
    views.reset();
    open();
    EXPECT_TRUE(said.empty());
    EXPECT_EQ(report(tree).to_land, std::vector<std::string>{"src/a.c"});
    EXPECT_EQ(told(land(tree)), "done; modified src/a.c");
    EXPECT_EQ(directory.get("src/a.c"), "ONE\ntwo\nthree\nFOUR\n");
}

// F13: a kernel that is killed in a refresh has written its journal and some of the files.
TEST_F(Views, ARefreshThatWasCutOffAnywhereIsCompleted) {
    using stage::ChangeKind;
    const std::string tree = adopted();
    directory.put("src/a.c", "int new_a;\n");
    directory.put("src/c.c", "int c;\n");
    disk::remove(directory / "src/b.c");
    const auto hash = [](std::string_view text) { return fs::Hash::of(text).hex(); };
    JournalEntry edited{"src/a.c", ChangeKind::modified};
    edited.before = hash("int a;\n");
    edited.after = hash("int new_a;\n");
    JournalEntry gone{"src/b.c", ChangeKind::deleted};
    gone.before = hash("int b;\n");
    JournalEntry made{"src/c.c", ChangeKind::created};
    made.after = hash("int c;\n");
    const std::string place = cat(directory / ".quire/views/", hash(tree), "/refresh");
    for (int written = 0; written <= 3; ++written) {
        SCOPED_TRACE(cat("after ", written, " files"));
        put(place, "upper/src/a.c", "int new_a;\n");
        put(place, "upper/src/c.c", "int c;\n");
        ASSERT_TRUE(write_journal(place, {{edited, gone, made}}));
        put(tree, "src/a.c", written > 0 ? "int new_a;\n" : "int a;\n");
        put(tree, "src/b.c", "int b;\n");
        if (written > 1) disk::remove(tree + "/src/b.c");
        disk::remove(tree + "/src/c.c");
        if (written > 2) put(tree, "src/c.c", "int c;\n");
        views.reset();
        open();
        ASSERT_EQ(said.size(), 1U);
        EXPECT_NE(said[0].find("3 of 3 files are refreshed now"), std::string::npos) << said[0];
        EXPECT_EQ(get(tree, "src/a.c"), "int new_a;\n");
        EXPECT_FALSE(has(tree, "src/b.c"));
        EXPECT_EQ(get(tree, "src/c.c"), "int c;\n");
    }
    EXPECT_EQ(told(land(tree)), "done");
    EXPECT_EQ(told(refresh(tree)), "done");
}

// A refresh whose file the disk refuses: here none may grow beyond a megabyte.
TEST_F(Views, ARefreshThatCannotBeCompletedIsToldOfAndTriedAgain) {
    const std::string tree = adopted();
    const std::string bytes(std::size_t{2} << 20, 'x');
    const auto hash = [](std::string_view text) { return fs::Hash::of(text).hex(); };
    JournalEntry made{"src/large", stage::ChangeKind::created};
    made.after = hash(bytes);
    JournalEntry edited{"src/a.c", stage::ChangeKind::modified};
    edited.before = hash("int a;\n");
    edited.after = hash("int new_a;\n");
    const std::string place = cat(directory / ".quire/views/", hash(tree), "/refresh");
    put(place, "upper/src/large", bytes);
    put(place, "upper/src/a.c", "int new_a;\n");
    ASSERT_TRUE(write_journal(place, {{made, edited}}));
    rlimit usual = {};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &usual), 0);
    const rlimit small{rlim_t{1} << 20, usual.rlim_max};
    std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);

    views.reset();
    open();
    const auto refused = refresh(tree);

    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &usual), 0);
    ASSERT_EQ(said.size(), 1U);
    EXPECT_NE(said[0].find("cannot be completed now"), std::string::npos) << said[0];
    EXPECT_EQ(get(tree, "src/a.c"), "int new_a;\n");
    EXPECT_EQ(told(refused), "refused; io_error");
    EXPECT_TRUE(disk::exists(place + "/commit.json"));
    EXPECT_EQ(told(land(tree)), "done; modified src/a.c; created src/large");
    EXPECT_EQ(get(tree, "src/large"), bytes);
    EXPECT_FALSE(disk::exists(place + "/commit.json"));
}

// A kernel that is killed before it has saved a tree's first state leaves its directory.
TEST_F(Views, ATreeThatWasNeverSavedLeavesNothing) {
    const std::string tree = adopted();
    const std::string empty = directory / ".quire/views/00000000000000000000000000000000";
    const std::string begun = directory / ".quire/views/11111111111111111111111111111111";
    disk::create_directories(empty);
    put(begun, "state.new", "a part of a st");
    views.reset();
    open();
    EXPECT_TRUE(said.empty()) << said[0];
    EXPECT_FALSE(disk::exists(empty));
    EXPECT_FALSE(disk::exists(begun));
    EXPECT_EQ(told(land(tree)), "done");
}

TEST_F(Views, ARefreshBringsAFileThatTakesTheNameOfADirectory) {
    directory.put("src/d/deep/x.c", "int x;\n");
    const std::string tree = adopted();
    disk::remove_all(directory / "src/d");
    directory.put("src/d", "a file\n");

    EXPECT_EQ(told(refresh(tree)), "done; created src/d; deleted src/d/deep/x.c");
    EXPECT_EQ(get(tree, "src/d"), "a file\n");
    EXPECT_EQ(told(land(tree)), "done");
}

// A kernel that is killed when the files are written and the state is not. Here the state cannot be
// written, because a directory has the name of its draft.
class CutOff : public Views {
protected:
    void cut_off(const std::string& tree, Direction direction) {
        const std::string place = cat(directory / ".quire/views/", fs::Hash::of(tree).hex());
        disk::create_directories(place + "/state.new");
        const auto made = direction == Direction::land ? land(tree) : refresh(tree);
        ASSERT_TRUE(made && made->failure);
        EXPECT_EQ(made->failure->reason(), "io_error");
        disk::remove(place + "/state.new");
    }
    void start_again() {
        views.reset();
        open();
        EXPECT_TRUE(said.empty());
    }
};

TEST_F(CutOff, ALandMakesNoConflictOfALineWithTheWordsOfBoth) {
    directory.put("src/a.c", "line five has words\n");
    const std::string tree = adopted();
    put(tree, "src/a.c", "the_tree five has words\n");
    directory.put("src/a.c", "line five has the_others\n");
    cut_off(tree, Direction::land);
    start_again();
    EXPECT_TRUE(report(tree).to_land.empty());
    EXPECT_EQ(told(land(tree)), "done");
    EXPECT_EQ(directory.get("src/a.c"), "the_tree five has the_others\n");
    EXPECT_EQ(told(refresh(tree)), "done; modified src/a.c");
}

TEST_F(CutOff, WorkThatIsUndoneAtOnceIsNotLandedAgain) {
    const std::string tree = adopted();
    put(tree, "src/a.c", "int x;\n");
    put(tree, "src/c.c", "int c;\n");
    cut_off(tree, Direction::land);
    start_again();
    directory.put("src/a.c", "int a;\n");
    disk::remove(directory / "src/c.c");
    EXPECT_EQ(told(land(tree)), "done");
    EXPECT_EQ(told(refresh(tree)), "done; modified src/a.c; deleted src/c.c");
}

TEST_F(CutOff, WhatTheAgentTakesBackAtOnceIsNotRefreshedAgain) {
    const std::string tree = adopted();
    directory.put("src/a.c", "int x;\n");
    directory.put("src/c.c", "int c;\n");
    cut_off(tree, Direction::refresh);
    start_again();
    put(tree, "src/a.c", "int a;\n");
    disk::remove(tree + "/src/c.c");
    EXPECT_EQ(told(refresh(tree)), "done");
    EXPECT_EQ(told(land(tree)), "done; modified src/a.c; deleted src/c.c");
}

TEST_F(CutOff, ADirectoryWhoseFilesAreGoneGoesAtTheNextStart) {
    directory.put("src/d/deep/x.c", "int x;\n");
    directory.put("src/e/y.c", "int y;\n");
    const std::string tree = adopted();
    disk::remove_all(tree + "/src/d");
    cut_off(tree, Direction::land);
    disk::create_directories(directory / "src/d/deep");
    start_again();
    EXPECT_FALSE(directory.has("src/d"));
    disk::remove_all(directory / "src/e");
    cut_off(tree, Direction::refresh);
    disk::create_directories(tree + "/src/e");
    start_again();
    EXPECT_FALSE(has(tree, "src/e"));
}

// A kernel that is killed in a refresh, or in its completion, leaves drafts. They are not in the way of
// the next completion, and may hold bytes that nothing else has.
TEST_F(CutOff, ARefreshIsCompletedWhereAWriteWasInterrupted) {
    directory.put("src/d/x.c", "int x;\n");
    const std::string tree = adopted();
    const auto hash = [](std::string_view text) { return fs::Hash::of(text).hex(); };
    JournalEntry edited{"src/a.c", stage::ChangeKind::modified};
    edited.before = hash("int a;\n");
    edited.after = hash("int x;\n");
    JournalEntry gone{"src/d/x.c", stage::ChangeKind::deleted};
    gone.before = hash("int x;\n");
    const JournalEntry emptied{"src/d", stage::ChangeKind::deleted, true};
    const std::string place = cat(directory / ".quire/views/", hash(tree), "/refresh");
    put(place, "upper/src/a.c", "int x;\n");
    ASSERT_TRUE(write_journal(place, {{edited, gone, emptied}}));
    const std::string draft = fs::draft_name(0, 0), aside = fs::draft_name(7, 3);
    put(tree, cat("src/", draft), "int x");
    disk::rename(tree + "/src/d/x.c", cat(tree, "/src/d/", aside));
    views.reset();
    open();
    ASSERT_EQ(said.size(), 1U);
    EXPECT_NE(said[0].find("3 of 3 files are refreshed now"), std::string::npos) << said[0];
    EXPECT_EQ(get(tree, "src/a.c"), "int x;\n");
    EXPECT_FALSE(has(tree, "src/d"));
    EXPECT_FALSE(has(tree, cat("src/", draft)));
    EXPECT_EQ(directory.get(cat(".quire/recovered/", aside)), "int x;\n");
}

TEST_F(CutOff, AFileThatWasChangedSinceIsMergedByItsOlderBase) {
    directory.put("src/a.c", "one\ntwo\nthree\nfour\n");
    const std::string tree = adopted();
    put(tree, "src/a.c", "ONE\ntwo\nthree\nfour\n");
    cut_off(tree, Direction::land);
    directory.put("src/a.c", "ONE\ntwo\nthree\nFOUR\n");
    start_again();
    EXPECT_EQ(told(land(tree)), "done");
    EXPECT_EQ(told(refresh(tree)), "done; modified src/a.c");
    EXPECT_EQ(get(tree, "src/a.c"), "ONE\ntwo\nthree\nFOUR\n");
}

// A crash of the machine can take the newest state; then everything is merged again.
TEST_F(Views, AnOlderStateChangesNothing) {
    directory.put("src/a.c", "one\ntwo\nthree\nfour\n");
    const std::string tree = adopted();
    const std::string views_directory = directory / ".quire/views";
    const std::string saved = trees / "saved";
    disk::copy(views_directory, saved, disk::copy_options::recursive);
    put(tree, "src/a.c", "ONE\nnew\ntwo\nthree\nfour\n");
    directory.put("src/a.c", "one\ntwo\nthree\nlast\nFOUR\n");
    EXPECT_EQ(land(tree)->outcome, SyncOutcome::done);
    EXPECT_EQ(refresh(tree)->outcome, SyncOutcome::done);
    const std::string both = "ONE\nnew\ntwo\nthree\nlast\nFOUR\n";
    ASSERT_EQ(get(tree, "src/a.c"), both);

    views.reset();
    disk::remove_all(views_directory);
    disk::copy(saved, views_directory, disk::copy_options::recursive);
    open();
    EXPECT_EQ(told(land(tree)), "done");
    EXPECT_EQ(told(refresh(tree)), "done");
    EXPECT_EQ(directory.get("src/a.c"), both);
    EXPECT_EQ(get(tree, "src/a.c"), both);
}

}  // namespace
}  // namespace quire::kernel
