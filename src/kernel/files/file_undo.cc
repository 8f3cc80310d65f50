// Undo of files. A change of the text is taken back as one of any block, and the file is saved. A file also
// comes into being and is deleted: these entries of its history have no text to revert. The undo of a
// deletion makes the file anew, as the block that it was; the undo of a creation deletes the file.
//
//   the document     what is undone                          the file
//   deleted          its last entry, the deletion            returns
//   there            all entries since it was created        ends
//   there            anything else                           stays, with another text
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "crdt/doc/text.h"
#include "files/form.h"
#include "kernel/core/kinds.h"
#include "kernel/core/take_back.h"
#include "kernel/files/file_body.h"
#include "kernel/files/file_gate.h"
#include "text/diff.h"

namespace quire::kernel {
namespace {

using policy::Operation;

// Only an undo of a version, or of all since a time, may delete a file; one of the last change never does.
bool may_delete(const UndoWhich& which) {
    return !which.redo && (which.version || which.all_since);
}

Failure path_is_taken(const std::string& path) {
    return fail(Errc::conflict, "file_exists",
                cat(path, " was deleted, and something else is there now. Move that away first"),
                {{"path", path}});
}

}  // namespace

// The undo of one file. Copies of it go with a call from the door to the document's strand.
class FileCalls::Undoing {
public:
    explicit Undoing(std::shared_ptr<Body> files) : files_(std::move(files)) {}

    // The effect of an undo on the existence of the file. On the strand.
    enum class Existence { stays, returns, ends };
    static Existence existence_after(LiveDocument& document, const UndoWhich& which);
    // Checks that a version of which nothing can be undone was undone before. Errors: conflict
    // "changed_since" {path}.
    static Result<void> check_undone(LiveDocument& document, const UndoWhich& which);

    // Undoes changes of the file at the path; with `meant` that has to be this document. Error: conflict
    // "file_exists".
    void start(Caller by, std::string path, store::DocumentKey meant, UndoWhich which,
               Reply<Undone> reply) const;
    // Makes a deleted file anew, on the disk and as the document that it was.
    void undelete(Caller by, std::shared_ptr<LiveDocument> deleted, UndoWhich which,
                  Reply<Undone> reply) const;

private:
    void undo_text(Caller by, std::string path, store::DocumentKey meant, UndoWhich which,
                   Reply<Undone> reply) const;
    void undo_creation(Caller by, std::string path, store::DocumentKey meant, UndoWhich which,
                       Reply<Undone> reply) const;
    static Result<void> check_meant(const LiveDocument& document, store::DocumentKey meant);
    Result<Undone> undelete_now(LiveDocument& document, const Caller& by,
                                const UndoWhich& which) const;
    Result<Undone> undo(LiveDocument& document, const Caller& by, const UndoWhich& which) const;

