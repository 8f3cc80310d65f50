// Changes of a command that need care on their way into the workspace: paths that become something of another
// kind, directories that cannot be filled, and files that the command did not see.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/concat.h"
#include "fs/hash.h"
#include "kernel/commands/command_gate.h"
#include "kernel/commands/command_journal.h"
#include "kernel/commands/commands_test.h"
#include "kernel/oversight/approval_calls.h"
#include "process/shell_for_test.h"
#include "stage/stage.h"

namespace quire::kernel {
namespace {

namespace disk = std::filesystem;

using policy::Operation;
using policy::Permission;

class CommandChanges : public Commands {
protected:
    Result<policy::Approval> answer(const std::string& id, policy::Answer with) {
        return ask<policy::Approval>([&](auto reply) {
            ApprovalCalls(*kernel).resolve({{policy::ActorKind::human, "eve"}, 0, {}}, id, {with},
                                           std::move(reply));
        });
    }
    static std::string approval_in(const Result<CommandRun>& refused) {
        const Value* const id = refused ? nullptr : refused.error().details().find("approval_id");
        return id == nullptr ? std::string() : id->as_string();
    }
};

TEST_F(CommandChanges, AFileBecomesADirectoryWithFiles) {
    EXPECT_EQ(kept("rm src/a.c; mkdir src/a.c src/a.c/deep; echo one > src/a.c/one; "
                   "echo two > src/a.c/deep/two; echo x > src/a.c-x; printf '\\0' > src/a.c/bin"),
              "deleted src/a.c; created src/a.c/; created src/a.c-x; created src/a.c/bin; "
              "created src/a.c/deep/; created src/a.c/deep/two; created src/a.c/one; ");
    EXPECT_EQ(directory.get("src/a.c/one"), "one\n");
    EXPECT_EQ(directory.get("src/a.c/deep/two"), "two\n");
    EXPECT_EQ(directory.get("src/a.c/bin"), std::string("\0", 1));
    EXPECT_EQ(newest_actor("src/a.c/one"), "agent:ada");
}

TEST_F(CommandChanges, ADirectoryBecomesAFile) {
    directory.put("src/d/one", "one\n");
    directory.put("src/d/in/bin", std::string("a\0b", 3));
    EXPECT_EQ(kept("rm -r src/d; echo file > src/d"),
              "deleted src/d/; created src/d; deleted src/d/in/; deleted src/d/in/bin; "
              "deleted src/d/one; ");
    EXPECT_EQ(directory.get("src/d"), "file\n");
    EXPECT_EQ(newest_actor("src/d"), "agent:ada");
}

TEST_F(CommandChanges, ALinkBecomesADirectoryWithFiles) {
    directory.put("log/other", "other\n");
    directory.link("src/l", "../log");
    EXPECT_EQ(kept("rm src/l; mkdir src/l; echo one > src/l/one"),
              "deleted src/l; created src/l/; created src/l/one; ");
    EXPECT_FALSE(disk::is_symlink(directory / "src/l"));
    EXPECT_EQ(directory.get("src/l/one"), "one\n");
    EXPECT_FALSE(directory.has("log/one"));
}

// A kernel that is killed in the middle completes such a change, whatever of it is done already.
TEST_F(CommandChanges, AChangeOfKindIsCompletedAfterAKill) {
    using stage::ChangeKind;
    const auto hash = [](std::string_view bytes) { return fs::Hash::of(bytes).hex(); };
    std::vector<JournalEntry> entries;
    JournalEntry gone{"src/a.c", ChangeKind::deleted};
    gone.before = hash("int a;\n");
    JournalEntry folder{"src/a.c", ChangeKind::directory, true};
    folder.mode = 0555;
    folder.sets_mode = true;
    JournalEntry inner{"src/a.c/one", ChangeKind::created};
    inner.after = hash("one\n");
    for (int turn = 0; turn < 2; ++turn) {
        Result<stage::Stage> made = stage::Stage::make(directory.path(), {});
        ASSERT_TRUE(made);
        if (turn == 0) {
            ASSERT_TRUE(
                made->run({"rm src/a.c; mkdir src/a.c; echo one > src/a.c/one", directory.path()},
                          clock, {}));
        }
        ASSERT_TRUE(write_journal(made->directory(), {{gone, folder, inner}}));
        disk::rename(made->directory(), directory / ".quire/stages/left");
        const std::vector<std::string> said = commands->sweep();
        ASSERT_EQ(said.size(), 1U);
        EXPECT_NE(said[0].find("3 of 3 are kept now"), std::string::npos) << said[0];
        EXPECT_EQ(directory.get("src/a.c/one"), "one\n");
    }
    EXPECT_EQ(disk::status(directory / "src/a.c").permissions(), disk::perms(0555));
    disk::permissions(directory / "src/a.c", disk::perms(0755));
}

TEST_F(CommandChanges, ADirectoryThatCannotBeFilledIsFilledBefore) {
    EXPECT_EQ(kept("mkdir -p src/d/e; echo one > src/d/e/one; printf '\\0' > src/d/bin; "
                   "chmod 555 src/d/e src/d"),
              "created src/d/; created src/d/bin; created src/d/e/; created src/d/e/one; ");
    EXPECT_EQ(directory.get("src/d/e/one"), "one\n");
    for (const char* const path : {"src/d", "src/d/e"}) {
        EXPECT_EQ(disk::status(directory / path).permissions(), disk::perms(0555)) << path;
        disk::permissions(directory / path, disk::perms(0755));
    }
}

TEST_F(CommandChanges, ADirectoryIsOpenedBeforeWhatIsInItChanges) {
    directory.put("src/d/one", "one\n");
    disk::permissions(directory / "src/d", disk::perms(0555));
    EXPECT_EQ(kept("chmod 755 src/d; rm src/d/one; echo two > src/d/two"),
              "mode src/d/; deleted src/d/one; created src/d/two; ");
    EXPECT_FALSE(directory.has("src/d/one"));
}

TEST_F(CommandChanges, WhatACommandDidNotSeeItDoesNotOverwrite) {
    const auto made = run("mkdir -p secret; echo mine > secret/key; echo x > src/new");
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(kept(*made), "created src/new; [modified secret/key; ]");
    EXPECT_EQ(directory.get("secret/key"), "hidden\n");
    ASSERT_EQ(made->gate.notes.size(), 1U);
    EXPECT_NE(made->gate.notes[0].find("could not see it"), std::string::npos)
        << made->gate.notes[0];
}

TEST_F(CommandChanges, TheOtherNamesOfAHiddenFileAreHiddenToo) {
    ASSERT_EQ(::link((directory / "secret/key").c_str(), (directory / "src/twin").c_str()), 0);
    const auto made = run("cat src/twin; ls src");
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->outcome.output, "a.c\nb.c\n");
}

// A file that may not be seen is made while the command runs. It runs again, and does not see it then.
TEST_F(CommandChanges, AFileThatIsHiddenLaterIsNotShown) {
    FileRules rules;
    rules.paths = policy::PathRules({rule("src/**", Permission::read_write),
                                     rule("late/**", Permission::read_write, {Operation::read})});
    gate->set_rules(std::move(rules));
    directory.put(".quire/early/key", "secret\n");
    std::promise<Result<CommandRun>> promise;
    const std::string command =
        "touch src/began; for i in $(seq 6000); do cat late/key 2>/dev/null && break; "
        "[ -e late ] && break; sleep 0.01; done; true";
    commands->execute(by(command), {command, "", {}, {}},
                      [&](Result<CommandRun> made) { promise.set_value(std::move(made)); });
    EXPECT_TRUE(appears("src/began"));
    // It appears whole.
    disk::rename(directory / ".quire/early", directory / "late");
    const Result<CommandRun> made = promise.get_future().get();
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->outcome.output, "");
}

