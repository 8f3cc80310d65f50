// FileCalls::Body: the way of a call to its file, and the common parts of the use cases of files.
//
// Paths are resolved one after another at the door, a strand, so that calls reach a document in
// the order in which they were made. Permission is decided there, once, for every name that led
// to the file. On the document's strand the disk is then read once, and its changes are taken in.
// A call that waits for a person's approval goes on to where it would change something, for
// whatever else refuses it comes first (Caller::unapproved).
//
//   at_door()   resolves the path                          on the door's strand
//   admits()    decides for the path and all its aliases
//   enter()     finds the document, or the caller's copy   then on the document's strand
//   load()      takes in what the disk has
//   work        the use case
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernel/core/core.h"
#include "kernel/core/kinds.h"
#include "kernel/files/file_calls.h"
#include "kernel/files/file_conflicts.h"
#include "kernel/files/file_gate.h"
#include "kernel/files/file_stage.h"
#include "sched/guarded.h"

namespace quire::kernel {

// The file's path, block id and version now.
FileVersion version_of_file(LiveDocument& document);
// The unified diff of two texts of the file. O(texts).
std::string file_diff(const LiveDocument& document, std::string_view before,
                      std::string_view after);
// The diff of two copies of one rope. O(what they do not share).
std::string file_diff(const LiveDocument& document, const seq::Rope& before,
                      const seq::Rope& after);
// Error: not_found "file_not_found" {path}.
Failure no_such_file(const std::string& path);
// The bytes that the file would have if it were saved now. O(file). Errors: those of
// files::encode().
Result<std::string> bytes_of(LiveDocument& document, const files::DiskState& disk);
// Returns true if the bytes last seen on the disk are the document's text. O(file).
bool is_saved(LiveDocument& document, const files::DiskState& disk);
// Refuses a path that leads to a directory or to something else that is no regular file.
Result<void> require_text_file(const fs::Place& place);

// Names a file's document by its path, or by the object itself: the document that is left where the
// disk has no file, or the caller's private copy.
struct FileAddress {
    DocumentName name;
    std::shared_ptr<LiveDocument> known;

    Result<std::shared_ptr<LiveDocument>> find(Catalog& catalog) const {
        return known != nullptr ? known : name.find(catalog);
    }
    bool is_meant(const Catalog& catalog, LiveDocument& document) const {
        return known != nullptr || name.is_meant(catalog, document);
    }
};

struct FileCalls::Body : std::enable_shared_from_this<FileCalls::Body> {
    Body(std::shared_ptr<Core> core, FileGate& rules, SaveWhen when)
        : kernel(std::move(core)), gate(rules), save_when(when), door(kernel->parts().scheduler) {}

    std::shared_ptr<Core> kernel;
    FileGate& gate;
    sched::Guarded<SaveWhen> save_when;
    bool saves_on_commit() {
        return save_when.with([](SaveWhen when) { return when == SaveWhen::on_commit; });
    }
    // The strand on which paths are resolved.
    sched::Strand door;
    Conflicts conflicts{*this};

    // Runs work(place, reply) at the door, with the resolved path. Errors: those of
    // FileSystem::resolve(), which go to the reply.
    template <class T, class Work>
    void at_door(Reply<T> reply, std::string path, Work work) {
        door.post([self = shared_from_this(), reply = std::move(reply), path = std::move(path),
                   work = std::move(work)]() mutable {
            Result<fs::Place> place = self->gate.files().resolve(path);
            if (!place) return reply(Failure(std::move(place).error()));
            work(std::move(*place), std::move(reply));
        });
    }

    // A call on a file that its caller has staged goes to the private copy, is refused, or passes to
    // the file itself. A read, an edit and an undo go to the copy. Saving, deleting and settling
    // conflicts are refused, since a copy is never on the disk. Staging itself, status and the list
    // of conflicts pass.
    enum class Staged { copy, refused, passed };
    // The permission that a call needs: an operation, or to save.
    struct Need {
        Need(policy::Operation wanted, Staged where = Staged::copy, bool save = false)
            : operation(wanted), staged(where), to_save(save) {}
        policy::Operation operation;
        Staged staged;
        bool to_save;
        // The document of that very name is meant, although the disk has a directory, a device or a
        // link there now.
        bool by_name = false;
    };
    static Need by_name(policy::Operation wanted, Staged where) {
        Need need(wanted, where);
        need.by_name = true;
        return need;
    }
    static Need saving() { return {policy::Operation::append, Staged::refused, true}; }
    // The caller's private copy of the file; null where it has none. O(log documents).
    std::shared_ptr<LiveDocument> copy_of(const std::string& path, const Caller& by) {
        return kernel->catalog().find(name_of_stage(path, by.actor));
    }
    // Returns true if an edit of the document is saved with its call. A private copy never is.
    bool saves(const LiveDocument& document) {
        return document.kind() == kFileKind && saves_on_commit();
    }

