#include "kernel/commands/command_completion.h"

#include <algorithm>
#include <filesystem>
#include <future>
#include <memory>
#include <system_error>
#include <utility>

#include "base/concat.h"
#include "base/utf8.h"
#include "files/form.h"
#include "fs/disk_entries.h"
#include "fs/file_system.h"
#include "fs/hash.h"
#include "kernel/commands/command_journal.h"
#include "kernel/commands/command_past.h"
#include "kernel/files/file_calls.h"
#include "kernel/files/file_gate.h"
#include "kernel/oversight/overseer.h"
#include "stage/changes.h"
#include "text/merge3.h"

namespace quire::kernel {
namespace {

using stage::ChangeKind;

// Completes the commit of one stage, on the disk.
class Completion {
public:
    // `gate` and `past` may be null, for the commit of a tree: it merges no texts, and needs no record.
    Completion(std::string stage, fs::FileSystem& files, const fs::DiskEntries& disk,
               const FileGate* gate, PastRecorder* past)
        : stage_(std::move(stage)), files_(files), disk_(disk), gate_(gate), past_(past) {}

    // Returns the paths that were left alone.
    std::vector<std::string> run(const std::vector<JournalEntry>& entries) {
        const auto each_of = [&](auto wanted, auto work) {
            for (const JournalEntry& each : entries) {
                if (wanted(each) && !work(each)) left_.push_back(each.path);
            }
        };
        // A link that is there again is the one that the command made.
        const auto is_replaced = [&](const JournalEntry& link) {
            return std::ranges::any_of(entries, [&](const JournalEntry& other) {
                return other.path == link.path && other.kind != ChangeKind::deleted;
            });
        };
        each_of([](const auto& each) { return each.was_link; },
                [&](const auto& each) {
                    const auto gone =
                        change(each, false, [&] { return disk_.remove_link(each.path); });
                    return gone.has_value() || is_replaced(each) || is_gone(each.path);
                });
        // A directory that becomes writable is so before what is in it changes.
        each_of([](const auto& each) { return each.kind == ChangeKind::mode && each.is_directory; },
                [&](const auto& each) { return set_mode(each, mode_of(each) | kToFill); });
        each_of([](const auto& each) { return each.kind == ChangeKind::deleted; },
                [&](const auto& each) { return !each.is_directory || open(each); });
        // A path that becomes something of another kind is emptied first.
        const auto is_file = [](const JournalEntry& each) {
            return !each.before.empty() || !each.after.empty();
        };
        each_of([&](const auto& each) { return is_file(each) && each.after.empty(); },
                [&](const auto& each) { return write(each); });
        for (auto each = entries.rbegin(); each != entries.rend(); ++each) {
            if (each->kind == ChangeKind::deleted && each->is_directory) remove_directory(*each);
        }
        each_of([](const auto& each) { return each.kind == ChangeKind::directory; },
                [&](const auto& each) {
                    const auto make = [&] {
                        return disk_.make_directory(each.path, mode_of(each) | kToFill);
                    };
                    return change(each, false, make).has_value();
                });
        each_of([](const auto& each) { return !each.after.empty(); },
                [&](const auto& each) { return write(each); });
        each_of([](const auto& each) { return each.kind == ChangeKind::link; },
                [&](const auto& each) {
                    const auto make = [&] { return disk_.make_link(each.path, each.target); };
                    return change(each, false, make).has_value();
                });
        // A directory gets its permissions after what is in it.
        for (auto each = entries.rbegin(); each != entries.rend(); ++each) {
            if (each->sets_mode && !set_mode(*each, mode_of(*each))) left_.push_back(each->path);
        }
        return std::move(left_);
    }

private:
    static std::uint32_t mode_of(const JournalEntry& entry) {
        return static_cast<std::uint32_t>(entry.mode);
    }
    bool has_past(const JournalEntry& entry) const {
        return past_ != nullptr && !is_of_git(entry.path);
    }

