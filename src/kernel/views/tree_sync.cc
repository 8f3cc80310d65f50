// One direction runs in four steps: survey the side that may have changed, plan every file of it
// (tree_plan.h), carry out the plan, and settle, which moves the bases and writes the state.
//
//   land      plan -> scratch stage -> CommandGate: rules, consent, commit -> audit -> settle
//   refresh   plan -> consent -> bytes and journal beside the state -> the tree's files -> settle
//
// The bases move last. What they are moved to is kept in a record before the first write
// (sync_record.h). After a kill the journal completes the writes at the next start, and then recover()
// moves the bases of the files that have what was planned. The others are brought anew.
//
// A land takes the rules of its tree's actor, and a person who brings the tree lends it no rights.
#include "kernel/views/tree_sync.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <set>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "base/clock.h"
#include "base/concat.h"
#include "kernel/commands/call_approval.h"
#include "kernel/commands/command_completion.h"
#include "kernel/commands/command_gate.h"
#include "kernel/commands/command_journal.h"
#include "kernel/files/file_calls.h"
#include "kernel/files/file_gate.h"
#include "kernel/oversight/command_record.h"
#include "kernel/oversight/overseer.h"
#include "kernel/views/sync_record.h"
#include "kernel/views/tree_consent.h"
#include "kernel/views/tree_directories.h"
#include "kernel/views/tree_registry.h"
#include "stage/stage.h"

