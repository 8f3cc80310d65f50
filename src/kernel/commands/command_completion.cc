// The order on the disk is that of CommandGate (command_gate_write.cc), and old links go first. Every
// step looks at its path before it acts, and compares three states:
//
//  as after the commit     done already, by the killed kernel or by an earlier completion
//  as before the commit    the change is made now
//  anything else           somebody has changed it: a text is merged, the rest is left alone
//
// So a completion that is itself killed can begin again from the top. Errors of kind `unavailable`
// are the disk's and keep the journal for the next start; all others are final for their path.
#include "kernel/commands/command_completion.h"

#include <algorithm>
#include <filesystem>
#include <future>
#include <memory>
#include <system_error>
#include <utility>

#include "base/concat.h"
#include "base/utf8.h"
#include "fs/disk_entries.h"
#include "fs/file_system.h"
#include "fs/hash.h"
#include "kernel/commands/command_journal.h"
#include "kernel/commands/command_past.h"
#include "kernel/files/file_calls.h"
#include "kernel/files/file_gate.h"
#include "kernel/oversight/overseer.h"
#include "stage/changes.h"

namespace quire::kernel {
namespace {

using stage::ChangeKind;

// The bytes that a file gets, none if they are not those that were to be committed: after a crash of the
// machine they may not be what they were.
std::optional<std::string> bytes_of(const std::string& stage, const JournalEntry& entry) {
    if (entry.bytes) return entry.bytes;
    Result<std::string> bytes = stage::staged_bytes(stage + "/upper", entry.path, kLargestFile);
    if (!bytes || fs::Hash::of(*bytes).hex() != entry.after) return std::nullopt;
    return std::move(*bytes);
}

// Completes the commit of one stage, on the disk.
class Completion {
public:
    // `past` may be null, where nothing is recorded for an undo.
    Completion(std::string stage, fs::FileSystem& files, const fs::DiskEntries& disk,
               PastRecorder* past)
        : stage_(std::move(stage)), files_(files), disk_(disk), past_(past) {}

    // Each pass goes over all entries: O(entries), with the reads and hashes of their files.
    void run(const std::vector<JournalEntry>& entries) {
        const auto each_of = [&](auto wanted, auto work) {
            for (const JournalEntry& each : entries) {
                if (wanted(each)) note(each, work(each));
            }
        };
        const auto is_file = [](const JournalEntry& each) {
            return !each.before.empty() || !each.after.empty();
        };
        each_of([](const auto& each) { return each.was_link; },
                [&](const auto& each) { return unlink(each, entries); });
        each_of(
            [](const auto& each) {
                return each.is_directory &&
                       (each.kind == ChangeKind::mode || each.kind == ChangeKind::deleted);
            },
            [&](const auto& each) { return open(each); });
        leave_git(entries);
        // A path that becomes something of another kind is emptied first.
        each_of([&](const auto& each) { return is_file(each) && each.after.empty(); },
                [&](const auto& each) { return write(each); });
        for (auto each = entries.rbegin(); each != entries.rend(); ++each) {
            if (each->kind == ChangeKind::deleted && each->is_directory)
                note(*each, remove_directory(*each));
        }
        each_of([](const auto& each) { return each.kind == ChangeKind::directory; },
                [&](const auto& each) {
                    return change(each, false, [&] {
                        return disk_.make_directory(each.path, mode_of(each) | kToFill);
                    });
                });
        // The objects of git come first, since nothing refers to them yet.
        for (const bool is_object : {true, false}) {
            each_of(
                [&](const auto& each) {
                    return !each.after.empty() && is_git_object(each.path) == is_object;
                },
                [&](const auto& each) { return write(each); });
        }
        each_of([](const auto& each) { return each.kind == ChangeKind::link; },
                [&](const auto& each) { return link(each); });
        // A directory gets its permissions after what is in it.
        for (auto each = entries.rbegin(); each != entries.rend(); ++each) {
            // A file that somebody else has put at this path keeps its permissions.
            const bool is_others = each->kind == ChangeKind::created && is_other(each->path);
            if (each->sets_mode && !is_others && !is_noted(each->path))
                note(*each, set_mode(*each));
        }
    }

