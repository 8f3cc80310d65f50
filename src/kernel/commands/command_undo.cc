// Every change is compared with the disk three ways: as it was before (nothing to do), as the
// command left it (put it back), or another (somebody's change, left alone). Rules are asked for
// each path, since the person or agent who undoes need not be the one who ran the command.
//
// A dry run goes the same way and keeps in two maps what it would have done, because changes of one
// path build on each other: a file is deleted, and then a directory is made in its place.
#include "kernel/commands/command_undo.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/concat.h"
#include "base/file_text.h"
#include "fs/disk_entries.h"
#include "fs/hash.h"
#include "kernel/commands/command_journal.h"
#include "kernel/commands/command_past.h"
#include "kernel/commands/entry_rules.h"
#include "kernel/files/file_gate.h"

namespace quire::kernel {
namespace {

using policy::Operation;

// The permissions of a directory that is made for a file.
constexpr std::size_t kNewDirectory = 0755;

// The undo of one record.
class Undoing {
public:
    Undoing(FileGate& gate, const fs::DiskEntries& entries, std::string directory,
            const policy::Actor& by, bool dry_run)
        : gate_(gate),
          entries_(entries),
          directory_(std::move(directory)),
          by_(by),
          dry_run_(dry_run) {}

    // Takes the changes back, the newest first. Returns those that are still to be undone, the oldest first:
    // where something is left alone, also those that were as before, for that may change.
    std::vector<PastChange> run(const std::vector<PastChange>& changes, CommandUndone& out) {
        std::vector<PastChange> rest;
        for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
            const Result<bool> done = take_back(*change);
            if (!done) out.left.push_back({change->path, done.error().message()});
            if (!done || !*done) {
                rest.push_back(*change);
            } else if (out.restored.empty() || out.restored.back() != change->path) {
                out.restored.push_back(change->path);
            }
        }
        // A directory gets its permissions after what is in it.
        for (auto made = modes_.rbegin(); made != modes_.rend(); ++made) {
            const Result<void> done = entries_.set_mode(made->first, made->second);
            if (!done) out.left.push_back({made->first, done.error().message()});
        }
        if (out.left.empty()) return {};
        std::ranges::reverse(rest);
        return rest;
    }

private:
    // False if there was nothing to do.
    Result<bool> take_back(const PastChange& change) {
        const Seen now = TRY(look(change));
        const PathState& before = change.before;
        if (before.kind == PathKind::directory && now.state.kind == PathKind::directory &&
            !change.is_mode) {
            // It came back with a text in it, unless somebody has made it.
            if (now.state.mode == before.mode || now.state.mode != kNewDirectory) return false;
            TRY(check_allowed(change));
            if (dry_run_) {
                simulated_modes_[change.path] = before.mode;
            } else {
                modes_.emplace_back(change.path, mode_of(before));
            }
            return true;
        }
        if (is_same(now.state, before, change.is_mode) &&
            (!is_of_text(change) || now.state.hash == before.hash))
            return false;
        // The permissions went with the file.
        if (change.is_mode && now.state.kind == PathKind::nothing &&
            change.after.kind != PathKind::nothing)
            return false;
        // The undo of a deleted text has brought the file back.
        const bool is_back =
            is_of_text(change) && now.state.kind == PathKind::file && now.state.hash == before.hash;
        if (!is_back && !is_same(now.state, change.after, change.is_mode)) {
            return fail(Errc::conflict, "changed_since",
                        cat(change.path, " has changed since the command ran"),
                        {{"path", change.path}});
        }
        TRY(check_allowed(change));
        if (dry_run_ && change.is_mode) {
            simulated_modes_[change.path] = change.before.mode;
        } else if (dry_run_) {
            simulated_[change.path] = change.before;
        } else {
            TRY(put_back(change, now.hash));
        }
        return true;
    }

    // The state of a path, and the hash of a file's bytes.
    struct Seen {
        PathState state;
        fs::Hash hash = {};
    };
    Result<Seen> look(const PastChange& change) {
        const auto known = simulated_.find(change.path);
        const bool is_real = known == simulated_.end();
        Seen now;
        now.state = is_real ? TRY(path_state(entries_, change.path)) : known->second;
        const auto mode = simulated_modes_.find(change.path);
        if (mode != simulated_modes_.end()) now.state.mode = mode->second;
        const auto made = std::ranges::find(modes_, change.path, &DirectoryMode::first);
        if (made != modes_.end()) now.state.mode = made->second;
        // The hash is read only where bytes are compared: modes and links have none.
        if (is_real && now.state.kind == PathKind::file &&
            (!change.is_mode || is_of_text(change))) {
            now.hash = TRY(gate_.files().read(change.path, kLargestFile)).hash;
            now.state.hash = now.hash.hex();
        }
        return now;
    }

