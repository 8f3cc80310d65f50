// Commands in a kernel on a real disk: each change passes the rules, is kept with its actor, and can
// be taken back.
#include "kernel/commands/command_calls.h"

#include <filesystem>
#include <future>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/test_directory.h"
#include "fs/disk_files.h"
#include "kernel/commands/command_values.h"
#include "kernel/commands/commands_test.h"
#include "kernel/files/file_calls.h"
#include "kernel/files/file_gate.h"
#include "kernel/oversight/approval_calls.h"
#include "kernel/oversight/overseer.h"
#include "sched/scheduler.h"
#include "store/store.h"

namespace quire::kernel {
namespace {

using policy::Operation;
using policy::Permission;
using shell::Enforcement;

TEST_F(Commands, WhatTheRulesAllowIsKeptWithItsActor) {
    const auto made = run("sed -i s/a/x/ src/a.c; rm src/b.c; echo new > src/c.c; echo done");
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->outcome.output, "done\n");
    EXPECT_EQ(kept(*made), "modified src/a.c; deleted src/b.c; created src/c.c; ");
    EXPECT_EQ(directory.get("src/a.c"), "int x;\n");
    EXPECT_EQ(directory.get("src/c.c"), "new\n");
    EXPECT_FALSE(directory.has("src/b.c"));
    EXPECT_EQ(newest_actor("src/a.c"), "agent:ada");
    EXPECT_TRUE(made->unexpected.empty());
}

TEST_F(Commands, ACommandsEditCanBeUndone) {
    ASSERT_TRUE(run("echo more >> src/a.c"));
    EXPECT_EQ(directory.get("src/a.c"), "int a;\nmore\n");
    const auto undone = ask<Undone>([&](auto reply) {
        calls->undo(by(""), "src/a.c", last_of("agent:ada", UndoScope::own, false),
                    std::move(reply));
    });
    ASSERT_TRUE(undone) << undone.error().message();
    const auto saved =
        ask<FileSaved>([&](auto reply) { calls->save(by(""), "src/a.c", std::move(reply)); });
    EXPECT_EQ(directory.get("src/a.c"), "int a;\n");
}

TEST_F(Commands, APredictedViolationIsRefusedBeforeItRuns) {
    const auto made = run("echo x > README.md; echo y > src/new");
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().reason(), "permission_denied");
    EXPECT_EQ(made.error().details().find("stdout"), nullptr);
    EXPECT_EQ(made.error().details().find("violations")->as_list().size(), 1U);
    EXPECT_FALSE(directory.has("src/new"));
}

// Each of them ends in a change of README.md that no prediction shows.
TEST_F(Commands, NothingIsKeptOfACommandThatDidWhatIsForbidden) {
    for (const char* const command : {
             "python3 -c 'open(\"README.md\",\"w\").write(\"x\")'; echo y > src/new",
             "printf 'echo x > README.md' > src/run.sh; bash src/run.sh",
             "perl -e 'unlink \"README.md\"'",
             "ln src/a.c src/hard; python3 -c 'import os; os.rename(\"src/a.c\", \"README.md\")'",
             "python3 -c 'import os; os.symlink(\"../README.md\", \"src/s\"); "
             "open(\"src/s\", \"w\").write(\"x\")'",
             "python3 -c 'import os; os.remove(\"README.md\"); os.mkdir(\"README.md\")'",
             "python3 -c 'import os; os.chmod(\"README.md\", 0o777)'",
             "python3 -c 'import os; os.makedirs(\".git/hooks\"); "
             "open(\".git/hooks/pre-commit\", \"w\").write(\"x\")'",
             "python3 -c 'open(\"quire.toml\", \"w\").write(\"x\")'",
             "python3 -c 'import os; os.symlink(\"/etc\", \"src/etc\")'",
             "python3 -c 'import os; os.symlink(\"../../outside\", \"src/out\")'",
             "python3 -c 'import os; os.mkfifo(\"src/pipe\")'",
             "python3 -c 'open(\"src/x\", \"w\"); import os; os.chmod(\"src/x\", 0o4755)'",
             "python3 -c 'open(\"log/day.md\", \"w\").write(\"anew\")'",
         }) {
        const auto made = run(command);
        ASSERT_FALSE(made) << command;
        EXPECT_EQ(made.error().reason(), "permission_denied") << command;
        for (const char* const member : {"violations", "stdout", "stderr", "exit_code"})
            EXPECT_NE(made.error().details().find(member), nullptr) << member << " of " << command;
        EXPECT_EQ(directory.get("README.md"), "read me\n") << command;
        EXPECT_EQ(directory.get("log/day.md"), "begun\n") << command;
        EXPECT_EQ(directory.get("src/a.c"), "int a;\n") << command;
        for (const char* const made_by_it :
             {"src/new", "src/run.sh", "src/hard", "src/s", ".git", "quire.toml", "src/etc",
              "src/out", "src/pipe", "src/x"}) {
            EXPECT_FALSE(std::filesystem::is_symlink(directory / made_by_it)) << command;
            EXPECT_FALSE(directory.has(made_by_it)) << command;
        }
    }
}