namespace quire::kernel {
namespace {

using stage::ChangeKind;
using views::Form;

constexpr std::uint32_t kFileMode = 0644;
constexpr std::uint32_t kProgramMode = 0755;
// A land that the workspace's writers overtake is planned anew so often.
constexpr int kAttempts = 3;

std::uint32_t mode_of(bool runs) {
    return runs ? kProgramMode : kFileMode;
}

std::string word_of(const PlannedFile& file) {
    if (!file.bytes) return "deleted";
    if (!file.writes()) return "mode";
    if (file.form == Form::link) return "link";
    return file.into ? "modified" : "created";
}

// Puts the bytes where the gate and the journal look for them. They are not synced: completing a
// commit checks them against the journal's hash and writes none that went down with the machine.
Result<void> put(const std::string& upper, const std::string& path, const std::string& bytes) {
    const std::filesystem::path place = std::filesystem::path(upper) / path;
    std::error_code failed;
    std::filesystem::create_directories(place.parent_path(), failed);
    std::ofstream file(place, std::ios::binary | std::ios::trunc);
    file << bytes;
    file.close();
    if (!file) {
        return fail(Errc::unavailable, "io_error", cat("cannot write ", place.string()),
                    {{"path", place.string()}});
    }
    return {};
}

// The change as the gate knows it. A file that becomes a link, or the other way, is two. `seen` is
// the hash of the file that the plan was made for, by which the gate finds out that somebody has
// changed it since; `made_of` has the unsaved text of a document, where the plan went by that and
// not by the file.
std::vector<stage::StagedChange> staged(const PlannedFile& file) {
    std::vector<stage::StagedChange> out;
    stage::StagedChange change;
    change.path = file.path;
    const bool was_link = file.into && file.into->form == Form::link;
    const std::string seen = file.into_on_disk ? file.into_on_disk->hex() : "";
    const bool changes_form = file.into && file.bytes && file.form != file.into->form;
    if (was_link && (changes_form || !file.bytes || file.form == Form::link)) {
        stage::StagedChange gone = change;
        gone.kind = ChangeKind::deleted;
        gone.was_link = true;
        out.push_back(std::move(gone));
        if (!file.bytes) return out;
    } else if (changes_form) {
        stage::StagedChange gone = change;
        gone.kind = ChangeKind::deleted;
        gone.seen = seen;
        out.push_back(std::move(gone));
    }
    if (!file.bytes) {
        change.kind = ChangeKind::deleted;
        change.seen = seen;
    } else if (file.form == Form::link) {
        change.kind = ChangeKind::link;
        change.target = *file.bytes;
    } else if (!file.into || changes_form) {
        change.kind = ChangeKind::created;
        change.mode = mode_of(file.runs);
    } else {
        change.kind = file.writes() ? ChangeKind::modified : ChangeKind::mode;
        change.mode = mode_of(file.runs);
        change.mode_changed = file.sets_mode();
        change.seen = seen;
        if (file.into_on_disk != file.into->sight.hash) change.made_of = file.into->bytes;
    }
    out.push_back(std::move(change));
    return out;
}

stage::StagedChange directory_change(std::string path, ChangeKind kind) {
    constexpr std::uint32_t kNewDirectory = 0755;
    stage::StagedChange change;
    change.path = std::move(path);
    change.kind = kind;
    change.is_directory = true;
    change.mode = kNewDirectory;
    return change;
}

// Adds the directories that a file needs or takes the place of, which no tree lists. `made` are those that
// were added for other files.
void add_directories(const std::string& workspace, const std::string& path,
                     std::set<std::string>& made, std::vector<stage::StagedChange>& changes) {
    for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
        std::string above = path.substr(0, at);
        if (is_directory(workspace, above) || !made.insert(above).second) continue;
        changes.push_back(directory_change(std::move(above), ChangeKind::directory));
    }
    for (std::string& each : directories_in_place(workspace, path))
        changes.push_back(directory_change(std::move(each), ChangeKind::deleted));
}

// A land as the audit log tells of it.
CommandRan land_of(const views::TreeState& state) {
    return {cat("land ", state.directory), "allow", "none"};
}

// The change as a refresh's journal has it: with the hashes of the bytes that the tree's file has
// and gets, so that completing it writes over no edit that the plan has not seen.
JournalEntry journalled(const PlannedFile& file) {
    JournalEntry out;
    out.path = file.path;
    const bool was_link = file.into && file.into->form == Form::link;
    out.was_link = was_link && (!file.bytes || file.form == Form::file);
    out.kind = !file.bytes               ? ChangeKind::deleted
               : file.form == Form::link ? ChangeKind::link
               : !file.into || was_link  ? ChangeKind::created
               : file.writes()           ? ChangeKind::modified
                                         : ChangeKind::mode;
    if (file.into && !was_link && (file.writes() || !file.bytes))
        out.before = file.into->sight.hash.hex();
    if (file.bytes && file.form == Form::link) out.target = *file.bytes;
    if (file.bytes && file.form == Form::file && file.writes())
        out.after = fs::Hash::of(*file.bytes).hex();
    out.sets_mode = file.sets_mode();
    out.mode = mode_of(file.runs);
    return out;
}

}  // namespace

Synced TreeSync::begun() const {
    Synced out;
    out.directory = state_.directory;
    out.actor = state_.actor;
    return out;
}

// A person who brings the tree does so for its actor, and approvals name the tree.
Caller TreeSync::acting_for(const Caller& by) const {
    Caller acting = by;
    acting.actor = state_.actor;
    if (by.call == nullptr) return acting;
    Call call = *by.call;
    call.arguments = Map{{"tree", state_.directory}};
    acting.call = std::make_shared<const Call>(std::move(call));
    return acting;
}

TreePlan TreeSync::plan(Direction direction) const {
    // Blocks until the file's strand answers. A text that the tree's actor may not read is as if
    // there were none: the plan then goes by the file.
    const auto shown = [this](const std::string& path) -> std::optional<std::string> {
        std::promise<Result<WholeText>> told;
        parts_.files.text({state_.actor, 0, {}}, path,
                          [&](Result<WholeText> text) { told.set_value(std::move(text)); });
        Result<WholeText> text = told.get_future().get();
        if (!text) return std::nullopt;
        return std::move(text->text);
    };
    return TreePlan({tree_.files(), shared_.files(), parts_.gate, registry_.bases(), state_, shown},
                    direction);
}