    // Checks the caller's permission at the place. One who may read it, and may do this once a
    // person has approved, is let in with Caller::unapproved set. Errors: FileGate::admit()'s.
    Result<void> admit(Caller& by, const fs::Place& place, Need need) {
        using policy::Operation;
        // Approvals are named by the file's own path, whichever link led there.
        const policy::Operations approved =
            kernel->oversight().approved(by, target_of_file(place.path));
        Result<void> allowed = need.to_save ? gate.admit_save(place, by.actor, approved)
                                            : gate.admit(place, need.operation, by.actor, approved);
        if (allowed || !Oversight::is_unasked(allowed.error()) ||
            need.operation == Operation::read ||
            !gate.admit(place, Operation::read, by.actor, approved))
            return allowed;
        by.unapproved = std::make_shared<const Error>(std::move(allowed).error());
        return {};
    }
    // admit() as a question. If the answer is no, `reply` gets the refusal, after a person was asked
    // if one can allow it.
    template <class T>
    bool admits(Caller& by, const fs::Place& place, Need need, Reply<T>& reply) {
        Result<void> allowed = admit(by, place, need);
        if (allowed) return true;
        if (!Oversight::is_unasked(allowed.error())) {
            reply(Failure(std::move(allowed).error()));
            return false;
        }
        kernel->oversight().ask(
            by, target_of_file(place.path), std::move(allowed).error(),
            [reply = std::move(reply)](Error why) mutable { reply(Failure(std::move(why))); });
        return false;
    }

    // Turns the place into the document's, if the disk has no file of that very name. For
    // conflicts, which have to be settled although something else is at the path by now.
    void keep_to_name(fs::Place& place) const {
        const std::string& name = place.linked() ? place.aliases.front() : place.path;
        const bool is_there = !place.linked() && place.kind == fs::Kind::file;
        if (!is_there && kernel->catalog().is_taken(Name{kFileKind, name}))
            place = {name, {}, fs::Kind::missing};
    }

    template <class T>
    using Visited = Function<void(Visit<T>, DiskUpdate)>;
    template <class T>
    using FileTask = Function<Result<T>(LiveDocument&, DiskUpdate, const Caller&)>;
    // Brings a call to the file's document, loaded and up to date with the disk. Errors:
    // "not_a_file"; FileGate::admit()'s; conflict "staged" {path}; not_found "file_not_found"
    // {path} for a path without a file and without a document; load()'s.
    template <class T>
    void enter(Caller by, std::string path, Need need, Reply<T> reply, Visited<T> work) {
        at_door<T>(std::move(reply), std::move(path),
                   [self = shared_from_this(), by = std::move(by), need, work = std::move(work)](
                       fs::Place place, Reply<T> answer) mutable {
                       if (need.by_name) self->keep_to_name(place);
                       if (const auto file = require_text_file(place); !file)
                           return answer(Failure(file.error()));
                       if (!self->admits(by, place, need, answer)) return;
                       FileAddress at{{kFileKind, place.path}, nullptr};
                       if (need.staged != Staged::passed) at.known = self->copy_of(place.path, by);
                       if (at.known != nullptr && need.staged == Staged::refused)
                           return answer(is_staged(place.path, "was not changed"));
                       if (at.known == nullptr && place.kind == fs::Kind::missing) {
                           at.known = self->kernel->catalog().find(Name{kFileKind, place.path});
                           if (at.known == nullptr) return answer(no_such_file(place.path));
                       }
                       self->kernel->enter<T>(
                           std::move(by), std::move(at), Access::admitted, std::move(answer),
                           [self, work = std::move(work)](Visit<T> visit) mutable {
                               const Result<DiskUpdate> update = self->load(*visit.document);
                               if (update) return work(std::move(visit), *update);
                               self->kernel->finish<T>(std::move(visit), Failure(update.error()));
                           });
                   });
    }
    // Like enter(), and ends the call.
    template <class T>
    void run(Caller by, std::string path, Need need, Reply<T> reply, FileTask<T> work) {
        enter<T>(std::move(by), std::move(path), need, std::move(reply),
                 [work = std::move(work)](Visit<T> visit, DiskUpdate update) mutable {
                     Result<T> result = work(*visit.document, update, visit.by);
                     Core& core = *visit.kernel;
                     core.finish(std::move(visit), std::move(result));
                 });
    }

