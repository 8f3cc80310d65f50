// Adopted trees on a real disk: what they change is landed under the rules and can be taken back, what others
// change reaches them, and where both changed the same words each keeps its own until they agree.
#include "kernel/views/view_calls.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file_text.h"
#include "kernel/commands/commands_test.h"
#include "kernel/oversight/approval_calls.h"
#include "kernel/views/tree_registry.h"
#include "process/shell_for_test.h"

namespace quire::kernel {
namespace {

namespace disk = std::filesystem;

class Views : public Commands {
protected:
    Views() {
        view_worker = std::make_unique<sched::Pool>(1U);
        open();
    }
    ~Views() override { views.reset(); }
    void SetUp() override {}
    void open() {
        views = std::make_unique<ViewCalls>(
            TreeSync::Parts{*kernel, *gate, *calls, clock, directory.path()}, rng, *view_worker);
        said = views->sweep();
    }

    static Caller person() { return {{policy::ActorKind::human, "tom"}, 0, {}}; }
    static Caller ada() {
        return {{policy::ActorKind::agent, "ada"},
                0,
                {},
                std::make_shared<const Call>(Call{"full", "land", Map{}, false, 1, 0})};
    }
    // A copy of the workspace for an agent, with nothing between the copy and its adoption.
    std::string copy_for(const std::string& agent) {
        const std::string tree = trees / agent;
        disk::create_directories(tree);
        for (const auto& each : disk::directory_iterator(directory.path())) {
            const std::string name = each.path().filename().string();
            if (name == ".quire") continue;
            disk::copy(each.path(), tree + "/" + name,
                       disk::copy_options::recursive | disk::copy_options::copy_symlinks);
        }
        return tree;
    }
    Result<TreeReport> adopt(const std::string& tree, const std::string& agent) {
        return ask<TreeReport>([&](auto reply) {
            views->adopt(person(), {tree, {policy::ActorKind::agent, agent}}, std::move(reply));
        });
    }
    std::string adopted(const std::string& agent = "ada") {
        const std::string tree = copy_for(agent);
        const auto made = adopt(tree, agent);
        EXPECT_TRUE(made) << made.error().message();
        return tree;
    }
    Result<Synced> only(Result<std::vector<Synced>> all) {
        if (!all) return Failure(all.error());
        CHECK(all->size() == 1);
        return std::move(all->front());
    }
    Result<Synced> land(const std::string& tree) {
        return only(ask<std::vector<Synced>>([&](auto reply) {
            views->land(ada_or_person(), {tree, ""}, std::move(reply));
        }));
    }
    Result<Synced> refresh(const std::string& tree) {
        return only(ask<std::vector<Synced>>([&](auto reply) {
            views->refresh(ada_or_person(), {tree, ""}, std::move(reply));
        }));
    }
    Caller ada_or_person() {
        Caller by = person();
        by.call = ada().call;
        return by;
    }
    TreeReport report(const std::string& tree) {
        const auto all = ask<std::vector<TreeReport>>(
            [&](auto reply) { views->list(person(), std::move(reply)); });
        for (const TreeReport& each : *all)
            if (each.directory == tree) return each;
        return {};
    }
    static std::string told(const Result<Synced>& made) {
        if (!made) return made.error().reason();
        std::string out(name_of(made->outcome));
        for (const SyncedFile& each : made->files)
            cat_to(out, cat("; ", each.change_type, " ", each.path));
        for (const TreeConflict& each : made->conflicts) cat_to(out, cat("; tie ", each.path));
        for (const auto& each : made->left) cat_to(out, cat("; left ", each.path));
        if (made->failure) cat_to(out, cat("; ", made->failure->reason()));
        return out;
    }
    static void put(const std::string& tree, const std::string& path, std::string_view text) {
        const disk::path place = disk::path(tree) / path;
        disk::create_directories(place.parent_path());
        std::ofstream(place, std::ios::trunc | std::ios::binary) << text;
    }
    static std::string get(const std::string& tree, const std::string& path) {
        return file_text(tree + "/" + path);
    }
    static bool has(const std::string& tree, const std::string& path) {
        return disk::exists(disk::symlink_status(tree + "/" + path));
    }