Result<views::Survey> TreeSync::changed(Direction direction) {
    const fs::IgnoreNames ignore = parts_.gate.ignore_files();
    if (direction == Direction::land) {
        // Every file of the tree is looked at, also where the actor has no rights: the gate refuses
        // such a change in words.
        return views::survey(tree_.files(), state_, &views::Head::tree, ignore,
                             [](const std::string&) { return false; });
    }
    // A file that the actor may not read is no part of what it sees.
    return views::survey(
        shared_.files(), state_, &views::Head::shared, ignore, [&](const std::string& path) {
            return registry_.is_in_tree(path) || !parts_.gate.may_see(path, state_.actor);
        });
}

void TreeSync::conclude(const TreePlan& plan, Synced& out) {
    out.left = plan.left();
    if (out.outcome == SyncOutcome::done && !out.conflicts.empty())
        out.outcome = SyncOutcome::conflict;
}

Result<Synced> TreeSync::land(const Caller& by, bool asks) {
    TRY(registry_.complete_refresh(state_, tree_));
    TRY(recover());
    for (int attempt = 0;; ++attempt) {
        Synced out = begun();
        views::Survey found = TRY(changed(Direction::land));
        TreePlan files = plan(Direction::land);
        files.leave_out(std::move(found.left));
        files.add(found.changed);
        // A file that is being written may be half of what its writer means, and a land is all or
        // nothing.
        if (files.is_busy()) {
            out.outcome = SyncOutcome::busy;
            out.conflicts = conflicts_of(state_);
            conclude(files, out);
            return out;
        }
        bool is_outdated = false;
        TRY(commit(by, files, asks, out, is_outdated));
        // Between the plan and the gate somebody changed a file of the workspace. The next attempt
        // surveys and merges anew.
        if (is_outdated && attempt + 1 < kAttempts) continue;
        if (is_outdated) out.outcome = SyncOutcome::busy;
        out.conflicts = conflicts_of(state_);
        conclude(files, out);
        return out;
    }
}