    // Returns true for the permissions of a deleted text.
    static bool is_of_text(const PastChange& change) {
        return change.is_mode && change.after.kind == PathKind::nothing;
    }
    static std::uint32_t mode_of(const PathState& state) {
        return static_cast<std::uint32_t>(state.mode);
    }
    static bool is_same(const PathState& a, const PathState& b, bool is_mode) {
        if (a.kind != b.kind) return false;
        return is_mode ? a.mode == b.mode : a.target == b.target && a.hash == b.hash;
    }

    Result<void> check_allowed(const PastChange& change) const {
        if (!gate_.may_see(change.path, by_)) {
            return fail(Errc::denied, "permission_denied",
                        cat(by_.str(), " may not read ", change.path, " without an approval"),
                        {{"path", change.path}});
        }
        // An undo needs the right for what it does: deleting what was made, making what was
        // deleted.
        const Operation operation = change.before.kind == PathKind::nothing  ? Operation::erase
                                    : change.after.kind == PathKind::nothing ? Operation::create
                                                                             : Operation::overwrite;
        const bool is_directory =
            change.before.kind == PathKind::directory || change.after.kind == PathKind::directory;
        const policy::Decision decision =
            decide_entry(gate_, change.path, is_directory, operation, by_);
        if (decision.verdict == policy::Verdict::allow) return {};
        return fail(Errc::denied, "permission_denied",
                    cat(by_.str(), " may not change ", change.path, ": ", decision.why),
                    {{"path", change.path}});
    }

    Result<void> put_back(const PastChange& change, const fs::Hash& now) {
        const std::uint32_t mode = mode_of(change.before);
        if (change.is_mode) {
            const auto made = std::ranges::find(modes_, change.path, &DirectoryMode::first);
            if (made == modes_.end()) return entries_.set_mode(change.path, mode);
            made->second = mode;
            return {};
        }
        switch (change.before.kind) {
            case PathKind::nothing:
                return remove(change, now);
            case PathKind::directory:
                modes_.emplace_back(change.path, mode);
                return entries_.make_directory(change.path, mode | kToFill);
            case PathKind::link:
                return entries_.make_link(change.path, change.before.target);
            case PathKind::file:
                TRY(write(change, now));
                // A file that is overwritten keeps the permissions that it has.
                if (change.after.kind == PathKind::file) return {};
                return entries_.set_mode(change.path, mode);
            case PathKind::other:
                break;
        }
        return {};
    }

    Result<void> remove(const PastChange& change, const fs::Hash& now) const {
        if (change.after.kind == PathKind::link) return entries_.remove_link(change.path);
        if (change.after.kind == PathKind::directory) {
            if (TRY(entries_.remove_directory(change.path))) return {};
            return fail(Errc::conflict, "changed_since",
                        cat(change.path, " is not empty, so the directory stays"),
                        {{"path", change.path}});
        }
        return gate_.files().remove(change.path, now);
    }

    Result<void> write(const PastChange& change, const fs::Hash& now) const {
        if (change.bytes.empty()) {
            return fail(Errc::not_found, "nothing_to_undo",
                        cat("the bytes of ", change.path, " were too large to be kept"),
                        {{"path", change.path}});
        }
        const std::string bytes = file_text(cat(directory_, "/", change.bytes));
        // A disk error or an edit of .quire must not come into the workspace as a user's file.
        if (fs::Hash::of(bytes).hex() != change.before.hash) {
            return corrupt(cat("the bytes that ", change.path,
                               " had were kept in .quire/past, and are damaged"));
        }
        if (change.after.kind == PathKind::nothing) {
            TRY(gate_.files().create(change.path, bytes));
        } else {
            TRY(gate_.files().save(change.path, bytes, now));
        }
        return {};
    }

    FileGate& gate_;
    const fs::DiskEntries& entries_;
    const std::string directory_;
    const policy::Actor& by_;
    const bool dry_run_;
    using DirectoryMode = std::pair<std::string, std::uint32_t>;
    std::vector<DirectoryMode> modes_;  // To be set at the end.
    std::map<std::string, std::size_t> simulated_modes_;
    std::map<std::string, PathState> simulated_;  // The paths that a dry run has put back.
};

}  // namespace

// The record is written last. A kill before that leaves changes in it that are undone already; the
// next undo finds them as they were before, and has nothing to do.
Result<CommandUndone> undo_command(const std::string& workspace, FileGate& gate,
                                   const std::string& past, const policy::Actor& by, bool dry_run) {
    const std::string directory = past_directory(workspace, past).value_or(std::string());
    const std::vector<PastChange> changes = TRY(read_past(directory));
    const fs::DiskEntries entries = TRY(fs::DiskEntries::open(workspace));
    CommandUndone out;
    const std::vector<PastChange> rest =
        Undoing(gate, entries, directory, by, dry_run).run(changes, out);
    if (!dry_run) TRY(write_past(directory, rest));
    return out;
}

}  // namespace quire::kernel