    // Reads as Core::look() does: should the store refuse a change on the disk that was just taken in,
    // the document is loaded again and takes it in once more.
    template <class T>
    void read(Caller by, std::string path, Reply<T> reply, Function<Result<T>(LiveDocument&)> read,
              Need need = policy::Operation::read) {
        enter<T>(std::move(by), std::move(path), need, std::move(reply),
                 [read = std::move(read)](Visit<T> visit, DiskUpdate) mutable {
                     Core& core = *visit.kernel;
                     core.finish_look<T>(
                         std::move(visit), Access::read,
                         [read = std::move(read)](LiveDocument& document, const Caller&) mutable {
                             return read(document);
                         });
                 });
    }

    // Takes in the disk's changes. Errors: not_found if the file is gone from the disk and the
    // document holds no edit that was not saved.
    Result<DiskUpdate> load(LiveDocument& document) {
        if (document.record().deleted) return no_such_file(document.name());
        if (document.kind() == kStageKind) return DiskUpdate{};
        const DiskUpdate taken = TRY(gate.take_in(document));
        // Gone from the disk, and nothing in the document that was not there: gone.
        const std::optional<files::DiskState> now = gate.state(document);
        if (now && now->missing && is_saved(document, *now)) return no_such_file(document.name());
        return taken;
    }

    // FileCalls::create(), which has no document yet to enter: the call is at the door until the
    // path is known to be free.
    static void create_at_door(const std::shared_ptr<Body>& body, Caller by, FileCreate what,
                               Reply<FileVersion> reply);
    // Makes the file on the disk, then gives the document its text. On the document's strand.
    Result<FileVersion> create(LiveDocument& document, const Caller& by, const FileCreate& what);
    // Gives a document the text of a new file that the actor has made on the disk, in the call's
    // transaction.
    void record_creation(LiveDocument& document, const policy::Actor& by,
                         const files::Decoded& made, const fs::Saved& saved);
    Result<FileVersion> keep_commit(LiveDocument& document, const policy::Actor& by,
                                    const FileCommit& what);
    // Edits, and saves with the edit if the settings want that. The second form gives up before it
    // plans anything while a conflict is open; the third is for callers who have settled them and
    // pass the state without them.
    Result<FileEdited> edit(LiveDocument& document, const Caller& by, TextEdit& what);
    Result<FileEdited> edit_and_save(LiveDocument& document, const Caller& by, TextEdit& what);
    // Checks that a file may be created where this document's was, or deleted. Errors: conflict
    // "unsaved_edits", "disk_changed".
    Result<void> check_create(LiveDocument& document, const Caller& by, const FileCreate& what);
    Result<void> check_erase(LiveDocument& document, const Caller& by, DiskUpdate update);
    Result<FileAppended> append(LiveDocument& document, const Caller& by, std::string text);
    Result<FileEdited> edit_and_save(LiveDocument& document, const Caller& by, TextEdit& what,
                                     const files::DiskState& disk);
    // Saves, and tries again if the disk changed meanwhile. Errors: those of FileCalls::save().
    Result<FileSaved> save(LiveDocument& document, const Caller& by);
    // If the store refuses the document's change, removes the file that was made for it.
    void remove_if_refused(LiveDocument& document, const fs::Saved& saved);
    // Writes once, in place of what `disk` says is there; nothing where the disk has the text
    // already.
    Result<FileSaved> save_now(LiveDocument& document, const Caller& by,
                               const files::DiskState& disk);
    // Deletes the file and records that. `update` is what this call took in from the disk: a change
    // that the caller has not seen refuses the deletion.
    Result<FileVersion> erase(LiveDocument& document, const Caller& by, DiskUpdate update);
    // Records that the file is deleted, in the call's transaction.
    void record_deletion(LiveDocument& document, const policy::Actor& by);
    Result<FileStatus> status(LiveDocument& document, const policy::Actor& actor);

private:
    // Writes the bytes to the disk in place of those last seen there. Errors: those of
    // FileGate::admit() and of saving.
    Result<fs::Saved> write(LiveDocument& document, const Caller& by, const files::DiskState& disk,
                            const std::string& bytes);
    // Takes in what other programs write to a file that a save displaced, when its time is up.
    void look_after_displaced(const std::string& path, std::int64_t delay_ms);
    // The other actors with edits that are not on the disk: names, with commas between.
    std::string unsaved_by_others(LiveDocument& document, const policy::Actor& by,
                                  const files::DiskState& disk);
};

}  // namespace quire::kernel