TEST_F(CommandChanges, AFileThatIsCutByTheLimitIsNotKept) {
    settings.limits.disk_bytes = std::uint64_t{2} << 20;
    commands->set(settings);
    const auto made = run("head -c 4M /dev/zero > src/big; true");
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->outcome.end, stage::StageEnd::disk);
    EXPECT_FALSE(directory.has("src/big"));
    EXPECT_EQ(kept("echo x > src/small"), "created src/small; ");
}

TEST_F(CommandChanges, AYesIsRefusedWhenAFileHasChanged) {
    const std::string id = approval_in(run("echo more >> ask/plan.md"));
    ASSERT_NE(id, "");
    directory.put("ask/plan.md", "another plan\n");
    const auto answered = answer(id, policy::Answer::approve_once);
    ASSERT_FALSE(answered);
    EXPECT_EQ(answered.error().reason(), "outdated");
    const std::string next = approval_in(run("echo more >> ask/plan.md"));
    EXPECT_NE(next, "");
    EXPECT_NE(next, id);
    ASSERT_TRUE(answer(next, policy::Answer::approve_once));
    EXPECT_EQ(kept("echo more >> ask/plan.md"), "modified ask/plan.md; ");
    EXPECT_EQ(directory.get("ask/plan.md"), "another plan\nmore\n");
}

