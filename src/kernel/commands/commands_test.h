// A kernel with commands on a real disk, for tests of this room.
#pragma once

#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <system_error>
#include <thread>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/concat.h"
#include "base/test_directory.h"
#include "fs/disk_files.h"
#include "kernel/commands/command_calls.h"
#include "kernel/files/file_calls.h"
#include "kernel/files/file_gate.h"
#include "kernel/oversight/overseer.h"
#include "sched/scheduler.h"
#include "store/store.h"

namespace quire::kernel {

inline policy::PathRule rule(std::string_view pattern, policy::Permission permission,
                             policy::Operations escalated = {}) {
    return {text::Glob::compile(pattern).value(), permission, escalated, 0};
}

// The rules: agents may write src, append to log, write ask with an approval, and not see secret.
class Commands : public ::testing::Test {
protected:
    Commands() {
        directory.put("src/a.c", "int a;\n");
        directory.put("src/b.c", "int b;\n");
        directory.put("log/day.md", "begun\n");
        directory.put("ask/plan.md", "plan\n");
        directory.put("secret/key", "hidden\n");
        directory.put("README.md", "read me\n");
        directory.put(".quire/x", "");
        auto opened = store::open_sqlite(directory / ".quire/quire.db", {});
        store = std::move(opened->store);
        pool = std::make_unique<sched::Pool>(2U);
        workers = std::make_unique<sched::Pool>(2U);
        files = std::move(*fs::DiskFiles::open(directory.path(), {5, {}}));
        FileRules rules;
        rules.paths = policy::PathRules(
            {rule("src/**", policy::Permission::read_write),
             rule("log/**", policy::Permission::append), rule("ask/**", policy::Permission::human),
             rule("secret/**", policy::Permission::read_write, {policy::Operation::read})});
        gate = std::make_unique<FileGate>(*files, std::move(rules), clock, 1U << 20);
        kernel = std::move(*open_kernel({*store, *pool, clock, rng, {}, gate.get()}));
        calls = std::make_unique<FileCalls>(*kernel, *gate);
        commands = std::make_unique<CommandCalls>(
            CommandRunner::Parts{*kernel, *gate, *calls, clock, directory.path()}, *workers,
            settings);
    }
    ~Commands() override {
        commands->stop();
        workers.reset();
        std::promise<void> closed;
        kernel->close([&](Result<void>) { closed.set_value(); });
        closed.get_future().wait();
        commands.reset();
        pool.reset();
    }
    void SetUp() override {
        const auto first = run("true");
        if (!first && first.error().reason() == "no_stage")
            GTEST_SKIP() << "this machine has no stage: " << first.error().message();
    }

    template <class T, class Call>
    Result<T> ask(Call call) {
        std::promise<Result<T>> answer;
        call(Reply<T>([&](Result<T> result) { answer.set_value(std::move(result)); }));
        return answer.get_future().get();
    }
    Caller by(const std::string& command, policy::ActorKind kind = policy::ActorKind::agent) {
        const Map arguments{{"operation", "execute"}, {"command", command}};
        return {{kind, "ada"},
                0,
                {},
                std::make_shared<const Call>(Call{"full", "shell", arguments, false, 1, 0})};
    }
    Result<CommandRun> run(const std::string& command, const std::string& cwd = "") {
        return ask<CommandRun>([&](auto reply) {
            commands->execute(by(command), {command, cwd, {}, {}}, std::move(reply));
        });
    }
    void at(shell::Enforcement level) {
        settings.enforcement = level;
        commands->set(settings);
    }
    // Lists the committed changes, and then the others in brackets.
    static std::string kept(const CommandRun& made) {
        std::string out, not_kept;
        for (const CommandChange& each : made.gate.changes)
            cat_to(each.committed ? out : not_kept, cat(each.change_type, " ", each.path, "; "));
        return not_kept.empty() ? out : cat(out, "[", not_kept, "]");
    }
    std::string kept(const std::string& command) {
        const auto made = run(command);
        return made ? kept(*made) : made.error().reason();
    }
    // Waits until a command that runs has made the path in its stage.
    bool appears(const std::string& path) {
        namespace disk = std::filesystem;
        for (int i = 0; i < 12'000; ++i) {
            std::error_code gone;
            for (const auto& stage : disk::directory_iterator(directory / ".quire/stages", gone)) {
                if (disk::exists(stage.path() / "upper" / path, gone)) return true;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        return false;
    }
    std::string newest_actor(const std::string& path) {
        const auto history = ask<FileHistory>([&](auto reply) {
            calls->history({{policy::ActorKind::human, "eve"}, 0, {}}, path, 1, "",
                           std::move(reply));
        });
        return history ? history->page.versions.front().actor : history.error().reason();
    }

    TestDirectory directory;
    SystemClock clock;
    SystemRng rng;
    CommandSettings settings;
    std::unique_ptr<store::Store> store;
    std::unique_ptr<sched::Pool> pool;
    std::unique_ptr<sched::Pool> workers;
    std::unique_ptr<fs::DiskFiles> files;
    std::unique_ptr<FileGate> gate;
    std::unique_ptr<Kernel> kernel;
    std::unique_ptr<FileCalls> calls;
    std::unique_ptr<CommandCalls> commands;
};

}  // namespace quire::kernel
