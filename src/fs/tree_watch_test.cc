// Changes below a directory, as a TreeWatch reports them. The disk and inotify are real; the clock
// is a test's, so that settling takes no time. Some sources lose events or have few watches.
#include "fs/tree_watch.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/test_directory.h"
#include "fs/disk_files.h"

namespace quire::fs {
namespace {

using Words = std::vector<std::string>;

// inotify, with faults.
class FaultySource final : public WatchSource {
public:
    struct Faults {
        std::size_t watches = 1 << 20;  // How many it can have.
        bool loses_all = false;         // Events are lost, and it says so.
        bool is_silent = false;         // Events are lost without a word.
    };
    explicit FaultySource(std::shared_ptr<Faults> faults) : faults_(std::move(faults)) {}

    int fd() const override { return real_->fd(); }
    int add(int folder) override {
        const int watch = real_->add(folder);
        if (watch < 0 || held_.contains(watch)) return watch;
        if (held_.size() >= faults_->watches) {
            real_->remove(watch);
            return -ENOSPC;
        }
        held_.insert(watch);
        return watch;
    }
    void remove(int watch) override {
        held_.erase(watch);
        real_->remove(watch);
    }
    bool read(std::vector<WatchEvent>& events) override {
        std::vector<WatchEvent> all;
        const bool any = real_->read(all);
        for (const WatchEvent& event : all) {
            if ((event.mask & IN_IGNORED) != 0) held_.erase(event.watch);
        }
        if (faults_->loses_all && any) events.push_back({-1, IN_Q_OVERFLOW, ""});
        if (!faults_->loses_all && !faults_->is_silent)
            events.insert(events.end(), all.begin(), all.end());
        return any;
    }

private:
    std::shared_ptr<Faults> faults_;
    std::unique_ptr<WatchSource> real_ = inotify_source();
    std::set<int> held_;
};

std::string line_of(const TreeChange& change) {
    return cat(name_of(change.type), " ", change.from.empty() ? "" : cat(change.from, " -> "),
               change.path);
}

// Without those that a look at the bytes would not confirm: the clock stands still while tests run, so
// that all files are fresh.
Words lines_of(const std::vector<TreeChange>& changes) {
    Words lines;
    for (const TreeChange& change : changes) {
        if (!change.is_unsure) lines.push_back(line_of(change));
    }
    return lines;
}

// A directory under watch.
struct Watched {
    explicit Watched(const std::function<void(const TestDirectory&)>& before = {}) {
        directory.put(".quire/quire.db", "");
        if (before) before(directory);
        TreeWatch::Options options;
        options.source = std::make_unique<FaultySource>(faults);
        options.known_hash = [this](const std::string& path) -> std::optional<Hash> {
            const auto found = hashes.find(path);
            return found == hashes.end() ? std::nullopt : std::optional(found->second);
        };
        watch = std::move(TreeWatch::open(directory.path(), std::move(options), clock).value());
        EXPECT_TRUE(watch->round().changes.empty());
    }

    std::vector<TreeChange> changes_after(std::int64_t ms) {
        std::vector<TreeChange> all;
        const auto take = [&] {
            TreeWatch::Round round = watch->round();
            all.insert(all.end(), round.changes.begin(), round.changes.end());
        };
        take();
        for (; ms > 0; ms -= 10) {
            clock.advance(10);
            take();
        }
        return all;
    }
    // The changes that settle in the next `ms`.
    Words after(std::int64_t ms) { return lines_of(changes_after(ms)); }
    Words sync() {
        const std::uint64_t number = watch->ask_sync();
        Words lines;
        for (int i = 0; i < 500 && watch->reached_sync() < number; ++i) {
            for (const std::string& line : lines_of(watch->round().changes)) lines.push_back(line);
            if (watch->reached_sync() < number) clock.advance(10);
        }
        EXPECT_EQ(watch->reached_sync(), number);
        return lines;
    }
    void run(const std::string& command) const {
        const std::string line = cat("cd ", directory.path(), " && { ", command, "; } >/dev/null 2>&1");
        ASSERT_EQ(std::system(line.c_str()), 0) << command;
    }

