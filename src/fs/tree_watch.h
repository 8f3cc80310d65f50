// TreeWatch: says which files below a directory have changed, once they are quiet.
//
// Events only say where to look. A file counts as changed if what the system says of it differs from
// what was last seen, and is reported once nothing has happened to it for `settle_ms`, or after
// `cap_ms` of unrest. So a burst of writes is one change, and a file that is emptied before it is
// written anew never shows as empty, unless it stays so for the cap. Where events are lost, the
// whole tree is looked at again; where no watch can be had, folders are polled.
//
// .git and .quire, links' targets and what ignore files leave out are not watched; kept files
// always are. A file that was moved keeps its identity if there is exactly one candidate, by its
// inode and time of birth or by its content; otherwise it is deleted and another is created.
//
// One thread. open() looks at nothing; the first round() walks the tree, for about 2 µs per file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/enum_words.h"
#include "base/function.h"
#include "fs/beneath.h"
#include "fs/tree_scan.h"
#include "fs/watch_source.h"

namespace quire::fs {

enum class ChangeType : std::uint8_t { created, modified, deleted, renamed };
constexpr auto words_of(ChangeType) {
    return word_table("Created", "Modified", "Deleted", "Renamed");
}

// A settled change of one file or link.
struct TreeChange {
    ChangeType type = ChangeType::modified;
    std::string path;
    std::string from = {};  // The path before, of a renamed file.
    Stamp stamp = {};       // The file's now; of a deleted one, its last.
    bool is_link = false;
    // Maybe the bytes are the same: only the mode or the owner has changed, or nothing that the
    // times can tell.
    bool is_unsure = false;
};

enum class WatchState : std::uint8_t { starting, watching, polling, off, detached };
constexpr auto words_of(WatchState) {
    return word_table("starting", "watching", "polling", "off", "detached");
}

// How well the tree is watched. `detached`: the directory is gone, or its path leads to another.
struct TreeStatus {
    WatchState state = WatchState::starting;
    std::vector<std::string> polled;  // The topmost folders that are polled; "" is the root.
    std::int64_t poll_ms = 0;         // How often, if any are.
    std::size_t files = 0;
    std::size_t folders = 0;
    std::uint64_t overflows = 0;  // How often events were lost.
    std::uint64_t rescans = 0;    // How often the whole tree was looked at.
};

class TreeWatch {
public:
    struct Options {
        std::int64_t settle_ms = 100;
        std::int64_t cap_ms = 1000;
        std::int64_t poll_ms = 1000;       // More, if a poll takes long.
        std::int64_t rescan_ms = 600'000;  // For what no event tells, such as a mapped file.
        IgnoreNames ignore = {".gitignore", ".loroignore"};
        std::unique_ptr<WatchSource> source = nullptr;  // Null: inotify.
        // The hash of a file that was there before, where it is known.
        Function<std::optional<Hash>(const std::string& path)> known_hash = {};
    };
    // The changes that have settled, and in how many ms the next round is due at the latest.
    struct Round {
        std::vector<TreeChange> changes;  // Sorted by path.
        std::int64_t next_ms = -1;        // -1: when events come.
    };

    // The clock outlives it. Errors: not_found "file_not_found"; unsupported "unsupported_kernel".
    static Result<std::unique_ptr<TreeWatch>> open(const std::string& directory, Options options,
                                                   const Clock& clock);
    TreeWatch(const TreeWatch&) = delete;
    TreeWatch& operator=(const TreeWatch&) = delete;
    ~TreeWatch();

    // Readable when a round is worth while; -1 for a source without.
    int fd() const;
    // Takes the events that have come. Cheap if there are none and nothing is due.
    Round round();

    // Watches the file from now on, whatever ignore files say. O(depth), and one look if it was not
    // watched.
    void keep(const std::string& path);
    void set_settle(std::int64_t settle_ms) { options_.settle_ms = settle_ms; }
    // Other ignore files: the tree is looked at again in the next round. What they newly include is
    // no change.
    void set_ignore(IgnoreNames names);

    // Asks for a sync, and returns its number. It is reached once every change made before this call
    // has been reported by a round. Files in the middle of being written are waited for.
    std::uint64_t ask_sync();
    // The last sync reached.
    std::uint64_t reached_sync() const { return reached_sync_; }

