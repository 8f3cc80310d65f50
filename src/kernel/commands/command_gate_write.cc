// The second half of a command's commit: the journal, and what is written on the disk beside texts.
//
// The order is given by what depends on what, not by the order of the changes:
//
//  begin()        journal, then links away and directories opened
//  texts          by the documents (command_gate.cc)
//  commit_rest()  deletions from the leaves up, directories from the root down, files, late texts,
//                 the unit of git, links, and at last permissions
//
// A change without a history, but for git's, is announced in the record of the past before it is
// made, so an undo also finds one that a kill has interrupted.
#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/concat.h"
#include "files/form.h"
#include "fs/disk_entries.h"
#include "fs/hash.h"
#include "git/repository.h"
#include "kernel/commands/command_gate.h"
#include "kernel/commands/command_journal.h"
#include "kernel/commands/command_past.h"
#include "kernel/core/core.h"
#include "kernel/files/file_gate.h"
#include "kernel/files/file_patch.h"

namespace quire::kernel {

using policy::Verdict;
using stage::ChangeKind;
using stage::StagedChange;

namespace {

// The permissions that a file must have for its owner to read it.
constexpr std::uint32_t kToRead = 0400;
constexpr const char* kIndex = ".git/index";

}  // namespace

// The bytes that a file has, none for a new one, and those that it gets, none for one that is deleted.
struct CommandGate::Bytes {
    std::optional<fs::FileBytes> before = {};
    std::optional<std::string> after = {};
};

bool CommandGate::sets_mode(const StagedChange& change) {
    // A link has none of its own.
    if (change.kind == ChangeKind::link) return false;
    return change.mode_changed || (change.kind == ChangeKind::created && change.mode != kNewFile) ||
           (change.kind == ChangeKind::directory && (change.mode & kToFill) != kToFill);
}

// Returns true if the change lets its owner fill or empty a directory, which later changes may need.
bool CommandGate::opens(const StagedChange& change) {
    return change.kind == ChangeKind::mode && change.is_directory &&
           (change.mode & kToFill) == kToFill;
}

// A path that becomes something of another kind is emptied first. Directories are made before what
// is in them, and are removed after what was in them; those of git after the unit of git.
void CommandGate::commit_rest(const Caller& by, const fs::DiskEntries& entries) {
    const auto is_deletion = [](const Step& step) {
        return step.change.kind == ChangeKind::deleted;
    };
    for (Step& step : steps_) {
        if (is_deletion(step)) commit_plain(entries, step);
    }
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
        if (!is_deletion(*step) || step->is_git) continue;
        commit_entry(entries, *step);
        // One that stays is closed again.
        const auto mode = opened_.find(step->change.path);
        if (mode != opened_.end() && !result_.changes[step->shown].committed)
            static_cast<void>(entries.set_mode(mode->first, mode->second));
    }
    for (const Step& step : steps_) {
        if (step.change.kind == ChangeKind::directory) commit_entry(entries, step);
    }
    for (Step& step : steps_) {
        if (!is_deletion(step)) commit_plain(entries, step);
    }
    std::vector<Step*> late;
    for (Step& step : steps_) {
        if (step.is_late && step.way == Way::text) late.push_back(&step);
    }
    // The rest is committed already, so this is told and no refusal.
    if (const Result<void> done = commit_texts(by, late, entries); !done)
        result_.notes.push_back(done.error().message());
    commit_git();
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
        if (is_deletion(*step) && step->is_git) commit_entry(entries, *step);
    }
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
        if (!is_deletion(*step) && step->change.kind != ChangeKind::directory)
            commit_entry(entries, *step);
    }
    // A directory gets its permissions after what is in it.
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
        const StagedChange& made = step->change;
        if (!sets_mode(made) || !result_.changes[step->shown].committed) continue;
        const auto set = [&] { return entries.set_mode(made.path, made.mode); };
        // A new file goes with its permissions when it is undone, if it can be opened then.
        const bool is_open = (made.mode & kToRead) == kToRead && !made.is_directory;
        const bool is_kept = !step->is_git && (made.mode_changed || !is_open);
        const Result<void> done = is_kept ? past_->change(entries, made.path, true, set) : set();
        if (!done) result_.notes.push_back(done.error().message());
    }
}