    // The paths that somebody else has changed, so that they were left alone.
    const std::vector<std::string>& left() const { return left_; }
    // The texts that have other bytes than before the commit and after it.
    bool is_other(const std::string& text) const {
        return std::ranges::find(others_, text) != others_.end();
    }
    // The first change that the disk has refused; it may be possible later.
    const std::optional<Error>& failure() const { return failure_; }

private:
    static std::uint32_t mode_of(const JournalEntry& entry) {
        return static_cast<std::uint32_t>(entry.mode);
    }
    static bool is_git_object(const std::string& path) { return path.starts_with(".git/objects/"); }
    static Failure changed(const JournalEntry& entry) {
        return fail(Errc::conflict, "path_changed", cat(entry.path, " was changed meanwhile"),
                    {{"path", entry.path}});
    }

    void note(const JournalEntry& entry, const Result<void>& done) {
        if (done) return;
        if (done.error().code() == Errc::unavailable) {
            if (!failure_) failure_ = done.error();
        } else if (std::ranges::find(left_, entry.path) == left_.end()) {
            left_.push_back(entry.path);
        }
    }
    // True for a path that was left alone, and for every path once the disk has refused something.
    bool is_noted(const std::string& path) const {
        return failure_ || std::ranges::find(left_, path) != left_.end();
    }
    bool has_past(const JournalEntry& entry) const {
        return past_ != nullptr && !is_of_git(entry.path);
    }

    template <class Work>
    Result<void> change(const JournalEntry& entry, bool is_mode, Work work) {
        return has_past(entry) ? past_->change(disk_, entry.path, is_mode, work) : work();
    }

    // The journal of an earlier program does not say where a link led.
    static bool is_old_link(const PathState& now, const JournalEntry& entry) {
        return entry.old_target.empty() || now.target == entry.old_target;
    }

    Result<void> unlink(const JournalEntry& entry, const std::vector<JournalEntry>& entries) {
        const PathState now = TRY(path_state(disk_, entry.path));
        if (now.kind != PathKind::link) return {};
        // A link that the commit has put in the place of the old one must not be removed again.
        const bool is_made = std::ranges::any_of(entries, [&](const JournalEntry& other) {
            return other.path == entry.path && other.kind == ChangeKind::link &&
                   other.target == now.target;
        });
        if (is_made) return {};
        if (!is_old_link(now, entry)) return changed(entry);
        return change(entry, false, [&] { return disk_.remove_link(entry.path); });
    }

    Result<void> link(const JournalEntry& entry) {
        const PathState now = TRY(path_state(disk_, entry.path));
        if (now.kind == PathKind::link && now.target == entry.target) return {};
        if (now.kind == PathKind::link && !is_old_link(now, entry)) return changed(entry);
        return change(entry, false, [&] { return disk_.make_link(entry.path, entry.target); });
    }

    // Returns true if a path has the permissions from before the commit, or some that the commit gives it.
    // The commit opens a directory while it works in it, so a kill may also leave either mode with
    // kToFill added.
    static bool has_known_mode(const PathState& now, const JournalEntry& entry) {
        if (!entry.old_mode || entry.kind == ChangeKind::created ||
            entry.kind == ChangeKind::directory)
            return true;
        return now.mode == *entry.old_mode || now.mode == (*entry.old_mode | kToFill) ||
               now.mode == entry.mode || now.mode == (entry.mode | kToFill);
    }

    Result<void> set_mode(const JournalEntry& entry) {
        const PathState now = TRY(path_state(disk_, entry.path));
        if (now.kind == PathKind::nothing) return {};
        if (!has_known_mode(now, entry)) return changed(entry);
        if (now.mode == entry.mode) return {};
        return change(entry, true, [&] { return disk_.set_mode(entry.path, mode_of(entry)); });
    }

