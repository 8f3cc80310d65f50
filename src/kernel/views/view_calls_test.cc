// Adopted trees as a person and an agent use them: who may do what, what a person is asked, who else is at work, and
// the trees that the kernel makes.
#include "kernel/views/view_calls.h"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "kernel/oversight/approval_calls.h"
#include "kernel/views/views_test.h"
#include "process/shell_for_test.h"

namespace quire::kernel {
namespace {

namespace disk = std::filesystem;

TEST_F(Views, AClaimSaysWhoElseChangedWhichLines) {
    std::string lines;
    for (int i = 0; i < 20; ++i) cat_to(lines, cat("line ", i, "\n"));
    directory.put("src/a.c", lines);
    const std::string mine = adopted("ada"), theirs = adopted("bob");
    const auto claims = [&](const std::string& tree) {
        const auto all = ask<std::vector<Claim>>([&](auto reply) {
            views->claims(person(), tree, {"src/a.c", "src/b.c"}, std::move(reply));
        });
        std::string out;
        for (const Claim& each : *all) {
            cat_to(out, cat(each.actor, " ", each.path));
            for (const text::LineRange& range : each.lines)
                cat_to(out, cat(" [", range.begin.n, ", ", range.end.n, ")"));
            out += "; ";
        }
        return out;
    };
    EXPECT_EQ(claims(mine), "");
    std::string changed = lines;
    changed.replace(changed.find("line 10"), 7, "LINE 10");
    put(theirs, "src/a.c", changed);
    EXPECT_EQ(claims(mine), "agent:bob src/a.c [10, 11); ");
    EXPECT_EQ(claims(""), "agent:bob src/a.c [10, 11); ");
    EXPECT_EQ(claims(theirs), "");
    // The lines are those of the one who asks.
    put(mine, "src/a.c", cat("first\nsecond\n", lines));
    EXPECT_EQ(claims(mine), "agent:bob src/a.c [12, 13); ");
    EXPECT_EQ(claims(theirs), "agent:ada src/a.c [0, 0); ");
    // A change that has landed is the workspace's until it is taken in.
    EXPECT_EQ(land(theirs)->outcome, SyncOutcome::done);
    EXPECT_EQ(claims(mine), "agent:bob src/a.c [12, 13); ");
    EXPECT_EQ(refresh(mine)->outcome, SyncOutcome::done);
    EXPECT_EQ(claims(mine), "");
}

TEST_F(Views, ATreeIsMadeOfTheWorkspaceAsItIs) {
    process::typed(
        directory.path(),
        "git init -q . && git config user.name t && git config user.email t@t && printf "
        "'build\\n.quire\\nsecret\\n' > .gitignore && git add -A && git commit -qm first");
    directory.put("src/a.c", "int dirty;\n");
    directory.put("src/new.c", "int untracked;\n");
    directory.put("build/out", "object\n");
    disk::remove(directory / "src/b.c");
    const std::string tree = directory / ".claude/worktrees/feature";
    const auto made = ask<TreeReport>([&](auto reply) {
        views->make(person(), {tree, {policy::ActorKind::agent, "ada"}}, std::move(reply));
    });
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_TRUE(made->to_land.empty());
    EXPECT_TRUE(made->to_refresh.empty());
    EXPECT_EQ(get(tree, "src/a.c"), "int dirty;\n");
    EXPECT_EQ(get(tree, "src/new.c"), "int untracked;\n");
    EXPECT_FALSE(has(tree, "src/b.c"));
    EXPECT_FALSE(has(tree, "build"));
    EXPECT_FALSE(has(tree, "secret/key"));
    EXPECT_EQ(process::typed(tree, "git branch --show-current"), "worktree-feature\n");
    EXPECT_EQ(process::typed(tree, "git status --short -uall"),
              " M src/a.c\n D src/b.c\n?? src/new.c\n");

    put(tree, "src/a.c", "int done;\n");
    const auto remove = [&] {
        return ask<TreeReport>(
            [&](auto reply) { views->remove(person(), tree, std::move(reply)); });
    };
    EXPECT_EQ(remove().error().reason(), "unlanded");
    EXPECT_TRUE(has(tree, "src/a.c"));
    EXPECT_EQ(told(land(tree)), "done; modified src/a.c");
    ASSERT_TRUE(remove());
    EXPECT_FALSE(has(tree, ""));
    EXPECT_EQ(process::typed(directory.path(), "git worktree list | wc -l"), "1\n");
    const std::string other = adopted();
    EXPECT_EQ(ask<TreeReport>([&](auto reply) { views->remove(person(), other, std::move(reply)); })
                  .error()
                  .reason(),
              "not_made_here");
}

TEST_F(Views, AFileThatCannotBeLandedKeepsItsTree) {
    const std::string tree = directory / ".trees/one";
    ASSERT_TRUE(ask<TreeReport>([&](auto reply) {
        views->make(person(), {tree, {policy::ActorKind::agent, "ada"}}, std::move(reply));
    }));
    put(tree, "src/\xff", "bytes\n");
    const auto removed =
        ask<TreeReport>([&](auto reply) { views->remove(person(), tree, std::move(reply)); });
    EXPECT_EQ(removed.error().reason(), "unlanded");
    EXPECT_TRUE(has(tree, "src/\xff"));
}

TEST_F(Views, ATreeWhoseDirectoryIsGoneIsToldOf) {
    const std::string tree = adopted();
    disk::remove_all(tree);
    EXPECT_TRUE(report(tree).is_missing);
    EXPECT_EQ(told(land(tree)), "refused; file_not_found");
    EXPECT_TRUE(
        ask<TreeReport>([&](auto reply) { views->drop(person(), tree, std::move(reply)); }));
}

TEST_F(Views, ATreeWhoseMarkWasCleanedAwayGetsItAgain) {
    const std::string tree = adopted();
    disk::remove(tree + "/.quire");
    EXPECT_EQ(told(land(tree)), "done");
    EXPECT_TRUE(has(tree, ".quire"));
}

TEST_F(Views, ALandThatAsksWaitsForAPerson) {
    const std::string tree = adopted();
    put(tree, "src/a.c", "int x;\n");
    const auto land_asking = [&] {
        return only(ask<std::vector<Synced>>([&](auto reply) {
            views->land(ada_or_person(), {tree, "", true}, std::move(reply));
        }));
    };
    const auto asked = land_asking();
    EXPECT_EQ(told(asked), "asked; escalation_required");
    EXPECT_EQ(directory.get("src/a.c"), "int a;\n");
    ApprovalCalls approvals(*kernel);
    ASSERT_TRUE(ask<policy::Approval>([&](auto reply) {
        approvals.resolve(person(), asked->approval_ids.at(0), {policy::Answer::approve_once},
                          std::move(reply));
    }));
    // They allowed this change, and no other.
    put(tree, "src/b.c", "int y;\n");
    EXPECT_EQ(told(land_asking()), "asked; escalation_required");
    put(tree, "src/b.c", "int b;\n");
    EXPECT_EQ(told(land_asking()), "done; modified src/a.c");
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

TEST_F(Views, ATreeInTheWorkspaceIsNoPartOfIt) {
    const std::string tree = directory / "src/inner";
    disk::create_directories(tree + "/src");
    disk::copy(directory / "src/a.c", tree + "/src/a.c");
    EXPECT_EQ(adopt(directory / "src", "ada").error().reason(), "not_a_tree");
    EXPECT_EQ(adopt(tree, "ada").error().reason(), "not_a_tree");
    // A work tree of git is told by this file, and anything else by an ignore file.
    put(tree, ".git", "gitdir: elsewhere\n");
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
    EXPECT_EQ(get(tree, ".quire"), cat("tree of ", directory.path(), "\nactor agent:ada\n"));
    put(tree, "src/a.c", "int x;\n");
    ASSERT_TRUE(
        ask<TreeReport>([&](auto reply) { views->drop(person(), tree, std::move(reply)); }));
    EXPECT_EQ(get(tree, "src/a.c"), "int x;\n");
    EXPECT_FALSE(has(tree, ".quire"));
    EXPECT_EQ(land(tree).error().reason(), "not_adopted");
}


}  // namespace
}  // namespace quire::kernel
