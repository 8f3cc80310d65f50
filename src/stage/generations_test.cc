// Generations: what a staged command sees is the live tree as it was when the command began, whatever has
// happened to it before and happens to it meanwhile.
#include "stage/generations.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/concat.h"
#include "base/test_directory.h"
#include "process/following.h"
#include "process/spawn.h"
#include "sched/scheduler.h"
#include "stage/changes.h"
#include "stage/stage.h"

namespace quire::stage {
namespace {

namespace files = std::filesystem;

// A workspace with generations, and commands that run on them.
class Generational : public ::testing::Test {
protected:
    Generational() {
        directory.put("w/a.txt", "one\n");
        directory.put("w/sub/b.txt", "two\n");
        directory.put("w/.gitignore", "build/\n*.log\n");
        directory.put("w/build/out", "built\n");
        directory.put("w/.quire/secret", "kernel\n");
        directory.put("w/.git/HEAD", "ref: refs/heads/main\n");
        workspace = directory / "w";
        restart();
    }
    void SetUp() override {
        const Result<StageOutcome> first = run("true");
        if (!first && first.error().reason() == "no_stage")
            GTEST_SKIP() << "this machine has no stage: " << first.error().message();
        ASSERT_TRUE(first) << first.error().message();
    }

    void restart() {
        generations.reset();
        Generations::Options options;
        options.ignore = {".gitignore"};
        generations = std::make_unique<Generations>(workspace, std::move(options), remover, clock);
    }
    std::shared_ptr<const Generation> current() {
        const Result<void> done = generations->refresh({});
        EXPECT_TRUE(done) << done.error().message();
        return generations->newest();
    }
    // Runs a command on the newest generation.
    Result<StageOutcome> run(const std::string& command) {
        const auto generation = current();
        if (generation == nullptr) return fail(Errc::unavailable, "no_generation", "");
        Stage stage = TRY(Stage::make(workspace, hidden, generation));
        StageOutcome out = TRY(stage.run({command, workspace}, clock, {}));
        changed.clear();
        for (const StagedChange& each : TRY(stage.changes(hidden, out)))
            cat_to(changed, cat(name_of(each.kind), " ", each.path, each.raced ? " raced" : "",
                                each.is_based ? "" : " live", "\n"));
        return out;
    }
    std::string printed(const std::string& command) {
        const Result<StageOutcome> out = run(cat("exec 2>&1; ", command));
        return out ? out->output : out.error().message();
    }
    // Runs a command on the newest generation, does something while it waits, and returns what it prints.
    template <class Work>
    std::string printed_meanwhile(const std::string& command, Work work) {
        const auto generation = current();
        Result<Stage> stage = Stage::make(workspace, hidden, generation);
        EXPECT_TRUE(stage);
        bool is_done = false;
        std::string seen;
        process::Following following;
        following.began = [] {};
        following.wrote = [&](std::string_view part) { seen += part; };
        // The command says that it waits, and goes on at a signal.
        following.turn = [&] {
            if (is_done || seen.find("ready\n") == std::string::npos) return 0;
            is_done = true;
            work();
            return SIGINT;
        };
        StagedCommand what{cat("trap : INT; echo ready; sleep 60 & wait; ", command), workspace};
        what.one_stream = true;
        const auto out = stage->run(what, clock, {}, &following);
        EXPECT_TRUE(out) << out.error().message();
        EXPECT_TRUE(is_done);
        meanwhile = stage->changes(hidden, *out).value();
        return seen.substr(std::min(seen.size(), seen.find('\n') + 1));
    }