    std::shared_ptr<Body> files_;
};

// A creation is taken back only together with all that has happened to the file since.
FileCalls::Undoing::Existence FileCalls::Undoing::existence_after(LiveDocument& document,
                                                                  const UndoWhich& which) {
    const auto& units = document.whole().state->history.units();
    if (which.redo || units.empty() || document.kind() != kFileKind) return Existence::stays;
    const bool selects_all =
        std::ranges::all_of(units, [&](const Unit& unit) { return selects(which, unit); });
    if (document.record().deleted) {
        // A file that was made and deleted by what is undone is as it was.
        const bool was_not_there =
            which.all_since && selects_all && units.front().description == kFileCreated;
        const bool returns = selects(which, units.back()) && !was_not_there;
        return returns ? Existence::returns : Existence::stays;
    }
    if (!may_delete(which)) return Existence::stays;
    if (selects_all && units.front().description == kFileCreated) return Existence::ends;
    if (!which.version) return Existence::stays;
    // A version that made the file, also anew, is undone once all after it is.
    for (auto unit = units.rbegin(); unit != units.rend(); ++unit) {
        if (unit->description == kFileCreated)
            return selects(which, *unit) ? Existence::ends : Existence::stays;
        if (unit->state != UnitState::undone && unit->kind != UnitKind::take_back) break;
    }
    return Existence::stays;
}

Result<void> FileCalls::Undoing::check_undone(LiveDocument& document, const UndoWhich& which) {
    for (const Unit& unit : document.whole().state->history.units()) {
        // A file that is there again has its deletion undone.
        const bool is_deletion = unit.description == kFileDeleted;
        if (!selects(which, unit) || unit.state != UnitState::done || is_deletion) continue;
        const std::string& path = document.name();
        const char* const why = unit.description == kFileCreated
                                    ? " was made then, and has been changed since, so it stays"
                                    : " cannot be as it was before that version any more";
        return fail(Errc::conflict, "changed_since", cat(path, why), {{"path", path}});
    }
    return {};
}

void FileCalls::undo(Caller by, std::string path, UndoWhich which, Reply<Undone> reply) {
    body_->at_door<Undone>(
        std::move(reply), path,
        [body = body_, by = std::move(by), path, which = std::move(which)](
            const fs::Place& place, Reply<Undone> answer) mutable {
            Catalog& catalog = body->kernel->catalog();
            // A path may be free, or another file's by now. Only a free one leads to the file that
            // was deleted there last.
            const bool is_gone =
                place.kind == fs::Kind::missing && !catalog.is_taken(Name{kFileKind, place.path});
            auto deleted =
                is_gone && !which.redo ? catalog.find_deleted(kFileKind, place.path) : nullptr;
            if (deleted != nullptr) {
                return Undoing(body).undelete(std::move(by), std::move(deleted), std::move(which),
                                              std::move(answer));
            }
            Undoing(body).start(std::move(by), std::move(path), 0, std::move(which),
                                std::move(answer));
        });
}

void FileCalls::undo_block(Caller by, std::string block_id, UndoWhich which, Reply<Undone> reply) {
    Catalog& catalog = body_->kernel->catalog();
    const Result<conversation::BlockId> id = conversation::BlockId::parse(block_id);
    const auto record = id ? catalog.record(id->document) : std::nullopt;
    if (!record || record->kind != kFileKind) return reply(Failure(no_such_block(block_id)));
    if (record->deleted && !which.redo) {
        return Undoing(body_).undelete(std::move(by), catalog.find(record->key), std::move(which),
                                       std::move(reply));
    }
    Undoing(body_).start(std::move(by), record->name, record->key, std::move(which),
                         std::move(reply));
}

void FileCalls::undoable(Caller by, std::string block_id, UndoWhich which,
                         Reply<std::vector<HistoryEntry>> reply) {
    body_->kernel->run_on_block<std::vector<HistoryEntry>>(
        std::move(by), {std::move(block_id), true}, Access::read, std::move(reply),
        [body = body_, which = std::move(which)](
            LiveDocument& document, const BlockRef& block,
            const Caller&) -> Result<std::vector<HistoryEntry>> {
            using Existence = Undoing::Existence;
            body->kernel->flush(document, block);
            History& history = block.state->history;
            const auto& units = history.units();
            std::vector<HistoryEntry> out;
            const auto add = [&](const Unit& unit) {
                out.push_back({cat(unit.version), unit.at_ms, unit.actor, unit.description});
            };
            switch (Undoing::existence_after(document, which)) {
                case Existence::returns:
                    if (!body->kernel->catalog().is_taken(Name{kFileKind, document.name()}))
                        add(units.back());
                    break;
                case Existence::ends:
                    for (auto unit = units.rbegin(); unit != units.rend(); ++unit) {
                        if (selects(which, *unit)) add(*unit);
                    }
                    break;
                case Existence::stays:
                    if (document.record().deleted) break;
                    for (const std::uint64_t version : history.undoable(which))
                        add(*history.with_group_of(version).back());
                    if (out.empty() && which.version) TRY(Undoing::check_undone(document, which));
                    break;
            }
            return out;
        });
}

// Deleting the file needs another permission than changing its text, so that is found out first.
void FileCalls::Undoing::start(Caller by, std::string path, store::DocumentKey meant,
                               UndoWhich which, Reply<Undone> reply) const {
    if (!may_delete(which))
        return undo_text(std::move(by), std::move(path), meant, std::move(which), std::move(reply));
    files_->read<Existence>(
        by, path,
        [self = *this, by, path, meant, which,
         reply = std::move(reply)](Result<Existence> after) mutable {
            if (!after) return reply(Failure(std::move(after).error()));
            if (*after != Existence::ends)
                return self.undo_text(std::move(by), path, meant, which, std::move(reply));
            self.undo_creation(std::move(by), path, meant, which, std::move(reply));
        },
        [self = *this, which](LiveDocument& document) {
            self.files_->kernel->flush(document, document.whole());
            return Result<Existence>(existence_after(document, which));
        });
}

// The caller's private copy stands for the file that it is a copy of.
Result<void> FileCalls::Undoing::check_meant(const LiveDocument& document,
                                             store::DocumentKey meant) {
    const bool is_other = meant != 0 && document.kind() == kFileKind && document.key() != meant;
    return is_other ? Result<void>(path_is_taken(document.name())) : Result<void>();
}

void FileCalls::Undoing::undo_text(Caller by, std::string path, store::DocumentKey meant,
                                   UndoWhich which, Reply<Undone> reply) const {
    files_->run<Undone>(
        std::move(by), std::move(path), Operation::overwrite, std::move(reply),
        [self = *this, meant, which = std::move(which)](LiveDocument& document, const DiskUpdate&,
                                                        const Caller& caller) -> Result<Undone> {
            TRY(check_meant(document, meant));
            return self.undo(document, caller, which);
        });
}

void FileCalls::Undoing::undo_creation(Caller by, std::string path, store::DocumentKey meant,
                                       UndoWhich which, Reply<Undone> reply) const {
    files_->run<Undone>(
        std::move(by), std::move(path), {Operation::erase, Body::Staged::refused}, std::move(reply),
        [self = *this, meant, which = std::move(which)](LiveDocument& document, DiskUpdate update,
                                                        const Caller& caller) -> Result<Undone> {
            TRY(check_meant(document, meant));
            if (existence_after(document, which) != Existence::ends) {
                return fail(Errc::conflict, "changed_since",
                            cat(document.name(), " has changed meanwhile; undo again"),
                            {{"path", document.name()}});
            }
            // The characters that the undo removes are counted before the file goes.
            const std::size_t size =
                document.doc().text(document.whole().content).rope().code_points().n;
            const FileVersion gone = TRY(self.files_->erase(document, caller, update));
            return Undone{gone.version, 0, size, 0, 0, {}, Undone::File::deleted};
        });
}

void FileCalls::Undoing::undelete(Caller by, std::shared_ptr<LiveDocument> deleted, UndoWhich which,
                                  Reply<Undone> reply) const {
    const auto record = files_->kernel->catalog().record(deleted->key());
    CHECK(record.has_value());
    files_->at_door<Undone>(
        std::move(reply), record->name,
        [self = *this, by = std::move(by), deleted = std::move(deleted), which = std::move(which)](
            const fs::Place& place, Reply<Undone> answer) mutable {
            if (place.kind != fs::Kind::missing) return answer(path_is_taken(place.path));
            if (!self.files_->admits(by, place, Operation::create, answer)) return;
            self.files_->kernel->run_alone<Undone>(
                std::move(by), ThisDocument{std::move(deleted)}, Access::admitted,
                std::move(answer),
                [self, which = std::move(which)](LiveDocument& document, const Caller& caller) {
                    return self.undelete_now(document, caller, which);
                });
        });
}

Result<Undone> FileCalls::Undoing::undelete_now(LiveDocument& document, const Caller& by,
                                                const UndoWhich& which) const {
    if (!document.record().deleted) return path_is_taken(document.name());
    if (existence_after(document, which) != Existence::returns)
        return nothing_to_take_back(which.actor, false);
    const BlockRef block = document.whole();
    const seq::Rope& text = document.doc().text(block.content).rope();
    files::DiskState disk = files_->gate.state(document).value_or(files::DiskState{});
    const std::string bytes = TRY(files::encode(disk.form, text.str(), document.name()));
    TRY(by.check_approved([&] { return file_diff(document, "", text.str()); }));

    Catalog& catalog = files_->kernel->catalog();
    const Name name{kFileKind, document.name()};
    // The name is claimed before the disk is written, so that no other call makes a document for
    // the path meanwhile; it is given back if that fails.
    if (!catalog.claim_name(name, document.key())) return path_is_taken(document.name());
    const Result<fs::Saved> saved = files_->gate.files().create(document.name(), bytes);
    if (!saved) {
        catalog.unclaim_name(name, document.key());
        return Failure(saved.error());
    }
    Unit unit;
    unit.actor = by.actor.str();
    unit.description = cat("undo of ", kFileDeleted);
    unit.kind = UnitKind::take_back;
    unit.record = std::make_shared<const RecordChange>(
        RecordChange{{document.name(), true, {}}, {document.name(), false, {}}});
    document.begin(by.actor);
    document.record(block, std::move(unit));
    document.transaction().set_deleted(false);
    document.transaction().set_header(saved_state(document, disk, *saved).encode());
    follow_record(document, catalog);
    files_->remove_if_refused(document, *saved);
    return Undone{block.state->version,  text.code_points().n, 0, 0, text.lines().n, {},
                  Undone::File::restored};
}

// An undo that is saved with its call is an edit to the text that it will give; the undo itself then
// carries that edit out.
Result<Undone> FileCalls::Undoing::undo(LiveDocument& document, const Caller& by,
                                        const UndoWhich& which) const {
    const BlockRef block = document.whole();
    if (!files_->saves(document)) return files_->kernel->undo(document, block, by, which);
    files_->kernel->flush(document, block);
    const std::vector<std::uint64_t> steps = TRY(steps_to_take_back(block.state->history, which));
    const std::string after = TRY(Core::text_after(document, block, steps));
    std::optional<Undone> undone;
    TextEdit what{which.redo ? "redo" : "undo",
                  [&](const seq::Rope& text, std::uint64_t) -> Result<edits::Planned> {
                      return edits::Planned{text::minimal_splices(text.str(), after), {}, true};
                  }};
    what.instead = [&]() -> Result<void> {
        undone = TRY(files_->kernel->take_back_steps(document, block, by.actor, steps, which.redo));
        // The draft of text_after() and the document revert the same atoms, so they come to the
        // same text; the disk has it by now.
        CHECK(document.doc().text(block.content).rope().str() == after);
        return {};
    };
    TRY(files_->edit_and_save(document, by, what));
    // A step that changes no text, because others replaced all of its own, is used up.
    if (!undone)
        return files_->kernel->take_back_steps(document, block, by.actor, steps, which.redo);
    return *undone;
}

}  // namespace quire::kernel
