// Generations: makes a generation of a workspace's files, and keeps the newest one current.
//
// An overlay over a tree that somebody else writes to shows neither the old nor the new: a save in place
// comes through, a save by rename does not, until the command has looked. So a stage mounts a generation,
// which nobody writes to, over the live tree:
//
//     upper                what the command changes
//     layer n … layer 2    what had changed when the layer was made; whiteouts for what was gone
//     layer 1              all files and folders, each folder marked opaque …
//     the live tree        … but for those with something in or below them that only the live tree has
//
// The live tree alone has what ignore files leave out (build, node_modules), the repositories of git, fifos
// and the like, other mounts, and what this user cannot read. Where it shows through, all other names are
// covered by a layer; so the only thing that can still come through while a command runs is a name that is
// new in such a folder. .git is among the live: git replaces its files by renames and never writes them
// in place, a copy would cost as much as its history is long, and the gate commits .git as one unit, each
// file compared with what was there before (kernel/commands/command_gate.h).
//
// Each folder is watched. A folder that something has happened to is listed again, and what differs goes
// to the next layer; a call costs nothing where nothing happened, and else the entries of those folders.
// After kMostLayers layers, and where a layer cannot express what has changed, all is laid out anew in one
// layer, by hard links to what the layers before have. Nobody writes to them, so they can be shared.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "fs/ignore_chain.h"
#include "fs/watch_source.h"
#include "sched/scheduler.h"
#include "stage/generation.h"
#include "stage/layer_writer.h"
#include "stage/source_folder.h"

namespace quire::stage {

class Generations {
public:
    // More layers are laid out anew as one. The system mounts several hundred.
    static constexpr std::size_t kMostLayers = 32;

    struct Options {
        fs::IgnoreNames ignore;
        std::uint64_t most_bytes = std::uint64_t{5} << 30;
        std::unique_ptr<fs::WatchSource> source = nullptr;  // Null: inotify.
    };

    // `workspace`: absolute, without links; it has a directory .quire. `remover` removes layers that are
    // not used any more. Reads nothing yet. The clock outlives it.
    Generations(std::string workspace, Options options, std::shared_ptr<sched::Scheduler> remover,
                const Clock& clock);
    Generations(const Generations&) = delete;
    Generations& operator=(const Generations&) = delete;

    // --- one thread at a time ---

    // Makes the newest generation current, and the first one where there is none: that copies all files.
    // A change during the call may be in the generation or not, and is in the next one.
    // Errors: unavailable "io_error", "disk_full", "cancelled"; out_of_range "too_large" {limit}. After an
    // error the next call begins anew.
    Result<void> refresh(const std::stop_token& stop);
    // Other ignore files let the next refresh() lay all out anew.
    void set(fs::IgnoreNames ignore, std::uint64_t most_bytes);
    // Null before the first.
    std::shared_ptr<const Generation> newest() const { return newest_; }
    // Returns true if something has happened to the files since the last refresh(), or may have. O(files with
    // several names).
    bool is_outdated() const;

    // How often all was laid out anew, the first time included.
    std::uint64_t rebuilds() const { return rebuilds_; }

    // --- any thread ---

    const std::string& workspace() const { return workspace_; }
    static std::string directory_of(const std::string& workspace) {
        return workspace + "/.quire/generations";
    }
    // Moves what a kernel that was killed has left out of the way, and removes it on `remover`.
    static void sweep(const std::string& workspace, sched::Scheduler& remover);

private:
    // How a folder is looked at: what differs; what differs in all folders below too; or all of it anew.
    enum class Look { changes, deep, anew };
    struct LiveEntry {
        SourceStatus status;
        bool is_live = false;
    };
    using LiveEntries = std::map<std::string, LiveEntry, std::less<>>;
    // A folder that is being looked at.
    struct Visit {
        SourceFolder& folder;
        const Fd& opened;
        Look how;
    };

    Result<void> lay_out_anew();
    Result<void> add_layer();
    Result<void> look_at_touched();
    Result<std::unique_ptr<LayerWriter>> begin_layer();
    void start_over();

    Result<void> look_at(SourceFolder& folder, const Fd& opened, Look how);
    Result<LiveEntries> entries_of(SourceFolder& folder, const Fd& opened, Look how);
    Result<void> take(const Visit& visit, const std::string& name, const LiveEntry& now,
                      SourceEntry* before);
    Result<void> take_folder(const Visit& visit, const std::string& name, const LiveEntry& now,
                             SourceEntry* before);
    Result<void> take_live(SourceFolder& folder, const std::string& name);
    Result<void> remove(SourceFolder& folder, const std::string& name);

    void watch(SourceFolder& folder, int opened);
    void unwatch(SourceFolder& folder);
    void forget(SourceFolder& top);
    void take_events();
    std::optional<std::string> exclude_stamp() const;
    // Returns the files with several names that are not as they were.
    std::vector<std::string> changed_shared() const;
    bool touch_other_names();
    SourceFolder* folder_at(std::string_view path) const;
    Fd open_folder(const SourceFolder& folder) const;

    const std::string workspace_;
    const std::string directory_;
    Options options_;
    const std::shared_ptr<sched::Scheduler> remover_;
    const Clock& clock_;
    std::unique_ptr<fs::WatchSource> source_;
    Fd root_fd_;
    std::uint64_t device_ = 0;

    std::shared_ptr<const Generation> newest_;
    std::unique_ptr<SourceFolder> root_;
    std::unordered_map<int, SourceFolder*> watches_;
    std::set<SourceFolder*> touched_;  // Something has happened to them.
    std::set<SourceFolder*>
        unwatched_;  // The system allows no watch, so they are looked at each time.
    std::map<std::string, SourceStatus> shared_;  // Files with several names.
    bool is_all_touched_ = true;                  // Events were lost.
    std::optional<std::string> exclude_;
    std::int64_t looked_ms_ = 0;  // When everything was last looked at.

    // The refresh that is under way.
    std::unique_ptr<LayerWriter> writer_;
    std::stop_token stop_;
    bool must_lay_out_anew_ = false;
    bool has_other_rules_ = false;
    std::uint64_t look_ = 0;
    std::set<std::uint64_t>
        new_shared_;  // The inodes of files that were found to have several names.

    std::uint64_t layers_made_ = 0;
    std::uint64_t rebuilds_ = 0;
};

}  // namespace quire::stage
