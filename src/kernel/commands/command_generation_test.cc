// Commands whose files somebody else changes while they run.
#include <cstdint>
#include <filesystem>
#include <future>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/concat.h"
#include "kernel/commands/commands_test.h"

namespace quire::kernel {
namespace {

namespace disk = std::filesystem;

class OnGenerations : public Commands {
protected:
    OnGenerations() {
        directory.put(".gitignore", "signal/\n");
        directory.put("signal/state", "wait");
    }
    void SetUp() override {
        Commands::SetUp();
        if (IsSkipped()) return;
        ASSERT_TRUE(has_generation());
    }
    // The first copy is made in the background; returns whether a command runs on it in the end.
    bool has_generation() {
        for (int i = 0; i < 6000; ++i) {
            const auto made = run("true");
            if (made && made->on_generation) return true;
            ::usleep(10'000);
        }
        return false;
    }
    // Runs a command that has changed its copy when `began` appears there, does something, and lets it end:
    // an ignored directory is live, so the command sees what is written to the file there.
    template <class Work>
    Result<CommandRun> run_meanwhile(const std::string& command, Work work) {
        std::promise<Result<CommandRun>> answer;
        const std::string whole =
            cat(command,
                "; mkdir src/began; until grep -q go signal/state; do sleep 0.05; done; "
                "rmdir src/began");
        commands->execute(by(whole), {whole, "", {}, {}},
                          [&](Result<CommandRun> made) { answer.set_value(std::move(made)); });
        EXPECT_TRUE(appears("src/began"));
        work();
        directory.put("signal/state", "go");
        auto made = answer.get_future().get();
        directory.put("signal/state", "wait");
        return made;
    }
};

TEST_F(OnGenerations, BothSidesOfATextSurvive) {
    directory.put("src/long.c", "one\ntwo\nthree\nfour\nfive\n");
    const auto made = run_meanwhile("sed -i s/one/ONE/ src/long.c; cat src/long.c", [&] {
        directory.put("src/long.c", "one\ntwo\nthree\nfour\nFIVE\n");
    });
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_TRUE(made->on_generation);
    EXPECT_EQ(made->outcome.output, "ONE\ntwo\nthree\nfour\nfive\n");
    EXPECT_EQ(kept(*made), "modified src/long.c; ");
    EXPECT_EQ(directory.get("src/long.c"), "ONE\ntwo\nthree\nfour\nFIVE\n");
    EXPECT_EQ(newest_actor("src/long.c"), "agent:ada");
}

TEST_F(OnGenerations, TheSameWordsAreAConflict) {
    directory.put("src/long.c", "one\ntwo\n");
    const auto made = run_meanwhile("echo mine > src/long.c; echo x > src/new",
                                    [&] { directory.put("src/long.c", "theirs\n"); });
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().reason(), "disk_changed");
    EXPECT_NE(made.error().message().find("src/long.c"), std::string::npos)
        << made.error().message();
    EXPECT_EQ(directory.get("src/long.c"), "theirs\n");
    EXPECT_FALSE(directory.has("src/new"));
}

TEST_F(OnGenerations, WhatCannotBeMergedIsToldAndLeft) {
    directory.put("src/bin", std::string("a\0b", 3));
    directory.put("src/gone", "gone\n");
    directory.put("src/kept", "kept\n");
    directory.link("src/link", "a.c");
    const auto made = run_meanwhile(
        "printf 'x\\0y' > src/bin; rm src/kept src/link; echo more >> src/gone; echo mine > "
        "src/new; "
        "chmod 700 src/b.c; echo fine > src/fine",
        [&] {
            directory.put("src/bin", std::string("c\0d", 3));
            directory.put("src/kept", "kept, and more\n");
            directory.erase("src/gone");
            directory.put("src/new", "theirs\n");
            directory.erase("src/link");
            directory.link("src/link", "b.c");
            disk::permissions(directory / "src/b.c", disk::perms::owner_read);
        });
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(kept(*made),
              "created src/fine; [mode src/b.c; modified src/bin; modified src/gone; "
              "deleted src/kept; deleted src/link; created src/new; ]");
    EXPECT_EQ(made->gate.notes.size(), 6U);
    EXPECT_EQ(directory.get("src/bin"), std::string("c\0d", 3));
    EXPECT_EQ(directory.get("src/kept"), "kept, and more\n");
    EXPECT_EQ(directory.get("src/new"), "theirs\n");
    EXPECT_FALSE(directory.has("src/gone"));
    EXPECT_EQ(disk::read_symlink(directory / "src/link"), "b.c");
}

TEST_F(OnGenerations, TheNextCommandSeesWhatIsThere) {
    EXPECT_EQ(kept("echo one > src/n; mkdir src/d"), "created src/d/; created src/n; ");
    directory.put("src/d/theirs", "theirs\n");
    directory.erase("src/b.c");
    const auto made = run("cat src/n src/d/theirs; ls src");
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_TRUE(made->on_generation);
    EXPECT_EQ(made->outcome.output, "one\ntheirs\na.c\nd\nn\n");
    const auto hidden = run("cat secret/key; ls secret; ls -A .quire");
    ASSERT_TRUE(hidden) << hidden.error().message();
    EXPECT_EQ(hidden->outcome.output, "");
}

TEST_F(OnGenerations, AnApprovalIsForTheFilesThatThePersonSaw) {
    const std::string command = "echo more >> ask/plan.md";
    ASSERT_FALSE(run(command));
    Approvals& approvals = Overseer::of(*kernel).approvals();
    ASSERT_TRUE(ask<policy::Approval>([&](auto reply) {
        approvals.resolve(approvals.list(false).at(0).id, {.answer = policy::Answer::approve_once},
                          {policy::ActorKind::human, "eve"}, std::move(reply));
    }));
    directory.put("ask/plan.md", "another plan\n");
    const auto again = run(command);
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code(), Errc::escalation_required);
    EXPECT_EQ(directory.get("ask/plan.md"), "another plan\n");
}

TEST_F(OnGenerations, StagesAndGenerationsShareTheDisk) {
    directory.put("src/large", std::string(std::size_t{6} << 20, 'x'));
    settings.limits.disk_bytes = std::uint64_t{16} << 20;
    commands->set(settings);
    ASSERT_TRUE(has_generation());
    const std::string fills =
        "for i in 1 2 3 4; do head -c 3000000 /dev/zero > src/f$i; done; sleep 10";
    const auto full = run(fills);
    ASSERT_TRUE(full) << full.error().message();
    EXPECT_EQ(full->outcome.end, stage::StageEnd::disk);
    // Commands stand on the live tree where a copy would take more than its half.
    settings.limits.disk_bytes = std::uint64_t{8} << 20;
    commands->set(settings);
    directory.put("src/more", "more\n");
    const auto made = run("cat src/more");
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_FALSE(made->on_generation);
    EXPECT_EQ(made->outcome.output, "more\n");
}

TEST_F(OnGenerations, ARestartBeginsWithoutTheOldOnes) {
    commands->stop();
    ASSERT_TRUE(directory.has(".quire/generations"));
    directory.put(".quire/generations/9/half", "x\n");
    CommandCalls next(CommandRunner::Parts{*kernel, *gate, *calls, clock, directory.path()},
                      *workers, settings);
    next.sweep();
    EXPECT_FALSE(directory.has(".quire/generations/9"));
    const auto made = ask<CommandRun>(
        [&](auto reply) { next.execute(by("cat src/a.c"), {"cat src/a.c"}, std::move(reply)); });
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->outcome.output, "int a;\n");
}