void CommandGate::commit_entry(const fs::DiskEntries& entries, const Step& step) {
    if (step.way != Way::entry) return;
    const StagedChange& made = step.change;
    const auto write = [&] { return write_entry(entries, step); };
    const bool is_known = made.kind == ChangeKind::directory && directories_.contains(made.path);
    const auto announced = new_directories_.find(made.path);
    Result<void> done;
    if (step.is_git || is_known) {
        done = write();
    } else if (made.kind == ChangeKind::directory && announced != new_directories_.end()) {
        // The texts in it, which come first, may have made it.
        done = write();
        if (done) {
            past_->made(announced->second, {PathKind::directory, 0, {}, {}});
        } else {
            past_->withdraw(announced->second);
        }
    } else {
        done = past_->change(entries, made.path, made.kind == ChangeKind::mode, write);
    }
    result_.changes[step.shown].committed = done.has_value();
    if (!done) result_.notes.push_back(done.error().message());
}

// Reads and hashes both sides of a plain file: the completion must tell the state before from the
// state after, and both from a third that somebody else has made.
Result<JournalEntry> CommandGate::journal_entry(const fs::DiskEntries& entries,
                                                const Step& step) const {
    const StagedChange& made = step.change;
    JournalEntry out{made.path,       made.kind, made.is_directory, made.was_link,
                     sets_mode(made), made.mode, made.target};
    const Result<PathState> now = path_state(entries, made.path);
    if (now && now->kind == PathKind::link) out.old_target = now->target;
    if (now && (now->kind == PathKind::file || now->kind == PathKind::directory))
        out.old_mode = now->mode;
    if (step.way != Way::plain) return out;
    if (made.kind != ChangeKind::created)
        out.before = TRY(parts_.gate.files().read(made.path, kLargestFile)).hash.hex();
    if (made.kind != ChangeKind::deleted)
        out.after = fs::Hash::of(TRY(stage::staged_bytes(upper_, made.path, kLargestFile))).hex();
    return out;
}

// The bytes are in the stage already, unless the patch has merged others' changes into them.
JournalEntry CommandGate::text_entry(const Step& step, const PlannedPart& planned) {
    const StagedChange& made = step.change;
    JournalEntry out{made.path,     made.kind,       made.is_directory,
                     made.was_link, sets_mode(made), made.mode};
    out.is_text = true;
    out.version = planned.version;
    out.before = planned.before;
    if (made.kind == ChangeKind::deleted) return out;
    out.after = fs::Hash::of(planned.after).hex();
    // Others' changes are merged into it.
    if (out.after != step.after) out.bytes = planned.after;
    return out;
}

void CommandGate::withdraw_texts(const std::vector<Step*>& steps) {
    if (journal_ == nullptr) return;
    const std::size_t taken = std::erase_if(journal_->entries, [&](const JournalEntry& entry) {
        return entry.is_text && std::ranges::any_of(steps, [&](const Step* step) {
                   return step->change.path == entry.path;
               });
    });
    if (!begun_ || taken == 0) return;
    // The rest goes on; if this cannot be written, a kernel that is killed leads to these texts too.
    static_cast<void>(write_journal(stage_, *journal_));
}