    TreeStatus status() const;  // O(folders).
    WatchState state() const;
    // The files and links of the tree as they are now, sorted by path: what a walk would find, without
    // one. Takes the events that have come and looks only at the files that they name. None where the
    // events do not tell everything, so that a walk is needed. A store through a mapping has no event.
    // O(files).
    std::optional<std::vector<Entry>> list();
    // The file as it was last seen; null for one that is not there or not watched.
    const FileSight* seen(const std::string& path) const;

private:
    // A file that must be looked at once it is quiet.
    struct Touched {
        std::int64_t first_ms = 0;
        std::int64_t last_ms = 0;
        std::uint64_t sync = 0;  // The first sync that waits for it.
        bool is_open = false;    // Written, and not closed since.
        bool is_hinted = false;  // An event named it: equal times may hide a change.
    };
    struct Sync {
        std::uint64_t number = 0;
        std::int64_t since_ms = 0;
        bool is_seen = false;  // Its cookie has been seen, or it has none.
    };
    struct Outcome {  // One round's look at the files that are due.
        std::vector<TreeChange> deleted, created, modified;
        std::vector<FileSight> deleted_sights, created_sights;  // Beside `deleted`, `created`.
        std::vector<std::string> other_rules;  // Folders whose ignore files changed.
    };

    TreeWatch(std::string directory, Fd root, Options options, const Clock& clock);

    // --- events (tree_watch.cc) ---
    bool take_events();  // Returns false if there may be more.
    void take(const WatchEvent& event);
    void take_folder_event(Folder& folder, const std::string& name, std::uint32_t mask);
    void take_cookie(const std::string& name);
    bool is_attached() const;
    void watch_cookies();
    void make_cookie(Sync& sync);
    void finish_syncs();

    // --- the tree (tree_watch.cc) ---
    struct Look {
        bool is_quiet = false;  // Findings are no changes.
        bool is_deep = false;   // Folders that are known are entered too.
    };
    void enter(Folder& top, Look look);
    void look(Folder& folder, Look look, std::vector<Folder*>& ahead);
    void compare(Folder& folder, FolderSight& now, const text::IgnoreChain& before, bool is_quiet);
    Folder& add_folder(Folder& parent, const std::string& name);
    void watch(Folder& folder, int opened);
    void unwatch(Folder& folder);
    void lose(Folder& folder);         // It is gone from the disk.
    void forget(Folder& folder);       // It is not wanted any more.
    void prune(const std::string& path);
    Folder* folder_at(std::string_view path) const;
    // The file is looked at once it is quiet. `is_hinted`: an event named it, so its rest begins
    // anew.
    void touch(std::string path, bool is_hinted = false);
    void rescan();
    // Looks into the folders without a watch, and at kept files with several names.
    void poll(std::int64_t now);

    // --- settling (tree_settle.cc) ---
    bool has_touched_rules() const;
    std::vector<TreeChange> settle(std::int64_t now);
    bool is_quiet(const Touched& file, std::int64_t now) const;
    std::vector<std::string> due_files(std::int64_t now);
    // Compares a quiet file with what was last seen, which it replaces, and notes the change.
    void judge(const std::string& path, const std::optional<FileSight>& now, bool is_hinted,
               Outcome& outcome);
    void pair_renames(Outcome& outcome);
    void pair_by_content(Outcome& outcome, std::vector<bool>& is_paired);
    std::int64_t next_ms(std::int64_t now) const;
    bool is_polling() const { return polled_folders_ > 0 || !shared_.empty(); }

    const std::string directory_;
    Fd root_fd_;
    Options options_;
    const Clock& clock_;
    std::unique_ptr<WatchSource> source_;
    TreeRules rules_;
    std::unique_ptr<Folder> root_;
    std::unordered_map<int, Folder*> watches_;
    int cookie_watch_ = -1;
    std::unordered_map<std::string, Touched> touched_;
    std::int64_t settle_due_ms_ = 0;  // Nothing settles before.
    std::vector<Sync> syncs_;
    std::uint64_t last_sync_ = 0, reached_sync_ = 0;
    bool is_started_ = false, is_detached_ = false, is_rescan_due_ = true;
    std::int64_t rescanned_ms_ = 0, polled_ms_ = 0, poll_ms_ = 0;
    std::size_t polled_folders_ = 0;
    std::set<std::string> shared_;  // Kept files that have several names.
    std::uint64_t overflows_ = 0, rescans_ = 0;
};

}  // namespace quire::fs