    // Lets the owner of a directory change what is in it, where the commit does so too.
    Result<void> open(const JournalEntry& entry) {
        const PathState now = TRY(path_state(disk_, entry.path));
        const bool is_deleted = entry.kind == ChangeKind::deleted;
        if (now.kind != PathKind::directory || (now.mode & kToFill) == kToFill) return {};
        if (!is_deleted && (entry.mode & kToFill) != kToFill) return {};
        if (!has_known_mode(now, entry)) return changed(entry);
        const auto mode = static_cast<std::uint32_t>(now.mode) | kToFill;
        return change(entry, true, [&] { return disk_.set_mode(entry.path, mode); });
    }

    Result<void> remove_directory(const JournalEntry& entry) {
        bool is_gone = true;
        const Result<void> done = change(entry, false, [&]() -> Result<void> {
            is_gone = TRY(disk_.remove_directory(entry.path));
            return {};
        });
        // A file that takes its place is there already.
        if (!done && done.error().code() == Errc::conflict) return {};
        return is_gone ? done : changed(entry);
    }

    // The unit of git is completed whole or not at all, as long as nothing refers to what is new.
    void leave_git(const std::vector<JournalEntry>& entries) {
        bool any_other = false, any_made = false;
        for (const JournalEntry& each : entries) {
            const bool is_file = !each.before.empty() || !each.after.empty();
            if (!is_file || !is_of_git(each.path)) continue;
            const Result<std::string> hash = hash_of(each.path);
            if (!hash) return note(each, Failure(hash.error()));
            any_other |= *hash != each.before && *hash != each.after;
            // An object says nothing: nobody sees it until a reference leads to it.
            any_made |= *hash == each.after && !is_git_object(each.path);
        }
        if (!any_other || any_made) return;
        for (const JournalEntry& each : entries) {
            if (is_of_git(each.path)) note(each, changed(each));
        }
    }

    // "" for a file that is not there.
    Result<std::string> hash_of(const std::string& path) const {
        const Result<fs::FileBytes> now = files_.read(path, kLargestFile);
        if (now) return now->hash.hex();
        if (now.error().code() == Errc::not_found) return std::string();
        return Failure(now.error());
    }

    // Gives the file the bytes that the command left, or deletes it.
    Result<void> write(const JournalEntry& entry) {
        if (is_of_git(entry.path) && is_noted(entry.path)) return {};
        const Result<fs::FileBytes> now = files_.read(entry.path, kLargestFile);
        const bool is_missing = !now && now.error().code() == Errc::not_found;
        // The directory that takes the place of a deleted file is there already.
        if (entry.after.empty() && !now && now.error().reason() == "not_a_file") return {};
        if (!now && !is_missing) return Failure(now.error());
        const std::string hash = now ? now->hash.hex() : "";
        if (hash == entry.after) return {};
        // A text goes on to keep_text(), which merges it with the change that somebody else has
        // made.
        if (hash != entry.before) {
            if (!entry.is_text || past_ == nullptr) return changed(entry);
            others_.push_back(entry.path);
            return {};
        }
        if (entry.after.empty()) return erase(entry, *now);
        const std::optional<std::string> bytes = bytes_of(stage_, entry);
        if (!bytes) return corrupt(cat("the new bytes of ", entry.path, " are lost"));
        return recorded(entry, now ? &*now : nullptr, entry.after, [&]() -> Result<void> {
            if (now) {
                TRY(files_.save(entry.path, *bytes, now->hash));
            } else {
                TRY(files_.create(entry.path, *bytes));
            }
            return {};
        });
    }

    Result<void> erase(const JournalEntry& entry, const fs::FileBytes& now) {
        const auto remove = [&] { return files_.remove(entry.path, now.hash); };
        if (!entry.is_text) return recorded(entry, &now, "", remove);
        // History keeps the text but not the permissions, so these are recorded here.
        PathState before = TRY(path_state(disk_, entry.path));
        if (!has_past(entry) || before.mode == kNewFile) return remove();
        before.hash = entry.before;
        return settled(past_->announce({entry.path, std::move(before), {}, true, {}}), {},
                       remove());
    }

