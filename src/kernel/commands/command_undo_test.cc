// Undo of what a command changed beside texts: each kind of change, others' changes since, and random
// commands, after whose undo the tree is as it was.
#include "kernel/commands/command_undo.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "base/concat.h"
#include "base/share_for_test.h"
#include "kernel/commands/command_past.h"
#include "kernel/commands/commands_test.h"

namespace quire::kernel {
namespace {

namespace disk = std::filesystem;

const std::string kBinary("\0one", 4);

class CommandUndo : public Commands {
protected:
    CommandUndo() { directory.put("src/bin", kBinary); }

    // Runs the command; the name of the record of what it changed.
    std::string past_of(const std::string& command) {
        const auto made = run(command);
        EXPECT_TRUE(made) << made.error().message();
        return made ? made->gate.past : std::string();
    }
    // Undoes it, and lists what was restored, and in brackets what was left.
    std::string undone(const std::string& past, bool dry_run = false,
                       policy::ActorKind kind = policy::ActorKind::human) {
        const auto result = ask<CommandUndone>([&](auto reply) {
            commands->undo({{kind, "eve"}, 0, {}}, past, dry_run, std::move(reply));
        });
        if (!result) return result.error().reason();
        std::string out;
        for (const std::string& path : result->restored) cat_to(out, cat(path, "; "));
        for (const auto& [path, why] : result->left) cat_to(out, cat("[", path, ": ", why, "]"));
        return out;
    }
    // All that is in src: kind, permissions, and bytes or target, by path.
    std::map<std::string, std::string> tree() const {
        std::map<std::string, std::string> out;
        for (const auto& entry : disk::recursive_directory_iterator(directory / "src")) {
            const std::string path = entry.path().lexically_relative(directory.path()).string();
            const auto mode = static_cast<unsigned>(entry.symlink_status().permissions());
            if (entry.is_symlink()) {
                out[path] = cat("link ", disk::read_symlink(entry.path()).string());
            } else if (entry.is_directory()) {
                out[path] = cat("directory ", mode);
            } else {
                out[path] = cat("file ", mode, " ", directory.get(path));
            }
        }
        return out;
    }
    std::size_t records() const {
        std::error_code gone;
        const disk::directory_iterator found(directory / ".quire/past", gone);
        return static_cast<std::size_t>(std::distance(disk::begin(found), disk::end(found)));
    }
};

TEST_F(CommandUndo, EachKindOfChangeIsTakenBack) {
    directory.link("src/l", "bin");
    directory.put("src/d/in", kBinary);
    directory.put("src/gone", kBinary);
    const auto before = tree();
    for (const char* command :
         {"printf '\\0two' > src/bin", "rm src/gone", "printf '\\0new' > src/new", "rm src/l",
          "ln -sfn gone src/l", "ln -s bin src/m", "mkdir -p src/e/f", "chmod 755 src/bin",
          "chmod 700 src/d", "chmod +x src/a.c", "rm -r src/d",
          "rm src/bin; mkdir src/bin; printf '\\0' > src/bin/x", "rm src/bin; ln -s a.c src/bin",
          "rm -r src/d; printf '\\0' > src/d", "rm src/l; printf '\\0' > src/l",
          "mv src/bin src/moved; mv src/d src/bin"}) {
        SCOPED_TRACE(command);
        const std::string past = past_of(command);
        ASSERT_NE(past, "");
        ASSERT_NE(tree(), before);
        const std::string planned = undone(past, true);
        ASSERT_NE(tree(), before);
        ASSERT_EQ(undone(past), planned);
        ASSERT_EQ(planned.find('['), std::string::npos) << planned;
        ASSERT_EQ(tree(), before);
        ASSERT_EQ(undone(past), "");
        ASSERT_EQ(disk::file_size(directory / cat(".quire/past/", past, "/past.json")), 2U);
    }
}

// The undo of the texts, which comes first, makes the file and the directory anew.
TEST_F(CommandUndo, ADeletedTextAndItsDirectoryGetTheirPermissionsBack) {
    directory.put("src/t/run.sh", "true\n");
    disk::permissions(directory / "src/t/run.sh", disk::perms{0755});
    disk::permissions(directory / "src/t", disk::perms{0700});
    const auto before = tree();
    const std::string past = past_of("rm -r src/t");
    EXPECT_EQ(undone(past, true), "src/t/run.sh; src/t; ");
    directory.put("src/t/run.sh", "true\n");
    EXPECT_NE(tree(), before);
    EXPECT_EQ(undone(past, true), "src/t/run.sh; src/t; ");
    // Another file is not that text.
    directory.put("src/t/run.sh", "other\n");
    EXPECT_EQ(undone(past),
              "src/t; [src/t/run.sh: src/t/run.sh has changed since the command ran]");
    directory.put("src/t/run.sh", "true\n");
    EXPECT_EQ(undone(past), "src/t/run.sh; ");
    EXPECT_EQ(tree(), before);
}

TEST_F(CommandUndo, ADirectoryThatSomebodyMadeKeepsItsPermissions) {
    directory.put("src/t/x", "x\n");
    disk::permissions(directory / "src/t", disk::perms{0775});
    const std::string past = past_of("rm -r src/t");
    disk::create_directory(directory / "src/t");
    disk::permissions(directory / "src/t", disk::perms{0700});
    EXPECT_EQ(undone(past), "");
    EXPECT_EQ(disk::status(directory / "src/t").permissions(), disk::perms{0700});
}

TEST_F(CommandUndo, ACommandThatChangesTextsAloneHasNoRecord) {
    EXPECT_EQ(past_of("echo x >> src/a.c; rm src/b.c; echo new > src/n.c"), "");
    EXPECT_EQ(past_of("true"), "");
    EXPECT_EQ(records(), 0U);
}

TEST_F(CommandUndo, WhatSomebodyChangedSinceIsLeftAndStaysInTheRecord) {
    const std::string past = past_of("printf '\\0two' > src/bin; mkdir src/e; ln -s bin src/l");
    directory.put("src/bin", std::string("\0three", 6));
    directory.put("src/e/theirs", "x");
    EXPECT_EQ(undone(past),
              "src/l; [src/bin: src/bin has changed since the command ran]"
              "[src/e: src/e is not empty, so the directory stays]");
    EXPECT_EQ(directory.get("src/bin"), std::string("\0three", 6));
    directory.put("src/bin", std::string("\0two", 4));
    disk::remove(directory / "src/e/theirs");
    EXPECT_EQ(undone(past), "src/bin; src/e; ");
    EXPECT_EQ(directory.get("src/bin"), kBinary);
    EXPECT_EQ(undone(past), "");
}

TEST_F(CommandUndo, ADirectoryThatWasMadeForTextsGoesWithThem) {
    const std::string past =
        past_of("mkdir -p src/new/deep; echo x > src/new/deep/t; echo y > src/new/u");
    disk::remove(directory / "src/new/deep/t");
    disk::remove(directory / "src/new/u");
    EXPECT_EQ(undone(past), "src/new/deep; src/new; ");
}

TEST_F(CommandUndo, ALaterCommandIsUndoneFirst) {
    const std::string first = past_of("printf '\\0one' > src/f; mkdir src/d");
    const std::string second = past_of("rm src/f; printf '\\0' > src/d/x");
    EXPECT_EQ(undone(first), "[src/d: src/d is not empty, so the directory stays]");
    EXPECT_EQ(undone(second), "src/d/x; src/f; ");
    EXPECT_EQ(undone(first), "src/f; src/d; ");
    EXPECT_FALSE(disk::exists(directory / "src/f"));
}

TEST_F(CommandUndo, PermissionsThatSomebodySetSinceStay) {
    const std::string past = past_of("printf '\\0two' > src/bin");
    disk::permissions(directory / "src/bin", disk::perms{0600});
    EXPECT_EQ(undone(past), "src/bin; ");
    EXPECT_EQ(disk::status(directory / "src/bin").permissions(), disk::perms{0600});
}

TEST_F(CommandUndo, PermissionsThatCloseAFileAreOpenedFirst) {
    const auto before = tree();
    for (const char* command : {"chmod 000 src/bin", "printf '\\0' > src/s; chmod 000 src/s",
                                "mkdir src/ro; printf '\\0' > src/ro/x; chmod 555 src/ro",
                                "printf '\\0two' > src/bin; chmod 755 src/bin"}) {
        SCOPED_TRACE(command);
        const std::string past = past_of(command);
        const std::string planned = undone(past, true);
        EXPECT_EQ(undone(past), planned);
        EXPECT_EQ(planned.find('['), std::string::npos) << planned;
        EXPECT_EQ(tree(), before);
    }
}

TEST_F(CommandUndo, WhatGitWroteIsInNoRecord) {
    at(shell::Enforcement::audit);
    directory.put(".git/HEAD", "ref: refs/heads/main\n");
    const auto made = run("mkdir -p .git/objects/aa; printf '\\0' > .git/objects/aa/bb");
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(kept(*made),
              "created .git/objects/; created .git/objects/aa/; created .git/objects/aa/bb; ");
    EXPECT_EQ(made->gate.past, "");
}

TEST_F(CommandUndo, AClosedDirectoryThatGoesIsOpenedAndComesBackClosed) {
    directory.put("src/d/t", "text\n");
    directory.put("src/d/b", kBinary);
    disk::permissions(directory / "src/d", disk::perms{0500});
    const auto before = tree();
    const std::string past = past_of("chmod 700 src/d; rm -r src/d");
    EXPECT_FALSE(disk::exists(directory / "src/d"));
    directory.put("src/d/t", "text\n");
    const std::string planned = undone(past, true);
    EXPECT_EQ(planned.find('['), std::string::npos) << planned;
    EXPECT_EQ(undone(past), planned);
    EXPECT_EQ(tree(), before);
}

// A person's command changed a file that the agent may not read.
TEST_F(CommandUndo, AFileThatTheActorMayNotReadIsLeft) {
    directory.put("secret/bin", kBinary);
    const auto made = ask<CommandRun>([&](auto reply) {
        const std::string command = "printf '\\0two' > secret/bin";
        commands->execute(by(command, policy::ActorKind::human), {command, "", {}, {}},
                          std::move(reply));
    });
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(undone(made->gate.past, false, policy::ActorKind::agent),
              "[secret/bin: agent:eve may not read secret/bin without an approval]");
}

TEST_F(CommandUndo, TheRulesHold) {
    at(shell::Enforcement::audit);
    const std::string past =
        past_of("printf '\\0' > ask/bin; ln -s plan.md ask/l; mkdir ask/e; chmod 600 ask/plan.md");
    EXPECT_NE(past, "");
    const std::string refused = undone(past, false, policy::ActorKind::agent);
    EXPECT_EQ(refused.find("; "), std::string::npos) << refused;
    EXPECT_TRUE(disk::exists(directory / "ask/bin") && disk::exists(directory / "ask/e"));
    EXPECT_EQ(undone(past), "ask/l; ask/plan.md; ask/bin; ask/e; ");
    EXPECT_FALSE(disk::exists(directory / "ask/bin") || disk::exists(directory / "ask/e"));
}

TEST_F(CommandUndo, DamagedBytesAreNotWritten) {
    const std::string past = past_of("rm src/bin");
    directory.put(cat(".quire/past/", past, "/0"), "other bytes");
    EXPECT_NE(undone(past).find("are damaged]"), std::string::npos);
    EXPECT_FALSE(disk::exists(directory / "src/bin"));
}

TEST_F(CommandUndo, ANameThatIsNoRecordIsRefused) {
    for (const char* name : {"", "..", "../stages", "a/b", "new-1", "1-abcdef"})
        EXPECT_EQ(undone(name), "nothing_to_undo") << name;
}

TEST_F(CommandUndo, ARefusedCommandLeavesNoRecord) {
    EXPECT_FALSE(run("printf '\\0' > src/bin; printf '\\0' > forbidden"));
    EXPECT_EQ(records(), 0U);
}

TEST_F(CommandUndo, AnUnfinishedRecordIsSweptAtTheStart) {
    const std::string kept = past_of("rm src/bin");
    directory.put(".quire/past/new-17-abcdef/0", "bytes");
    commands->sweep();
    EXPECT_EQ(records(), 1U);
    EXPECT_EQ(undone(kept), "src/bin; ");
}

TEST_F(CommandUndo, OldRecordsMakeRoom) {
    // A sparse file stands for the bytes of old records.
    directory.put(".quire/past/1-abcdef/0", "");
    disk::resize_file(directory / ".quire/past/1-abcdef/0", kMostPastBytes - 2);
    const std::string first = past_of("mkdir src/e");
    EXPECT_TRUE(disk::exists(directory / ".quire/past/1-abcdef"));
    EXPECT_EQ(undone("1-abcdef"), "nothing_to_undo");
    const std::string second = past_of("rm src/bin");
    EXPECT_FALSE(disk::exists(directory / ".quire/past/1-abcdef"));
    EXPECT_EQ(undone(second), "src/bin; ");
    EXPECT_EQ(undone(first), "src/e; ");
}

// A random command over a few names, none of which is a text.
std::string random_command(std::mt19937_64& random) {
    const auto name = [&] {
        static constexpr const char* kNames[] = {"bin", "l", "d", "d/in", "d/l", "n", "n/x", "e"};
        return cat("src/", kNames[random() % std::size(kNames)]);
    };
    std::string out;
    for (std::size_t i = 1 + random() % 6; i > 0; --i) {
        switch (random() % 8) {
            case 0:
                cat_to(out, cat("printf '\\000", random() % 10, "' > ", name(), "; "));
                break;
            case 1:
                cat_to(out, cat("rm -rf ", name(), "; "));
                break;
            case 2:
                cat_to(out, cat("mkdir -p ", name(), "; "));
                break;
            case 3:
                cat_to(out, cat("ln -sfn ", random() % 2 == 0 ? "bin" : "n", " ", name(), "; "));
                break;
            case 4:
                cat_to(out, cat("[ -L ", name(), " ] || chmod ", random() % 2 == 0 ? "755" : "700",
                                " ", name(), "; "));
                break;
            case 5:
                cat_to(out, cat("mv ", name(), " ", name(), "; "));
                break;
            case 6:
                cat_to(out, cat("cp -a ", name(), " ", name(), "; "));
                break;
            default:
                cat_to(out, cat("printf '\\0more' >> ", name(), "; "));
        }
    }
    return out + "true";
}

TEST_F(CommandUndo, AfterTheUndoOfARandomCommandTheTreeIsAsItWas) {
    at(shell::Enforcement::audit);
    const char* const given = std::getenv("QUIRE_LONG");
    const int rounds = given != nullptr ? 5000 : 120 / kRoundsShare;
    int changed = 0;
    for (int seed = 1; seed <= rounds; ++seed) {
        SCOPED_TRACE(cat("seed ", seed));
        std::mt19937_64 random(static_cast<std::uint64_t>(seed));
        disk::remove_all(directory / "src");
        directory.put("src/bin", kBinary);
        directory.put("src/d/in", std::string("\0in", 3));
        directory.link("src/l", "bin");
        directory.link("src/d/l", "in");
        const auto before = tree();
        const std::string command = random_command(random);
        SCOPED_TRACE(command);
        const std::string past = past_of(command);
        if (past.empty()) {
            ASSERT_EQ(tree(), before);
            continue;
        }
        ++changed;
        const std::string said = undone(past);
        ASSERT_EQ(said.find('['), std::string::npos) << said;
        ASSERT_EQ(tree(), before) << said;
    }
    EXPECT_GT(changed, rounds / 4);
}

}  // namespace
}  // namespace quire::kernel