// Changes without a diff are asked about in words: bytes that are no text, directories, links, permissions.
TEST_F(Commands, APersonIsAskedAboutWhatIsNoTextToo) {
    ApprovalCalls approvals(*kernel);
    const std::string command =
        "printf 'a\\0b' > ask/bin; mkdir ask/dir; ln -s plan.md ask/l; chmod 755 ask/plan.md";
    const Caller person{{policy::ActorKind::human, "tom"}, 0, {}};
    const auto asked = run(command);
    ASSERT_FALSE(asked);
    EXPECT_EQ(asked.error().reason(), "escalation_required");
    EXPECT_FALSE(directory.has("ask/bin"));
    const auto waiting =
        ask<ApprovalList>([&](auto reply) { approvals.list(person, false, std::move(reply)); });
    ASSERT_TRUE(waiting);
    std::string shown;
    for (const policy::Approval& each : waiting->approvals) {
        cat_to(shown, cat(each.ask.target.name, ": ", each.diff));
        ASSERT_TRUE(ask<policy::Approval>([&](auto reply) {
            approvals.resolve(person, each.id, {policy::Answer::approve_once}, std::move(reply));
        }));
    }
    EXPECT_NE(shown.find("ask/bin: file ask/bin, which is no text, is new and has 3 bytes"),
              std::string::npos)
        << shown;
    EXPECT_NE(shown.find("ask/dir: new directory ask/dir"), std::string::npos) << shown;
    EXPECT_NE(shown.find("ask/l: link ask/l to plan.md"), std::string::npos) << shown;
    EXPECT_NE(shown.find("ask/plan.md: permissions of ask/plan.md become 755"), std::string::npos)
        << shown;
    EXPECT_EQ(kept(command), "created ask/bin; created ask/dir/; link ask/l; mode ask/plan.md; ");
    EXPECT_EQ(directory.get("ask/bin"), std::string("a\0b", 3));
}

TEST_F(Commands, AnAppendIsOne) {
    EXPECT_EQ(kept("echo more >> log/day.md"), "modified log/day.md; ");
    EXPECT_EQ(directory.get("log/day.md"), "begun\nmore\n");
}

TEST_F(Commands, AnUnpredictedChangeIsTold) {
    const auto made = run("python3 -c 'open(\"src/n\",\"w\").write(\"x\")'");
    ASSERT_TRUE(made) << made.error().message();
    ASSERT_EQ(made->unexpected.size(), 1U);
    EXPECT_EQ(made->unexpected[0].path, "src/n");
    EXPECT_EQ(made->unexpected[0].effect, shell::Effect::create);
}