// One in the background waits for the first copy.
TEST_F(OnGenerations, ABackgroundCommandStandsOnAGeneration) {
    CommandCalls fresh(CommandRunner::Parts{*kernel, *gate, *calls, clock, directory.path()},
                       *workers, settings);
    commands->stop();
    fresh.sweep();
    const std::string command = "sleep 1; cat src/a.c; echo mine > src/own";
    const auto begun = ask<BackgroundState>(
        [&](auto reply) { fresh.background().spawn(by(command), {command}, std::move(reply)); });
    ASSERT_TRUE(begun) << begun.error().message();
    directory.put("src/a.c", "changed\n");
    BackgroundState now = *begun;
    for (int i = 0; i < 6000 && now.running; ++i) {
        ::usleep(10'000);
        now = fresh.background().status(by(""), begun->process_id)->at(0);
    }
    ASSERT_TRUE(now.ended != nullptr && *now.ended);
    EXPECT_TRUE((*now.ended)->on_generation);
    const auto printed = ask<BackgroundOutput>([&](auto reply) {
        fresh.background().output(by(""), begun->process_id, {}, std::move(reply));
    });
    EXPECT_EQ(printed->content, "int a;\n");
    EXPECT_EQ(directory.get("src/own"), "mine\n");
}

}  // namespace
}  // namespace quire::kernel
