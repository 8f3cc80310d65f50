// FileOffice: a kernel with files in memory, which another program can change, for the tests of file calls.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "fs/memory_files_for_test.h"
#include "kernel/core/desk_test.h"
#include "kernel/files/file_calls.h"
#include "kernel/files/file_gate.h"
#include "kernel/oversight/overseer.h"
#include "sched/manual_for_test.h"

namespace quire::kernel {

inline policy::PathRule rule(std::string_view pattern, policy::Permission permission,
                             policy::Operations escalated = {}) {
    return {text::Glob::compile(pattern).value(), permission, escalated, 0};
}

// A kernel with files in memory, where another program can change them.
class FileOffice {
public:
    // `other`: files to use in the place of those in memory; they outlive it. Files of more than
    // `file_bytes` are refused.
    explicit FileOffice(fs::FileSystem* other = nullptr,
                        std::size_t file_bytes = std::size_t{1} << 20)
        : used_(other), file_bytes_(file_bytes) {
        start();
    }
    FileOffice(const FileOffice&) = delete;
    FileOffice& operator=(const FileOffice&) = delete;
    ~FileOffice() { stop(); }
    void restart() {
        stop();
        start();
    }

    template <class T, class Call>
    Result<T> ask(Call call) {
        std::optional<Result<T>> answer;
        call(Reply<T>([&answer](Result<T> result) { answer = std::move(result); }));
        scheduler.run_all();
        CHECK(answer.has_value());
        return std::move(*answer);
    }
    static Caller as(const std::string& name) {
        return {{policy::ActorKind::agent, name}, 0, {}, std::make_shared<const Call>()};
    }

    Result<FileRead> read(const std::string& path) {
        return ask<FileRead>(
            [&](auto reply) { calls->read(as("reader"), path, {}, std::move(reply)); });
    }
    std::string text(const std::string& path) {
        const auto file = read(path);
        if (!file) return cat("<", file.error().reason(), ">");
        std::string all;
        for (const std::string& line : file->text.lines) all += line;
        return all;
    }
    // Replaces the one occurrence of `find`.
    std::string edit(const std::string& path, const std::string& find, const std::string& replace,
                     const std::string& by = "ada") {
        const auto plan = [=](const seq::Rope& rope, std::uint64_t) -> Result<edits::Planned> {
            const std::size_t at = rope.str().find(find);
            if (at == std::string::npos) return fail(Errc::not_found, "no_match", "no match");
            return edits::Planned{{{{at}, {find.size()}, replace}}, {}};
        };
        const auto result = ask<FileEdited>(
            [&](auto reply) { calls->edit(as(by), path, "replace", plan, std::move(reply)); });
        return result ? "ok" : result.error().reason();
    }
    std::string append(const std::string& path, const std::string& text) {
        return reason(ask<FileAppended>(
            [&](auto reply) { calls->append(as("ada"), path, text, std::move(reply)); }));
    }
    Result<FileVersion> create(const std::string& path, const std::string& content) {
        return ask<FileVersion>([&](auto reply) {
            calls->create(as("ada"), {path, content}, std::move(reply));
        });
    }
    Result<FileSaved> save(const std::string& path, const std::string& by = "ada") {
        return ask<FileSaved>([&](auto reply) { calls->save(as(by), path, std::move(reply)); });
    }
    Result<FileVersion> erase(const std::string& path) {
        return ask<FileVersion>(
            [&](auto reply) { calls->erase(as("ada"), path, std::move(reply)); });
    }
    // The open conflicts of a file; "" for all files.
    std::vector<FileConflict> conflicts(const std::string& path) {
        const auto all = ask<std::vector<FileConflict>>([&](auto reply) {
            calls->conflicts(as("ada"), path.empty() ? std::nullopt : std::optional(path),
                             std::move(reply));
        });
        return all ? *all : std::vector<FileConflict>();
    }
    Result<FileResolved> resolve(FileResolve what, const std::string& by = "ada") {
        return ask<FileResolved>(
            [&](auto reply) { calls->resolve(as(by), std::move(what), std::move(reply)); });
    }
    // Settles all conflicts of a file with one choice.
    std::string resolve(const std::string& path, ConflictChoice choice) {
        FileResolve what;
        what.path = path;
        what.choice = choice;
        return reason(resolve(std::move(what)));
    }
    Result<std::vector<FileReconciled>> reconcile(std::vector<std::string> paths) {
        return ask<std::vector<FileReconciled>>(
            [&](auto reply) { calls->reconcile(as("ada"), std::move(paths), std::move(reply)); });
    }
    FileStatus status(const std::string& path) {
        return ask<std::vector<FileStatus>>(
                   [&](auto reply) { calls->status(as("ada"), path, std::move(reply)); })
            ->at(0);
    }
    // Puts a rule in front of the others that names an encoding, or takes all such rules away.
    void declare(std::string_view pattern, std::optional<text::Charset> encoding) {
        std::vector<policy::PathRule> rules = path_rules();
        if (encoding) {
            rules.insert(rules.begin(), rule(pattern, policy::Permission::read_write));
            rules.front().encoding = encoding;
        }
        gate->set_rules(FileRules{policy::PathRules(std::move(rules))});
    }
    std::string disk(const std::string& path) {
        const auto file = files.read(path, 1 << 24);
        return file ? file->bytes : cat("<", file.error().reason(), ">");
    }
    template <class T>
    static std::string reason(const Result<T>& result) {
        return result ? "ok" : result.error().reason();
    }

    fs::MemoryFiles files;
    TableStore store;
    sched::ManualScheduler scheduler;
    ManualClock clock;
    SeededRng rng{11};
    Limits limits;  // Those of the next kernel.
    std::unique_ptr<FileGate> gate;
    std::unique_ptr<Kernel> kernel;
    std::unique_ptr<FileCalls> calls;

private:
    static std::vector<policy::PathRule> path_rules() {
        return {rule("locked/**", policy::Permission::read_only),
                rule("ask/**", policy::Permission::human),
                rule("log/**", policy::Permission::append),
                rule("kept/**", policy::Permission::read_write, {policy::Operation::erase}),
                rule("sealed/**", policy::Permission::read_write, {policy::Operation::read}),
                rule("fixed/**", policy::Permission::read_write, {policy::Operation::create}),
                rule("free/**", policy::Permission::admin),
                rule("*", policy::Permission::read_write)};
    }
    void start() {
        fs::FileSystem& from = used_ == nullptr ? files : *used_;
        gate = std::make_unique<FileGate>(from, FileRules{policy::PathRules(path_rules())}, clock,
                                          file_bytes_);
        kernel = std::move(*open_kernel({store, scheduler, clock, rng, limits, gate.get()}));
        calls = std::make_unique<FileCalls>(*kernel, *gate);
    }
    void stop() {
        calls.reset();
        kernel->close([](Result<void>) {});
        scheduler.run_all();
        kernel.reset();
    }

    fs::FileSystem* const used_;
    const std::size_t file_bytes_;
};

}  // namespace quire::kernel