// Entries of texts that were planned are in the journal by now. Without any entry nothing is
// written.
Result<void> CommandGate::begin_journal(const Caller& by, const fs::DiskEntries& entries) {
    if (journal_ == nullptr) journal_ = std::make_unique<Journal>();
    for (const Step& step : steps_) {
        // A text that comes late is a new file. The others were planned already, or wait for a person.
        if (step.way == Way::text && step.is_late)
            journal_->entries.push_back(text_entry(step, {0, "", step.patch->whole->after}));
        if (step.way != Way::plain && step.way != Way::entry) continue;
        // A file that cannot be read is told of when it is written.
        if (Result<JournalEntry> entry = journal_entry(entries, step))
            journal_->entries.push_back(std::move(*entry));
    }
    // The name of the record: the time, by which records are sorted, and the stage's own name.
    const std::size_t at = stage_.rfind('/') + 1;
    journal_->past = cat(parts_.kernel.core()->parts().clock.wall_ms(), "-",
                         std::string_view(stage_).substr(at));
    if (by.call != nullptr)
        journal_->origin = {by_.str(), by.call->profile, by.call->tool, parts_.operation, ran_};
    if (journal_->entries.empty()) return {};
    return write_journal(stage_, *journal_);
}

// Under "strict" an approval that is still missing ends the commit here, before anything was
// touched.
Result<void> CommandGate::begin(const Caller& by, const fs::DiskEntries& entries) {
    if (begun_) return {};
    if (result_.failure && is_strict_) return Failure(*result_.failure);
    TRY(begin_journal(by, entries));
    begun_ = true;
    past_ = std::make_unique<PastRecorder>(parts_.workspace, stage_);
    for (const Step& step : steps_) {
        const std::string& path = step.change.path;
        const Result<PathState> before = path_state(entries, path);
        if (before && before->kind == PathKind::directory) directories_.insert(path);
        if (before) announce(step, *before);
        // A directory that goes with what is in it is opened first.
        const bool is_closed =
            before && before->kind == PathKind::directory && (before->mode & kToFill) != kToFill;
        const bool is_emptied = is_closed && step.way == Way::entry && !step.is_git &&
                                step.change.kind == ChangeKind::deleted;
        if (is_emptied) {
            const auto mode = static_cast<std::uint32_t>(before->mode);
            const auto open = [&] { return entries.set_mode(path, mode | kToFill); };
            if (past_->change(entries, path, true, open)) opened_[path] = mode;
        }
        if (step.way == Way::entry && opens(step.change)) {
            const auto open = [&] { return entries.set_mode(path, step.change.mode); };
            const bool is_done =
                before && before->kind == PathKind::directory &&
                (step.is_git ? open() : past_->change(entries, path, true, open)).has_value();
            if (is_done) opened_[path] = static_cast<std::uint32_t>(before->mode);
        }
        if (step.way != Way::entry || !step.change.was_link) continue;
        std::error_code gone;
        unlinked_[path] =
            std::filesystem::read_symlink(cat(parts_.workspace, "/", path), gone).string();
        const Result<void> done =
            past_->change(entries, path, false, [&] { return entries.remove_link(path); });
        if (!done) result_.notes.push_back(done.error().message());
    }
    return {};
}

void CommandGate::announce(const Step& step, const PathState& before) {
    const StagedChange& made = step.change;
    const bool is_new_directory = before.kind == PathKind::nothing && step.way == Way::entry &&
                                  made.kind == ChangeKind::directory && !step.is_git;
    // Its history has the text alone.
    const bool is_deleted_text = before.kind == PathKind::file && before.mode != kNewFile &&
                                 step.way == Way::text && made.kind == ChangeKind::deleted;
    if (is_new_directory)
        new_directories_[made.path] = past_->announce({made.path, {}, {}, false, {}});
    if (!is_deleted_text) return;
    const PathState text{PathKind::file, before.mode, {}, step.before};
    deleted_texts_[made.path] = past_->announce({made.path, text, {}, true, {}});
}

// Only begin() has changed something by now: links and permissions. The texts have put themselves
// back.
void CommandGate::take_back(const fs::DiskEntries& entries) {
    for (const auto& [path, target] : unlinked_) static_cast<void>(entries.make_link(path, target));
    for (const auto& [path, mode] : opened_) static_cast<void>(entries.set_mode(path, mode));
    remove_journal(stage_);
    if (past_ != nullptr) past_->discard();
}