Result<void> TreeSync::commit(const Caller& by, TreePlan& plan, bool asks, Synced& out,
                              bool& is_outdated) {
    // The stage is only a place: no command runs in it. Its upper directory has the new bytes as if
    // one had.
    stage::Stage scratch = TRY(stage::Stage::make(parts_.workspace, {}));
    std::vector<stage::StagedChange> changes;
    std::set<std::string> directories;
    for (const PlannedFile& file : plan.files()) {
        if (!file.writes() && !file.sets_mode()) continue;
        if (file.bytes && !file.into)
            add_directories(parts_.workspace, file.path, directories, changes);
        std::ranges::move(staged(file), std::back_inserter(changes));
        if (file.bytes && file.form == Form::file && file.writes())
            TRY(put(scratch.upper(), file.path, *file.bytes));
    }
    if (!changes.empty()) {
        // A person is asked for a number of files. Directories do not count, and neither do they in
        // what is reported.
        const auto changed = static_cast<std::size_t>(
            std::ranges::count(changes, false, &stage::StagedChange::is_directory));
        CommandGate gate({parts_.kernel, parts_.gate, parts_.files, parts_.workspace,
                          parts_.gate.file_bytes(), "land"},
                         scratch, std::move(changes), state_.actor);
        gate.set_ran(land_of(state_));
        is_outdated = gate.is_outdated();
        if (is_outdated) return {};
        out.violations = gate.judged().violations;
        if (!out.violations.empty()) {
            const GateObjection& first = out.violations.front();
            out.outcome = SyncOutcome::refused;
            out.failure =
                Error(Errc::denied, "permission_denied",
                      cat("nothing was landed: ", state_.actor.str(), " may not ",
                          name_of(first.operation), " ", first.path, " (", first.reason, ")"),
                      {{"path", first.path}, {"permission", first.permission}});
            return {};
        }
        const Caller acting = acting_for(by);
        // The digest is computed once, and both questions and the commit go by it. A tree that
        // changes while a person thinks has another digest, and the approval does not fit any more.
        const std::string effects = TRY(gate.effects());
        const TreeConsent consent(parts_.kernel, state_, acting);
        Result<void> may = consent.to_deletions(plan, effects, out);
        if (may && asks) may = consent.to_land(changed, effects);
        if (!may) {
            note_refusal(std::move(may).error(), out);
            return {};
        }
        TRY(begin(plan));
        GateResult done = commit_approved(parts_.kernel, acting, std::move(gate), effects,
                                          shell::Enforcement::strict);
        out.notes = std::move(done.notes);
        if (done.failure) {
            remove_journal(scratch.directory());
            withdraw_record();
            const bool waits = done.failure->code() == Errc::escalation_required;
            out.outcome = waits ? SyncOutcome::asked : SyncOutcome::refused;
            for (const GateObjection& each : done.escalations)
                if (!each.approval_id.empty()) out.approval_ids.push_back(each.approval_id);
            out.failure = std::move(done.failure);
            return {};
        }
        CommandRecord record;
        record.ran = land_of(state_);
        record.outcome = "committed";
        record.past = done.past;
        std::set<std::string> unwritten;
        for (CommandChange& each : done.changes) {
            if (each.path.ends_with('/')) continue;  // A tree lists no directories.
            if (!each.committed) {
                unwritten.insert(each.path);
                continue;
            }
            if (each.block_id.empty()) {
                record.without_history.push_back(each.path);
            } else {
                record.blocks.push_back({each.block_id, each.version, each.path});
            }
            out.files.push_back({each.path, each.change_type, each.block_id, each.version});
        }
        // The audit log has the land before its journal goes. A kernel that is killed in between
        // leaves the journal, and the next one writes the entry.
        Overseer::of(parts_.kernel).audit().ran(by, record);
        remove_journal(scratch.directory());
        for (const PlannedFile& file : plan.files()) {
            if (!file.bytes && file.into)
                remove_empty_directories(shared_.files().entries(), file.path);
        }
        // The disk refused it when nothing could be taken back any more; it is tried again.
        return settle(plan, unwritten, "the workspace's file could not be written");
    }
    return settle(plan, {}, "");
}

void TreeSync::note_refusal(Error why, Synced& out) {
    // A question that waits for a person is no failure: the caller is told whose answer is missing,
    // and calls again.
    const bool asks = why.code() == Errc::escalation_required;
    out.outcome = asks ? SyncOutcome::asked : SyncOutcome::refused;
    if (const Value* id = why.details().find("approval_id"))
        out.approval_ids.push_back(id->as_string());
    out.failure = std::move(why);
}

Result<Synced> TreeSync::refresh(const Caller& by) {
    TRY(registry_.complete_refresh(state_, tree_));
    TRY(recover());
    Synced out = begun();
    views::Survey found = TRY(changed(Direction::refresh));
    TreePlan files = plan(Direction::refresh);
    files.leave_out(std::move(found.left));
    files.add(found.changed);
    // No gate computes a digest for a refresh, so it is made here of the paths, the kinds of change
    // and the new bytes.
    std::string all;
    for (const PlannedFile& file : files.files())
        cat_to(all, cat(file.path.size(), " ", file.path, "\n", word_of(file),
                        fs::Hash::of(file.bytes.value_or("")).hex(), "\n"));
    if (Result<void> may = TreeConsent(parts_.kernel, state_, acting_for(by))
                               .to_deletions(files, fs::Hash::of(all).hex(), out);
        !may) {
        note_refusal(std::move(may).error(), out);
    } else {
        TRY(write(files, out));
        if (files.is_busy() && out.files.empty()) out.outcome = SyncOutcome::busy;
    }
    out.conflicts = conflicts_of(state_);
    conclude(files, out);
    return out;
}

