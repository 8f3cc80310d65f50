// Commits that a kernel had begun when it was killed: what the next one makes of them.
#include "kernel/commands/command_journal.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/concat.h"
#include "fs/draft_names.h"
#include "fs/hash.h"
#include "kernel/commands/commands_test.h"
#include "stage/stage.h"

namespace quire::kernel {
namespace {

class CommandJournal : public Commands {
protected:
    // Runs a command in a stage, and leaves the stage with its journal as a kernel does that is killed.
    void leave(const std::string& command, Journal journal) {
        Result<stage::Stage> made = stage::Stage::make(directory.path(), {});
        ASSERT_TRUE(made);
        ASSERT_TRUE(made->run({command, directory.path()}, clock, {}));
        ASSERT_TRUE(write_journal(made->directory(), std::move(journal)));
        std::filesystem::rename(made->directory(), directory / ".quire/stages/left");
    }
    bool has_worked_on(const std::string& actor, const std::string& path) {
        const auto history = ask<FileHistory>([&](auto reply) {
            calls->history({{policy::ActorKind::human, "eve"}, 0, {}}, path, 9, "",
                           std::move(reply));
        });
        return history && std::ranges::any_of(history->page.versions, [&](const auto& each) {
                   return each.actor == actor;
               });
    }
    static JournalOrigin origin(const std::string& command) {
        return {"agent:bob", "full", "shell", "command", {command, "allow", "staged"}};
    }
    static JournalEntry entry(const std::string& path, stage::ChangeKind kind,
                              std::string_view before, std::string_view after) {
        JournalEntry out{path, kind};
        if (!before.empty()) out.before = fs::Hash::of(before).hex();
        if (!after.empty()) out.after = fs::Hash::of(after).hex();
        return out;
    }
};

TEST_F(CommandJournal, ABegunCommitIsCompleted) {
    using stage::ChangeKind;
    directory.link("src/l", "a.c");
    JournalEntry run = entry("src/run", ChangeKind::created, "", "run\n");
    run.sets_mode = true;
    run.mode = 0755;
    JournalEntry folder{"src/d", ChangeKind::directory, true};
    folder.mode = 0755;
    JournalEntry link{"src/m", ChangeKind::link};
    link.target = "b.c";
    JournalEntry old_link{"src/l", ChangeKind::deleted};
    old_link.was_link = true;
    leave(
        "echo A > src/a.c; rm src/b.c; echo run > src/run; mkdir src/d; ln -s b.c src/m; rm src/l; "
        "echo L > src/l; echo D > log/day.md; echo R > README.md",
        {{entry("src/a.c", ChangeKind::modified, "int a;\n", "A\n"),
          entry("src/b.c", ChangeKind::deleted, "int b;\n", ""), run, folder, link, old_link,
          entry("src/l", ChangeKind::created, "", "L\n"),
          entry("log/day.md", ChangeKind::modified, "begun\n", "D\n"),
          entry("README.md", ChangeKind::modified, "read me\n", "R\n")}});
    // One is done already, and one was changed by somebody else since.
    directory.put("src/a.c", "A\n");
    directory.put("README.md", "theirs\n");
    const std::vector<std::string> said = commands->sweep();
    ASSERT_EQ(said.size(), 1U);
    EXPECT_EQ(
        said[0],
        "a kernel was killed while it kept the changes of a command; 8 of 9 are kept now; left: "
        "README.md");
    EXPECT_EQ(directory.get("src/a.c"), "A\n");
    EXPECT_FALSE(directory.has("src/b.c"));
    EXPECT_EQ(directory.get("src/run"), "run\n");
    struct stat found {};
    ASSERT_EQ(::stat((directory / "src/run").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0755U);
    EXPECT_TRUE(std::filesystem::is_directory(directory / "src/d"));
    EXPECT_EQ(std::filesystem::read_symlink(directory / "src/m"), "b.c");
    EXPECT_EQ(directory.get("src/l"), "L\n");
    EXPECT_FALSE(std::filesystem::is_symlink(directory / "src/l"));
    EXPECT_EQ(directory.get("log/day.md"), "D\n");
    EXPECT_EQ(directory.get("README.md"), "theirs\n");
    EXPECT_FALSE(directory.has(".quire/stages"));
    EXPECT_TRUE(commands->sweep().empty());
}

// A kernel that was killed while it deleted a file has left the file's bytes under another name.
TEST_F(CommandJournal, ADirectoryGoesWhereADeletionWasInterrupted) {
    using stage::ChangeKind;
    const std::string draft = fs::draft_name(7, 3);
    directory.put("src/d/x.c", "int x;\n");
    leave("rm -r src/d", {{entry("src/d/x.c", ChangeKind::deleted, "int x;\n", ""),
                           JournalEntry{"src/d", ChangeKind::deleted, true}}});
    std::filesystem::rename(directory / "src/d/x.c", directory / cat("src/d/", draft));

    const std::vector<std::string> said = commands->sweep();

    ASSERT_EQ(said.size(), 1U);
    EXPECT_NE(said[0].find("2 of 2 are kept now"), std::string::npos) << said[0];
    EXPECT_FALSE(directory.has("src/d"));
    EXPECT_EQ(directory.get(cat(".quire/recovered/", draft)), "int x;\n");
}

// A text is at its place in history, and what has no history is in the record.
TEST_F(CommandJournal, ACompletedCommitBelongsToItsActorAndCanBeUndone) {
    using stage::ChangeKind;
    const std::string old_bytes("\0old", 4), new_bytes("\0new", 4);
    directory.put("src/bin", old_bytes);
    // Their histories begin before the commit does.
    ASSERT_TRUE(run("echo more >> src/a.c; echo more >> src/b.c"));
    JournalEntry changed = entry("src/a.c", ChangeKind::modified, "int a;\nmore\n", "A\n");
    JournalEntry gone = entry("src/b.c", ChangeKind::deleted, "int b;\nmore\n", "");
    JournalEntry made = entry("src/new", ChangeKind::created, "", "N\n");
    for (JournalEntry* each : {&changed, &gone, &made}) each->is_text = true;
    changed.version = gone.version = 2;
    leave("echo A > src/a.c; rm src/b.c; echo N > src/new; printf '\\0new' > src/bin",
          {{changed, gone, made, entry("src/bin", ChangeKind::modified, old_bytes, new_bytes)},
           origin("echo A > src/a.c"),
           "1-left"});
    // Two of the texts are on the disk already.
    directory.put("src/a.c", "A\n");
    directory.put("src/new", "N\n");
    ASSERT_EQ(commands->sweep().size(), 1U);
    EXPECT_EQ(directory.get("src/bin"), new_bytes);
    EXPECT_FALSE(directory.has("src/b.c"));
    for (const char* path : {"src/a.c", "src/new"})
        EXPECT_TRUE(has_worked_on("agent:bob", path)) << path;
    const auto back = ask<Undone>([&](auto reply) {
        calls->undo({{policy::ActorKind::agent, "bob"}, 0, {}}, "src/b.c", {}, std::move(reply));
    });
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(directory.get("src/b.c"), "int b;\nmore\n");
    const auto undone = ask<CommandUndone>([&](auto reply) {
        commands->undo({{policy::ActorKind::agent, "bob"}, 0, {}}, "1-left", false,
                       std::move(reply));
    });
    ASSERT_TRUE(undone) << undone.error().message();
    EXPECT_EQ(undone->restored, std::vector<std::string>{"src/bin"});
    EXPECT_EQ(directory.get("src/bin"), old_bytes);
}

// Others' changes are in it, whenever they were made.
TEST_F(CommandJournal, OthersChangesOfATextAreKept) {
    using stage::ChangeKind;
    for (const char* name : {"a", "b", "c", "d"})
        directory.put(cat("src/", name), "one\ntwo\nend\n");
    ASSERT_TRUE(run("for f in a b c d; do echo more >> src/$f; done"));
    const std::string before = "one\ntwo\nend\nmore\n", after = "one\nTWO\nend\nmore\n";
    const std::string merged = "ONE\nTWO\nend\nmore\n";
    const auto text = [&](const char* path, const std::string& to) {
        JournalEntry out = entry(path, ChangeKind::modified, before, to);
        out.is_text = true;
        out.version = 2;
        return out;
    };
    // Before the commit began, after it has written the file, before that; and in the same words.
    JournalEntry early = text("src/a", merged);
    early.bytes = merged;
    leave("for f in a b c d; do sed -i s/two/TWO/ src/$f; done",
          {{early, text("src/b", after), text("src/c", after), text("src/d", after)},
           origin("sed"),
           "1-left"});
    directory.put("src/b", after + "theirs\n");
    directory.put("src/c", before + "theirs\n");
    directory.put("src/d", "one\ntwice\nend\nmore\n");
    const auto said = commands->sweep();
    ASSERT_EQ(said.size(), 1U);
    EXPECT_NE(said[0].find("4 of 4 are kept now"), std::string::npos) << said[0];
    EXPECT_EQ(directory.get("src/a"), merged);
    EXPECT_EQ(directory.get("src/b"), after + "theirs\n");
    EXPECT_EQ(directory.get("src/c"), after + "theirs\n");
    for (const char* path : {"src/a", "src/b", "src/c", "src/d"}) {
        EXPECT_TRUE(has_worked_on("agent:bob", path)) << path;
    }
}

TEST_F(CommandJournal, WhatSomebodyHasMadeSinceIsLeftAlone) {
    using stage::ChangeKind;
    directory.link("src/l", "a.c");
    JournalEntry made = entry("src/run", ChangeKind::created, "", "run\n");
    made.is_text = made.sets_mode = true;
    made.mode = 0755;
    JournalEntry mode{"src/a.c", ChangeKind::mode};
    mode.sets_mode = true;
    mode.mode = 0755;
    mode.old_mode = 0644;
    JournalEntry link{"src/l", ChangeKind::link};
    link.target = "b.c";
    link.old_target = "a.c";
    JournalEntry folder{"src/d", ChangeKind::deleted, true};
    leave("echo run > src/run", {{made, mode, link, folder}, origin("echo"), "1-left"});
    directory.put("src/run", "theirs\n");
    directory.put("src/d/theirs", "theirs\n");
    std::filesystem::permissions(directory / "src/a.c", std::filesystem::perms{0600});
    std::filesystem::remove(directory / "src/l");
    directory.link("src/l", "../README.md");
    const auto said = commands->sweep();
    ASSERT_EQ(said.size(), 1U);
    EXPECT_NE(said[0].find("0 of 4 are kept now"), std::string::npos) << said[0];
    EXPECT_EQ(directory.get("src/run"), "theirs\n");
    const auto mode_of = [&](const char* path) {
        return std::filesystem::status(directory / path).permissions();
    };
    EXPECT_EQ(mode_of("src/run"), std::filesystem::perms{0644});
    EXPECT_EQ(mode_of("src/a.c"), std::filesystem::perms{0600});
    EXPECT_EQ(std::filesystem::read_symlink(directory / "src/l"), "../README.md");
    EXPECT_TRUE(directory.has("src/d/theirs"));
}

// The kernel was killed between the end of the record and the entry in the audit log.
TEST_F(CommandJournal, AFinishedRecordIsNotMadeAgain) {
    const auto made = run("printf '\\0new' > src/bin; chmod 500 src");
    ASSERT_TRUE(made);
    JournalEntry mode{"src", stage::ChangeKind::mode, true};
    mode.sets_mode = true;
    mode.mode = 0500;
    mode.old_mode = 0755;
    leave("true",
          {{entry("src/bin", stage::ChangeKind::created, "", std::string("\0new", 4)), mode},
           origin("printf"),
           made->gate.past});
    const std::string record = cat(".quire/past/", made->gate.past, "/past.json");
    const std::string before = directory.get(record);
    ASSERT_EQ(commands->sweep().size(), 1U);
    EXPECT_EQ(directory.get(record), before);
    std::filesystem::permissions(directory / "src", std::filesystem::perms{0755});
}

// An earlier program wrote the entries alone, and what was changed since is nobody's command.
TEST_F(CommandJournal, AnOlderJournalIsCompleted) {
    leave("echo A > src/a.c", {});
    const auto hex = [](std::string_view text) { return fs::Hash::of(text).hex(); };
    directory.put(".quire/stages/left/commit.json",
                  cat(R"([{"path":"7372632f612e63","kind":"modified","is_directory":false,)",
                      R"("was_link":false,"sets_mode":false,"mode":420,"target":"","before":")",
                      hex("int a;\n"), R"(","after":")", hex("A\n"), "\"}]"));
    EXPECT_EQ(commands->sweep().size(), 1U);
    EXPECT_EQ(directory.get("src/a.c"), "A\n");
    EXPECT_FALSE(directory.has(".quire/past"));
}

TEST_F(CommandJournal, ATornJournalBeganNothing) {
    leave("echo A > src/a.c", {{entry("src/a.c", stage::ChangeKind::modified, "int a;\n", "A\n")}});
    const std::string path = directory / ".quire/stages/left/commit.json";
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
    EXPECT_TRUE(commands->sweep().empty());
    EXPECT_EQ(directory.get("src/a.c"), "int a;\n");
    EXPECT_FALSE(directory.has(".quire/stages"));
}

TEST_F(CommandJournal, ACommitThatIsDoneLeavesNone) {
    ASSERT_TRUE(run("echo A > src/a.c; printf 'a\\0b' > src/bin"));
    EXPECT_TRUE(std::filesystem::is_empty(directory / ".quire/stages"));
    // One that waits for a person has begun nothing.
    ASSERT_FALSE(run("echo more >> ask/plan.md; echo B > src/b.c"));
    EXPECT_TRUE(commands->sweep().empty());
    EXPECT_EQ(directory.get("src/b.c"), "int b;\n");
}

}  // namespace
}  // namespace quire::kernel