    // Changes the bytes of a file, and records those that it had, if it has no history.
    template <class Work>
    Result<void> recorded(const JournalEntry& entry, const fs::FileBytes* now,
                          const std::string& after_hash, Work work) {
        if (entry.is_text || !has_past(entry)) return work();
        PastChange change{entry.path, {}, {}, false, {}};
        if (now != nullptr) {
            change.before = TRY(path_state(disk_, entry.path));
            change.before.hash = now->hash.hex();
        }
        if (!after_hash.empty()) change.after = {PathKind::file, 0, {}, after_hash};
        const PathState after = change.after;
        std::optional<std::string_view> lost;
        if (now != nullptr) lost = now->bytes;
        const std::size_t number = past_->announce(std::move(change), lost);
        return settled(number, after, work());
    }

    Result<void> settled(std::size_t number, PathState after, Result<void> done) {
        if (done) {
            past_->made(number, std::move(after));
        } else {
            past_->withdraw(number);
        }
        return done;
    }

    const std::string stage_;
    fs::FileSystem& files_;
    const fs::DiskEntries& disk_;
    PastRecorder* const past_;
    std::vector<std::string> left_;
    std::vector<std::string> others_;
    std::optional<Error> failure_;
};

// Completes one command.
class CommandCompletion {
public:
    CommandCompletion(const CompletionParts& parts, std::string stage, Journal journal)
        : parts_(parts), stage_(std::move(stage)), journal_(std::move(journal)) {}

    // Returns the paths that were left alone. Errors: those of the disk and of the store; then the
    // journal stays for the next start.
    Result<std::vector<std::string>> run() {
        const fs::DiskEntries disk = TRY(fs::DiskEntries::open(parts_.workspace));
        PastRecorder past(parts_.workspace, stage_);
        // The journal of an earlier program names no record.
        const bool is_recorded = !journal_.past.empty();
        if (is_recorded) past.resume(disk, parts_.gate.files());
        Completion on_disk(stage_, parts_.gate.files(), disk, is_recorded ? &past : nullptr);
        // A record that is in its place says that the disk has all of it.
        bool has_past = is_recorded && PastRecorder::is_finished(parts_.workspace, journal_.past);
        if (!has_past) {
            on_disk.run(journal_.entries);
            if (on_disk.failure()) return Failure(*on_disk.failure());
            has_past = is_recorded && past.finish(journal_.past);
        }
        std::vector<std::string> left = on_disk.left();
        if (journal_.origin) TRY(log(on_disk, left, has_past));
        remove_journal(stage_);
        return left;
    }

private:
    // Errors: those of the store.
    Result<void> log(const Completion& on_disk, std::vector<std::string>& left, bool has_past) {
        const JournalOrigin& origin = *journal_.origin;
        // The call was another kernel's: its number and arguments are gone, and its actor, profile
        // and tool are known.
        Caller by;
        if (auto actor = policy::Actor::parse(origin.actor)) by.actor = std::move(*actor);
        by.call =
            std::make_shared<const Call>(Call{origin.profile, origin.tool, Map{}, false, 0, 0});
        CommandRecord record;
        record.ran = origin.ran;
        record.outcome = "committed";
        if (has_past) record.past = journal_.past;
        for (const JournalEntry& each : journal_.entries) {
            const std::string shown = utf8::repaired(each.path);
            if (each.is_text) {
                const Result<FileVersion> version =
                    keep_text(by, each, on_disk.is_other(each.path));
                if (version) {
                    record.blocks.push_back({version->block_id, version->version, shown});
                } else if (version.error().code() == Errc::unavailable) {
                    return Failure(version.error());
                } else {
                    if (std::ranges::find(left, each.path) == left.end()) left.push_back(each.path);
                    record.left_out.push_back(shown);
                }
            } else if (std::ranges::find(left, each.path) != left.end()) {
                record.left_out.push_back(shown);
            } else {
                record.without_history.push_back(each.is_directory ? cat(shown, "/") : shown);
            }
        }
        if (Overseer::of(parts_.kernel).audit().completed(by, record)) return {};
        return fail(Errc::unavailable, "store_failed",
                    "its entry in the audit log cannot be written");
    }

