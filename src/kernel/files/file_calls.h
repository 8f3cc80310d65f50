// FileCalls: the use cases of files, by path. All actors who open a path get the same document.
// From then on it is a block like any other for reading, editing and undo.
//
// Files are loaded when first used. Edits stay in the document until they are saved, or reach the
// disk before they are answered (SaveWhen). Replies come exactly once, from any thread. Calls of one
// caller about one file take effect in the order in which they were made.
//
// Errors of every call: those of fs::FileSystem and of the rules (FileGate::admit); unsupported
// "binary_file"; out_of_range "too_large".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "files/conflict.h"
#include "kernel/core/block_reads.h"
#include "kernel/core/kernel.h"
#include "kernel/files/disk_words.h"
#include "kernel/files/file_patch.h"
#include "kernel/files/save_when.h"
#include "policy/permission.h"
#include "text/glob.h"
#include "text/units.h"

namespace quire::kernel {

class FileGate;

// A file, its block, and the version that a call made or found.
struct FileVersion {
    std::string path;  // Resolved: the file's own.
    std::string block_id;
    std::uint64_t version = 0;
};

struct FileRead {
    FileVersion file;
    BlockText text;
};
struct FileEdited {
    FileVersion file;
    Edited edited;
};
struct FileAppended {
    FileVersion file;
    Appended appended;
};
struct FileHistory {
    FileVersion file;
    HistoryPage page;
};
struct FileDiff {
    FileVersion file;
    BlockDiff diff;
};
struct FileSaved {
    FileVersion file;
    std::size_t bytes = 0;
    bool written = false;  // False where the disk had it already.
    std::vector<std::string> notes;
};
// The state of a file: unsaved edits (`dirty`), the disk compared with what was last seen there,
// and whether a conflict with the disk is open, so that it cannot be saved.
struct FileStatus {
    FileVersion file;
    policy::Permission permission = policy::Permission::read_only;
    bool dirty = false;
    Disk disk = Disk::same;
    bool conflict = false;
    bool staged = false;  // The caller has a private copy, which the rest does not count.
};
// An open conflict of a file.
struct FileConflict {
    std::string conflict_id;
    std::string path;
    files::ConflictKind kind = files::ConflictKind::lines;
    text::LineRange lines;  // Its place in the document's text now.
    std::string base;
    std::string agent;  // The document's text there now.
    std::string disk;
    std::string actor;
    std::int64_t since_ms = 0;
};
// The side of a conflict that is to stand: the document's, the disk's, both merged by token, or a
// text of the caller's.
enum class ConflictChoice { disk, agent, merge, text };
constexpr auto words_of(ConflictChoice) {
    return word_table("disk", "agent", "merge", "text");
}
struct FileResolve {
    std::string path;
    std::optional<std::string> conflict_id;  // None: all that are open.
    ConflictChoice choice = ConflictChoice::agent;
    std::optional<std::string> content;  // For `text` only.
};
struct FileResolved {
    FileVersion file;
    Edited edited;
};

// The end of a private copy: the file with its changes, and the edit that brought them. A copy that
// was dropped has no edit.
struct FileUnstaged {
    FileVersion file;
    std::optional<Edited> edited = {};
};

// The outcome of a file's change on the disk.
enum class ReconcileResult { no_change, resolved, needs_resolution };
constexpr auto words_of(ReconcileResult) {
    return word_table("NoChange", "Resolved", "NeedsResolution");
}
enum class DiskChange { created, modified, deleted, renamed };
constexpr auto words_of(DiskChange) {
    return word_table("Created", "Modified", "Deleted", "Renamed");
}
struct FileReconciled {
    std::string path;
    std::string block_id;
    ReconcileResult result = ReconcileResult::no_change;
    std::optional<Resolution> resolution = {};
    std::optional<DiskChange> change_type = {};
    std::optional<std::string> from = {};  // The earlier path of what was renamed.
    std::optional<std::uint64_t> final_version = {};
    // Unified diffs against the text that both sides came from.
    std::string disk_changes = {};
    std::string agent_changes = {};
};

// A row of a list of files on the disk.
struct FileEntry {
    std::string path;
    std::uint64_t size = 0;
    policy::Permission permission = policy::Permission::read_only;
    std::string block_id;                  // "" where it is not loaded.
    std::optional<std::uint64_t> version;  // The block's, as it is stored.
};
struct FileList {
    std::vector<FileEntry> files;
    std::size_t skipped_names = 0;  // Not UTF-8.
    bool truncated = false;         // There are more.
    std::optional<std::string>
        next_cursor;  // Goes on after this page; none where no more can be listed.
};
// The files to list.
struct FileQuery {
    std::optional<text::Glob> pattern = {};
    bool all = false;         // Also what ignore files leave out.
    std::string cursor = {};  // FileList::next_cursor of the page before; "" for the first.
    std::size_t limit = 0;
};

// The request for a new file.
struct FileCreate {
    std::string path;
    std::string content;
    // Other actors' unsaved edits of a file that is gone from the disk may be replaced.
    bool overwrite = false;
    std::string client_token = {};  // For create_once().
};

// A text that a commit has written to the disk or deleted there, before its kernel was killed.
struct FileCommit {
    enum class Kind { changed, created, deleted };
    std::string path;
    Kind kind = Kind::changed;
    std::uint64_t version = 0;  // The block's before the commit.
    std::string bytes = {};     // The bytes that the file gets.
    bool is_other = false;      // Somebody has changed the file since.
    std::string operation = {};
};

class DiskAuthors;

class FileCalls {
public:
    // Kernel and gate outlive this and every call.
    FileCalls(Kernel& kernel, FileGate& gate, SaveWhen save = SaveWhen::on_demand);
    // From the next call on.
    void set_save(SaveWhen save);
    bool saves_on_commit() const;