TEST_F(CommandChanges, AYesIsRefusedWhenTheRulesHaveChanged) {
    const std::string id = approval_in(run("echo more >> ask/plan.md"));
    ASSERT_NE(id, "");
    FileRules rules;
    rules.paths = gate->rules()->paths;
    gate->set_rules(rules);
    ASSERT_TRUE(gate->rules()->paths.same_as(rules.paths));
    rules.paths = policy::PathRules({rule("ask/**", Permission::human)});
    gate->set_rules(std::move(rules));
    const auto answered = answer(id, policy::Answer::approve_once);
    ASSERT_FALSE(answered);
    EXPECT_EQ(answered.error().reason(), "outdated");
    EXPECT_EQ(directory.get("ask/plan.md"), "plan\n");
}

TEST_F(CommandChanges, AllIsAskedForInOneRound) {
    const std::string command = "echo more >> ask/plan.md; printf '\\0' > ask/bin; mkdir ask/d";
    const auto refused = run(command);
    ASSERT_FALSE(refused);
    const auto waiting = ApprovalCalls(*kernel).waiting({{policy::ActorKind::human, "eve"}, 0, {}});
    EXPECT_EQ(waiting.size(), 3U);
    for (const policy::Approval& each : waiting)
        ASSERT_TRUE(answer(each.id, policy::Answer::approve_once));
    EXPECT_EQ(kept(command), "created ask/bin; created ask/d/; modified ask/plan.md; ");
}

// The yes was for another text.
TEST_F(CommandChanges, AYesIsForTheFileThatThePersonSaw) {
    const std::string id = approval_in(run("rm ask/plan.md"));
    ASSERT_TRUE(answer(id, policy::Answer::approve_once));
    directory.put("ask/plan.md", "a week of work\n");
    // The document takes the change in with the first call.
    EXPECT_EQ(kept("rm ask/plan.md"), "disk_changed");
    const auto again = run("rm ask/plan.md");
    const std::string next = approval_in(again);
    EXPECT_NE(next, "") << (again ? kept(*again) : again.error().message());
    EXPECT_NE(next, id);
    EXPECT_EQ(directory.get("ask/plan.md"), "a week of work\n");
}

TEST_F(CommandChanges, UnderWarnedTheAllowedPartIsCommittedOnce) {
    at(shell::Enforcement::warned);
    const std::string command = "echo more >> src/a.c; echo more >> ask/plan.md";
    const auto first = run(command);
    ASSERT_TRUE(first) << first.error().message();
    EXPECT_EQ(kept(*first), "modified src/a.c; [modified ask/plan.md; ]");
    ASSERT_EQ(first->gate.escalations.size(), 1U);
    const auto yes = answer(first->gate.escalations[0].approval_id, policy::Answer::approve_once);
    ASSERT_TRUE(yes) << yes.error().message();
    EXPECT_EQ(kept(command), "modified ask/plan.md; ");
    EXPECT_EQ(directory.get("src/a.c"), "int a;\nmore\n");
    EXPECT_EQ(directory.get("ask/plan.md"), "plan\nmore\n");
}

TEST_F(CommandChanges, UnderAuditAllIsKeptThatCanBe) {
    at(shell::Enforcement::audit);
    EXPECT_EQ(kept("ln -s /etc/passwd src/p; mkfifo src/f; echo x > README.md"),
              "modified README.md; link src/p; [created src/f; ]");
    EXPECT_EQ(disk::read_symlink(directory / "src/p"), "/etc/passwd");
    EXPECT_FALSE(directory.has("src/f"));
}

TEST_F(CommandChanges, UnderAuditTheFilesOfQuireStayAsTheyAre) {
    directory.put("quire.toml", "[shell]\n");
    at(shell::Enforcement::audit);
    const auto made =
        run("echo x > quire.toml; mkdir src/in; echo x > src/in/Quire.TOML; "
            "echo x > README.md; chmod u+s src/a.c");
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(kept(*made),
              "modified README.md; created src/in/; "
              "[modified quire.toml; mode src/a.c; created src/in/Quire.TOML; ]");
    EXPECT_EQ(made->gate.violations.size(), 4U);
    EXPECT_EQ(directory.get("quire.toml"), "[shell]\n");
    EXPECT_EQ(kept("rm quire.toml"), "[deleted quire.toml; ]");
    EXPECT_TRUE(directory.has("quire.toml"));
}