    // Gives the text its place in history. `is_other`: somebody has changed the file since.
    // Makes the version that the killed kernel has perhaps not stored. The bytes are on the disk
    // already, unless somebody has changed the file.
    Result<FileVersion> keep_text(const Caller& by, const JournalEntry& text, bool is_other) {
        FileCommit what{text.path, FileCommit::Kind::changed, text.version, {},
                        is_other,  journal_.origin->operation};
        if (text.kind == ChangeKind::created) what.kind = FileCommit::Kind::created;
        if (text.kind == ChangeKind::deleted) {
            what.kind = FileCommit::Kind::deleted;
        } else {
            const std::optional<std::string> bytes = bytes_of(stage_, text);
            if (!bytes) return corrupt(cat("the new bytes of ", text.path, " are lost"));
            what.bytes = *bytes;
        }
        const bool is_changed = what.kind == FileCommit::Kind::changed;
        FileVersion version = TRY(ask<FileVersion>([&](Reply<FileVersion> reply) {
            parts_.files.keep_commit(by, std::move(what), std::move(reply));
        }));
        // The document has both changes now, and the file only the other one, perhaps.
        if (is_other && is_changed) {
            static_cast<void>(ask<FileSaved>([&](Reply<FileSaved> reply) {
                parts_.files.save(by, text.path, std::move(reply));
            }));
        }
        return version;
    }

    // Waits for the reply. The kernel must not run this on a thread that replies need.
    template <class T, class Call>
    static Result<T> ask(Call call) {
        std::promise<Result<T>> told;
        call(Reply<T>([&](Result<T> result) { told.set_value(std::move(result)); }));
        return told.get_future().get();
    }

    const CompletionParts& parts_;
    const std::string stage_;
    const Journal journal_;
};

// Goes to .quire/kernel.log, for the operator.
std::string sentence(const Journal& journal, const std::vector<std::string>& left) {
    std::string said =
        cat("a kernel was killed while it kept the changes of a command; ",
            journal.entries.size() - left.size(), " of ", journal.entries.size(), " are kept now");
    for (const std::string& path : left)
        cat_to(said, cat(path == left.front() ? "; left: " : ", ", path));
    return said;
}

}  // namespace

Result<std::optional<CompletedCommit>> complete_commit(const std::string& stage,
                                                       const std::string& directory,
                                                       fs::FileSystem& files) {
    const std::optional<Journal> journal = read_journal(stage);
    if (!journal) return std::nullopt;
    const fs::DiskEntries disk = TRY(fs::DiskEntries::open(directory));
    Completion completion(stage, files, disk, nullptr);
    completion.run(journal->entries);
    if (completion.failure()) return Failure(*completion.failure());
    remove_journal(stage);
    return std::optional(CompletedCommit{journal->entries.size(), completion.left()});
}

// One command that cannot be completed does not keep the others from it.
CompletedCommands complete_commands(const CompletionParts& parts) {
    CompletedCommands out;
    std::error_code gone;
    bool is_swept = false;
    for (const auto& stage :
         std::filesystem::directory_iterator(parts.workspace + "/.quire/stages", gone)) {
        const std::string directory = stage.path().string();
        const std::optional<Journal> journal = read_journal(directory);
        if (!journal) continue;
        // A draft of an interrupted write would keep its directory from being removed. One that cannot
        // be moved leaves that directory, and nothing else.
        if (!is_swept) static_cast<void>(parts.gate.files().sweep());
        is_swept = true;
        const auto left = CommandCompletion(parts, directory, *journal).run();
        if (left) {
            out.said.push_back(sentence(*journal, *left));
            continue;
        }
        out.said.push_back(
            cat("a kernel was killed while it kept the changes of a command, and "
                "they could not all be kept now, which the next start tries again: ",
                left.error().message()));
        out.kept.insert(directory);
    }
    return out;
}

}  // namespace quire::kernel
