// CommandGate: the way of a staged command's changes into the workspace.
//
// Each change is decided by the rules for files, path by path. Texts go through the documents of their
// files, so that what somebody else changed meanwhile is merged, and the change has an actor, a place
// in history and an undo; they are written all or none (file_patch.cc). Other files, directories,
// links and permissions are changed on the disk after that.
//
// The repository of git at the workspace's root is one unit: all that a command changed in .git is
// committed, or none. Open is what git writes when it commits (policy::is_git_state), to those whom the
// rules let write it; settings and hooks are protected as ever.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "edits/patch.h"
#include "kernel/commands/gate_result.h"
#include "kernel/core/caller.h"
#include "kernel/oversight/command_record.h"
#include "policy/path_rules.h"
#include "policy/permission.h"
#include "shell/enforcement.h"
#include "stage/changes.h"

namespace quire::fs {
class DiskEntries;
struct FileBytes;
}  // namespace quire::fs
namespace quire::stage {
class Stage;
}

namespace quire::kernel {

class FileCalls;
class FileGate;
class Kernel;
class PastRecorder;
struct Journal;
struct JournalEntry;
struct PathState;
struct PlannedPart;

// The gate for one command: made when the command has ended, asked what the rules say, and
// committed at most once. One thread at a time. The constructor reads every changed file, so it
// costs as much as they are long.
class CommandGate {
public:
    struct Parts {
        Kernel& kernel;
        FileGate& gate;
        FileCalls& files;
        const std::string& workspace;
        std::size_t file_bytes;                // Larger files have no document.
        std::string operation = "command";     // Names the versions in histories.
        std::vector<std::string> hidden = {};  // The files that the command did not see, sorted.
    };
    // The stage outlives it.
    CommandGate(Parts parts, const stage::Stage& stage, std::vector<stage::StagedChange> changes,
                policy::Actor by);
    CommandGate(CommandGate&&) noexcept;
    ~CommandGate();

    // The digest of all that the command changed, for approvals: 32 digits. Reads the changed files.
    Result<std::string> effects() const;
    // The changes, and what the rules say to them.
    const GateResult& judged() const { return result_; }
    // Returns true if any file has changed since the command read it. Such a change is left out, or is
    // merged where both are texts and it is known what the command read.
    bool is_outdated() const;
    // The command, for the journal of the commit.
    void set_ran(CommandRan ran) { ran_ = std::move(ran); }
    void add_note(std::string note) { result_.notes.push_back(std::move(note)); }
    // Commits what the level allows, for `by`, whose approvals count. Blocks. Under "strict" one
    // violation leaves all of it out. Once. The journal stays until the audit log has the commit: call
    // remove_journal() then.
    GateResult commit(const Caller& by, shell::Enforcement level);

private:
    // Returns true if the change gives the path other permissions than it had or a new file gets. A new
    // directory that its owner may not enter or fill gets them last.
    static bool sets_mode(const stage::StagedChange& change);
    static bool opens(const stage::StagedChange& change);

    // How a change reaches the workspace.
    // text: through the document of the file. plain: as bytes on the disk. entry: a directory, link
    // or permission. none: not at all, because it is refused, left out or waits.
    enum class Way { text, plain, entry, none };
    struct Step {
        stage::StagedChange change;
        policy::Operation operation = policy::Operation::overwrite;
        policy::Decision decision = {};
        Way way = Way::none;
        std::size_t shown = 0;  // Its place in GateResult::changes.
        // Set for a text; moved away when its patch runs.
        std::optional<edits::FilePatch> patch = {};
        bool is_git = false;    // A part of the unit of git.
        bool is_merge = false;  // The file was changed since the command read it.
        // The path, or one above it, becomes something of another kind, so the file can be made only
        // after what is there now is gone.
        bool is_late = false;
        bool is_never = false;  // It cannot be kept, at no level.
        // The hashes of a text's bytes, for the journal.
        std::string before = {};
        std::string after = {};
    };