    TestDirectory directory;
    ManualClock clock;
    std::shared_ptr<FaultySource::Faults> faults = std::make_shared<FaultySource::Faults>();
    std::map<std::string, Hash> hashes;
    std::unique_ptr<TreeWatch> watch;
};

TEST(TreeWatch, ABurstOfWritesIsOneChangeOnceItIsQuiet) {
    Watched it([](const auto& directory) { directory.put("a.txt", "0"); });

    for (int i = 0; i < 50; ++i) {
        it.directory.put("a.txt", std::to_string(i));
        EXPECT_EQ(it.after(10), Words{});
    }

    EXPECT_EQ(it.after(150), Words{"Modified a.txt"});
    EXPECT_EQ(it.after(3000), Words{});
}

TEST(TreeWatch, UnrestIsReportedAfterTheCap) {
    Watched it([](const auto& directory) { directory.put("log", "0"); });
    Words seen;

    for (int i = 0; i < 220; ++i) {
        it.directory.put("log", std::to_string(i));
        for (const std::string& line : it.after(10)) seen.push_back(line);
    }

    EXPECT_EQ(seen, Words({"Modified log", "Modified log"}));
}

TEST(TreeWatch, AFileThatIsEmptiedAndWrittenNeverShowsAsEmpty) {
    Watched it([](const auto& directory) { directory.put("a.txt", "full"); });

    it.directory.put("a.txt", "");
    EXPECT_EQ(it.after(500), Words{});
    it.directory.put("a.txt", "full again");

    EXPECT_EQ(it.after(200), Words{"Modified a.txt"});
    EXPECT_EQ(it.watch->seen("a.txt")->size, 10U);
    it.directory.put("a.txt", "");
    EXPECT_EQ(it.after(990), Words{});
    EXPECT_EQ(it.after(100), Words{"Modified a.txt"});
}

TEST(TreeWatch, FilesInNewFoldersAreFoundHoweverDeep) {
    Watched it;

    it.run("mkdir -p a/b/c && echo x > a/b/c/f && echo y > a/g");
    EXPECT_EQ(it.after(200), Words({"Created a/b/c/f", "Created a/g"}));
    it.run("echo z >> a/b/c/f");

    EXPECT_EQ(it.after(200), Words{"Modified a/b/c/f"});
    it.run("rm -r a");
    EXPECT_EQ(it.after(1200), Words({"Deleted a/b/c/f", "Deleted a/g"}));
    EXPECT_EQ(it.watch->status().folders, 1U);
}

TEST(TreeWatch, AFolderThatIsMovedTakesItsFilesWithIt) {
    Watched it([](const auto& directory) {
        directory.put("a/x", "1");
        directory.put("a/deep/y", "2");
    });

    it.run("mv a b");
    EXPECT_EQ(it.after(200), Words({"Renamed a/deep/y -> b/deep/y", "Renamed a/x -> b/x"}));
    it.run("echo 3 >> b/deep/y && mkdir a && echo 4 > a/x");

    EXPECT_EQ(it.after(200), Words({"Created a/x", "Modified b/deep/y"}));
}

TEST(TreeWatch, AFileThatIsRenamedAndWrittenIsTheSameFile) {
    Watched it([](const auto& directory) { directory.put("a.txt", "one"); });

    it.run("mv a.txt b.txt && echo two >> b.txt");

    EXPECT_EQ(it.after(200), Words{"Renamed a.txt -> b.txt"});
}

TEST(TreeWatch, TwoCandidatesAreNoRename) {
    Watched it([](const auto& directory) { directory.put("a.txt", "one"); });

    it.run("ln a.txt b.txt && ln a.txt c.txt && rm a.txt");

    EXPECT_EQ(it.after(1200), Words({"Deleted a.txt", "Created b.txt", "Created c.txt"}));
}

TEST(TreeWatch, ContentThatIsKnownTellsARenameFromADeletion) {
    Watched it([](const auto& directory) {
        directory.put("a.txt", "one");
        directory.put("b.txt", "two");
    });
    it.hashes["a.txt"] = Hash::of("one");
    it.hashes["b.txt"] = Hash::of("two");

    it.run("cp a.txt copy && rm a.txt");
    EXPECT_EQ(it.after(1200), Words{"Renamed a.txt -> copy"});
    it.run("cp b.txt c1 && cp b.txt c2 && rm b.txt");

    EXPECT_EQ(it.after(1200), Words({"Deleted b.txt", "Created c1", "Created c2"}));
}

TEST(TreeWatch, LostEventsEndInALookAtTheWholeTree) {
    Watched it([](const auto& directory) {
        for (int i = 0; i < 20; ++i) directory.put(cat("d", i % 4, "/f", i), "x");
    });
    it.faults->loses_all = true;

    it.run("echo y > d1/f1 && rm d2/f2 && mkdir -p new/er && echo z > new/er/file");

    EXPECT_EQ(it.after(1200), Words({"Modified d1/f1", "Deleted d2/f2", "Created new/er/file"}));
    EXPECT_GE(it.watch->status().overflows, 1U);
    it.faults->loses_all = false;
    it.run("echo w > new/er/file");
    EXPECT_EQ(it.after(200), Words{"Modified new/er/file"});
}

TEST(TreeWatch, ARealOverflowIsNoticed) {
    Watched it;
    for (int i = 0; i < 12'000; ++i) it.directory.put(cat("f", i % 3000), std::to_string(i));

    EXPECT_EQ(it.changes_after(1500).size(), 3000U);
    EXPECT_GE(it.watch->status().overflows, 1U);
}

TEST(TreeWatch, FoldersWithoutAWatchArePolledAndNamed) {
    const auto faults = std::make_shared<FaultySource::Faults>();
    TestDirectory directory;
    for (const char* name : {"a/f", "b/f", "c/d/f"}) directory.put(name, "1");
    ManualClock clock;
    TreeWatch::Options options;
    faults->watches = 2;
    options.source = std::make_unique<FaultySource>(faults);
    const auto watch = std::move(TreeWatch::open(directory.path(), std::move(options), clock).value());
    watch->round();
    EXPECT_EQ(watch->status().state, WatchState::polling);
    EXPECT_FALSE(watch->status().polled.empty());

    for (const char* name : {"a/f", "b/f", "c/d/f", "c/d/new/g"}) directory.put(name, "22");
    Words lines;
    for (int i = 0; i < 150; ++i, clock.advance(10)) {
        for (const std::string& line : lines_of(watch->round().changes)) lines.push_back(line);
    }

    std::ranges::sort(lines);
    EXPECT_EQ(lines, Words({"Created c/d/new/g", "Modified a/f", "Modified b/f", "Modified c/d/f"}));
    faults->watches = 1 << 20;
    clock.advance(1000);
    watch->round();
    EXPECT_EQ(watch->status().state, WatchState::watching);
}

TEST(TreeWatch, ARootThatIsGoneOrReplacedIsDetachedAndNothingIsDeleted) {
    TestDirectory around;
    around.put("root/a.txt", "one");
    ManualClock clock;
    const auto watch = std::move(TreeWatch::open(around / "root", {}, clock).value());
    watch->round();

    std::filesystem::rename(around / "root", around / "moved");
    watch->round();
    EXPECT_EQ(watch->status().state, WatchState::detached);
    around.put("root/other.txt", "two");
    clock.advance(5000);
    EXPECT_TRUE(watch->round().changes.empty());
    EXPECT_EQ(watch->status().state, WatchState::detached);
    around.erase("root");
    around.put("moved/b.txt", "three");
    std::filesystem::rename(around / "moved", around / "root");
    clock.advance(5000);
    watch->round();
    clock.advance(500);

    EXPECT_EQ(lines_of(watch->round().changes), Words{"Created b.txt"});
    EXPECT_EQ(watch->status().state, WatchState::watching);
}

TEST(TreeWatch, IgnoredFilesAreNotReportedButThoseThatAreKept) {
    Watched it([](const auto& directory) {
        directory.put(".gitignore", "build/\n*.log\n");
        directory.put("build/deep/x.h", "1");
        directory.put("build/deep/y.h", "1");
        directory.put("a.log", "1");
        directory.put("b.log", "1");
    });
    it.watch->keep("build/deep/x.h");
    it.watch->keep("a.log");
    it.watch->keep("build/later/z.h");

    it.run("for f in build/deep/x.h build/deep/y.h a.log b.log .git/c .quire/d; do "
           "mkdir -p $(dirname $f); echo 22 > $f; done");
    EXPECT_EQ(it.after(200), Words({"Modified a.log", "Modified build/deep/x.h"}));
    it.run("mkdir build/later && echo 1 > build/later/z.h && echo 1 > build/later/w.h");
    EXPECT_EQ(it.after(200), Words{"Created build/later/z.h"});
    it.run("rm -r build && mkdir -p build/deep && echo 333 > build/deep/x.h");

    EXPECT_EQ(it.after(1200), Words({"Modified build/deep/x.h", "Deleted build/later/z.h"}));
}

TEST(TreeWatch, FilesThatIgnoreFilesIncludeOrLeaveOutAreNoNews) {
    Watched it([](const auto& directory) {
        directory.put(".gitignore", "out/\n*.tmp\n");
        directory.put("out/a", "1");
        directory.put("b.tmp", "1");
        directory.put("src/c.cc", "1");
    });

    it.directory.put(".gitignore", "*.cc\n");
    EXPECT_EQ(it.after(300), Words{"Modified .gitignore"});
    EXPECT_EQ(it.watch->seen("src/c.cc"), nullptr);
    it.run("echo 22 > out/a && echo 22 > b.tmp && echo 22 > src/c.cc");

    EXPECT_EQ(it.after(300), Words({"Modified b.tmp", "Modified out/a"}));
    it.directory.put("src/.loroignore", "!c.cc\n");
    EXPECT_EQ(it.after(300), Words{"Created src/.loroignore"});
    it.run("echo 333 > src/c.cc");
    EXPECT_EQ(it.after(300), Words{"Modified src/c.cc"});
}

TEST(TreeWatch, AKeptFileWithSeveralNamesIsPolled) {
    TestDirectory elsewhere;
    Watched it([&](const auto& directory) {
        directory.put("a.txt", "1");
        std::filesystem::create_hard_link(directory / "a.txt", elsewhere / "other");
    });
    it.watch->keep("a.txt");

    elsewhere.put("other", "22");

    EXPECT_EQ(it.after(1200), Words{"Modified a.txt"});
    elsewhere.put("other", "333");
    EXPECT_EQ(it.after(1200), Words{"Modified a.txt"});
}

TEST(TreeWatch, AFolderThatTookTheNameOfAnotherIsWatchedAfterLostEvents) {
    Watched it([](const auto& directory) { directory.put("a/f", "1"); });
    it.faults->loses_all = true;
    it.run("mv a b && mkdir a && echo 1 > a/g");
    EXPECT_EQ(it.after(1200), Words({"Created a/g", "Renamed a/f -> b/f"}));
    it.faults->loses_all = false;

    it.run("echo 22 > a/g && echo 22 > b/f");

    EXPECT_EQ(it.after(200), Words({"Modified a/g", "Modified b/f"}));
}

TEST(TreeWatch, ASyncIsReachedWhenEarlierChangesAreReported) {
    Watched it([](const auto& directory) { directory.put("a/f", "1"); });

    it.run("echo 22 > a/f && mkdir b && echo 1 > b/g");

    EXPECT_EQ(it.sync(), Words({"Modified a/f", "Created b/g"}));
    EXPECT_EQ(it.sync(), Words{});
    EXPECT_TRUE(std::filesystem::is_empty(it.directory / ".quire/watch"));
}

TEST(TreeWatch, ASyncFindsChangesWithoutAnEvent) {
    Watched it([](const auto& directory) { directory.put("a/f", "1"); });
    it.faults->is_silent = true;

    it.run("echo 22 > a/f && mkdir b && echo 1 > b/g");
    EXPECT_EQ(it.after(500), Words{});

    EXPECT_EQ(it.sync(), Words({"Modified a/f", "Created b/g"}));
}

TEST(TreeWatch, ASyncWaitsForAFileThatIsBeingWritten) {
    Watched it([](const auto& directory) { directory.put("f", "1"); });
    const int fd = ::open((it.directory / "f").c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    ASSERT_EQ(::write(fd, "half", 4), 4);
    const std::uint64_t number = it.watch->ask_sync();

    EXPECT_TRUE(it.watch->round().changes.empty());
    EXPECT_LT(it.watch->reached_sync(), number);
    ASSERT_EQ(::write(fd, " and whole", 10), 10);
    ::close(fd);

    const auto changes = it.watch->round().changes;
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes.front().stamp.size, 14U);
    EXPECT_EQ(it.watch->reached_sync(), number);
}

TEST(TreeWatch, AChangeOfTheModeIsUnsure) {
    Watched it([](const auto& directory) { directory.put("f", "1"); });
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    it.watch->ask_sync();
    it.after(100);

    ASSERT_EQ(::chmod((it.directory / "f").c_str(), 0755), 0);

    const auto changes = it.changes_after(200);
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_TRUE(changes.front().is_unsure);
}

// Each program saves in its own way; the file is modified, and nothing else is left to tell.
TEST(TreeWatch, ProgramsThatEditAFileModifyIt) {
    const std::map<std::string, std::string> programs = {
        {"sed", "sed -i s/one/ONE/ f"},
        {"perl", "perl -pi -e s/one/ONE/ f"},
        {"truncate-write", "echo other > f"},
        {"append", "echo more >> f"},
        {"rename-over", "echo other > .f.tmp && mv .f.tmp f"},
        {"backup", "mv f f~ && echo other > f && rm f~"},
        {"vim", "vim -es -u NONE -c '%s/one/ONE/' -c wq f </dev/null"},
        {"ed", "printf ',s/one/ONE/\\nw\\nq\\n' | ed -s f"},
        {"patch", "printf -- '--- f\\n+++ f\\n@@ -1 +1 @@\\n-one\\n+ONE\\n' | patch -s f"},
        {"install", "echo other > /tmp/quire-source.$$ && install -m 644 /tmp/quire-source.$$ f"},
        {"git", "git checkout -q other -- f"},
    };
    for (const auto& [name, command] : programs) {
        const std::string program = command.substr(0, command.find(' '));
        const bool is_tool = name == program || name == "ed" || name == "patch";
        if (is_tool && std::system(cat("command -v ", name, " >/dev/null 2>&1").c_str()) != 0) {
            std::printf("skipped: there is no %s\n", name.c_str());
            continue;
        }
        Watched it([&](const TestDirectory& directory) {
            directory.put("f", "one\n");
            if (name != "git") return;
            const std::string git = "git -c user.name=n -c user.email=e@x ";
            ASSERT_EQ(std::system(cat("cd ", directory.path(), " && { git init -q && git add f && ",
                                      git, "commit -qm 1 && git checkout -qb other && echo 2 > f && ",
                                      git, "commit -qam 2 && git checkout -q -; } >/dev/null 2>&1")
                                      .c_str()),
                      0);
        });
        it.run(command);
        EXPECT_EQ(it.after(1300), Words{"Modified f"}) << name;
    }
}

// --- random trees against a plain walk ---

struct Model {
    std::map<std::string, Stamp> files;

    void apply(const TreeChange& change) {
        if (change.type == ChangeType::renamed) {
            EXPECT_EQ(files.erase(change.from), 1U) << line_of(change);
        }
        const bool was_there = files.contains(change.path);
        EXPECT_EQ(was_there, change.type == ChangeType::modified ||
                                 change.type == ChangeType::deleted)
            << line_of(change);
        if (change.type == ChangeType::deleted) {
            files.erase(change.path);
        } else {
            files[change.path] = change.stamp;
        }
    }
};

class RandomTree {
public:
    RandomTree(const TestDirectory& directory, std::uint64_t seed) : directory_(directory), random_(seed) {}

    void step() {
        std::error_code ignored;
        const std::string one = path(), other = path();
        const std::filesystem::path at = directory_ / one, to = directory_ / other;
        switch (pick(10)) {
            case 0:
            case 1:
            case 2:
                write(at, O_TRUNC);
                break;
            case 3:
                write(at, O_APPEND);
                break;
            case 4:
                std::filesystem::remove(at, ignored);
                break;
            case 5:
                std::filesystem::remove_all(directory_ / folder(), ignored);
                break;
            case 6:
                std::filesystem::rename(at, to, ignored);
                break;
            case 7: {
                const std::string top = folder(), below = folder();
                std::filesystem::rename(directory_ / top, directory_ / below, ignored);
                break;
            }
            case 8:
                std::filesystem::create_hard_link(at, to, ignored);
                break;
            default:
                std::filesystem::create_symlink(other, at, ignored);
        }
    }
    std::size_t pick(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

private:
    std::string folder() {
        std::string out;
        for (std::size_t depth = 1 + pick(3); depth > 0; --depth)
            out += cat(out.empty() ? "" : "/", std::string(1, static_cast<char>('a' + pick(3))));
        return out;
    }
    std::string path() {
        static const char* const kNames[] = {"f", "g", "h.log", "keep.log"};
        return pick(4) == 0 ? kNames[pick(4)] : cat(folder(), "/", kNames[pick(4)]);
    }
    void write(const std::filesystem::path& at, int how) {
        std::error_code ignored;
        std::filesystem::create_directories(at.parent_path(), ignored);
        const int fd = ::open(at.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | how, 0644);
        if (fd < 0) return;
        const std::string text(1 + pick(40), 'x');
        EXPECT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
        ::close(fd);
    }

    const TestDirectory& directory_;
    std::mt19937_64 random_;
};

// The changes must have told the files that a plain walk finds.
void expect_equal(const TestDirectory& directory, const TreeWatch& watch, const Model& model,
                  const std::string& where) {
    const auto files = std::move(DiskFiles::open(directory.path(), {1, {}}).value());
    std::set<std::string> walked, told;
    const Listing listing = files->list(100'000, {".gitignore", ".loroignore"}).value();
    for (const Entry& entry : listing.entries) {
        walked.insert(entry.path);
        const auto found = model.files.find(entry.path);
        if (found == model.files.end() || entry.is_link) continue;
        // A write through another name of a file has no event here.
        const FileSight* const seen = watch.seen(entry.path);
        const bool had_names = seen != nullptr && seen->is_shared;
        if (had_names || std::filesystem::hard_link_count(directory / entry.path) > 1) continue;
        const Stamp now = files->stamp(entry.path).value();
        EXPECT_EQ(found->second.inode, now.inode) << where << ": " << entry.path;
        EXPECT_EQ(found->second.size, now.size) << where << ": " << entry.path;
        EXPECT_EQ(found->second.modified_ns, now.modified_ns) << where << ": " << entry.path;
    }
    for (const auto& [path, stamp] : model.files) told.insert(path);
    EXPECT_EQ(walked, told) << where;
}

enum class Weather { calm, overflows, few_watches, syncs };

void run_random(std::uint64_t seed, Weather weather) {
    Watched it([](const auto& directory) {
        directory.put(".gitignore", "*.log\n!keep.log\nc/b/\n");
        for (const char* name : {"f", "a/f", "a/b/g", "b/c/f", "c/b/f"}) directory.put(name, name);
    });
    if (weather == Weather::few_watches) it.faults->watches = 4;
    Model model;
    const auto files = std::move(DiskFiles::open(it.directory.path(), {1, {}}).value());
    for (const char* name : {".gitignore", "f", "a/f", "a/b/g", "b/c/f"})
        model.files[name] = files->stamp(name).value();
    RandomTree tree(it.directory, seed);
    for (int turn = 0; turn < 12; ++turn) {
        const bool in_rain = weather == Weather::overflows && tree.pick(2) == 0;
        it.faults->loses_all = in_rain;
        for (std::size_t step = tree.pick(8); step > 0; --step) {
            tree.step();
            if (tree.pick(3) == 0) {
                for (const TreeChange& change : it.changes_after(10)) model.apply(change);
            }
        }
        if (weather == Weather::syncs) {
            const std::uint64_t number = it.watch->ask_sync();
            for (int i = 0; i < 500 && it.watch->reached_sync() < number; ++i, it.clock.advance(10))
                for (const TreeChange& change : it.watch->round().changes) model.apply(change);
        } else {
            for (const TreeChange& change :
                 it.changes_after(weather == Weather::few_watches ? 3500 : 1300))
                model.apply(change);
        }
        expect_equal(it.directory, *it.watch, model, cat("seed ", seed, " turn ", turn));
        if (testing::Test::HasFailure()) return;
    }
}

void run_all_seeds(Weather weather) {
    for (std::uint64_t seed = 1; seed <= 60 && !testing::Test::HasFailure(); ++seed)
        run_random(seed, weather);
}
TEST(RandomTrees, AreToldAsAPlainWalkFindsThem) {
    run_all_seeds(Weather::calm);
}
TEST(RandomTrees, AreToldAlthoughEventsAreLost) {
    run_all_seeds(Weather::overflows);
}
TEST(RandomTrees, AreToldWithFewWatches) {
    run_all_seeds(Weather::few_watches);
}
TEST(RandomTrees, AreToldBySyncs) {
    run_all_seeds(Weather::syncs);
}

}  // namespace
}  // namespace quire::fs