TEST_F(Commands, BinariesLinksDirectoriesAndPermissionsAreKept) {
    const auto made =
        run("printf 'a\\0b' > src/bin; mkdir -p src/empty/in; ln -s a.c src/l; chmod 755 src/b.c; "
            "printf '#!/bin/sh\\n' > src/run; chmod +x src/run");
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(kept(*made),
              "mode src/b.c; created src/bin; created src/empty/; "
              "created src/empty/in/; link src/l; created src/run; ");
    EXPECT_EQ(directory.get("src/bin"), std::string("a\0b", 3));
    EXPECT_TRUE(directory.has("src/empty/in"));
    EXPECT_EQ(std::filesystem::read_symlink(directory / "src/l"), "a.c");
    struct stat found {};
    ASSERT_EQ(::stat((directory / "src/b.c").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0755U);
    ASSERT_EQ(::stat((directory / "src/run").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0111, 0111U);
    EXPECT_EQ(kept("rm src/bin src/l; rmdir src/empty/in; sed -i s/b/c/ src/b.c"),
              "modified src/b.c; deleted src/bin; deleted src/empty/in/; deleted src/l; ");
    EXPECT_FALSE(directory.has("src/bin"));
    EXPECT_FALSE(std::filesystem::is_symlink(directory / "src/l"));
    EXPECT_FALSE(directory.has("src/empty/in"));
}

TEST_F(Commands, AFileTakesThePlaceOfALink) {
    directory.link("src/l", "a.c");
    EXPECT_EQ(kept("sed -i s/a/z/ src/l"), "deleted src/l; created src/l; ");
    EXPECT_FALSE(std::filesystem::is_symlink(directory / "src/l"));
    EXPECT_EQ(directory.get("src/l"), "int z;\n");
    EXPECT_EQ(directory.get("src/a.c"), "int a;\n");
}

TEST_F(Commands, ALinkTakesThePlaceOfADirectory) {
    directory.put("src/was/a.c", "int a;\n");
    const auto made = run("rm -r src/was; ln -s a.c src/was");
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(kept(*made), "deleted src/was/; link src/was; deleted src/was/a.c; ");
    EXPECT_EQ(std::filesystem::read_symlink(directory / "src/was"), "a.c");
}

TEST_F(Commands, APersonIsAskedAboutTheEffects) {
    const std::string command = "echo more >> ask/plan.md; echo x > src/new";
    const auto refused = run(command);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Errc::escalation_required);
    EXPECT_EQ(directory.get("ask/plan.md"), "plan\n");
    EXPECT_FALSE(directory.has("src/new"));
    Approvals& approvals = Overseer::of(*kernel).approvals();
    const std::vector<policy::Approval> waiting = approvals.list(false);
    ASSERT_EQ(waiting.size(), 1U);
    EXPECT_NE(waiting[0].diff.find("+more"), std::string::npos) << waiting[0].diff;

    const auto approve = [&](const std::string& id) {
        return ask<policy::Approval>([&](auto reply) {
            approvals.resolve(id, {.answer = policy::Answer::approve_once},
                              {policy::ActorKind::human, "eve"}, std::move(reply));
        });
    };
    ASSERT_TRUE(approve(waiting[0].id));
    EXPECT_EQ(kept(command), "modified ask/plan.md; created src/new; ");
    EXPECT_EQ(directory.get("ask/plan.md"), "plan\nmore\n");
    // It was for once.
    EXPECT_EQ(run("echo more >> ask/plan.md; echo x > src/new2").error().code(),
              Errc::escalation_required);
}

// No stage takes back what was sent, so the command does not run before a person has allowed it.
TEST_F(Commands, APersonIsAskedBeforeACommandUsesTheNetwork) {
    const std::string command = "echo x > src/new; curl -s http://127.0.0.1:9/ || true";
    ASSERT_TRUE(run(command)) << "without a network there is nothing to ask";
    settings.network = true;
    commands->set(settings);
    directory.put("src/new", "before\n");

    const auto refused = run(command);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason(), "escalation_required");
    EXPECT_EQ(refused.error().details().find("escalations")->as_list().size(), 1U);
    EXPECT_EQ(refused.error().details().find("stdout"), nullptr) << "it has not run";
    EXPECT_EQ(directory.get("src/new"), "before\n");
    ASSERT_TRUE(run("echo y > src/other")) << "others run";

    Approvals& approvals = Overseer::of(*kernel).approvals();
    const std::vector<policy::Approval> waiting = approvals.list(false);
    ASSERT_EQ(waiting.size(), 1U);
    EXPECT_EQ(waiting[0].ask.target.kind, "command");
    EXPECT_EQ(waiting[0].ask.target.name, command);
    ASSERT_TRUE(ask<policy::Approval>([&](auto reply) {
        approvals.resolve(waiting[0].id, {.answer = policy::Answer::approve_once},
                          {policy::ActorKind::human, "eve"}, std::move(reply));
    }));
    EXPECT_EQ(run(command + " ").error().reason(), "escalation_required") << "it is another one";
    EXPECT_EQ(kept(command), "modified src/new; ");
    EXPECT_EQ(run(command).error().reason(), "escalation_required") << "it was for once";
    const auto by_person = ask<CommandRun>([&](auto reply) {
        commands->execute(by(command, policy::ActorKind::human), {command, "", {}, {}},
                          std::move(reply));
    });
    EXPECT_TRUE(by_person);
}