    Step step_of(stage::StagedChange change);
    // Compares the file that a change was made of with the file that is there now.
    void compare_with_base(Step& step) const;
    // Sets the way of a file, and for a text its patch and whether it only appends.
    void plan_file(Step& step);
    // Adds the step to the violations, escalations or notes of the result, if it belongs there.
    void object(Step& step);
    // Finds the files that can be made only after others are gone.
    void find_late();
    // Writes texts, all or none. Errors: those of FileCalls::patch().
    Result<void> commit_texts(const Caller& by, const std::vector<Step*>& steps,
                              const fs::DiskEntries& entries);
    // Gives the objections the approvals that people were asked for by the patch.
    void note_approvals(const Error& refusal);
    // Asks a person about steps that have no text, each by itself. Those that they have allowed go on.
    void ask_about(const Caller& by, const std::vector<Step*>& steps);
    // The change in words, where there is no diff.
    std::string described(const Step& step) const;
    // The functions that commit one step do nothing for steps of other ways. A failure is a note.
    void commit_plain(const fs::DiskEntries& entries, Step& step);
    // Leaves out the unit of git if something keeps a part of it out.
    void judge_git();
    // Returns why the unit cannot be kept; "" if it can.
    std::string objection_to_git() const;
    // Returns a file that the command did not see and that git knew before it and does not know any more,
    // for git took it for deleted; "" if there is none. Errors: those of git.
    Result<std::string> forgotten_by_git() const;
    bool is_unseen(const stage::StagedChange& change) const;
    void commit_git();
    struct Bytes;
    // Reads the bytes that a file has, and those that it gets.
    Result<Bytes> bytes_of(const Step& step) const;
    Result<void> write_plain(const Step& step, const Bytes& bytes);
    void put_back(const Step& step, const std::optional<fs::FileBytes>& before);
    Result<void> write_entry(const fs::DiskEntries& entries, const Step& step) const;
    void commit_entry(const fs::DiskEntries& entries, const Step& step);
    // Writes all that is no text, and the texts that come late, in the order in which they depend on
    // each other.
    void commit_rest(const Caller& by, const fs::DiskEntries& entries);
    // Called when nothing but an earlier failure can refuse the commit any more: writes the journal, and
    // removes the links that files take the place of.
    Result<void> begin(const Caller& by, const fs::DiskEntries& entries);
    Result<void> begin_journal(const Caller& by, const fs::DiskEntries& entries);
    Result<JournalEntry> journal_entry(const fs::DiskEntries& entries, const Step& step) const;
    // Takes texts out of the journal that were not written.
    void withdraw_texts(const std::vector<Step*>& steps);
    static JournalEntry text_entry(const Step& step, const PlannedPart& planned);
    // Undoes begin(), and removes the journal: the commit has not happened.
    void take_back(const fs::DiskEntries& entries);
    // Announces what is lost of a path when the texts are written, which come first.
    void announce(const Step& step, const PathState& before);
    // Brings the record to its place and its name into the result, if there is anything in it.
    void finish_past();
    void fail_with(Error why);

    const Parts parts_;
    const stage::Stage& run_;
    const std::string stage_;
    const std::string upper_;
    const policy::Actor by_;
    std::vector<Step> steps_;
    GateResult result_;
    // The bytes of all planned texts, before and after.
    std::size_t text_bytes_ = 0;
    std::map<std::string, std::string> unlinked_;  // Links that are gone, and where they led.
    std::map<std::string, std::uint32_t> opened_;  // Directories, and their permissions before.
    std::set<std::string> directories_;            // Paths that were directories before.
    // The numbers of changes that are announced before the texts are written.
    std::map<std::string, std::size_t> new_directories_;
    std::map<std::string, std::size_t> deleted_texts_;
    std::unique_ptr<PastRecorder> past_;  // Null until the commit has begun.
    std::unique_ptr<Journal> journal_;    // Null until there is something to commit.
    CommandRan ran_;
    bool begun_ = false;
    bool is_strict_ = false;
};

}  // namespace quire::kernel