    // Files whose path matches, sorted, a page of at most `limit`. Walks the whole tree for each
    // page.
    void list(Caller by, FileQuery query, Reply<FileList> reply);
    // A part of a file, cut at Limits (edits/view.h).
    void read(Caller by, std::string path, edits::Window window, Reply<FileRead> reply);
    // Loads a file, and names its block.
    void open(Caller by, std::string path, Reply<FileVersion> reply);
    // The whole text of a file, uncut.
    void text(Caller by, std::string path, Reply<WholeText> reply);
    // Edits the document of a file, like Kernel::edit(). With SaveWhen::on_commit the whole document
    // is saved with the edit, under one permission, or nothing is changed. Errors then also:
    // conflict "needs_resolution" if the disk and the document changed the same words;
    // "disk_changed" if the file was deleted on the disk; those of saving.
    void edit(Caller by, std::string path, std::string operation, edits::Plan plan,
              Reply<FileEdited> reply);
    // Appends text to the document of a file, and saves it like edit(). The answer comes once the
    // text is durable in the store.
    void append(Caller by, std::string path, std::string text, Reply<FileAppended> reply);
    // The versions of a file, newest first, as Kernel::history() gives them.
    void history(Caller by, std::string path, std::size_t limit, std::string cursor,
                 Reply<FileHistory> reply);
    // The difference between two versions. Without `from` it is the file on the disk, empty if it is
    // gone from there; without `to` the document now. Errors also: those of Kernel::diff().
    void diff(Caller by, std::string path, std::optional<std::string> from,
              std::optional<std::string> to, Reply<FileDiff> reply);
    // Gives the document of a file the text that it had at a version, as an edit(). Errors also:
    // those of Kernel::diff().
    void rollback(Caller by, std::string path, std::string version_id, Reply<FileEdited> reply);
    // Undoes or redoes changes of a file, like Kernel::undo(), and saves the file like edit(). Undoing a
    // deletion creates the file again, as the same block. A file is deleted if the undo selects a version
    // or a time, and thereby all entries since the file was created. Errors also: conflict "file_exists"
    // if another file has the path of a deleted one.
    void undo(Caller by, std::string path, UndoWhich which, Reply<Undone> reply);
    // Undoes changes of the file with this block id, even if another file has its path now.
    void undo_block(Caller by, std::string block_id, UndoWhich which, Reply<Undone> reply);
    // The steps that undo_block() would take, as Kernel::undoable() answers them.
    void undoable(Caller by, std::string block_id, UndoWhich which,
                  Reply<std::vector<HistoryEntry>> reply);
    // Creates a file on the disk at once. Errors: conflict "file_exists"; conflict "unsaved_edits"
    // {path, actors} unless FileCreate::overwrite.
    void create(Caller by, FileCreate what, Reply<FileVersion> reply);
    // Creates a file by a call that may be a retry: if the actor's token made a block before, it is
    // answered with that one. Errors: those of create() and Core::once().
    void create_once(Caller by, FileCreate what, Reply<BlockVersion> reply);
    // Opens a file in the same way. Errors: those of open() and Core::once().
    void open_once(Caller by, std::string path, std::string token, Reply<BlockVersion> reply);
    // Writes the document to the disk, atomically. Errors: conflict "disk_changed" or
    // "needs_resolution" {path, conflicts} while a conflict is open: the disk changed the same
    // words, or the file is gone. The first is for an actor who was not told of it before.
    void save(Caller by, std::string path, Reply<FileSaved> reply);
    // Deletes the file from the disk. Errors: conflict "disk_changed".
    void erase(Caller by, std::string path, Reply<FileVersion> reply);
    // Applies a patch to files and to blocks of conversations: all of it or nothing, in one
    // transaction of the store. Everything is checked before the first file is written; if writing
    // one fails, those written before get their bytes back. Each block gets one version and one unit
    // of undo. Files are created and deleted on the disk at once; a move is both. Permissions are
    // those of the same calls alone. Errors: those of edits::plan_patch(), with {path} or {block_id}
    // in details.hunks; of edit(), create() and erase(); invalid_argument "invalid_patch" for a name
    // that is not given, or given twice; denied "memory_block".
    void patch(Caller by, PatchRequest what, Reply<Patched> reply);
    // Gives what a commit has done on the disk its place in the file's history, as the caller's change,
    // and names the version. Does nothing where history has it. What somebody has made of the file since
    // is merged when the document is read next. No rule is asked: the commit was allowed when it began.
    // Errors: those of reading; conflict "path_changed" where somebody has made another file at the path
    // of one that was to be made or deleted; not_found "file_not_found" for a deleted file without a
    // history, or where nothing is changed.
    void keep_commit(Caller by, FileCommit what, Reply<FileVersion> reply);
    // The status of a file; without a path, of every loaded file. Does not take in changes.
    void status(Caller by, std::optional<std::string> path, Reply<std::vector<FileStatus>> reply);