    TestDirectory trees;
    std::unique_ptr<sched::Pool> view_worker;
    std::unique_ptr<ViewCalls> views;
    std::vector<std::string> said;
};

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

TEST_F(Views, OneForbiddenChangeKeepsAllOfTheLandOut) {
    const std::string tree = adopted();
    put(tree, "src/a.c", "int x;\n");
    put(tree, "README.md", "mine\n");

    const auto landed = land(tree);
    EXPECT_EQ(told(landed), "refused; permission_denied");
    EXPECT_EQ(landed->violations.front().path, "README.md");
    EXPECT_EQ(directory.get("src/a.c"), "int a;\n");
    put(tree, "README.md", "read me\n");
    EXPECT_EQ(told(land(tree)), "done; modified src/a.c");
}

TEST_F(Views, AChangeThatAPersonMustAllowWaitsForThem) {
    const std::string tree = adopted();
    put(tree, "ask/plan.md", "better plan\n");

    const auto landed = land(tree);
    EXPECT_EQ(told(landed), "asked; escalation_required");
    ASSERT_EQ(landed->approval_ids.size(), 1U);
    EXPECT_EQ(directory.get("ask/plan.md"), "plan\n");
    ApprovalCalls approvals(*kernel);
    const auto resolved = ask<policy::Approval>([&](auto reply) {
        approvals.resolve(person(), landed->approval_ids[0], {policy::Answer::approve_once},
                          std::move(reply));
    });
    ASSERT_TRUE(resolved) << resolved.error().message();
    EXPECT_EQ(told(land(tree)), "done; modified ask/plan.md");
    EXPECT_EQ(directory.get("ask/plan.md"), "better plan\n");
}

// F10: git reset --hard or an rm in the tree takes away what others wrote.
TEST_F(Views, DeletingMuchOfWhatOthersWroteAsksFirst) {
    for (int i = 0; i < 30; ++i) directory.put(cat("src/many/", i), cat("file ", i, "\n"));
    const std::string tree = adopted();
    disk::remove_all(tree + "/src/many");

    const auto landed = land(tree);
    EXPECT_EQ(told(landed), "asked; escalation_required");
    EXPECT_EQ(landed->deleted_files, 30U);
    EXPECT_EQ(landed->deleted_lines, 30U);
    ASSERT_EQ(landed->approval_ids.size(), 1U);
    EXPECT_TRUE(directory.has("src/many/7"));
    ApprovalCalls approvals(*kernel);
    ASSERT_TRUE(ask<policy::Approval>([&](auto reply) {
        approvals.resolve(person(), landed->approval_ids[0], {policy::Answer::approve_once},
                          std::move(reply));
    }));
    EXPECT_EQ(land(tree)->outcome, SyncOutcome::done);
    EXPECT_FALSE(directory.has("src/many"));
}

TEST_F(Views, ManyLinesOfOnesOwnAreDeletedUnasked) {
    std::string lines;
    for (int i = 0; i < 800; ++i) cat_to(lines, cat("line ", i, "\n"));
    const std::string tree = adopted();
    put(tree, "src/long", lines);
    EXPECT_EQ(told(land(tree)), "done; created src/long");
    put(tree, "src/long", "short\n");
    EXPECT_EQ(told(land(tree)), "done; modified src/long");

    directory.put("src/theirs", lines);
    EXPECT_EQ(told(refresh(tree)), "done; created src/theirs");
    put(tree, "src/theirs", "short\n");
    EXPECT_EQ(told(land(tree)), "asked; escalation_required");
}

// F2: a file that is being written waits, and nothing is landed of it.
TEST_F(Views, AHalfWrittenFileIsNotLanded) {
    const std::string tree = adopted();
    put(tree, "src/b.c", "int bb;\n");
    const Fd writer(::open((tree + "/src/a.c").c_str(), O_WRONLY | O_TRUNC));
    ASSERT_EQ(::write(writer.get(), "int ha", 6), 6);
    std::jthread writing([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
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

// F18: one actor may have several trees, each with its own state.
TEST_F(Views, OneActorMayHaveTwoTrees) {
    const std::string first = adopted("ada");
    const std::string second = copy_for("ada-two");
    ASSERT_TRUE(adopt(second, "ada"));
    EXPECT_EQ(adopt(second, "bob").error().reason(), "already_adopted");
    put(first, "src/a.c", "int x;\n");
    put(second, "src/b.c", "int y;\n");

    const auto all = ask<std::vector<Synced>>([&](auto reply) {
        views->land(person(), {std::nullopt, "/"}, std::move(reply));
    });
    ASSERT_EQ(all->size(), 2U);
    EXPECT_EQ(directory.get("src/a.c"), "int x;\n");
    EXPECT_EQ(directory.get("src/b.c"), "int y;\n");
    const auto around = ask<std::vector<Synced>>([&](auto reply) {
        views->refresh(person(), {std::nullopt, first + "/src"}, std::move(reply));
    });
    ASSERT_EQ(around->size(), 1U);
    EXPECT_EQ(around->front().directory, first);
    EXPECT_EQ(get(first, "src/b.c"), "int y;\n");
    EXPECT_EQ(get(second, "src/a.c"), "int a;\n");
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

TEST_F(Views, ATreeInTheWorkspaceIsNoPartOfIt) {
    const std::string tree = directory / "src/inner";
    disk::create_directories(tree + "/src");
    disk::copy(directory / "src/a.c", tree + "/src/a.c");
    ASSERT_TRUE(adopt(tree, "ada"));
    put(tree, "src/a.c", "int x;\n");
    EXPECT_EQ(told(land(tree)), "done; modified src/a.c");
    directory.put("src/b.c", "int z;\n");
    EXPECT_EQ(refresh(tree)->outcome, SyncOutcome::done);
    EXPECT_EQ(get(tree, "src/b.c"), "int z;\n");
    EXPECT_FALSE(has(tree, "src/inner"));
}

TEST_F(Views, OnlyAPersonOrItsActorBringsATree) {
    const std::string tree = adopted();
    put(tree, "src/a.c", "int x;\n");
    const Caller bob{{policy::ActorKind::agent, "bob"}, 0, {}};
    const auto landed = ask<std::vector<Synced>>([&](auto reply) {
        views->land(bob, {tree, ""}, std::move(reply));
    });
    ASSERT_TRUE(landed);
    EXPECT_EQ(told(Result<Synced>(landed->front())), "refused; permission_denied");
    EXPECT_EQ(ask<TreeReport>([&](auto reply) { views->drop(bob, tree, std::move(reply)); })
                  .error()
                  .reason(),
              "permission_denied");
    const auto own = ask<std::vector<Synced>>([&](auto reply) {
        views->land(ada(), {tree, ""}, std::move(reply));
    });
    EXPECT_EQ(own->front().outcome, SyncOutcome::done);
}

TEST_F(Views, ADirectoryThatIsNoTreeIsRefused) {
    EXPECT_EQ(adopt(directory.path(), "ada").error().reason(), "not_a_tree");
    EXPECT_EQ(adopt(directory / ".quire", "ada").error().reason(), "not_a_tree");
    EXPECT_EQ(adopt("/", "ada").error().reason(),
              ::geteuid() == 0 ? "not_a_tree" : "foreign_directory");
    EXPECT_EQ(adopt(trees / "none", "ada").error().reason(), "file_not_found");
    EXPECT_EQ(adopt(directory / "src/a.c", "ada").error().reason(), "not_a_directory");
    EXPECT_EQ(land(trees / "none").error().reason(), "not_adopted");
    const std::string other = trees / "other";
    disk::create_directories(other + "/.quire");
    EXPECT_EQ(adopt(other, "ada").error().reason(), "has_workspace");
    EXPECT_TRUE(report(other).directory.empty());
}

// Neither directory is the top of a work tree, and nothing in them is known to git.
TEST_F(Views, ATreeMayLieDeepInARepository) {
    process::typed(trees.path(), "git init -q .");
    const std::string tree = adopted();
    EXPECT_NE(get(trees.path(), ".git/info/exclude").find("\n.quire\n"), std::string::npos);
    EXPECT_EQ(process::typed(trees.path(), "git status --short --ignored=matching -uall | grep quire"),
              "!! ada/.quire\n");
    put(tree, "src/a.c", "int x;\n");
    EXPECT_EQ(told(land(tree)), "done; modified src/a.c");
}

TEST_F(Views, ADroppedTreeKeepsItsFiles) {
    const std::string tree = adopted();
    EXPECT_EQ(get(tree, ".quire"), cat("tree of ", directory.path(), "\n"));
    put(tree, "src/a.c", "int x;\n");
    ASSERT_TRUE(
        ask<TreeReport>([&](auto reply) { views->drop(person(), tree, std::move(reply)); }));
    EXPECT_EQ(get(tree, "src/a.c"), "int x;\n");
    EXPECT_FALSE(has(tree, ".quire"));
    EXPECT_EQ(land(tree).error().reason(), "not_adopted");
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
