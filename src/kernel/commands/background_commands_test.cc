// Commands in the background: what they print, how they end, and what becomes of their changes.
#include "kernel/commands/background_commands.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <future>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "kernel/commands/commands_test.h"
#include "kernel/commands/output_block.h"
#include "kernel/commands/output_tail.h"
#include "kernel/core/block_reads.h"
#include "kernel/core/kernel.h"

namespace quire::kernel {
namespace {

using shell::Enforcement;

class Background : public Commands {
protected:
    Result<BackgroundState> spawn(const std::string& command,
                                  policy::ActorKind kind = policy::ActorKind::agent) {
        return ask<BackgroundState>([&](auto reply) {
            commands->background().spawn(by(command, kind), {command}, std::move(reply));
        });
    }
    BackgroundOutput output(const std::string& id, std::optional<std::size_t> from = {}) {
        auto got = ask<BackgroundOutput>(
            [&](auto reply) { commands->background().output(by(""), id, from, std::move(reply)); });
        return got ? *std::move(got)
                   : BackgroundOutput{{}, "refused: " + got.error().reason(), 0, 0};
    }
    Result<BackgroundState> kill(const std::string& id, EndSignal signal) {
        return ask<BackgroundState>(
            [&](auto reply) { commands->background().kill(by(""), id, signal, std::move(reply)); });
    }
    // The state after a signal that ends the command. A slow machine may take longer for that than the
    // two seconds that the answer waits for the end.
    Result<BackgroundState> killed(const std::string& id, EndSignal signal) {
        const std::int64_t began = clock.steady_ms();
        auto now = kill(id, signal);
        if (!now || !now->running) return now;
        EXPECT_GE(clock.steady_ms() - began, 2000);
        return ended(id).state;
    }
    BackgroundOutput when(const std::string& id,
                          const std::function<bool(const BackgroundOutput&)>& holds) {
        for (int i = 0; i < 6000; ++i) {
            BackgroundOutput now = output(id);
            if (holds(now)) return now;
            ::usleep(20'000);
        }
        ADD_FAILURE() << "waited for " << id;
        return {};
    }
    BackgroundOutput ended(const std::string& id) {
        return when(id, [](const BackgroundOutput& now) { return !now.state.running; });
    }
    BackgroundOutput printed(const std::string& id, const std::string& what) {
        return when(id, [&](const BackgroundOutput& now) {
            return now.content.find(what) != std::string::npos;
        });
    }
    static const CommandRun& run_of(const BackgroundState& state) { return **state.ended; }
    WholeText block(const std::string& id) {
        return *ask<WholeText>([&](auto reply) { kernel->text(by(""), id, std::move(reply)); });
    }
};

TEST_F(Background, ItRunsOnAndItsChangesAreKeptWhenItEnds) {
    const auto made = spawn("echo begun; sleep 0.6; echo more >> src/a.c; echo bad >&2; exit 3");
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_TRUE(made->running);
    const BackgroundOutput first = printed(made->process_id, "begun\n");
    EXPECT_TRUE(first.state.running);
    EXPECT_EQ(directory.get("src/a.c"), "int a;\n");
    const BackgroundOutput last = ended(made->process_id);
    EXPECT_EQ(last.content, "begun\nbad\n");
    EXPECT_EQ(last.line_count, 2U);
    EXPECT_EQ(last.state.exit_code, 3);
    EXPECT_EQ(kept(run_of(last.state)), "modified src/a.c; ");
    EXPECT_EQ(directory.get("src/a.c"), "int a;\nmore\n");
    EXPECT_EQ(newest_actor("src/a.c"), "agent:ada");
    EXPECT_EQ(output(made->process_id, 1).content, "bad\n");
    EXPECT_EQ(output(made->process_id, 7).content, "");
    const WholeText whole = block(made->process_id);
    EXPECT_EQ(whole.text, "begun\nbad\n");
    EXPECT_EQ(whole.info.status, "error");
}

TEST_F(Background, TermLetsItTidyUpAndKillDiscards) {
    const std::string command =
        "trap 'echo end >> src/a.c; exit 0' TERM; echo ready; echo x > src/n; "
        "while :; do sleep 0.05; done";
    const auto gentle = spawn(command);
    ASSERT_TRUE(gentle) << gentle.error().message();
    printed(gentle->process_id, "ready");
    const auto after = killed(gentle->process_id, EndSignal::term);
    ASSERT_TRUE(after);
    EXPECT_FALSE(after->running);
    EXPECT_EQ(kept(run_of(*after)), "modified src/a.c; created src/n; ");
    EXPECT_EQ(directory.get("src/a.c"), "int a;\nend\n");

    const auto rude = spawn("echo y > src/m; echo ready; sleep 60");
    ASSERT_TRUE(rude);
    printed(rude->process_id, "ready");
    const auto discarded = killed(rude->process_id, EndSignal::kill);
    ASSERT_TRUE(discarded);
    EXPECT_FALSE(discarded->running);
    EXPECT_EQ(kept(run_of(*discarded)), "[created src/m; ]");
    EXPECT_FALSE(directory.has("src/m"));
    // A signal to an ended command changes nothing.
    EXPECT_FALSE(kill(rude->process_id, EndSignal::term)->running);
}

TEST_F(Background, OneThatTakesNoSignalIsToldToBeRunning) {
    const auto made = spawn("trap '' TERM INT; echo ready; while :; do sleep 0.05; done");
    ASSERT_TRUE(made);
    printed(made->process_id, "ready");
    EXPECT_TRUE(kill(made->process_id, EndSignal::interrupt)->running);
    EXPECT_FALSE(killed(made->process_id, EndSignal::kill)->running);
}

TEST_F(Background, WhatTheRulesForbidIsRefusedOrDiscarded) {
    const auto foreseen = spawn("echo x > README.md");
    ASSERT_FALSE(foreseen);
    EXPECT_EQ(foreseen.error().reason(), "permission_denied");
    const auto hidden = spawn("printf 'echo x > README.md; echo y > src/b.c' > src/s; bash src/s");
    ASSERT_TRUE(hidden);
    const BackgroundOutput last = ended(hidden->process_id);
    EXPECT_TRUE(run_of(last.state).is_refused);
    EXPECT_EQ(run_of(last.state).gate.violations.size(), 1U);
    EXPECT_EQ(directory.get("README.md"), "read me\n");
    EXPECT_FALSE(directory.has("src/s"));
    EXPECT_EQ(block(hidden->process_id).info.status, "error");
}

TEST_F(Background, ItsChangesWaitForAPerson) {
    const std::string command = "date +%N >> ask/plan.md; echo done";
    const auto made = spawn(command);
    ASSERT_TRUE(made) << made.error().message();
    const BackgroundOutput last = ended(made->process_id);
    ASSERT_EQ(run_of(last.state).gate.escalations.size(), 1U);
    const std::string id = run_of(last.state).gate.escalations.front().approval_id;
    ASSERT_NE(id, "");
    ASSERT_TRUE(ask<policy::Approval>([&](auto reply) {
        Overseer::of(*kernel).approvals().resolve(id, {.answer = policy::Answer::approve_once},
                                                  {policy::ActorKind::human, "eve"},
                                                  std::move(reply));
    }));
    const auto again = spawn(command);
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(again->process_id, made->process_id);
    EXPECT_FALSE(again->running);
    EXPECT_EQ(kept(run_of(*again)), "modified ask/plan.md; ");
    // The command did not run again.
    EXPECT_EQ(output(made->process_id).content, "done\n");
    EXPECT_NE(directory.get("ask/plan.md"), "plan\n");
}

TEST_F(Background, APersonIsAskedBeforeItUsesTheNetwork) {
    settings.network = true;
    commands->set(settings);
    const std::string command = "echo x > src/new; curl -s http://127.0.0.1:9/ || true";
    const auto refused = spawn(command);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason(), "escalation_required");
    const Value* const id = refused.error().details().find("approval_id");
    ASSERT_NE(id, nullptr);
    EXPECT_FALSE(directory.has("src/new"));
    ASSERT_TRUE(ask<policy::Approval>([&](auto reply) {
        Overseer::of(*kernel).approvals().resolve(
            id->as_string(), {.answer = policy::Answer::approve_once},
            {policy::ActorKind::human, "eve"}, std::move(reply));
    }));
    const auto made = spawn(command);
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(kept(run_of(ended(made->process_id).state)), "created src/new; ");
}

TEST_F(Background, OthersSeeItsOutputOnly) {
    const auto made = spawn("echo ready; ls secret; sleep 60", policy::ActorKind::human);
    ASSERT_TRUE(made);
    // Everybody may read the output, so it has nothing that an agent may not see.
    EXPECT_EQ(printed(made->process_id, "ready").content, "ready\n");
    const auto killed = kill(made->process_id, EndSignal::kill);
    ASSERT_FALSE(killed);
    EXPECT_EQ(killed.error().reason(), "invalid_reference");
    EXPECT_TRUE(commands->background().status(by(""), {})->empty());
    EXPECT_FALSE(commands->background().status(by(""), made->process_id));
    const Caller person{{policy::ActorKind::human, "eve"}, 0, {}};
    EXPECT_EQ(commands->background().status(person, {})->size(), 1U);
}

TEST_F(Background, NoMoreThanSomeRunAtOnce) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < BackgroundCommands::kMostRunning; ++i) {
        const auto made = spawn(cat("sleep 60; echo ", i));
        ASSERT_TRUE(made) << made.error().message();
        all.push_back(made->process_id);
    }
    const auto over = spawn("true");
    ASSERT_FALSE(over);
    EXPECT_EQ(over.error().reason(), "in_flight_limit");
    // Other commands still run.
    EXPECT_EQ(run("echo quick")->outcome.output, "quick\n");
    ASSERT_FALSE(killed(all.front(), EndSignal::kill)->running);
    for (int i = 0; i < 6000 && commands->background().running() == all.size(); ++i)
        ::usleep(10'000);
    EXPECT_TRUE(spawn("true"));
    // The end of the kernel ends the remaining commands.
    commands->stop();
    EXPECT_EQ(commands->background().running(), 0U);
    EXPECT_EQ(spawn("true").error().reason(), "kernel_ending");
}

TEST_F(Background, OfEndlessOutputTheEndIsKept) {
    const auto made = spawn("trap exit TERM; yes a-line-of-output | cat -n & wait");
    ASSERT_TRUE(made);
    when(made->process_id, [](const BackgroundOutput& now) { return now.line_count > 3'000'000; });
    const auto after = kill(made->process_id, EndSignal::term);
    ASSERT_TRUE(after);
    const BackgroundOutput last = ended(made->process_id);
    EXPECT_LE(last.content.size(), 2 * OutputBlock::kMostKept + 65536);
    EXPECT_GT(last.first_line, 1'000'000U);
    EXPECT_EQ(
        last.content.substr(0, last.content.find('\t')).find(std::to_string(last.first_line + 1)),
        last.content.find_first_not_of(' '));
    const WholeText whole = block(made->process_id);
    EXPECT_LE(whole.text.size(), 2 * OutputBlock::kMostKept);
    EXPECT_EQ(whole.text, last.content.substr(last.content.size() - whole.text.size()));
}

TEST_F(Background, WithoutAStageItRunsInTheWorkspace) {
    at(Enforcement::none);
    const auto made = spawn("echo ready >&2; echo x > README.md; sleep 60");
    ASSERT_TRUE(made);
    printed(made->process_id, "ready\n");
    const auto after = killed(made->process_id, EndSignal::term);
    ASSERT_TRUE(after);
    EXPECT_FALSE(after->running);
    EXPECT_EQ(run_of(*after).tier, Tier::none);
    EXPECT_EQ(directory.get("README.md"), "x\n");
}

TEST_F(Background, ABlockStaysWhenTheProcessIsForgotten) {
    const auto made = spawn("printf 'one\\ntwo\\nthree'");
    ASSERT_TRUE(made);
    ended(made->process_id);
    // Another instance does not know the process, just like a new kernel.
    CommandRunner runner({*kernel, *gate, *calls, clock, directory.path()}, {});
    BackgroundCommands other({runner, *kernel, clock});
    const auto found = ask<BackgroundOutput>(
        [&](auto reply) { other.output(by(""), made->process_id, 1, std::move(reply)); });
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_EQ(found->content, "two\nthree");
    EXPECT_EQ(found->line_count, 3U);
    EXPECT_FALSE(found->state.running);
    EXPECT_EQ(output("b1_2_3").content, "refused: invalid_reference");
}

// Compares the tail with the whole text, which is added in random pieces.
TEST(OutputTailModel, ItsLinesAreThoseOfAllThatWasWritten) {
    std::mt19937 random(7);
    for (int turn = 0; turn < 300; ++turn) {
        const std::size_t most = 1 + random() % 200;
        OutputTail tail(most);
        std::string all;
        for (int part = 0; part < 40; ++part) {
            std::string bytes;
            for (std::size_t size = random() % 60; size > 0; --size)
                bytes += random() % 7 == 0 ? '\n' : static_cast<char>('a' + random() % 26);
            tail.add(bytes);
            all += bytes;
            ASSERT_LE(tail.text().size(), 2 * most);
            ASSERT_TRUE(all.ends_with(tail.text()));
            const auto ends = static_cast<std::size_t>(std::count(all.begin(), all.end(), '\n'));
            ASSERT_EQ(tail.line_count(), ends + (!all.empty() && all.back() != '\n' ? 1U : 0U));
            const auto left =
                all.begin() + static_cast<std::ptrdiff_t>(all.size() - tail.text().size());
            ASSERT_EQ(tail.first_line(),
                      static_cast<std::size_t>(std::count(all.begin(), left, '\n')));
            // The tail begins at a line, unless one line is longer than the limit.
            if (left == all.begin() || left[-1] == '\n') continue;
            const auto at = static_cast<std::size_t>(left - all.begin());
            const std::size_t begin = all.rfind('\n', at - 1) + 1;
            ASSERT_GE(std::min(all.find('\n', at), all.size() - 1) + 1 - begin, most);
        }
    }
}

}  // namespace
}  // namespace quire::kernel