    // Makes a private copy of the file for the caller, and names its block. From then on the
    // caller's reads, edits, history and undo of the path, and of the file's block, go to the copy;
    // nothing reaches the disk. save(), erase() and resolve() are refused: conflict "staged" {path}.
    // The copy stays until unstage(). O(file). Error: conflict "already_staged" {path}.
    void stage(Caller by, std::string path, Reply<FileVersion> reply);
    // Ends the private copy. With `apply` the file gets its changes as one edit(), merged line by
    // line and word by word with what others changed since (text/merge3.h); where both changed the
    // same words both texts stand, and a note says so. Otherwise they are dropped. Errors:
    // not_found "not_staged" {path}; conflict "needs_resolution" for a file that is never merged;
    // those of edit(). After an error the copy is as it was.
    void unstage(Caller by, std::string path, bool apply, Reply<FileUnstaged> reply);

    // The open conflicts of a file; without a path, of every file that the caller may read. Takes in
    // the disk's changes.
    void conflicts(Caller by, std::optional<std::string> path,
                   Reply<std::vector<FileConflict>> reply);
    // The announced changes of agents with tools of their own.
    DiskAuthors& authors();
    // Settles one conflict of a file, or all, as one version. With SaveWhen::on_commit the file is
    // saved once none is left. Errors: not_found "invalid_reference" {conflict_id, conflicts};
    // invalid_argument "invalid_arguments" for `content` that is missing, or not wanted, or meant for
    // several conflicts; conflict "needs_resolution" where a deletion cannot be merged.
    void resolve(Caller by, FileResolve what, Reply<FileResolved> reply);
    // Takes in the disk's changes of these files, in their order, and says what came of each, and of
    // what other calls have taken in since the last reconcile(). Reads every file, whatever its times
    // say. Without paths, those of all loaded files that the caller may read; files without a change
    // or a conflict are then left out. Errors: those of reading.
    void reconcile(Caller by, std::vector<std::string> paths,
                   Reply<std::vector<FileReconciled>> reply);

private:
    struct Body;
    class Conflicts;
    class PatchRun;
    class Reconciling;
    class Undoing;
    class Unstaging;
    std::shared_ptr<Body> body_;
};

}  // namespace quire::kernel