TEST_F(Commands, AnApprovalIsForWhatAPersonSaw) {
    const std::string command = "cat src/a.c >> ask/plan.md";
    ASSERT_FALSE(run(command));
    Approvals& approvals = Overseer::of(*kernel).approvals();
    const std::string id = approvals.list(false).at(0).id;
    ASSERT_TRUE(ask<policy::Approval>([&](auto reply) {
        approvals.resolve(id, {.answer = policy::Answer::approve_once},
                          {policy::ActorKind::human, "eve"}, std::move(reply));
    }));
    // The file that it reads is another now, and the file that it writes has changed.
    directory.put("src/a.c", "something else\n");
    directory.put("ask/plan.md", "another plan\n");
    const auto again = run(command);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code(), Errc::escalation_required);
    EXPECT_EQ(directory.get("ask/plan.md"), "another plan\n");
}

// A denial removes the stage that waits at once.
TEST_F(Commands, ADenialGivesUpTheChangesThatWait) {
    const auto stages = [&] {
        std::size_t count = 0;
        for (const auto& each : std::filesystem::directory_iterator(directory / ".quire/stages"))
            count += each.is_directory() ? 1U : 0U;
        return count;
    };
    const std::string command = "echo more >> ask/plan.md; echo x > src/new";
    ASSERT_FALSE(run(command));
    ASSERT_FALSE(run("echo other >> ask/plan.md"));
    ASSERT_EQ(stages(), 2U);
    Approvals& approvals = Overseer::of(*kernel).approvals();
    const std::string id = approvals.list(false).at(0).id;
    ASSERT_TRUE(ask<policy::Approval>([&](auto reply) {
        approvals.resolve(id, {.answer = policy::Answer::deny}, {policy::ActorKind::human, "eve"},
                          std::move(reply));
    }));
    for (int i = 0; i < 12'000 && stages() > 1; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(stages(), 1U);
    EXPECT_EQ(run(command).error().reason(), "approval_denied");
    EXPECT_EQ(directory.get("ask/plan.md"), "plan\n");
}

TEST_F(Commands, UnderWarnedTheRestIsKept) {
    at(Enforcement::warned);
    const auto made = run("echo x > README.md; echo y >> ask/plan.md; echo z > src/new");
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(kept(*made), "created src/new; [modified README.md; modified ask/plan.md; ]");
    EXPECT_EQ(made->gate.violations.size(), 1U);
    ASSERT_EQ(made->gate.escalations.size(), 1U);
    EXPECT_FALSE(made->gate.escalations[0].approval_id.empty());
    EXPECT_EQ(directory.get("README.md"), "read me\n");
    EXPECT_EQ(directory.get("src/new"), "z\n");
}

TEST_F(Commands, UnderAuditAllIsKept) {
    at(Enforcement::audit);
    EXPECT_EQ(kept("echo x > README.md; echo y >> ask/plan.md; echo z > src/new"),
              "modified README.md; modified ask/plan.md; created src/new; ");
    EXPECT_EQ(directory.get("README.md"), "x\n");
}

TEST_F(Commands, UnderNoneThereIsNoStage) {
    at(Enforcement::none);
    const auto made = run("echo x > README.md; echo out; echo bad >&2; exit 4");
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->tier, Tier::none);
    EXPECT_EQ(made->outcome.output, "out\n");
    EXPECT_EQ(made->outcome.errors, "bad\n");
    EXPECT_EQ(made->outcome.exit_code, 4);
    EXPECT_EQ(directory.get("README.md"), "x\n");
}