void CommandGate::finish_past() {
    for (const Step& step : steps_) {
        const auto text = deleted_texts_.find(step.change.path);
        const bool is_gone =
            step.change.kind == ChangeKind::deleted && result_.changes[step.shown].committed;
        if (is_gone && text != deleted_texts_.end()) past_->made(text->second, {});
    }
    if (past_->finish(journal_->past)) result_.past = journal_->past;
    const std::vector<std::string>& notes = past_->notes();
    result_.notes.insert(result_.notes.end(), notes.begin(), notes.end());
}

// The bytes of both sides are read first, so that the record has those that the write replaces. A
// file that changed in between is refused by write_plain(), which compares the hash.
void CommandGate::commit_plain(const fs::DiskEntries& entries, Step& step) {
    if (step.way != Way::plain || step.is_git) return;
    const std::string& path = step.change.path;
    Result<PathState> before = path_state(entries, path);
    const Result<Bytes> bytes = bytes_of(step);
    if (!bytes) return result_.notes.push_back(bytes.error().message());
    PathState after;
    if (bytes->after) after = {PathKind::file, 0, {}, fs::Hash::of(*bytes->after).hex()};
    std::optional<std::size_t> number;
    if (before) {
        PastChange change{path, std::move(*before), after, false, {}};
        std::optional<std::string_view> lost;
        if (bytes->before) change.before.hash = bytes->before->hash.hex();
        if (bytes->before) lost = bytes->before->bytes;
        number = past_->announce(std::move(change), lost);
    }
    const Result<void> done = write_plain(step, *bytes);
    result_.changes[step.shown].committed = done.has_value();
    if (!done) {
        if (number) past_->withdraw(*number);
        return result_.notes.push_back(done.error().message());
    }
    if (number) past_->made(*number, std::move(after));
}

// `git add -A` takes a hidden file for deleted. Two runs of git tell: the hidden names that the
// index had before, and which of these the staged index still has. None of it runs where nothing is
// hidden.
Result<std::string> CommandGate::forgotten_by_git() const {
    const auto changes_index = [](const Step& step) {
        return step.way != Way::none && step.change.path == kIndex;
    };
    if (parts_.hidden.empty() || std::ranges::none_of(steps_, changes_index)) return "";
    const auto repository =
        TRY(git::Repository::find(parts_.workspace, parts_.kernel.core()->parts().clock));
    const auto before = TRY(repository.indexed(cat(parts_.workspace, "/", kIndex), parts_.hidden));
    const std::string staged = cat(upper_, "/", kIndex);
    const auto after = std::filesystem::exists(staged) ? TRY(repository.indexed(staged, before))
                                                       : std::vector<std::string>();
    const auto lost = std::ranges::mismatch(before, after).in1;
    return lost == before.end() ? std::string() : *lost;
}

// An index without its objects, or a branch without its log, would be a broken repository.
std::string CommandGate::objection_to_git() const {
    const Step* kept_out = nullptr;
    for (const Step& step : steps_) {
        if (step.is_git && (step.way == Way::none || step.decision.verdict != Verdict::allow))
            kept_out = &step;
    }
    if (kept_out != nullptr) return cat(kept_out->change.path, " was left out");
    const Result<std::string> lost = forgotten_by_git();
    if (!lost) return lost.error().message();
    if (lost->empty()) return "";
    return cat("git took ", *lost,
               " for deleted, which the command could not see. Add files by their names (git add "
               "PATH) and commit without -a");
}

// Also leaves out the parts that the rules allow; those that they forbid have their own objections.
void CommandGate::judge_git() {
    const std::string why = objection_to_git();
    if (why.empty()) return;
    bool any = false;
    for (Step& step : steps_) {
        if (!step.is_git || step.way == Way::none || step.decision.verdict != Verdict::allow)
            continue;
        step.way = Way::none;
        any = true;
    }
    if (any) {
        result_.notes.push_back(cat("what the command changed in ", kGitDirectory,
                                    " is kept whole or not at all, and ", why));
    }
}