    TestDirectory directory;
    std::string workspace;
    std::vector<std::string> hidden;
    std::string changed;
    std::vector<StagedChange> meanwhile;
    SystemClock clock;
    std::shared_ptr<sched::Scheduler> remover = std::make_shared<sched::Pool>(1U);
    std::unique_ptr<Generations> generations;
};

TEST_F(Generational, ASaveInPlaceDuringACommandIsNotSeen) {
    EXPECT_EQ(printed_meanwhile("cat a.txt sub/b.txt; ls",
                                [&] {
                                    directory.put("w/a.txt", "ONE\n");
                                    directory.erase("w/sub/b.txt");
                                    directory.put("w/sub/c.txt", "three\n");
                                }),
              "one\ntwo\na.txt\nbuild\nsub\n");
    EXPECT_EQ(printed("cat a.txt; ls sub"), "ONE\nc.txt\n");
}

TEST_F(Generational, AChangeKnowsWhatItWasMadeOf) {
    printed_meanwhile("echo mine >> a.txt; echo mine >> sub/b.txt; rm sub/c.txt; echo x > new",
                      [&] {
                          directory.put("w/a.txt", "theirs\n");
                          directory.put("w/new", "theirs\n");
                      });
    ASSERT_EQ(meanwhile.size(), 3U);
    EXPECT_EQ(meanwhile[0].path, "a.txt");
    EXPECT_TRUE(meanwhile[0].is_based);
    EXPECT_EQ(meanwhile[1].path, "new");
    EXPECT_TRUE(meanwhile[1].raced);
    EXPECT_FALSE(meanwhile[2].raced);
    ASSERT_TRUE(run("sed -i s/theirs/x/ a.txt; chmod 700 sub; echo > build/out; rm .git/HEAD"));
    EXPECT_EQ(changed,
              "deleted .git/HEAD live\nmodified a.txt\nmodified build/out live\nmode sub\n");
}

TEST_F(Generational, IgnoredTreesAreLive) {
    EXPECT_EQ(printed_meanwhile("cat build/out", [&] { directory.put("w/build/out", "anew\n"); }),
              "anew\n");
    directory.put("w/build/deep/more", "more\n");
    directory.put("w/sub/x.log", "logged\n");
    EXPECT_EQ(printed("cat build/deep/more sub/x.log sub/b.txt"), "more\nlogged\ntwo\n");
    // It is not copied.
    const auto generation = current();
    EXPECT_FALSE(files::exists(generation->layers.back()->path() + "/build"));
    EXPECT_FALSE(files::exists(generation->layers.back()->path() + "/.git"));
    EXPECT_FALSE(files::exists(generation->layers.back()->path() + "/.quire"));
}

TEST_F(Generational, OtherIgnoreRulesHoldAtOnce) {
    directory.put("w/sub/t.tmp", "first\n");
    EXPECT_EQ(printed("cat sub/t.tmp"), "first\n");
    directory.put("w/.gitignore", "build/\n*.log\n*.tmp\n");
    EXPECT_EQ(printed_meanwhile("cat sub/t.tmp", [&] { directory.put("w/sub/t.tmp", "second\n"); }),
              "second\n");
    directory.put("w/.git/info/exclude", "*.txt\n");
    EXPECT_EQ(printed_meanwhile("cat a.txt", [&] { directory.put("w/a.txt", "live\n"); }),
              "live\n");
}

TEST_F(Generational, TheKernelsDirectoryAndHiddenFilesStayOutOfSight) {
    hidden = {"a.txt"};
    EXPECT_EQ(printed("ls -A . .quire; cat a.txt .quire/secret 2>/dev/null"),
              ".:\n.git\n.gitignore\n.quire\nbuild\nsub\n\n.quire:\n");
    EXPECT_EQ(printed(cat("ls ", Generations::directory_of(workspace), " 2>/dev/null")), "");
    EXPECT_EQ(printed("echo mine > a.txt; cat a.txt"), "mine\n");
    EXPECT_EQ(changed, "modified a.txt\n");
}

TEST_F(Generational, AGenerationIsRemovedWithItsLastStage) {
    // A younger ignore file may have changed without a trace, so a look at it lays all out anew.
    ::usleep(60'000);
    directory.put("w/a.txt", "one\n");
    auto generation = current();
    const std::uint64_t rebuilds = generations->rebuilds();
    const std::string first = generation->layers.back()->path();
    std::optional<Stage> stage(std::move(*Stage::make(workspace, {}, generation)));
    generation.reset();
    for (std::size_t i = 0; i <= Generations::kMostLayers; ++i) {
        directory.put("w/a.txt", cat(i, "\n"));
        ASSERT_NE(current(), nullptr);
    }
    EXPECT_EQ(generations->rebuilds(), rebuilds + 1);
    EXPECT_LE(current()->layers.size(), 2U);
    EXPECT_TRUE(files::exists(first));
    const auto out = stage->run({"cat a.txt", workspace}, clock, {});
    ASSERT_TRUE(out) << out.error().message();
    EXPECT_EQ(out->output, "one\n");
    stage.reset();
    for (int i = 0; i < 12'000 && files::exists(first); ++i) ::usleep(5000);
    EXPECT_FALSE(files::exists(first));
}

TEST_F(Generational, NothingIsDoneWhereNothingHappened) {
    const auto before = current();
    EXPECT_FALSE(generations->is_outdated());
    ASSERT_TRUE(run("echo x > a.txt; ls -R; cat sub/b.txt"));
    EXPECT_FALSE(generations->is_outdated());
    EXPECT_EQ(current(), before);
    directory.put("w/a.txt", "one more\n");
    EXPECT_TRUE(generations->is_outdated());
}

TEST_F(Generational, AFileWithSeveralNamesIsSeenThroughEach) {
    directory.put("elsewhere", "one name\n");
    files::create_hard_link(directory / "elsewhere", directory / "w/sub/h");
    EXPECT_EQ(printed("cat sub/h"), "one name\n");
    directory.put("elsewhere", "written through another name\n");
    EXPECT_EQ(printed("cat sub/h"), "written through another name\n");
    directory.erase("elsewhere");
    EXPECT_EQ(printed("cat sub/h"), "written through another name\n");
    EXPECT_FALSE(generations->is_outdated());
}

// The earlier states of a file that changed do not count for ever.
TEST_F(Generational, LayersThatDoNotFitAreLaidOutAnew) {
    generations->set({".gitignore"}, 4U << 20);
    for (const char fill : {'a', 'b', 'c', 'd', 'e'}) {
        directory.put("w/large", std::string(std::size_t{3} << 19, fill));
        const auto made = current();
        ASSERT_NE(made, nullptr);
        EXPECT_LE(made->disk_bytes, 4U << 20);
        EXPECT_EQ(printed("head -c 1 large"), std::string(1, fill));
    }
    EXPECT_GT(generations->rebuilds(), 1U);
}

TEST_F(Generational, HolesAreNotCopied) {
    generations->set({".gitignore"}, 1U << 20);
    directory.put("w/sparse", "begun");
    files::resize_file(directory / "w/sparse", std::uintmax_t{1} << 30);
    directory.put("w/hole", "");
    files::resize_file(directory / "w/hole", std::uintmax_t{1} << 30);
    const auto made = current();
    ASSERT_NE(made, nullptr);
    EXPECT_EQ(printed("head -c 5 sparse; tail -c 5 sparse | tr '\\0' .; stat -c %s sparse hole"),
              "begun.....1073741824\n1073741824\n");
}

TEST_F(Generational, MoreThanTheDiskAllowsIsNotCopied) {
    directory.put("w/large", std::string(std::size_t{4} << 20, 'x'));
    generations->set({".gitignore"}, 1U << 20);
    const Result<void> done = generations->refresh({});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().reason(), "too_large");
    EXPECT_EQ(generations->newest(), nullptr);
    directory.erase("w/large");
    EXPECT_NE(current(), nullptr);
    std::size_t left = 0;
    for (int i = 0; i < 12'000; ++i) {
        left = static_cast<std::size_t>(
            std::distance(files::directory_iterator(Generations::directory_of(workspace)),
                          files::directory_iterator()));
        if (left == 1) break;
        ::usleep(5000);
    }
    EXPECT_EQ(left, 1U);
}

TEST_F(Generational, ARequestedStopEndsTheCopying) {
    restart();
    std::stop_source stopping;
    stopping.request_stop();
    const Result<void> done = generations->refresh(stopping.get_token());
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().reason(), "cancelled");
    EXPECT_EQ(printed("cat a.txt"), "one\n");
}

// A kernel that is killed while it copies leaves a part of a layer, with folders that nobody may enter.
TEST_F(Generational, WhatAKilledKernelLeftIsRemoved) {
    generations.reset();
    directory.put("w/.quire/generations/left/half/file", "x\n");
    directory.put("w/.quire/gone-abcdef/generations/2/file", "x\n");
    files::permissions(directory / "w/.quire/generations/left/half", files::perms::none);
    auto removing = std::make_unique<sched::Pool>(1U);
    Generations::sweep(workspace, *removing);
    EXPECT_FALSE(directory.has("w/.quire/generations"));
    removing.reset();
    for (const auto& each : files::directory_iterator(directory / "w/.quire"))
        EXPECT_FALSE(each.path().filename().string().starts_with("gone")) << each.path();
}

// A source of events with few watches, which loses some.
class PoorSource final : public fs::WatchSource {
public:
    explicit PoorSource(int watches) : left_(watches) {}
    int fd() const override { return inner_->fd(); }
    int add(int folder) override { return left_ <= 0 ? -ENOSPC : --left_, inner_->add(folder); }
    void remove(int watch) override { inner_->remove(watch); }
    bool read(std::vector<fs::WatchEvent>& events) override {
        std::vector<fs::WatchEvent> all;
        if (!inner_->read(all)) return false;
        // The queue ran over.
        if (++reads_ % 3 == 0) all = {fs::WatchEvent{-1, IN_Q_OVERFLOW, ""}};
        events.insert(events.end(), all.begin(), all.end());
        return true;
    }

private:
    std::unique_ptr<fs::WatchSource> inner_ = fs::inotify_source();
    int left_;
    int reads_ = 0;
};

// Random changes of a tree, and its listing as a command prints it in a stage and outside.
class RandomTree : public Generational {
protected:
    // Kind, permissions, size, time and name of all that is there, and what is in it.
    static constexpr const char* kLists =
        "find . -path ./.quire -prune -o -path ./.git -prune -o -type f -printf '%P %y %m %s "
        "%T@\\0' "
        "-o -type l -printf '%P %y %l\\0' -o ! -path . -printf '%P %y %m\\0' | sort -z; "
        "find . -path ./.quire -prune -o -type f -print0 | sort -z | xargs -0 cksum";