Result<void> TreeSync::write(TreePlan& plan, Synced& out) {
    // An earlier refresh left nothing here that is still wanted: it was completed before this one
    // was planned. complete_commit() is the one writer of the tree in all cases, and leaves files
    // alone that the agent has changed since the plan read them.
    const std::string place = registry_.refresh_of(state_);
    const std::string upper = place + "/upper";
    std::error_code failed;
    std::filesystem::remove_all(place, failed);
    std::filesystem::create_directories(upper, failed);
    if (failed) {
        return fail(Errc::unavailable, "io_error",
                    cat("cannot make ", upper, ": ", failed.message()), {{"path", upper}});
    }
    std::vector<JournalEntry> journal;
    for (const PlannedFile& file : plan.files()) {
        if (!file.writes() && !file.sets_mode()) continue;
        if (file.bytes && !file.into) {
            for (std::string& each : directories_in_place(state_.directory, file.path))
                journal.push_back({std::move(each), ChangeKind::deleted, true});
        }
        journal.push_back(journalled(file));
        if (!journal.back().after.empty()) TRY(put(upper, file.path, *file.bytes));
    }
    std::set<std::string> left;
    if (!journal.empty()) {
        TRY(begin(plan));
        TRY(write_journal(place, {std::move(journal)}));
        const auto done = TRY(complete_commit(place, state_.directory, tree_.files().files()));
        if (done) left.insert(done->left.begin(), done->left.end());
    }
    for (const PlannedFile& file : plan.files()) {
        if (left.contains(file.path)) continue;
        if (file.writes() || file.sets_mode()) out.files.push_back({file.path, word_of(file)});
        if (!file.bytes && file.into) remove_empty_directories(tree_.files().entries(), file.path);
    }
    TRY(settle(plan, left, "it was changed in the tree meanwhile"));
    std::filesystem::remove_all(place, failed);
    return {};
}

Result<void> TreeSync::settle(TreePlan& plan, const std::set<std::string>& undone,
                              const std::string& why) {
    const std::int64_t now_ms = parts_.clock.wall_ms();
    state_.synced_ms = now_ms;
    // The time alone is not worth writing the state.
    if (plan.files().empty()) return {};
    for (const PlannedFile& file : plan.files()) {
        if (!undone.contains(file.path)) TRY(plan.settle(file, now_ms, state_));
    }
    for (const std::string& path : undone) plan.leave_out({{path, why, true}});
    TRY(registry_.save(state_));
    withdraw_record();
    return {};
}

Result<void> TreeSync::begin(const TreePlan& plan) {
    const SyncRecord record = TRY(SyncRecord::of(plan, state_, parts_.clock.wall_ms()));
    return record.write(registry_.record_of(state_));
}

void TreeSync::withdraw_record() const {
    ::unlink(registry_.record_of(state_).c_str());
}

// A file that has not what was planned was not written, or somebody has changed it since: its older
// base stays, and it is merged by that. A base that a crash of the machine took is no base.
Result<void> TreeSync::recover() {
    const std::optional<SyncRecord> record = SyncRecord::read(registry_.record_of(state_));
    if (!record || read_journal(registry_.refresh_of(state_))) return {};
    const OpenTree& into = record->direction == Direction::land ? shared_ : tree_;
    // Those in the workspace go with the others there.
    if (record->direction == Direction::refresh) TRY(tree_.sweep_into(shared_));
    for (const RecordedFile& file : record->files) {
        const auto now = into.files().read(file.path);
        if (!now || !file.is_brought(*now)) continue;
        if (file.common && !registry_.bases().has(file.common->base)) continue;
        if (!file.brought) remove_empty_directories(into.files().entries(), file.path);
        record->settle(file, state_);
    }
    TRY(registry_.save(state_));
    withdraw_record();
    return {};
}

}  // namespace quire::kernel
