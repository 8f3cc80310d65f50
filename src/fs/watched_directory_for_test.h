// Watched: a directory under a TreeWatch, for its tests. The disk and inotify are real; the clock is
// a test's, so that settling takes no time. Some sources lose events or have few watches.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/inotify.h>

#include "base/concat.h"
#include "base/test_directory.h"
#include "fs/tree_watch.h"

namespace quire::fs {

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

inline std::string line_of(const TreeChange& change) {
    return cat(name_of(change.type), " ", change.from.empty() ? "" : cat(change.from, " -> "),
               change.path);
}

// The changes as lines, without those that a look at the bytes would not confirm: the clock stands
// still while tests run, so that all files are fresh.
inline Words lines_of(const std::vector<TreeChange>& changes) {
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

}  // namespace quire::fs