// Texts are asked about by one patch, and each other change by itself.
TEST_F(CommandChanges, EachEscalationHasTheApprovalOfItsOwnPath) {
    at(shell::Enforcement::warned);
    directory.put("ask/z.md", "z\n");
    const auto made =
        run("printf '\\0' > ask/bin; mkdir ask/d; echo more >> ask/plan.md; "
            "echo more >> ask/z.md");
    ASSERT_TRUE(made) << made.error().message();
    ASSERT_EQ(made->gate.escalations.size(), 4U);
    for (const GateObjection& each : made->gate.escalations) {
        const auto asked = ask<policy::Approval>([&](auto reply) {
            reply(ApprovalCalls(*kernel).find({{policy::ActorKind::human, "eve"}, 0, {}},
                                              each.approval_id));
        });
        ASSERT_TRUE(asked) << each.path << ": " << asked.error().message();
        const bool is_directory = each.path.ends_with("/");
        EXPECT_EQ(cat(asked->ask.target.name, is_directory ? "/" : ""), each.path);
    }
}

TEST_F(CommandChanges, TheDigestTellsAPathWithANewlineFromTwoPaths) {
    Result<stage::Stage> stage = stage::Stage::make(directory.path(), {});
    ASSERT_TRUE(stage);
    const auto effects = [&](const std::vector<std::string>& paths) {
        std::vector<stage::StagedChange> changes;
        for (const std::string& path : paths) {
            stage::StagedChange change;
            change.path = path;
            change.kind = stage::ChangeKind::directory;
            change.is_directory = true;
            change.mode = 0755;
            changes.push_back(std::move(change));
        }
        const std::string workspace = directory.path();
        return CommandGate({*kernel, *gate, *calls, workspace, 1U << 20}, *stage,
                           std::move(changes), {policy::ActorKind::agent, "ada"})
            .effects()
            .value();
    };
    const std::string between = cat("\ncreated 493 ", fs::Hash::of("").hex(), " \n");
    EXPECT_NE(effects({"ask/a", "ask/b"}), effects({cat("ask/a", between, "ask/b")}));
}

TEST_F(CommandChanges, AFileInThePlaceOfADirectoryWithHiddenFilesIsLeftOut) {
    const auto made = run("rm -rf secret; echo x > secret; echo y > src/new");
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(directory.get("secret/key"), "hidden\n");
    EXPECT_EQ(directory.get("src/new"), "y\n");
}

TEST_F(CommandChanges, HolesCountAsWhatTheyBecome) {
    settings.limits.disk_bytes = std::uint64_t{4} << 20;
    commands->set(settings);
    const auto made = run("for i in 1 2 3 4; do truncate -s 2M src/s$i; done");
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->outcome.end, stage::StageEnd::disk);
    EXPECT_FALSE(directory.has("src/s1"));
}

class GitWithHiddenFiles : public CommandChanges {
protected:
    void SetUp() override {
        CommandChanges::SetUp();
        FileRules rules;
        rules.paths =
            policy::PathRules({rule("secret/**", Permission::read_write, {Operation::read}),
                               rule("**", Permission::read_write)});
        gate->set_rules(std::move(rules));
        git("init -q -b main && git config user.name ada && git config user.email ada@x && "
            "git add src secret && git commit -q -m first");
    }
    std::string git(const std::string& words) {
        return process::typed(directory.path(), cat("git ", words));
    }
};

TEST_F(GitWithHiddenFiles, AreNotDeletedFromTheRepository) {
    for (const char* const command :
         {"echo x > src/new; git add -A; git commit -q -m all", "git commit -q -a -m all",
          "git rm -q --cached secret/key; git commit -q -m all"}) {
        const auto made = run(command);
        ASSERT_TRUE(made) << command << ": " << made.error().message();
        ASSERT_EQ(made->gate.notes.size(), 1U) << command;
        EXPECT_NE(made->gate.notes[0].find("secret/key"), std::string::npos) << made->gate.notes[0];
        EXPECT_EQ(git("log --format=%s"), "first\n") << command;
        EXPECT_EQ(git("status --porcelain secret"), "") << command;
    }
    const auto named = run("echo y > src/named; git add src/named; git commit -q -m named");
    ASSERT_TRUE(named) << named.error().message();
    EXPECT_TRUE(named->gate.notes.empty()) << named->gate.notes[0];
    EXPECT_EQ(git("log --format=%s"), "named\nfirst\n");
    EXPECT_EQ(git("show HEAD:secret/key"), "hidden\n");
}

TEST_F(GitWithHiddenFiles, KeepWhatAPersonHasWritten) {
    directory.put("secret/key", "not committed yet\n");
    ASSERT_TRUE(run("git checkout -q -- .; git reset -q --hard"));
    EXPECT_EQ(directory.get("secret/key"), "not committed yet\n");
}

}  // namespace
}  // namespace quire::kernel
