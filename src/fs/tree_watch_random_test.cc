// Random trees under a TreeWatch: what it reports, put together, is what a plain walk finds, with lost
// events and few watches too.
#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs/disk_files.h"
#include "fs/watched_directory_for_test.h"

namespace quire::fs {
namespace {

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

// A list is what a walk finds, in the middle of changes too; where there is none, a walk is needed.
void expect_same_list(const TestDirectory& directory, TreeWatch& watch, std::size_t& lists,
                      const std::string& where) {
    const auto listed = watch.list();
    if (!listed) return;
    ++lists;
    // A name that is ignored may be the one through which a file with several names was written.
    const auto told = [&](const std::vector<Entry>& entries) {
        std::string out;
        for (const Entry& entry : entries) {
            cat_to(out, entry.path);
            std::error_code ignored;
            const bool has_one_name = !entry.is_link && std::filesystem::hard_link_count(
                                                            directory / entry.path, ignored) == 1;
            if (has_one_name)
                cat_to(out,
                       cat(" ", entry.stamp.inode, " ", entry.size, " ", entry.stamp.modified_ns));
            cat_to(out, entry.is_link ? "@\n" : "\n");
        }
        return out;
    };
    const auto files = std::move(DiskFiles::open(directory.path(), {1, {}}).value());
    const Listing walked = files->list(100'000, {".gitignore", ".loroignore"}).value();
    EXPECT_EQ(told(*listed), told(walked.entries)) << where;
}

enum class Weather { calm, overflows, few_watches, syncs };

void run_random(std::uint64_t seed, Weather weather, std::size_t& lists) {
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
            if (!in_rain)
                expect_same_list(it.directory, *it.watch, lists,
                                 cat("seed ", seed, " turn ", turn));
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
    std::size_t lists = 0;
    for (std::uint64_t seed = 1; seed <= 60 && !testing::Test::HasFailure(); ++seed)
        run_random(seed, weather, lists);
    if (weather == Weather::calm || weather == Weather::syncs) {
        EXPECT_GT(lists, 500U);
    }
}
// A folder's files come where the slash behind its name is in the order of bytes.
TEST(TreeLists, AreSortedByPath) {
    Watched it([](const auto& directory) {
        for (const char* name :
             {"a/f", "a/b/f", "a.x", "a-", "a\u00E9", "ab", "b", "\u00E9/f", "\u00E9-x"})
            directory.put(name, name);
    });
    std::size_t lists = 0;
    expect_same_list(it.directory, *it.watch, lists, "after the first round");
    it.directory.put("a/\u00E9", "new");
    it.directory.put("c/d/e", "new");
    expect_same_list(it.directory, *it.watch, lists, "with files that are new");
    EXPECT_EQ(lists, 2U);
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