    template <class Work>
    Result<void> change(const JournalEntry& entry, bool is_mode, Work work) {
        return has_past(entry) ? past_->change(disk_, entry.path, is_mode, work) : work();
    }

    bool set_mode(const JournalEntry& entry, std::uint32_t mode) {
        return change(entry, true, [&] { return disk_.set_mode(entry.path, mode); }).has_value();
    }

    // Lets the owner of a directory empty it.
    bool open(const JournalEntry& entry) {
        const Result<PathState> now = path_state(disk_, entry.path);
        if (!now || now->kind != PathKind::directory || (now->mode & kToFill) == kToFill)
            return true;
        return set_mode(entry, static_cast<std::uint32_t>(now->mode) | kToFill);
    }

    // A directory that is not empty stays.
    void remove_directory(const JournalEntry& entry) {
        static_cast<void>(change(entry, false, [&]() -> Result<void> {
            TRY(disk_.remove_directory(entry.path));
            return {};
        }));
    }

    bool is_gone(const std::string& path) {
        const Result<fs::FileBytes> now = files_.read(path, kLargestFile);
        return !now && now.error().code() == Errc::not_found;
    }

    // Gives the file the bytes that the command left, or deletes it.
    bool write(const JournalEntry& entry) {
        const Result<fs::FileBytes> now = files_.read(entry.path, kLargestFile);
        const bool is_missing = !now && now.error().code() == Errc::not_found;
        // The directory that takes the place of a deleted file is there already.
        if (entry.after.empty() && !now && now.error().reason() == "not_a_file") return true;
        if (!now && !is_missing) return false;
        const std::string hash = now ? now->hash.hex() : "";
        if (hash == entry.after) return true;
        // Others are those of the merge.
        if (hash != entry.before) return entry.base.has_value();
        if (entry.after.empty()) return erase(entry, *now);
        Result<std::string> bytes =
            stage::staged_bytes(stage_ + "/upper", entry.path, kLargestFile);
        // After a crash of the machine they may not be what they were.
        if (!bytes || fs::Hash::of(*bytes).hex() != entry.after) return false;
        if (now && entry.base) bytes = merged(entry, now->bytes, *bytes);
        if (!bytes) return false;
        return recorded(entry, now ? &*now : nullptr, entry.after,
                        [&]() -> Result<void> {
                            if (now) {
                                TRY(files_.save(entry.path, *bytes, now->hash));
                            } else {
                                TRY(files_.create(entry.path, *bytes));
                            }
                            return {};
                        })
            .has_value();
    }

    bool erase(const JournalEntry& entry, const fs::FileBytes& now) {
        const auto remove = [&] { return files_.remove(entry.path, now.hash); };
        if (!entry.is_text) return recorded(entry, &now, "", remove).has_value();
        // Its history has the text alone.
        if (!has_past(entry)) return remove().has_value();
        Result<PathState> before = path_state(disk_, entry.path);
        if (!before || before->mode == kNewFile) return remove().has_value();
        before->hash = entry.before;
        const std::size_t number = past_->announce({entry.path, std::move(*before), {}, true, {}});
        const bool done = remove().has_value();
        if (done) {
            past_->made(number, {});
        } else {
            past_->withdraw(number);
        }
        return done;
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
        const PathState after =
            after_hash.empty() ? PathState{} : PathState{PathKind::file, 0, {}, after_hash};
        change.after = after;
        const std::size_t number = past_->announce(
            std::move(change),
            now == nullptr ? std::nullopt : std::optional<std::string_view>(now->bytes));
        Result<void> done = work();
        if (done) {
            past_->made(number, after);
        } else {
            past_->withdraw(number);
        }
        return done;
    }