// Objects first, since nothing refers to them yet, then all else. What was written is put back where
// a file cannot be: somebody else's git has changed it since the command began.
void CommandGate::commit_git() {
    std::vector<Step*> steps;
    for (Step& step : steps_) {
        if (step.is_git && step.way == Way::plain) steps.push_back(&step);
    }
    if (steps.empty()) return;
    const auto is_object = [](const Step* step) {
        return step->change.path.starts_with(".git/objects/");
    };
    const auto rest = std::stable_partition(steps.begin(), steps.end(), is_object);
    std::vector<std::pair<Step*, std::optional<fs::FileBytes>>> written;
    std::string why;
    for (auto at = steps.begin(); at != steps.end() && why.empty(); ++at) {
        Result<Bytes> bytes = bytes_of(**at);
        const Result<void> done =
            bytes ? write_plain(**at, *bytes) : Result<void>(Failure(bytes.error()));
        if (!done) {
            why = done.error().message();
        } else if (at >= rest) {
            written.emplace_back(*at, std::move(bytes->before));
        }
    }
    if (why.empty()) {
        for (Step* const step : steps) result_.changes[step->shown].committed = true;
        return;
    }
    for (auto each = written.rbegin(); each != written.rend(); ++each)
        put_back(*each->first, each->second);
    result_.notes.push_back(
        cat("nothing that the command changed in ", kGitDirectory, " was kept: ", why));
}

Result<CommandGate::Bytes> CommandGate::bytes_of(const Step& step) const {
    const StagedChange& made = step.change;
    Bytes out;
    if (made.kind != ChangeKind::created)
        out.before = TRY(parts_.gate.files().read(made.path, kLargestFile));
    if (made.kind != ChangeKind::deleted)
        out.after = TRY(stage::staged_bytes(upper_, made.path, kLargestFile));
    return out;
}

// Each call compares the file with `before` at the moment of the write: conflict if it is another.
Result<void> CommandGate::write_plain(const Step& step, const Bytes& bytes) {
    fs::FileSystem& files = parts_.gate.files();
    const std::string& path = step.change.path;
    if (!bytes.after) return files.remove(path, bytes.before->hash);
    if (bytes.before) {
        TRY(files.save(path, *bytes.after, bytes.before->hash));
    } else {
        TRY(files.create(path, *bytes.after));
    }
    return {};
}

// Undoes one write of the unit of git. A file that somebody has changed since stays as they left
// it.
void CommandGate::put_back(const Step& step, const std::optional<fs::FileBytes>& before) {
    fs::FileSystem& files = parts_.gate.files();
    const StagedChange& made = step.change;
    if (made.kind == ChangeKind::deleted) {
        static_cast<void>(files.create(made.path, before->bytes));
        return;
    }
    const Result<fs::FileBytes> now = files.read(made.path, kLargestFile);
    const auto after = stage::staged_bytes(upper_, made.path, kLargestFile);
    if (!now || !after || now->bytes != *after) return;
    if (before) {
        static_cast<void>(files.save(made.path, before->bytes, now->hash));
    } else {
        static_cast<void>(files.remove(made.path, now->hash));
    }
}

// A directory is always open to its owner at first, since its files come later; its own permissions
// are set last.
Result<void> CommandGate::write_entry(const fs::DiskEntries& entries, const Step& step) const {
    const StagedChange& made = step.change;
    switch (made.kind) {
        case ChangeKind::directory:
            return entries.make_directory(made.path, made.mode | kToFill);
        case ChangeKind::link:
            return entries.make_link(made.path, made.target);
        case ChangeKind::mode:
            return entries.set_mode(made.path, made.mode);
        case ChangeKind::deleted:
            // A link is gone by now.
            if (!made.is_directory || TRY(entries.remove_directory(made.path))) return {};
            return fail(Errc::conflict, "path_changed",
                        cat(made.path, " is not empty, so the directory stays"),
                        {{"path", made.path}});
        case ChangeKind::created:
        case ChangeKind::modified:
        case ChangeKind::special:
            break;
    }
    return {};
}

}  // namespace quire::kernel
