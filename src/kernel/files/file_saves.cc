// Saving files and deleting them: the calls that write to the disk what the document says.
//
// A save compares and swaps: it replaces the bytes that were last seen, and where the disk has
// others by then they are taken in and the save is tried again. Each actor is warned once of a
// change on the disk that met theirs. A delete never takes away what its caller has not seen. An
// edit that is saved with its call (SaveWhen::on_commit) is all or nothing, on the disk too.
#include <set>

#include "files/form.h"
#include "kernel/files/file_body.h"

namespace quire::kernel {
namespace {

// How often a save meets a disk that changed between being read and being written before it gives
// up.
constexpr int kSaveTries = 3;
// How often a displaced file that is being written to is looked at again.
constexpr std::int64_t kLateAgainMs = 100;

}  // namespace

using policy::Operation;

void FileCalls::save(Caller by, std::string path, Reply<FileSaved> reply) {
    body_->run<FileSaved>(std::move(by), std::move(path), Body::saving(), std::move(reply),
                          [body = body_](LiveDocument& document, DiskUpdate, const Caller& caller) {
                              return body->save(document, caller);
                          });
}

// Returns true if a save by the actor was already refused because of the disk's present content.
// Records that one is refused now.
bool FileCalls::Body::was_warned(const LiveDocument& document, const files::DiskState& disk,
                                 const policy::Actor& actor) {
    return warned_actors.with([&](auto& all) {
        Warned& warned = all[document.key()];
        if (warned.hash != disk.hash) warned.actors.clear();
        warned.hash = disk.hash;
        return !warned.actors.insert(actor.str()).second;
    });
}

Result<FileSaved> FileCalls::Body::save(LiveDocument& document, const Caller& by) {
    kernel->flush(document, document.whole());
    for (int attempt = 0;; ++attempt) {
        const files::DiskState disk = *gate.state(document);
        const auto refuse = [&](std::string_view why) {
            return fail(Errc::conflict, "disk_changed",
                        cat(document.name(), " was not saved: ", why), {{"path", document.name()}});
        };
        const bool warns =
            (disk.vanished || disk.conflict) && !was_warned(document, disk, by.actor);
        if (warns && disk.vanished) {
            return refuse(
                "it was deleted on disk since it was read, and your edits are still in the "
                "document. Save again to write the file anew");
        }
        if (warns) {
            return refuse(
                "it was changed on disk where you changed it too. The document shows your text "
                "there; the disk's is in its history. Read it, edit it if need be, and save again");
        }
        const std::string bytes = TRY(bytes_of(document, disk));
        FileSaved result{version_of_file(document), bytes.size(), false, {}};
        if (!disk.missing && fs::Hash::of(bytes) == disk.hash) return result;
        TRY(by.check_approved());
        Result<fs::Saved> saved = write(document, by, disk, bytes);
        if (!saved && saved.error().reason() == "disk_changed" && attempt + 1 < kSaveTries) {
            TRY(gate.take_in(document));
            continue;
        }
        if (!saved) return Failure(std::move(saved).error());
        warned_actors.with([&](auto& all) { all.erase(document.key()); });
        result.written = true;
        result.notes = std::move(saved->notes);
        document.set_header(
            files::DiskState{saved->hash, saved->stamp, disk.form, version_of(document), false}
                .encode());
        return result;
    }
}

Result<void> FileCalls::Body::check_settled(const std::string& path,
                                            const files::DiskState& disk) {
    if (disk.conflict) {
        return fail(Errc::conflict, "needs_resolution",
                    cat(path,
                        " was not changed: the disk and the document changed the same words. "
                        "The document shows its own, and the disk's are in its history. file save "
                        "writes the document's text over the disk's, and edits go on then"),
                    {{"path", path}});
    }
    if (disk.vanished) {
        return fail(Errc::conflict, "disk_changed",
                    cat(path,
                        " was not changed: it was deleted on disk since it was read, and its "
                        "block has edits that are not saved. file save writes the file anew"),
                    {{"path", path}});
    }
    return {};
}

// The edit is planned and checked first, then its whole text goes to the disk, then the document
// changes; only the store can refuse it after that, and then the disk gets its bytes back. A kernel
// that is killed in between leaves the text on the disk, where it is taken in as any change there.
Result<FileEdited> FileCalls::Body::edit_and_save(LiveDocument& document, const Caller& by,
                                                  TextEdit& what) {
    const BlockRef block = document.whole();
    kernel->flush(document, block);
    const files::DiskState disk = *gate.state(document);
    const std::string& path = document.name();
    TRY(check_settled(path, disk));
    const Result<std::string> before = bytes_of(document, disk);
    std::optional<fs::Saved> saved;
    std::string replaced;  // The bytes that the save took from the disk.
    what.before = [&](std::span<const text::Splice> splices) -> Result<void> {
        const bool clean = before && fs::Hash::of(*before) == disk.hash;
        replaced =
            clean ? *before : TRY(gate.files().read(path, kernel->limits().block_bytes)).bytes;
        std::string text = document.doc().text(block.content).rope().str();
        for (auto splice = splices.rbegin(); splice != splices.rend(); ++splice)
            text.replace(splice->at.n, splice->erase.n, splice->insert);
        const std::string bytes = TRY(files::encode(disk.form, std::move(text), path));
        saved = TRY(write(document, by, disk, bytes));
        return {};
    };
    Edited edited = TRY(kernel->edit(document, block, by, what));
    if (saved) {
        edited.notes.insert(edited.notes.end(), saved->notes.begin(), saved->notes.end());
        document.set_header(
            files::DiskState{saved->hash, saved->stamp, disk.form, version_of(document), false}
                .encode());
        document.on_stored([&files = gate.files(), path, replaced = std::move(replaced),
                            hash = saved->hash](Result<void>& stored) {
            if (!stored) static_cast<void>(files.save(path, replaced, hash));
        });
    }
    return FileEdited{version_of_file(document), std::move(edited)};
}

Result<FileAppended> FileCalls::Body::append_and_save(LiveDocument& document, const Caller& by,
                                                      std::string text) {
    TextEdit what{
        "append",
        [text = std::move(text)](const seq::Rope& rope, std::uint64_t) -> Result<edits::Planned> {
            if (text.empty()) return edits::Planned{};
            return edits::Planned{{{rope.bytes(), {0}, text}}, {}};
        },
        true};
    FileEdited made = TRY(edit_and_save(document, by, what));
    Appended appended{made.edited.version, true, made.edited.line_count, {}};
    if (!made.edited.no_op) appended.change = std::move(made.edited.change);
    return FileAppended{std::move(made.file), std::move(appended)};
}

Result<fs::Saved> FileCalls::Body::write(LiveDocument& document, const Caller& by,
                                         const files::DiskState& disk, const std::string& bytes) {
    const fs::Place place{document.name(), {}, fs::Kind::file};
    const policy::Operations approved = kernel->oversight().approved(by, document);
    if (disk.missing) {
        TRY(gate.admit(place, Operation::create, by.actor, approved));
        return gate.files().create(document.name(), bytes);
    }
    // An append-only actor may save only if the new content starts with what is on disk.
    const Result<void> allowed = gate.admit(place, Operation::overwrite, by.actor, approved);
    if (!allowed) {
        const fs::FileBytes there =
            TRY(gate.files().read(document.name(), kernel->limits().block_bytes));
        if (there.hash == disk.hash && !bytes.starts_with(there.bytes))
            return Failure(allowed.error());
    }
    fs::Saved saved = TRY(gate.files().save(document.name(), bytes, disk.hash));
    if (saved.displaced != nullptr) {
        gate.late_writes().keep(document.name(), std::move(saved.displaced));
        look_after_displaced(document.name(), LateWrites::kKeptMs);
    }
    return saved;
}

void FileCalls::Body::look_after_displaced(const std::string& path, std::int64_t delay_ms) {
    kernel->parts().scheduler.post_after(delay_ms, [weak = weak_from_this(), path] {
        const auto self = weak.lock();
        if (self != nullptr && self->gate.take_late_writes(path))
            self->look_after_displaced(path, kLateAgainMs);
    });
}

void FileCalls::erase(Caller by, std::string path, Reply<FileVersion> reply) {
    body_->at_door<FileVersion>(
        std::move(reply), path,
        [body = body_, by, path](fs::Place place, Reply<FileVersion> answer) {
            if (place.linked()) {
                return answer(
                    invalid("is_a_link",
                            cat(path, " is reached by a link; nothing was deleted. Delete ",
                                place.path, " by its own name"),
                            {{"path", place.path}}));
            }
            body->run<FileVersion>(
                by, path, Operation::erase, std::move(answer),
                [body](LiveDocument& document, DiskUpdate update, const Caller& caller) {
                    return body->erase(document, caller, update);
                });
        });
}

// The other actors with edits that are not on the disk: names, with commas between.
std::string FileCalls::Body::unsaved_by_others(LiveDocument& document, const policy::Actor& by,
                                               const files::DiskState& disk) {
    if (!gate.dirty(document)) return {};
    std::set<std::string> actors;
    for (const Unit& unit : document.whole().state->history.units()) {
        if (unit.kind != UnitKind::content || unit.state != UnitState::done ||
            unit.actor == by.str() || unit.actor.starts_with("source:")) {
            continue;
        }
        for (const crdt::IdSpan& span : unit.spans) {
            const auto saved = disk.version.find(span.peer);
            if (saved == disk.version.end() || saved->second < span.end) actors.insert(unit.actor);
        }
    }
    std::string names;
    for (const std::string& actor : actors) names += cat(names.empty() ? "" : ", ", actor);
    return names;
}

Result<void> FileCalls::Body::check_erase(LiveDocument& document, const Caller& by,
                                          DiskUpdate update) {
    // A file that is read here for the first time was not changed behind anyone's back.
    if (update.changed && !update.first) {
        return fail(Errc::conflict, "disk_changed",
                    cat(document.name(),
                        " was not deleted: it was changed on disk since it was last read. Read "
                        "it, and delete it again if that is still right"),
                    {{"path", document.name()}});
    }
    const std::string others = unsaved_by_others(document, by.actor, *gate.state(document));
    if (others.empty()) return {};
    return fail(Errc::conflict, "unsaved_edits",
                cat(document.name(), " was not deleted: it has edits by ", others,
                    " that are not saved. Save the file first, or let them undo"),
                {{"path", document.name()}, {"actors", others}});
}

Result<FileVersion> FileCalls::Body::erase(LiveDocument& document, const Caller& by,
                                           DiskUpdate update) {
    const BlockRef block = document.whole();
    kernel->flush(document, block);
    const files::DiskState disk = *gate.state(document);
    TRY(check_erase(document, by, update));
    TRY(by.check_approved());
    if (!disk.missing) TRY(gate.files().remove(document.name(), disk.hash));
    Unit unit;
    unit.actor = by.actor.str();
    unit.description = "delete";
    unit.kind = UnitKind::take_back;
    document.begin(by.actor);
    document.record(block, std::move(unit));
    document.set_deleted(true);
    document.on_stored([&catalog = kernel->catalog(), record = document.record(),
                        path = document.name()](Result<void>& stored) {
        if (stored) return catalog.settle_deletion(record);
        stored = Failure(std::move(stored).error().within(
            cat(path,
                " is gone from the disk, but its deletion could not be recorded, so that its "
                "block and history stay")));
    });
    return version_of_file(document);
}

}  // namespace quire::kernel