    // The command's change of a text, and what others have made of the text meanwhile.
    Result<std::string> merged(const JournalEntry& entry, const std::string& now,
                               const std::string& made) const {
        if (gate_ == nullptr) return corrupt(cat(entry.path, " was to be merged without a gate"));
        const auto declared = gate_->rules()->paths.encoding(entry.path);
        const files::Decoded theirs = TRY(files::decode(now, entry.path, declared));
        const files::Decoded ours = TRY(files::decode(made, entry.path, declared));
        text::Merged both =
            text::merge3(*entry.base, theirs.text, ours.text, text::Side::ours, text::Side::ours);
        if (!both.ties.empty()) {
            return fail(Errc::conflict, "disk_changed",
                        cat(entry.path, " was changed by others in the same words"),
                        {{"path", entry.path}});
        }
        return files::encode(theirs.form, std::move(both.text), entry.path);
    }

    const std::string stage_;
    fs::FileSystem& files_;
    const fs::DiskEntries& disk_;
    const FileGate* const gate_;
    PastRecorder* const past_;
    std::vector<std::string> left_;
};

// Completes one command.
class CommandCompletion {
public:
    CommandCompletion(const CompletionParts& parts, std::string stage, Journal journal)
        : parts_(parts), stage_(std::move(stage)), journal_(std::move(journal)) {}

    // Returns the paths that were left alone. Errors: those of opening the workspace.
    Result<std::vector<std::string>> run() {
        const fs::DiskEntries disk = TRY(fs::DiskEntries::open(parts_.workspace));
        PastRecorder past(parts_.workspace, stage_);
        // An earlier program has recorded nothing.
        const bool is_recorded = !journal_.past.empty();
        if (is_recorded) past.resume(disk, parts_.gate.files());
        std::vector<std::string> left = Completion(stage_, parts_.gate.files(), disk, &parts_.gate,
                                                   is_recorded ? &past : nullptr)
                                            .run(journal_.entries);
        const bool has_past = is_recorded && past.finish(journal_.past);
        if (journal_.origin) log(left, has_past);
        remove_journal(stage_);
        return left;
    }

private:
    void log(const std::vector<std::string>& left, bool has_past) {
        const JournalOrigin& origin = *journal_.origin;
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
            if (std::ranges::find(left, each.path) != left.end()) {
                record.left_out.push_back(shown);
                continue;
            }
            if (each.is_text) {
                const Result<FileVersion> version = keep_in_history(by, each);
                if (version) {
                    record.blocks.push_back({version->block_id, version->version, shown});
                    continue;
                }
            }
            record.without_history.push_back(each.is_directory ? cat(shown, "/") : shown);
        }
        Overseer::of(parts_.kernel).audit().completed(by, record);
    }

    Result<FileVersion> keep_in_history(const Caller& by, const JournalEntry& text) {
        const FileCommit::Kind kind = text.kind == ChangeKind::deleted ? FileCommit::Kind::deleted
                                      : text.kind == ChangeKind::created
                                          ? FileCommit::Kind::created
                                          : FileCommit::Kind::changed;
        std::promise<Result<FileVersion>> told;
        parts_.files.keep_commit(by, {text.path, kind}, [&](Result<FileVersion> version) {
            told.set_value(std::move(version));
        });
        return told.get_future().get();
    }

    const CompletionParts& parts_;
    const std::string stage_;
    const Journal journal_;
};

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
    CompletedCommit out{journal->entries.size(),
                        Completion(stage, files, disk, nullptr, nullptr).run(journal->entries)};
    remove_journal(stage);
    return std::optional(std::move(out));
}

std::vector<std::string> complete_commands(const CompletionParts& parts) {
    std::vector<std::string> out;
    std::error_code gone;
    for (const auto& stage :
         std::filesystem::directory_iterator(parts.workspace + "/.quire/stages", gone)) {
        const std::string directory = stage.path().string();
        const std::optional<Journal> journal = read_journal(directory);
        if (!journal) continue;
        const auto left = CommandCompletion(parts, directory, *journal).run();
        out.push_back(left ? sentence(*journal, *left)
                           : cat("a kernel was killed while it kept the changes of a command, and "
                                 "they cannot be completed: ",
                                 left.error().message()));
    }
    return out;
}

}  // namespace quire::kernel