    std::string live() {
        const auto out = process::run_program(
            {{"/bin/bash", "-c", kLists}, workspace, {"PATH=/usr/bin:/bin", "LC_ALL=C"}},
            {30'000, std::size_t{64} << 20}, clock, {});
        EXPECT_TRUE(out);
        return out->output;
    }
    std::string staged() { return printed(cat("export LC_ALL=C; ", kLists)); }

    std::string any_name() {
        static constexpr const char* kNames[] = {"a", "b",     "c.txt", "d d", "\xFF\xFE", "x.log",
                                                 "é", "build", "t.tmp", "-n",  "new\nline"};
        return kNames[below(std::size(kNames))];
    }
    // A folder that is there; "" is the root.
    std::string any_folder() {
        std::vector<std::string> all = {""};
        for (files::recursive_directory_iterator at(workspace), end; at != end; ++at) {
            const std::string path = at->path().lexically_relative(workspace).string();
            if (path == ".quire" || path == ".git") {
                at.disable_recursion_pending();
            } else if (!at->is_symlink() && at->is_directory()) {
                all.push_back(path);
            }
        }
        return all[below(all.size())];
    }
    std::string any_entry() {
        std::vector<std::string> all;
        for (files::recursive_directory_iterator at(workspace), end; at != end; ++at) {
            const std::string path = at->path().lexically_relative(workspace).string();
            if (path == ".quire" || path == ".git") {
                at.disable_recursion_pending();
            } else {
                all.push_back(path);
            }
        }
        return all.empty() ? "" : all[below(all.size())];
    }
    void change() {
        std::error_code ignored;
        const std::string folder = any_folder();
        const std::string made = cat(workspace, "/", folder, folder.empty() ? "" : "/", any_name());
        const std::string picked = any_entry();
        const std::string entry = cat(workspace, "/", picked);
        switch (below(14)) {
            case 0:
            case 1:
            case 2: {  // A file, new or written again in place.
                if (files::is_directory(files::symlink_status(made))) return;
                const int file = ::open(
                    made.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, 0644);
                if (file < 0) return;
                const std::string bytes(below(9), static_cast<char>('a' + below(26)));
                EXPECT_EQ(::write(file, bytes.data(), bytes.size()),
                          static_cast<ssize_t>(bytes.size()));
                ::close(file);
                return;
            }
            case 3:  // An editor saves by a rename.
                if (!files::is_regular_file(files::symlink_status(entry))) return;
                directory.put("draft", cat("saved ", below(1000)));
                ::rename((directory / "draft").c_str(), entry.c_str());
                return;
            case 4:
                if (std::count(picked.begin(), picked.end(), '/') < 4) ::mkdir(made.c_str(), 0755);
                return;
            case 5:
            case 6:
                if (!picked.empty()) files::remove_all(entry, ignored);
                return;
            case 7:
                ::rename(entry.c_str(), made.c_str());
                return;
            case 8:
                files::create_symlink(any_name(), made, ignored);
                return;
            case 9:
                if (!files::is_symlink(entry) && !picked.empty())
                    ::chmod(entry.c_str(), files::is_directory(entry)
                                               ? (below(2) == 0 ? 0755 : 0750)
                                               : (below(2) == 0 ? 0600 : 0755));
                return;
            case 10: {  // A folder takes the place of a file, or the other way round.
                const bool was_folder = files::is_directory(files::symlink_status(entry));
                if (picked.empty()) return;
                files::remove_all(entry, ignored);
                if (was_folder) {
                    std::ofstream(entry) << "was a folder";
                } else {
                    ::mkdir(entry.c_str(), 0755);
                    std::ofstream(entry + "/in") << "was a file";
                }
                return;
            }
            case 11:
                files::create_hard_link(entry, made, ignored);
                return;
            case 12:
                ::mkfifo(made.c_str(), 0644);
                return;
            default:
                if (below(6) == 0 &&
                    !files::is_directory(files::symlink_status(directory / "w/.gitignore")) &&
                    !files::is_symlink(directory / "w/.gitignore"))
                    directory.put("w/.gitignore", below(2) == 0 ? "build/\n*.log\n" : "*.tmp\nb\n");
                return;
        }
    }
    void rounds(int count) {
        for (int round = 0; round < count; ++round) {
            for (std::uint64_t i = 0, n = 1 + below(6); i < n; ++i) change();
            const std::string seen = staged();
            ASSERT_EQ(seen, live()) << "seed " << seed << ", round " << round;
            ASSERT_EQ(changed, "") << "a listing changes nothing";
        }
    }

    std::uint64_t below(std::uint64_t end) { return rng.next() % end; }

    std::uint64_t seed = SystemRng().next();
    SeededRng rng{seed};
};

TEST_F(RandomTree, AStageShowsTheLiveTreeExactly) {
    rounds(150);
    EXPECT_GE(generations->rebuilds(), 2U);
}

TEST_F(RandomTree, AlsoWhereEventsAreLostAndWatchesAreFew) {
    Generations::Options options;
    options.ignore = {".gitignore"};
    options.source = std::make_unique<PoorSource>(20);
    generations = std::make_unique<Generations>(workspace, std::move(options), remover, clock);
    rounds(60);
}

}  // namespace
}  // namespace quire::stage