TEST_F(Commands, ATimeoutDiscardsAndReturnsWhatWasPrinted) {
    const auto made = ask<CommandRun>([&](auto reply) {
        const std::string command = "echo begun; echo x > src/new; sleep 60";
        commands->execute(by(command), {command, "", 3, {}}, std::move(reply));
    });
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->outcome.end, stage::StageEnd::timed_out);
    EXPECT_EQ(made->outcome.output, "begun\n");
    EXPECT_EQ(kept(*made), "[created src/new; ]");
    EXPECT_FALSE(directory.has("src/new"));
    EXPECT_TRUE(run_value(*made).find("timed_out")->as_bool());
}

TEST_F(Commands, AFileThatMayNotBeReadIsNotThere) {
    const auto made = run("cat secret/key; ls secret");
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->outcome.output, "");
}

TEST_F(Commands, UnsavedEditsOfOthersAreMerged) {
    const auto edited = ask<FileEdited>([&](auto reply) {
        const auto plan = [](const seq::Rope&, std::uint64_t) -> Result<edits::Planned> {
            return edits::Planned{{{{0}, {0}, "// first\n"}}, {}};
        };
        calls->edit({{policy::ActorKind::agent, "bob"}, 0, {}}, "src/a.c", "splice", plan,
                    std::move(reply));
    });
    ASSERT_TRUE(edited);
    EXPECT_EQ(kept("echo '// last' >> src/a.c"), "modified src/a.c; ");
    EXPECT_EQ(directory.get("src/a.c"), "// first\nint a;\n// last\n");
}

TEST_F(Commands, NamesThatAreNoTextAreShownAsText) {
    const auto made = run("echo x > $'src/\\xff'");
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_TRUE(directory.has("src/\xFF"));
    EXPECT_EQ(run_value(*made).find("file_changes")->as_list().at(0).get("path")->as_string(),
              "src/\xEF\xBF\xBD");
    EXPECT_EQ(kept("rm src/*f* $'src/\\xff'; true"), "deleted src/\xFF; ");
}

TEST_F(Commands, TheDirectoryIsInTheWorkspace) {
    const auto made = run("pwd; echo x > here", "src");
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->outcome.output, directory / "src\n");
    EXPECT_EQ(directory.get("src/here"), "x\n");
    EXPECT_EQ(run("true", "/etc").error().reason(), "outside_workspace");
    EXPECT_EQ(run("true", "nowhere").error().reason(), "file_not_found");
    EXPECT_EQ(run("true", "src/a.c").error().reason(), "not_a_directory");
    EXPECT_EQ(run("true", ".quire").error().reason(), "not_a_directory");
}

TEST_F(Commands, NothingIsLeftInTheStages) {
    ASSERT_TRUE(run("echo x > src/new"));
    ASSERT_FALSE(run("python3 -c 'open(\"README.md\",\"w\")'"));
    EXPECT_TRUE(std::filesystem::is_empty(directory / ".quire/stages"));
}

// Prints the time, and what the same writes take in a loop of their own. bench/node/shell.mjs measures.
TEST_F(Commands, AHundredChangedFilesAreCommitted) {
    const std::string command = "for i in $(seq 100); do echo line $i > src/f$i; done";
    ASSERT_TRUE(run("true"));
    const std::int64_t began = clock.steady_ms();
    const auto made = run(command);
    const std::int64_t all = clock.steady_ms() - began;
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->gate.changes.size(), 100U);
    const std::int64_t before = clock.steady_ms();
    for (int i = 0; i < 100; ++i)
        ASSERT_TRUE(files->create(cat("bare/f", i), cat("line ", i, "\n")));
    const std::int64_t bare = clock.steady_ms() - before;
    std::printf("100 new files: %lld ms with the command, %lld ms for the writes alone\n",
                static_cast<long long>(all), static_cast<long long>(bare));
}

}  // namespace
}  // namespace quire::kernel
